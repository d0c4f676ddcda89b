package shop

import (
	"context"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// AttendPage leads who checked in on to an online event.
type AttendPage struct {
	views.Page
	Sale
	Back string // the address of the order
	Link string
}

// Online reports whether valid tickets of the order join an online event.
func (p OrderPage) Online() bool { return p.Event.Online.On && len(p.Live()) > 0 }

// unpaid reports whether the order is still to be paid, which comes before joining.
func (p OrderPage) unpaid() bool { return p.Order.DueAt != nil }

// Joins reports whether tickets can be used to join now.
func (p OrderPage) Joins() bool {
	at, waits := events.JoinsAt(p.Event)
	return p.Online() && !p.unpaid() && p.Event.Online.Link != "" && p.Event.Status != seats.Cancelled && (!waits || !p.Now.Before(at))
}

// Joining says how people join, and from when on.
func (p OrderPage) Joining(ctx context.Context) string {
	at, waits := events.JoinsAt(p.Event)
	waits = waits && p.Now.Before(at)
	switch {
	case p.Event.Status == seats.Cancelled:
		return text.T(ctx, "This event was cancelled.")
	case p.unpaid():
		return text.T(ctx, "You can join from the page of your order once it is paid.")
	case p.Joins():
		return text.T(ctx, "Joining checks your ticket in and takes you to the event.")
	case waits:
		return text.T(ctx, "You can join from the page of your order from %s on.", views.DayTimeIn(ctx, p.Event, at)) + p.emailed(ctx)
	}
	return text.T(ctx, "The organizer has not added the link to join yet. You can join from the page of your order as soon as it is there.") + p.emailed(ctx)
}

func (p OrderPage) emailed(ctx context.Context) string {
	if p.Order.Email == "" {
		return ""
	}
	return " " + text.T(ctx, "We’ll email you then.")
}

// JoinsIn returns how long it is until tickets can be used to join, if that is a matter of the clock and of hours.
func (p OrderPage) JoinsIn() (time.Duration, bool) {
	at, waits := events.JoinsAt(p.Event)
	left := at.Sub(p.Now)
	return left, p.Online() && waits && left > 0 && left < 12*time.Hour
}

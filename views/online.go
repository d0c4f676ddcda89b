package views

import (
	"time"

	"github.com/usherbox/usher/seats"
)

// AttendPage leads who checked in on to an online event.
type AttendPage struct {
	Page
	Sale
	Code string // of the order
	Link string
}

// place is where an event is, in words.
func place(e seats.Event) string {
	if e.Online.On {
		return "Online"
	}
	return e.Venue
}

// online reports whether valid tickets of the order join an online event.
func (p OrderPage) online() bool { return p.Event.Online.On && len(p.live()) > 0 }

// unpaid reports whether the order is still to be paid, which comes before joining.
func (p OrderPage) unpaid() bool { return p.Order.DueAt != nil }

// joins reports whether tickets can be used to join now.
func (p OrderPage) joins() bool {
	at, waits := p.Event.JoinsAt()
	return p.online() && !p.unpaid() && p.Event.Online.Link != "" && p.Event.Status != seats.Cancelled && (!waits || !p.Now.Before(at))
}

// joining says how people join, and from when on; here is where they read on.
func (p OrderPage) joining(here string) string {
	at, waits := p.Event.JoinsAt()
	waits = waits && p.Now.Before(at)
	switch {
	case p.Event.Status == seats.Cancelled:
		return "This event was cancelled."
	case p.unpaid():
		return "You can join " + here + " once your order is paid."
	case p.joins():
		return "Joining checks your ticket in and takes you to the event."
	case waits:
		return "You can join " + here + " from " + p.Event.Local(at).Format("Mon 2 January, 15:04 MST") + "." + p.emailed()
	}
	return "The organizer has not added the link to join yet. You can join " + here + " as soon as it is there." + p.emailed()
}

func (p OrderPage) emailed() string {
	if p.Order.Email == "" {
		return ""
	}
	return " We’ll email you then."
}

// JoinsIn returns how long it is until tickets can be used to join, if that is a matter of the clock and of hours.
func (p OrderPage) JoinsIn() (time.Duration, bool) {
	at, waits := p.Event.JoinsAt()
	left := at.Sub(p.Now)
	return left, p.online() && waits && left > 0 && left < 12*time.Hour
}

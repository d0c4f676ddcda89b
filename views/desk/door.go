package desk

import (
	"context"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
)

// DoorsPath is the address of the links by which tickets of an event are looked at.
func DoorsPath(slug string) string { return EventPath(slug) + "/doors" }

// DoorsPage is who came to an event, and the links by which people are let in.
type DoorsPage struct {
	Frame
	orders.Turnout
	Link string // that was just made; empty for none
}

// share is how much of the bar is filled.
func (p DoorsPage) share() stacked { return stack(p.Tickets-p.Came, 0, p.Came, 0) }

// entrance is where a link was used last.
func (p DoorsPage) entrance(ctx context.Context, l orders.DoorLink) string {
	switch {
	case l.Place != "":
		return l.Place
	case l.LastAt != nil:
		return text.T(ctx, "An entrance without a name")
	}
	return text.T(ctx, "Not used yet")
}

// use is what became of a link so far.
func (p DoorsPage) use(ctx context.Context, l orders.DoorLink) string {
	made := text.Time(ctx, p.Event.Local(l.OpenedAt), "2 Jan, 15:04")
	if l.LastAt == nil {
		return text.T(ctx, "Made %s", made)
	}
	return text.N(ctx, "Made %[2]s. It let %[1]d ticket in, the last scan was on %[3]s.", "Made %[2]s. It let %[1]d tickets in, the last scan was on %[3]s.", l.Admitted, made, text.Time(ctx, p.Event.Local(*l.LastAt), "2 Jan, 15:04"))
}

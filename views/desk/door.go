package desk

import (
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views"
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
func (p DoorsPage) entrance(l orders.DoorLink) string {
	switch {
	case l.Place != "":
		return l.Place
	case l.LastAt != nil:
		return "An entrance without a name"
	}
	return "Not used yet"
}

// use is what became of a link so far.
func (p DoorsPage) use(l orders.DoorLink) string {
	words := "Made " + p.Event.Local(l.OpenedAt).Format("2 Jan, 15:04")
	if l.LastAt == nil {
		return words
	}
	return words + "; let " + views.Counted(l.Admitted, "ticket") + " in, the last scan " + p.Event.Local(*l.LastAt).Format("2 Jan, 15:04")
}

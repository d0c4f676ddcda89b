package desk

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/blocks"
	"github.com/usherbox/usher/seats/guests"
)

// GuestsPath is the address of the guest list of an event.
func GuestsPath(slug string) string { return EventPath(slug) + "/guests" }

// GuestsPage is the guest list of an event.
type GuestsPage struct {
	Frame
	Plan    *seats.Plan
	Prices  *seats.Prices
	List    []guests.Guest
	Blocks  []blocks.Block // that still have seats
	Form    url.Values     // that was refused, as it was typed; nil: none was
	Message string         // why it was refused
}

// guestSums are the sums over a guest list.
type guestSums struct{ guests, places, waiting, tickets, in int }

func (p GuestsPage) sums() (n guestSums) {
	for _, g := range p.List {
		if g.Waits() || g.Comes() {
			n.guests, n.tickets, n.in = n.guests+1, n.tickets+len(g.Seats), n.in+g.In
			n.places += max(len(g.Seats), g.Places*waits(g))
			n.waiting += waits(g)
		}
	}
	return n
}

func waits(g guests.Guest) int {
	if g.Waits() {
		return 1
	}
	return 0
}

// types are the keys and names of the ticket types that guests may get; nil if there is one only.
func (p GuestsPage) types() (list []seats.TicketType) {
	for _, number := range p.Prices.Order() {
		if t := p.Prices.Types[number]; !t.Retired {
			list = append(list, t)
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// byName are the guests who may come, as people look for them at a door.
func (p GuestsPage) byName() []guests.Guest {
	list := slices.DeleteFunc(slices.Clone(p.List), func(g guests.Guest) bool { return !g.Waits() && !g.Comes() })
	slices.SortStableFunc(list, func(a, b guests.Guest) int {
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return list
}

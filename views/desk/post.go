package desk

import (
	"slices"

	"github.com/usherbox/usher/seats/orders"
)

// PostPath is the address of the list of tickets to post.
func PostPath(slug string) string { return EventPath(slug) + "/post" }

// PostPage is the orders of an event with tickets to post.
type PostPage struct {
	Frame
	Parcels []orders.Parcel // those that were posted last
	Key     string
}

// waiting and done are the parcels that were not posted yet, and those that were.
func (p PostPage) waiting() []orders.Parcel { return p.Parcels[:p.firstDone()] }

func (p PostPage) done() []orders.Parcel { return p.Parcels[p.firstDone():] }

func (p PostPage) firstDone() int {
	if at := slices.IndexFunc(p.Parcels, func(c orders.Parcel) bool { return c.PostedAt != nil }); at >= 0 {
		return at
	}
	return len(p.Parcels)
}

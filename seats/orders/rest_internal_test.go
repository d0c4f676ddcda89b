package orders

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

// Whatever is cancelled, in any order: what was paid is what went back and what the rest costs by its offer, as far as that
// is not more than was paid.
func TestDifference_WhatIsPaidIsThePriceOfTheRest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(20, 7))
	offers := []seats.PriceOffer{
		{Number: 1, Kind: seats.OfferMulti, Count: 3, Pay: 2},
		{Number: 1, Kind: seats.OfferGroup, Count: 4, Percent: 12_50},
		{Number: 1, Kind: seats.OfferFamily, Types: []int{0}, ChildTypes: []int{1}, Count: 2, Children: 1, Percent: 33_33},
	}
	ended := 0
	for range 10_000 {
		terms := pricing.Terms{
			Fees: seats.Fees{Ticket: r.Int64N(300), Percent: r.IntN(500), Absorbed: r.IntN(2) == 0},
			Tax:  seats.Tax{Rate: 10_000, FeeRate: 20_000, OnTop: r.IntN(2) == 0, ByTotal: r.IntN(2) == 0}, Offers: offers[r.IntN(3):][:1],
		}
		lines := make([]seats.Line, 1+r.IntN(8))
		for i := range lines {
			lines[i] = seats.Line{Seat: i, Type: r.IntN(2), Category: r.IntN(2), Price: r.Int64N(5000)}
		}
		cost := terms.Agreed(lines, nil, false)
		o := Order{Method: "card", Total: cost.Total, Paid: cost.Total, offered: offered(terms, cost, false)}
		for i, l := range lines {
			o.Tickets = append(o.Tickets, Ticket{ID: seats.NewID(), Idx: i, Priced: cost.Lines[i], line: l, listed: true})
		}
		for len(o.without(nil)) > 0 {
			var gone []seats.ID
			for _, one := range o.without(nil) {
				if r.IntN(2) == 0 {
					gone = append(gone, one.ID)
				}
			}
			back, differs := o.GoesBack(gone...), o.difference(gone)
			rest, before := o.without(gone), o.Paid
			o.Paid, o.Back, o.Kept, o.differed = o.Paid-back, o.Back+back, o.Kept+differs, o.differed+differs
			for i := range o.Tickets {
				o.Tickets[i].Revoked = o.Tickets[i].Revoked || slices.Contains(gone, o.Tickets[i].ID)
			}
			var now int64
			for _, one := range rest {
				now += one.Cost()
			}
			want := now
			if o.offered != nil {
				want = min(before, max(now, terms.Agreed(linesOf(rest), nil, false).Total)) // no more is asked for
			}
			if o.Paid != want || o.Paid+o.Back != o.Total || o.Due() != 0 {
				t.Fatalf("%d tickets of %d are left for %d, want %d; %d went back of %d, %d is due", len(rest), len(lines), o.Paid, want, o.Back, o.Total, o.Due())
			}
			if want > now {
				ended++
			}
		}
	}
	if ended < 1000 {
		t.Errorf("an offer ended %d times only", ended)
	}
}

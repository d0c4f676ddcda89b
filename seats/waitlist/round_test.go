package waitlist_test

import (
	"errors"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitlist"
)

// roundDelayed has a node make a round that waits, once it has read the list, until what is done meanwhile is done.
func (h *fixture) roundDelayed(t *testing.T, before int, n *node, goOn func(), meanwhile func()) (again bool) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		var err error
		again, err = n.list.Round(t.Context(), h.slug)
		done <- err
	}()
	h.eventually(t, "the round wants its locks", func() bool {
		return h.count(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > before
	})
	meanwhile()
	goOn()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return again
}

func TestRound_ChangedEntryIsOfferedWhatItAsksForNow(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	has := n.fill(t)
	ann, bob := n.joins(t, "ann@example.org", one), n.joins(t, "bob@example.org", waitlist.Wanted{Quantity: 2})
	h.rounds(t)
	if _, err := n.sale.Release(t.Context(), has[0], 0, 1, 2); err != nil {
		t.Fatal(err)
	}
	again := h.roundDelayed(t, 0, n, h.delayOffers(t), func() {
		if err := n.list.Leave(t.Context(), n.sale, n.entry(t, ann)); err != nil {
			t.Error(err)
		}
		if err := n.list.Change(t.Context(), n.sale, n.entry(t, bob), waitlist.NewEntry{Wanted: one}); err != nil {
			t.Error(err)
		}
	})
	if made := h.count(t, `SELECT count(*) FROM offer`); made != 0 || !again {
		t.Errorf("%d offers were made of what was wanted before; another round is worth while: %t", made, again)
	}
	h.rounds(t)
	if a, b := n.entry(t, ann), n.entry(t, bob); a.State != waitlist.Left || b.State != waitlist.Offered || len(b.Offer.Seats) != 1 {
		t.Errorf("who left is %s, who wants one seat by now %s, %+v", a.State, b.State, b.Offer)
	}
	h.wantBooks(t)
}

func TestRound_EntryThatLostItsSeatsStaysFirst(t *testing.T) {
	t.Parallel()
	h := build(t, hall(4, 0), week/2, 2, false) // row D is the back
	a, b := h.nodes[0], h.nodes[1]
	has := a.fill(t)
	ann, bob := a.joins(t, "ann@example.org", waitlist.Wanted{Quantity: 1, Categories: []int{2}}), a.joins(t, "bob@example.org", waitlist.Wanted{Quantity: 1, Categories: []int{0}})
	h.rounds(t)
	if _, err := a.sale.Release(t.Context(), has[30], 30); err != nil {
		t.Fatal(err)
	}
	h.rounds(t) // no entry wants it, so it is free
	if err := b.sale.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.list.Change(t.Context(), a.sale, a.entry(t, ann), waitlist.NewEntry{Wanted: waitlist.Wanted{Quantity: 1, Categories: []int{1}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.sale.Release(t.Context(), has[0], 0); err != nil {
		t.Fatal(err)
	}
	goOn, claimed := h.delayOffers(t), make(chan error, 1)
	go func() {
		_, err := b.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{b.sale.Plan.Label(30)}})
		claimed <- err
	}()
	h.eventually(t, "an outsider is about to have the seat", func() bool {
		return h.count(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
	})
	again := h.roundDelayed(t, 1, a, goOn, func() {})
	if err := <-claimed; err != nil {
		t.Fatal(err)
	}
	if made := h.count(t, `SELECT count(*) FROM offer`); made != 0 || !again {
		t.Errorf("%d offers were made behind an entry that lost its seat; another round is worth while: %t", made, again)
	}
	h.rounds(t)
	if first, next := a.entry(t, ann), a.entry(t, bob); first.State != waitlist.Waiting || first.Passed != waitlist.PassedNone || next.State != waitlist.Offered {
		t.Errorf("the first is %s, passed over: %q, the next %s", first.State, first.Passed, next.State)
	}
	h.wantBooks(t)
}

func TestRound_SeatOfferedBackGoesToTheFirstWhoWaits(t *testing.T) {
	t.Parallel()
	p := hall(1, 0)
	for i := range p.Categories {
		p.Categories[i].Price = 0
	}
	h := build(t, p, week/2, 1, false)
	n := h.nodes[0]
	n.orders.Open(n.office, "")
	h.exec(t, `UPDATE event SET resale_until = '0'`)
	has := n.fill(t)
	hold, err := n.sale.Hold(t.Context(), has[0])
	if err != nil {
		t.Fatal(err)
	}
	code, err := n.orders.Place(t.Context(), n.sale, has[0], orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Eve", Email: "eve@example.org", Method: payments.Free, Verified: "eve@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	ann := n.joins(t, "ann@example.org", one)
	h.rounds(t)
	order, err := n.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	seller := order.Tickets[2]
	offer := func(key string) {
		t.Helper()
		if err := n.orders.OfferBack(t.Context(), n.sale, order, key, []seats.ID{seller.ID}); err != nil {
			t.Fatal(err)
		}
	}
	offer("a")
	if kept := n.sale.Waitlisted(); len(kept) != 1 || kept[0] != seller.Idx || n.sale.Remaining() != 0 {
		t.Fatalf("%v are kept for those who wait, and %d seats are available", kept, n.sale.Remaining())
	}
	h.wantBooks(t)
	if err := n.orders.TakeBack(t.Context(), n.sale, order, "b", seller.ID); err != nil { // it was not offered to the entry yet
		t.Fatal(err)
	}
	h.wantBooks(t)
	offer("c")
	h.rounds(t)
	if e := n.entry(t, ann); e.State != waitlist.Offered || len(e.Offer.Seats) != 1 || e.Offer.Seats[0] != seller.Idx {
		t.Fatalf("the first who waits has %+v", e)
	}
	if err := n.orders.TakeBack(t.Context(), n.sale, order, "d", seller.ID); !errors.As(err, new(*seats.Conflict)) {
		t.Errorf("a ticket was taken back while its seat is offered: %v", err)
	}
	h.wantBooks(t)
	n.buys(t, ann)
	if order, err = n.orders.Find(t.Context(), code); err != nil || !order.Tickets[2].Resold {
		t.Errorf("the ticket is %+v, %v", order.Tickets[2], err)
	}
	h.wantBooks(t)
}

func TestRound_SeatsOfAnUnpaidOrderGoToTheFirstWhoWaits(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	n.orders.Open(n.office, "")
	has := n.fill(t)
	hold, err := n.sale.Hold(t.Context(), has[0])
	if err != nil {
		t.Fatal(err)
	}
	code, err := n.orders.Place(t.Context(), n.sale, has[0], orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Eve", Email: "eve@example.org", Method: payments.Door, Verified: "eve@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	ann := n.joins(t, "ann@example.org", one)
	h.rounds(t)
	h.exec(t, `UPDATE orders SET due_at = clock_timestamp(), remind_at = NULL`)
	seatstest.Do(t.Context(), t, h.db, n.orders.Jobs()...)
	if order, err := n.orders.Find(t.Context(), code); err != nil || order.State != orders.Cancelled {
		t.Fatalf("after its time the order is %s, %v", order.State, err)
	}
	label := n.sale.Plan.Label(hold.Seats[0])
	if _, err := n.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{label}}); !errors.As(err, new(*seats.Conflict)) {
		t.Errorf("a visitor without an entry claims a seat of the unpaid order: %v", err)
	}
	h.rounds(t)
	if e := n.entry(t, ann); e.State != waitlist.Offered || len(e.Offer.Seats) != 1 {
		t.Errorf("the first who waits has %+v", e)
	}
	h.wantBooks(t)
}

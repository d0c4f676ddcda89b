package waitlist_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
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

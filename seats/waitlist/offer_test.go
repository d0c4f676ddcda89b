package waitlist_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitlist"
)

const week = 7 * 24 * time.Hour

// one is the request of most tests.
var one = waitlist.Wanted{Quantity: 1}

func TestRound_ReturnedSeatsAreOfferedByRank(t *testing.T) {
	t.Parallel()
	h := build(t, hall(2, 0), week/2, 2, false)
	a, b := h.nodes[0], h.nodes[1]
	has := a.fill(t)
	ann, bob := a.joins(t, "ann@example.org", one), b.joins(t, "bob@example.org", one)
	h.rounds(t) // the list is known to every batch from now on
	if _, err := a.sale.Release(t.Context(), has[3], 3); err != nil {
		t.Fatal(err)
	}
	if len(a.sale.Waitlisted()) != 1 || a.sale.Remaining() != 0 {
		t.Fatalf("kept is %v, and %d are free; the seat should be kept", a.sale.Waitlisted(), a.sale.Remaining())
	}
	for _, n := range h.nodes {
		if err := n.sale.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, w := range []seats.ClaimRequest{{Seats: []string{n.sale.Plan.Label(3)}}, {Best: 1, Category: "A"}} {
			_, err := n.sale.Claim(t.Context(), seats.NewID(), "", w)
			var refusal *seats.Conflict
			if !errors.As(err, &refusal) || len(w.Seats) > 0 && refusal.Code != seats.CodeWaitList {
				t.Fatalf("a visitor without an entry claims %+v and gets %v", w, err)
			}
		}
	}
	h.rounds(t)
	e := a.entry(t, ann)
	if e.State != waitlist.Offered || len(e.Offer.Seats) != 1 || e.Offer.Seats[0] != 3 {
		t.Fatalf("the first has %+v", e)
	}
	if got := b.entry(t, bob); got.State != waitlist.Waiting {
		t.Fatalf("the second is %s", got.State)
	}
	a.buys(t, ann)
	h.expire(t, a, has[7]) // six seats
	h.rounds(t)
	if got := a.entry(t, ann); got.State != waitlist.Served {
		t.Errorf("who bought is %s", got.State)
	}
	if got := b.entry(t, bob); got.State != waitlist.Offered {
		t.Errorf("the second is %s", got.State)
	}
	if waitlisted, free := len(b.sale.Waitlisted()), b.sale.Remaining(); waitlisted != 0 || free != 5 {
		t.Errorf("%d are kept and %d free; seats that fit no entry become free", waitlisted, free)
	}
	h.wantBooks(t)
}

func TestADeclinedOfferGoesToTheNextAndAMissedOneIsMadeOnceMore(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	has := n.fill(t)
	ann, bob, cleo := n.joins(t, "ann@example.org", one), n.joins(t, "bob@example.org", one), n.joins(t, "cleo@example.org", one)
	h.rounds(t)
	if _, err := n.sale.Release(t.Context(), has[0], 0); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if err := n.list.Decline(t.Context(), n.sale, n.entry(t, ann)); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if a, b := n.entry(t, ann), n.entry(t, bob); a.State != waitlist.Left || b.State != waitlist.Offered {
		t.Fatalf("who declined is %s, the next %s", a.State, b.State)
	}
	rank := n.entry(t, bob).Rank
	h.expire(t, n, n.entry(t, bob).Offer.ID)
	h.rounds(t)
	b, c := n.entry(t, bob), n.entry(t, cleo)
	if b.State != waitlist.Waiting || b.Rank != rank || b.Passed != waitlist.PassedMissed || c.State != waitlist.Offered {
		t.Fatalf("who missed is %s (passed over: %q), the next %s", b.State, b.Passed, c.State)
	}
	if _, err := n.sale.Release(t.Context(), has[1], 1); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if b = n.entry(t, bob); b.State != waitlist.Offered || b.Misses != 1 {
		t.Fatalf("who missed once is %s with the next seat", b.State)
	}
	h.expire(t, n, b.Offer.ID)
	h.rounds(t)
	if b = n.entry(t, bob); b.Misses != 2 || b.Rank <= n.entry(t, cleo).Rank {
		t.Fatalf("who missed twice has %d misses and rank %d", b.Misses, b.Rank)
	}
	h.wantBooks(t)
}

func TestAGroupIsPassedOverWithAReasonAndKeepsItsRank(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	has := n.fill(t)
	pair := n.joins(t, "pair@example.org", waitlist.Wanted{Quantity: 2, Together: true})
	ann := n.joins(t, "ann@example.org", one)
	h.rounds(t)
	rank := n.entry(t, pair).Rank
	if _, err := n.sale.Release(t.Context(), has[2], 2); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	p := n.entry(t, pair)
	if p.State != waitlist.Waiting || p.Passed != waitlist.PassedFew || p.Had != 1 || p.Rank != rank {
		t.Fatalf("the pair is %+v", p)
	}
	if st, err := n.list.Stand(t.Context(), p.ID); err != nil || st.Place != 1 || st.Before != 1 || st.Open != 1 {
		t.Errorf("the pair is told %+v, %v", st, err)
	}
	if got := n.entry(t, ann); got.State != waitlist.Offered {
		t.Fatalf("who is behind them is %s", got.State)
	}
	if _, err := n.sale.Release(t.Context(), has[4], 4, 5); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if p = n.entry(t, pair); p.State != waitlist.Offered || len(p.Offer.Seats) != 2 {
		t.Fatalf("two side by side came back, and the pair is %+v", p)
	}
	h.wantBooks(t)
}

func TestSeatsAreGatheredForAGroupForAnHourWhileTheEventIsFarAway(t *testing.T) {
	t.Parallel()
	h := build(t, hall(0, 12), 2*week, 1, false)
	n := h.nodes[0]
	has := n.fill(t)
	group := n.joins(t, "group@example.org", waitlist.Wanted{Quantity: 3})
	ann := n.joins(t, "ann@example.org", one)
	h.rounds(t)
	if _, err := n.sale.Release(t.Context(), has[0], 0); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if g, a := n.entry(t, group), n.entry(t, ann); g.Gathers == nil || a.State != waitlist.Waiting || a.Passed != waitlist.PassedGathered || len(n.sale.Waitlisted()) != 1 {
		t.Fatalf("the group gathers until %v, kept is %v, the next is %s, passed over: %q", g.Gathers, n.sale.Waitlisted(), a.State, a.Passed)
	}
	if _, err := n.sale.Release(t.Context(), has[0], 1, 2); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if g := n.entry(t, group); g.State != waitlist.Offered || len(g.Offer.Seats) != 3 {
		t.Fatalf("three came back, and the group is %+v", g)
	}
	later := n.joins(t, "later@example.org", waitlist.Wanted{Quantity: 3})
	h.exec(t, `UPDATE entry SET rank = 1 WHERE code = $1`, later)
	if _, err := n.sale.Release(t.Context(), has[6], 6); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	h.exec(t, `UPDATE entry SET gather_until = clock_timestamp() WHERE code = $1`, later)
	h.rounds(t)
	if a := n.entry(t, ann); a.State != waitlist.Offered {
		t.Fatalf("the hour is over, and the next is %s", a.State)
	}
	h.wantBooks(t)
}

func TestWindowsFollowTheTimeLeftAndEndInNoNight(t *testing.T) {
	t.Parallel()
	vienna, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour, minute int) time.Time { return time.Date(2030, 3, day, hour, minute, 0, 0, vienna) }
	for _, c := range []struct {
		what           string
		now, end, want time.Time
	}{
		{"a day, more than a week before", at(4, 12, 0), at(20, 19, 0), at(5, 12, 0)},
		{"four hours, more than a day before", at(4, 12, 0), at(7, 19, 0), at(4, 16, 0)},
		{"until the morning, if that were at night", at(4, 19, 0), at(7, 19, 0), at(5, 8, 30)},
		{"until the morning, if it is night", at(4, 3, 0), at(7, 19, 0), at(4, 8, 30)},
		{"twenty minutes on the day, also at night", at(6, 23, 0), at(7, 19, 0), at(6, 23, 20)},
		{"five minutes in the last hour", at(7, 18, 30), at(7, 19, 0), at(7, 18, 35)},
		{"never longer than the sale", at(7, 18, 57), at(7, 19, 0), at(7, 19, 0)},
		{"by the clock on the wall when summer time begins", at(30, 20, 0), time.Date(2030, 4, 3, 19, 0, 0, 0, vienna), at(31, 8, 30)},
	} {
		if got := waitlist.UntilOf(c.now.UTC(), c.end, vienna); !got.Equal(c.want) {
			t.Errorf("%s: from %s it is until %s, want %s", c.what, c.now, got, c.want)
		}
	}
}

func TestAnOfferIsRefusedByTheGuardUnlessItsEntryWaitsAndItsSeatsAreThere(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	n.fill(t)
	ann, bob := n.entry(t, n.joins(t, "ann@example.org", one)), n.entry(t, n.joins(t, "bob@example.org", one))
	if err := n.list.Leave(t.Context(), n.sale, bob); err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE seat_state SET state = 0, holder = NULL, expires_at = NULL WHERE idx = 9`)
	soon := time.Now().Add(time.Hour)
	for what, o := range map[string]seats.Offer{
		"who left": {Entry: bob.ID, Since: bob.Since, Seats: []int{9}, Until: soon}, "seats that a visitor holds": {Entry: ann.ID, Since: ann.Since, Seats: []int{0, 9}, Until: soon},
		"a time that is over": {Entry: ann.ID, Since: ann.Since, Seats: []int{9}, Until: time.Now().Add(-time.Hour)}, "an unknown entry": {Entry: 12345, Seats: []int{9}, Until: soon},
		"who wants something else by now": {Entry: ann.ID, Since: ann.Since.Add(-time.Microsecond), Seats: []int{9}, Until: soon},
	} {
		o.ID = seats.NewID()
		write := func(*pgx.Batch, []seats.Offered) { t.Errorf("an offer to %s is written", what) }
		if err := n.sale.Offer(t.Context(), []seats.Offer{o}, waitlist.LockEntries, write)[0]; !errors.As(err, new(*seats.Conflict)) {
			t.Errorf("an offer to %s: %v", what, err)
		}
	}
}

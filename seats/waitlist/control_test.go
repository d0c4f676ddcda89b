package waitlist_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/waitlist"
)

// control is an organizer at a node; what she does also writes a line into a table of its own.
func (n *node) control(h *fixture, t *testing.T) waitlist.Control {
	t.Helper()
	h.exec(t, `CREATE TABLE IF NOT EXISTS noted (what text)`)
	return waitlist.Control{List: n.list, Who: "Olga", Also: func(q *pgx.Batch) { q.Queue(`INSERT INTO noted VALUES ('deed')`) }}
}

// wantNoted holds how often something was written down against what it should be.
func (h *fixture) wantNoted(t *testing.T, steps, also int) {
	t.Helper()
	if n := h.count(t, `SELECT count(*) FROM wait_step WHERE who = 'Olga' AND (detail <> '' OR what = 'resumed')`); n != steps {
		t.Errorf("%d steps say who did it and why, want %d", n, steps)
	}
	if n := h.count(t, `SELECT count(*) FROM noted`); n != also {
		t.Errorf("%d were committed with what was done, want %d", n, also)
	}
}

// refused reports whether an error is a refusal that people read.
func refused(err error) bool {
	var refusal *seats.Conflict
	return errors.As(err, &refusal) && strings.Contains(refusal.Message, "Nothing was")
}

func TestPause_KeepsReturnedSeatsAndGoesOnByRank(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 2, false)
	a, b := h.nodes[0], h.nodes[1]
	olga := a.control(h, t)
	has := a.fill(t)
	ann, bob := a.joins(t, "ann@example.org", one), b.joins(t, "bob@example.org", one)
	h.rounds(t)
	if err := olga.Pause(t.Context(), h.slug, "  "); !errors.Is(err, waitlist.ErrNoReason) {
		t.Errorf("pausing without a reason: %v", err)
	}
	if err := olga.Pause(t.Context(), h.slug, "We count the seats."); err != nil {
		t.Fatal(err)
	}
	if _, err := b.sale.Release(t.Context(), has[0], 0, 1); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if st, err := a.list.Stand(t.Context(), a.entry(t, ann).ID); err != nil || !st.Paused || st.Note != "We count the seats." || st.Open != 0 {
		t.Errorf("who waits is told %+v, %v", st, err)
	}
	if o, err := olga.Show(t.Context(), h.slug, "", paging.Page{Limit: 10}); err != nil || !o.Paused || o.Waitlisted != 2 || o.Waiting != 2 {
		t.Errorf("the organizer sees %+v, %v", o, err)
	}
	if err := olga.Resume(t.Context(), h.slug); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	for _, code := range []string{ann, bob} {
		if e := a.entry(t, code); e.State != waitlist.Offered {
			t.Errorf("after the pause %s is %s", e.Email, e.State)
		}
	}
	h.wantNoted(t, 2, 2)
	h.wantBooks(t)
}

func TestPriorityAndRemovalNeedAReasonAndAreWrittenDown(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	olga := n.control(h, t)
	has := n.fill(t)
	ann, bob, cleo := n.joins(t, "ann@example.org", one), n.joins(t, "bob@example.org", one), n.joins(t, "cleo@example.org", one)
	h.rounds(t)
	if _, err := n.list.Join(t.Context(), n.sale, waitlist.NewEntry{Email: "dan@example.org", Wanted: one}, waitlist.Joining{}); err != nil {
		t.Fatal(err)
	}
	for email, want := range map[string]error{"bob@example.org": waitlist.ErrNoReason, "nobody@example.org": waitlist.ErrNoReason} {
		if err := olga.Priority(t.Context(), h.slug, email, ""); !errors.Is(err, want) {
			t.Errorf("%s first without a reason: %v", email, err)
		}
	}
	if err := olga.Priority(t.Context(), h.slug, "nobody@example.org", "a friend"); !errors.Is(err, waitlist.ErrNoEntry) {
		t.Errorf("an unknown address first: %v", err)
	}
	if err := olga.Priority(t.Context(), h.slug, "dan@example.org", "a friend"); !refused(err) {
		t.Errorf("an unconfirmed address first: %v", err)
	}
	if err := olga.Remove(t.Context(), h.slug, "cleo@example.org", " "); !errors.Is(err, waitlist.ErrNoReason) {
		t.Errorf("removed without a reason: %v", err)
	}
	if err := olga.Priority(t.Context(), h.slug, "Bob@example.org ", "She plays the second violin."); err != nil {
		t.Fatal(err)
	}
	if err := olga.Remove(t.Context(), h.slug, "cleo@example.org", "She asked on the phone."); err != nil {
		t.Fatal(err)
	}
	if _, err := n.sale.Release(t.Context(), has[0], 0); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if a, b, c := n.entry(t, ann), n.entry(t, bob), n.entry(t, cleo); a.State != waitlist.Waiting || b.State != waitlist.Offered || c.State != waitlist.Left {
		t.Errorf("ann is %s, bob %s, cleo %s", a.State, b.State, c.State)
	}
	for _, act := range []func(context.Context, string, string, string) error{olga.Priority, olga.Remove} {
		if err := act(t.Context(), h.slug, "bob@example.org", "again"); !refused(err) {
			t.Errorf("an entry that is offered seats: %v", err)
		}
	}
	o, err := olga.Show(t.Context(), h.slug, "", paging.Page{Limit: 10})
	if err != nil || len(o.Entries) != 3 || o.Entries[0].Email != "bob@example.org" || o.Entries[1].Place != 1 || o.Entries[2].State != waitlist.Unverified {
		t.Fatalf("the organizer sees %+v, %v", o, err)
	}
	for _, e := range o.Entries {
		if e.Code != "" {
			t.Errorf("an organizer learns the code of %s, with which one takes offers", e.Email)
		}
	}
	if o, err := olga.Show(t.Context(), h.slug, "cleo@example.org", paging.Page{Limit: 10}); err != nil || len(o.Entries) != 1 || o.Entries[0].State != waitlist.Left {
		t.Errorf("of one address there is %+v, %v", o, err)
	}
	steps, err := olga.Steps(t.Context(), h.slug, "bob@example.org", 10)
	if err != nil || len(steps) != 4 || steps[0].What != "offered" || steps[1].Detail != "She plays the second violin." || steps[1].Who != "Olga" {
		t.Errorf("what happened to bob is %+v, %v", steps, err)
	}
	h.wantNoted(t, 2, 2)
	h.wantBooks(t)
}

func TestOffer_ByHandGivesBlockedSeatsWithAReason(t *testing.T) {
	t.Parallel()
	h := build(t, hall(1, 0), week/2, 1, false)
	n := h.nodes[0]
	olga := n.control(h, t)
	if _, err := n.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{8, 9}, BlockTerms: seats.BlockTerms{Reason: "for the press"}}); err != nil {
		t.Fatal(err)
	}
	for _, idx := range [][]int{{0, 1, 2, 3, 4, 5}, {6, 7}} {
		n.hold(t, idx...)
	}
	pair, ann := n.joins(t, "pair@example.org", waitlist.Wanted{Quantity: 2, Together: true}), n.joins(t, "ann@example.org", one)
	h.rounds(t)
	if _, err := olga.Offer(t.Context(), h.slug, "ann@example.org", "", nil); !errors.Is(err, waitlist.ErrNoReason) {
		t.Errorf("offered without a reason: %v", err)
	}
	if _, err := olga.Offer(t.Context(), h.slug, "ann@example.org", "She helped us.", nil); !refused(err) {
		t.Errorf("offered while nothing is free: %v", err)
	}
	if _, err := olga.Offer(t.Context(), h.slug, "ann@example.org", "She helped us.", []int{0, 9}); !errors.As(err, new(*seats.Conflict)) {
		t.Errorf("offered what a visitor holds: %v", err)
	}
	h.wantNoted(t, 0, 0)
	list, err := olga.Offer(t.Context(), h.slug, "ann@example.org", "She helped us.", []int{9})
	if err != nil || len(list) != 1 || list[0] != 9 {
		t.Fatalf("a blocked seat: %v, %v", list, err)
	}
	if e := n.entry(t, ann); e.State != waitlist.Offered || e.Offer.Seats[0] != 9 {
		t.Fatalf("ann is %+v", e)
	}
	if e := n.entry(t, pair); e.State != waitlist.Waiting || e.Passed != "" {
		t.Errorf("who waits before them is %+v", e)
	}
	h.wantNoted(t, 1, 1)
	n.buys(t, ann)
	h.rounds(t)
	if _, err := olga.Offer(t.Context(), h.slug, "ann@example.org", "once more", nil); !errors.Is(err, waitlist.ErrNoEntry) {
		t.Errorf("offered to who was served: %v", err)
	}
	h.wantBooks(t)
	h.exec(t, `UPDATE event SET status = 'closed' WHERE slug = $1`, h.slug)
	if _, err := olga.Offer(t.Context(), h.slug, "pair@example.org", "too late", []int{8}); !errors.Is(err, waitlist.ErrOver) {
		t.Errorf("offered after the sale: %v", err)
	}
}

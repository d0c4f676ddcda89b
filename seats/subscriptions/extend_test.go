package subscriptions_test

import (
	"errors"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/subscriptions"
)

func TestExtend_GivesTimeInAllPerformancesUpToTheLimit(t *testing.T) {
	t.Parallel()
	n := open(t, 3, events.Settings{})
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00)})
	ann := n.browser(t)
	if _, err := n.Extend(ann.acts(t), h, ann.id, "k"); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("an extension of nothing got %v", err)
	}
	n.holds(t, ann, h, 4, 5)
	was, err := n.Basket(t.Context(), h, ann.id)
	if err != nil || !h.Extends(was) {
		t.Fatalf("Ann holds %+v, %v", was, err)
	}
	if _, err := n.db.Exec(t.Context(), `UPDATE event SET extensions = 1 WHERE slug = $1`, n.slugs[2]); err != nil {
		t.Fatal(err)
	}
	b, err := n.Extend(ann.acts(t), h, ann.id, "k")
	if err != nil || b.ExtensionsLeft != 0 || h.Extends(b) || !b.ExpiresAt.After(was.ExpiresAt) {
		t.Fatalf("an extension gave %+v, %v; want it after %s", b, err, was.ExpiresAt)
	}
	if again, err := n.Extend(ann.acts(t), h, ann.id, "k"); err != nil || !again.ExpiresAt.Equal(b.ExpiresAt) {
		t.Errorf("a repeat gave %+v, %v, want %+v", again, err, b)
	}
	var refused *seats.StepError
	if _, err := n.Extend(ann.acts(t), h, ann.id, "another"); !errors.As(err, &refused) || refused.Sale.Event.Slug != n.slugs[2] {
		t.Errorf("one more got %v, want the refusal of the last performance", err)
	}
	for k, hold := range b.Holds {
		if !hold.ExpiresAt.After(was.Holds[k].ExpiresAt) {
			t.Errorf("performance %d is held until %s, as before", k, hold.ExpiresAt)
		}
	}
	if extended := n.number(t, `SELECT count(*) FROM hold WHERE extensions = 1`); extended != 3 {
		t.Errorf("%d holds were extended once, want 3", extended)
	}
	n.wantBooks(t)
}

func TestExtend_IsRefusedWhileNothingElseIsLeftOrAfterTheSale(t *testing.T) {
	t.Parallel()
	n := open(t, 2, events.Settings{})
	h := n.defines(t, subscriptions.Form{Prices: n.prices(t, 100_00)})
	ann := n.browser(t)
	n.holds(t, ann, h, 0)
	b, err := n.Basket(t.Context(), h, ann.id)
	if err != nil {
		t.Fatal(err)
	}
	var rest []int
	for idx := range h.Sales[1].Plan.Seats[1:] {
		rest = append(rest, idx+1)
	}
	others := seats.BlockRequest{Seats: rest, BlockTerms: seats.BlockTerms{Reason: "Not tonight"}}
	if _, err := h.Sales[1].Block(t.Context(), others); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Extend(ann.acts(t), h, ann.id, "full"); !refused(err) || h.Extends(b) {
		t.Errorf("in a full house an extension got %v", err)
	}
	if _, err := h.Sales[1].Unblock(t.Context(), others); err != nil {
		t.Fatal(err)
	}
	if !h.Extends(b) {
		t.Error("with seats left there is no extension")
	}
	if _, err := n.db.Exec(t.Context(), `UPDATE subscription SET opens_at = now() - interval '2 hours', closes_at = now() - interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	over := n.house(t, h.Slug)
	if _, err := n.Extend(ann.acts(t), over, ann.id, "over"); !refused(err) || over.Extends(b) {
		t.Errorf("after the sale an extension got %v", err)
	}
	if extended := n.number(t, `SELECT count(*) FROM hold WHERE extensions > 0`); extended != 0 {
		t.Errorf("%d holds were extended, want none", extended)
	}
	n.wantBooks(t)
}

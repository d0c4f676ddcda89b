package waitlist_test

import (
	"context"
	"errors"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/waitlist"
)

// ordersAtOnce has a node order what people agreed to, as `usher serve` does.
func (n *node) ordersAtOnce(h *fixture) *credit.Ledger {
	ledger := credit.New(h.db)
	n.orders.Open(n.office, "http://localhost")
	n.orders.Payments.Accept(payments.Credit, credit.Payments{Ledger: ledger})
	n.list.Order = func(ctx context.Context, s *seats.Sale, p waitlist.Purchase) error {
		return n.orders.PlaceAlone(ctx, s, p.Holder, orders.Form{Hold: p.Hold, Seats: p.Seats, Name: p.Name, Email: p.Email, Method: p.Method, Account: p.Email, Mandate: p.Mandate})
	}
	return ledger
}

// agrees adds an entry with the consent to order what it is offered.
func (n *node) agrees(t *testing.T, email, method string, most int64) string {
	t.Helper()
	w := waitlist.NewEntry{Email: email, Wanted: one, Consent: waitlist.Consent{Method: method, Name: " Ann  Ørsted", Most: most}}
	j, err := n.list.Join(t.Context(), n.sale, w, waitlist.Joining{Verified: email})
	if err != nil {
		t.Fatal(err)
	}
	return j.Code
}

func TestConsent_OffersAreOrderedIfTheMoneySuffices(t *testing.T) {
	t.Parallel()
	h := build(t, hall(0, 5), week/2, 2, false) // 10.00 each
	a := h.nodes[0]
	ledger := a.ordersAtOnce(h)
	h.nodes[1].ordersAtOnce(h)
	has := a.fill(t)
	rich, poor, tight, late := a.agrees(t, "rich@example.org", payments.Credit, 1000), a.agrees(t, "poor@example.org", payments.Credit, 5000),
		a.agrees(t, "tight@example.org", payments.Door, 999), a.agrees(t, "late@example.org", payments.Door, 1000)
	asked := a.joins(t, "asked@example.org", one)
	if err := ledger.Grant(t.Context(), "gift", "rich@example.org", credit.Amount{Minor: 1500, Currency: "EUR"}, seats.ID{}); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if _, err := a.sale.Release(t.Context(), has[0]); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	for code, want := range map[string]string{rich: waitlist.Served, late: waitlist.Served, poor: waitlist.Offered, tight: waitlist.Offered, asked: waitlist.Offered} {
		if e := a.entry(t, code); e.State != want || e.State == waitlist.Offered && e.Consent.Given() {
			t.Errorf("%s is %s, want %s, and agreed to %+v", e.Email, e.State, want, e.Consent)
		}
	}
	if n := h.count(t, `SELECT count(*) FROM orders WHERE name = 'Ann Ørsted' AND (method = 'credit' AND paid = 1000 AND email = 'rich@example.org' OR method = 'door' AND email = 'late@example.org')`); n != 2 || h.count(t, `SELECT count(*) FROM orders`) != 2 {
		t.Errorf("%d of 2 orders are as they should be, of %d", n, h.count(t, `SELECT count(*) FROM orders`))
	}
	for what, sql := range map[string]string{
		"mail with an offer to those who are asked":  `SELECT count(*) FROM mail m JOIN entry n ON n.id = m.entry_id WHERE m.kind = 'wait-offer' AND n.state = 'offered'`,
		"steps that say why nothing was ordered + 1": `SELECT 1 + count(*) FROM wait_step WHERE what = 'not ordered' AND detail <> ''`,
		"mail about an order + 1":                    `SELECT 1 + count(*) FROM mail WHERE kind = 'confirmation'`,
	} {
		if n := h.count(t, sql); n != 3 {
			t.Errorf("%s: %d", what, n)
		}
	}
	if n := h.count(t, `SELECT count(*) FROM mail m JOIN entry n ON n.id = m.entry_id WHERE m.kind = 'wait-offer' AND n.state = 'served'`); n != 0 {
		t.Errorf("%d were asked who had agreed", n)
	}
	h.wantBooks(t)
}

func TestAgree_LostAnswerPlacesTheOrderOnce(t *testing.T) {
	t.Parallel()
	h := build(t, hall(0, 2), week/2, 1, false)
	n := h.nodes[0]
	n.ordersAtOnce(h)
	tries, order := 0, n.list.Order
	n.list.Order = func(ctx context.Context, s *seats.Sale, p waitlist.Purchase) error {
		if tries++; tries == 1 {
			return nil // a node that died before it did anything
		}
		return errors.Join(order(ctx, s, p), order(ctx, s, p)) // and one that asked twice
	}
	has := n.fill(t)
	ann := n.agrees(t, "ann@example.org", payments.Door, 1000)
	h.rounds(t)
	if _, err := n.sale.Release(t.Context(), has[0], 0); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	if e := n.entry(t, ann); e.State != waitlist.Offered || tries != 1 {
		t.Fatalf("ann is %s after %d tries", e.State, tries)
	}
	h.exec(t, `UPDATE offer SET ordering_at = clock_timestamp() - interval '2 minutes'`)
	h.rounds(t)
	if e := n.entry(t, ann); e.State != waitlist.Served || tries != 2 || h.count(t, `SELECT count(*) FROM orders`) != 1 {
		t.Errorf("ann is %s after %d tries, with %d orders", e.State, tries, h.count(t, `SELECT count(*) FROM orders`))
	}
	h.wantBooks(t)
}

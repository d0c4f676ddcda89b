package payments_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/seatstest"
)

// Every provider of these tests is watched (seatstest.Watched). Planted here: a transaction stays open over each
// call there is.
func TestATransactionThatStaysOpenOverACallToAProviderIsNoticed(t *testing.T) {
	t.Parallel()
	h := &shop{fixture: open(t, "theatre", events.Settings{PaidAhead: true}), bank: newBank()}
	var mu sync.Mutex
	var found []string
	note := func(what string) { mu.Lock(); defer mu.Unlock(); found = append(found, what) }
	watched := seatstest.Outside{Provider: h.bank, DB: h.db, Patience: 50 * time.Millisecond, Found: note}
	h.orders.Payments.Accept(payments.Card, watched)
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // nothing was done in it
	if _, err := tx.Exec(t.Context(), `SELECT 'planted'`); err != nil {
		t.Fatal(err)
	}
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 1)) // authorized and captured
	order := h.again(t, orders.Order{Code: p.Code})
	if err := h.orders.Refund(t.Context(), order, "k", 1, ""); err != nil {
		t.Fatal(err)
	}
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil { // refunded
		t.Fatal(err)
	}
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	p = h.pays(t, who, h.claims(t, who, 1))
	if err := h.orders.Payments.Ask(t.Context(), p); err != nil { // looked up
		t.Fatal(err)
	}
	if _, err := h.orders.Payments.Stop(t.Context(), p.Code); err != nil { // voided
		t.Fatal(err)
	}
	all := strings.Join(found, "\n")
	for _, call := range []string{"authorize", "capture", "refund", "look up", "void"} {
		if !strings.Contains(all, "is asked to "+call+", after SELECT 'planted'") {
			t.Errorf("a transaction open over the call to %s was not noticed:\n%s", call, all)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	found = nil
	h.bank.set(func(b *bank) { b.next = payments.Authorized })
	if h.pays(t, who, h.claims(t, who, 1)); len(found) > 0 {
		t.Errorf("with nothing open this was found: %v", found)
	}
}

package orders

import (
	"testing"

	"github.com/usherbox/usher/seats"
)

// PaymentByHoldSQL is asked for each page of a checkout.
const PaymentByHoldSQL = paymentByHoldSQL

// Leave begins a cancellation of an order's tickets, all if none is named, which comes to nothing when stay is called.
func (o *Orders) Leave(t testing.TB, order Order, tickets ...seats.ID) (stay func()) {
	chosen, _, err := order.chosen(tickets)
	c := cancelling{id: seats.NewID(), tickets: chosen}
	left, e := o.leave(t.Context(), c)
	if err != nil || e != nil || !left {
		t.Fatalf("leave: %t, %v, %v", left, err, e)
	}
	return func() {
		if err := o.stay(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
}

// Lose gives up a payment with money that came all the same, as a node does that learned of it. It reports whether anything
// follows.
func (o *Orders) Lose(t testing.TB, p Payment) bool {
	again, err := o.lose(t.Context(), p, p.Amount, reasonStopped, "")
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// Close ends a payment of which a node believes that nothing is kept.
func (o *Orders) Close(t testing.TB, p Payment) {
	if err := o.close(t.Context(), p, reasonEnded, 0); err != nil {
		t.Fatal(err)
	}
}

// Late is for a node that learned that the money came after all.
func (o *Orders) Late(t testing.TB, p Payment) {
	if _, err := o.late(t.Context(), p, Standing{Stand: Captured, Amount: p.Amount, Captured: p.Amount, Currency: p.Currency}); err != nil {
		t.Fatal(err)
	}
}

// ReadInbox makes due what is in the inbox, as another node may at any moment.
func (o *Orders) ReadInbox(t testing.TB) {
	if _, err := o.readInbox(t.Context()); err != nil {
		t.Error(err)
	}
}

// NormalEmail is the spelling that stands for all spellings of a mailbox.
var NormalEmail = normalEmail

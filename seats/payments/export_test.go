package payments

import "testing"

// PaymentByHoldSQL is asked for each page of a checkout.
const PaymentByHoldSQL = paymentByHoldSQL

// Lose gives up a payment with money that came all the same, as a node does that learned of it. It reports whether anything
// follows.
func (ps *Payments) Lose(t testing.TB, p Payment) bool {
	again, err := ps.lose(t.Context(), p, p.Amount, reasonStopped, "")
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// Close ends a payment of which a node believes that nothing is kept.
func (ps *Payments) Close(t testing.TB, p Payment) {
	if err := ps.close(t.Context(), p, reasonEnded, 0); err != nil {
		t.Fatal(err)
	}
}

// Late is for a node that learned that the money came after all.
func (ps *Payments) Late(t testing.TB, p Payment) {
	if _, err := ps.late(t.Context(), p, Standing{Stand: Captured, Amount: p.Amount, Captured: p.Amount, Currency: p.Currency}); err != nil {
		t.Fatal(err)
	}
}

// AskAgain makes the attempts of a payment due, as another node does that hears of it. This node is not told.
func (ps *Payments) AskAgain(t testing.TB, p Payment) {
	if err := ps.ask(t.Context(), p.ID, Card, nil); err != nil {
		t.Error(err)
	}
}

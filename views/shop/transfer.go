package shop

import (
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/views"
)

// Fact is a line that a person copies.
type Fact struct{ Label, Text string }

// TransferFacts is what a person enters at the bank; nothing if there is no account to transfer to.
func TransferFacts(t banktransfer.Transfer) (facts []Fact) {
	if !t.Known() {
		return nil
	}
	for _, f := range []Fact{
		{"Pay to", t.Holder}, {"IBAN", t.Grouped()}, {"BIC", t.BIC}, {"Bank", t.Bank}, {"Reference", t.Reference}, {"Amount", views.Money(t.Amount, t.Currency)},
	} {
		if f.Text != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

package shop

import (
	"context"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// Fact is a line that a person copies.
type Fact struct{ Label, Text string }

// TransferFacts is what a person enters at the bank; nothing if there is no account to transfer to.
func TransferFacts(ctx context.Context, t banktransfer.Transfer) (facts []Fact) {
	if !t.Known() {
		return nil
	}
	for _, f := range []Fact{
		{text.T(ctx, "Pay to"), t.Holder}, {"IBAN", t.Grouped()}, {"BIC", t.BIC}, {text.T(ctx, "Bank"), t.Bank}, {text.T(ctx, "Reference"), t.Reference}, {text.T(ctx, "Amount"), views.MoneyIn(ctx, t.Amount, t.Currency)},
	} {
		if f.Text != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

// BankDetailsWords says where the account comes from if an order is to be paid by bank transfer and the team has entered none, as
// a team does that writes invoices itself.
func BankDetailsWords(ctx context.Context, o orders.Order, t banktransfer.Transfer) string {
	if o.Method != payments.Invoice || o.Due() == 0 || t.Known() {
		return ""
	}
	return text.T(ctx, "The organizer sends you an invoice with the bank details.")
}

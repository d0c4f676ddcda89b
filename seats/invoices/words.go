package invoices

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// KindWords names a kind of document.
func KindWords(ctx context.Context, kind string) string { return text.T(ctx, kinds[kind]) }

// kinds are the words for kinds of documents and lines.
var kinds = map[string]string{
	Invoice: text.Mark("Invoice"), Credit: text.Mark("Credit note"), Prepayment: text.Mark("Deposit invoice"),
	LineTicket: text.Mark("Ticket"), LineFee: text.Mark("Booking fee"), LineKept: text.Mark("Kept by the cancellation terms"), LineRefund: text.Mark("Refund"),
	LineDonation: text.Mark("Donation"), LinePostage: text.Mark("Postage"), LineDeposit: text.Mark("Deposit"),
}

// Title names a document in the language of its reader.
func (d Document) Title(ctx context.Context) string {
	return text.T(ctx, kinds[d.Kind]) + " " + d.Label
}

// Words says what a line is for.
func (d Document) Words(ctx context.Context, l Line) string {
	words := []string{text.T(ctx, kinds[l.Kind])}
	for _, more := range []string{l.Text, l.Place} {
		if more != "" {
			words = append(words, more)
		}
	}
	if l.Less > 0 {
		less := text.T(ctx, "discount %s", pricing.Amount(l.Less, d.Currency))
		if d.Less != "" {
			less += " (" + d.Less + ")"
		}
		words = append(words, less)
	}
	return strings.Join(words, ", ")
}

// Exemption says why no tax is charged at the rate 0; empty if the seller gave no reason.
func (d Document) Exemption(ctx context.Context) string {
	if d.Reverse {
		return text.T(ctx, "Reverse charge: the buyer owes the VAT.")
	}
	return d.Seller.Exemption
}

// Terms says how a document is paid.
func (d Document) Terms(ctx context.Context) string {
	switch {
	case d.Retained:
		return text.T(ctx, "We keep this amount by the rule of the deposit, as compensation without VAT.")
	case d.Kind == Credit:
		return text.T(ctx, "This amount is refunded, or no longer due.")
	case d.Kind == Prepayment && d.Paid:
		return text.T(ctx, "Paid")
	case d.Paid:
		return text.T(ctx, "Paid with the order.")
	case d.Due() == 0:
		return text.T(ctx, "Paid by the deposit.")
	case d.DueOn != "":
		return text.T(ctx, "Due on %s.", d.DueOn)
	}
	return text.T(ctx, "Due at the event, or as the order says.")
}

// LessDeposit names the deposit that a document is reduced by; empty without one.
func (d Document) LessDeposit(ctx context.Context) string {
	if d.Deposit == nil {
		return ""
	}
	words := text.T(ctx, "Less deposit of %[1]s, paid on %[2]s", pricing.Amount(d.Deposit.Amount, d.Currency)+" "+d.Currency, d.Deposit.On)
	if d.Deposit.Label != "" {
		words += " (" + d.Deposit.Label + ")"
	}
	return words
}

// DayOfIssue is the day on which a document was issued.
func (d Document) DayOfIssue(ctx context.Context) string {
	return text.Time(ctx, d.IssuedOn, "2 January 2006")
}

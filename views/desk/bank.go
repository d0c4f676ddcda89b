package desk

import (
	"context"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// BankPath is the address of the team's bank account and statements.
const BankPath = Path + "/bank"

// StatementFiles are the endings of the names of statements.
const StatementFiles = ".xml,.csv,.txt,.c53"

// BankPage is the bank account of a team, and what its statements say.
type BankPage struct {
	Frame
	Details  banktransfer.Details // as stored, or as typed
	Mistakes organizers.Mistakes
	Open     []banktransfer.Open
	Files    []banktransfer.File
	Message  string // why a file was not imported, or an entry not applied
	Imported string // what became of a file
}

// matching counts the open entries that can be applied without a look at them.
func (p BankPage) matching() (n int) {
	for _, o := range p.Open {
		if o.Exact() {
			n++
		}
	}
	return n
}

// ImportWords says what became of a file.
func ImportWords(ctx context.Context, i banktransfer.Import) string {
	if i.Repeated {
		return text.T(ctx, "This file was imported before, on %s. Nothing was changed.", momentIn(ctx, i.Imported))
	}
	said := text.N(ctx, "%d payment in this file.", "%d payments in this file.", i.Entries)
	if known := i.Entries - i.Fresh; known > 0 {
		said = text.N(ctx, "%d payment in this file, %d of them imported before.", "%d payments in this file, %d of them imported before.", i.Entries, known)
	}
	return said + " " + text.N(ctx, "%d order marked as paid.", "%d orders marked as paid.", i.Applied)
}

// entryStanding says how an open entry and its order differ, and whether applying it needs care.
func entryStanding(ctx context.Context, o banktransfer.Open) (words, class string) {
	switch {
	case o.Reference == "":
		return text.T(ctx, "No reference"), ""
	case o.IsDeposit():
		return text.T(ctx, "Matches"), "good"
	case o.Booking != nil:
		return text.T(ctx, "Deposit"), "warn"
	case o.Order == "":
		return text.T(ctx, "Unknown reference"), "bad"
	case !o.Transfer:
		return text.T(ctx, "Not paid by bank transfer"), "bad"
	case o.Currency != o.Of:
		return text.T(ctx, "Other currency"), "bad"
	case o.State == orders.Cancelled:
		return text.T(ctx, "The order was cancelled"), "bad"
	case o.Due == 0:
		return text.T(ctx, "Paid before"), "warn"
	case o.Amount < o.Due:
		return text.T(ctx, "%s too little", views.MoneyIn(ctx, o.Due-o.Amount, o.Currency)), "warn"
	case o.Amount > o.Due:
		return text.T(ctx, "%s too much", views.MoneyIn(ctx, o.Amount-o.Due, o.Currency)), "warn"
	}
	return text.T(ctx, "Matches"), "good"
}

// entryAdvice says what applying an open entry does.
func entryAdvice(ctx context.Context, o banktransfer.Open) string {
	switch {
	case o.IsDeposit():
		return text.T(ctx, "The group’s deposit: note it as paid.")
	case o.Booking != nil && o.DepositPaid == payments.Invoice:
		return text.T(ctx, "The deposit was noted as paid by bank transfer before. If this is that payment, it is not for an order.")
	case o.Order == "":
		return text.T(ctx, "Enter the order’s code or reference.")
	case o.State == orders.Cancelled || o.Due == 0:
		return text.T(ctx, "If you apply it, all of it is to be paid out by hand.")
	case o.Amount < o.Due:
		return text.T(ctx, "If you apply it, the rest stays due.")
	case o.Amount > o.Due:
		return text.T(ctx, "If you apply it, the rest is to be paid out by hand.")
	}
	return ""
}

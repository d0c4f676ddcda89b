package desk

import (
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/views"
)

// BankPath is the address of the team's bank account and statements.
const BankPath = Path + "/bank"

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
func ImportWords(i banktransfer.Import) string {
	if i.Repeated {
		return "This file was imported before, on " + moment(i.Imported) + ". Nothing was changed."
	}
	said := views.Counted(i.Entries, "payment") + " in this file"
	if known := i.Entries - i.Fresh; known > 0 {
		said += ", " + views.Number(known) + " of them imported before"
	}
	return said + ". " + views.Counted(i.Applied, "order") + " marked as paid."
}

// standing says how an open entry and its order differ, and whether applying it needs care.
func entryStanding(o banktransfer.Open) (words, class string) {
	switch {
	case o.Reference == "":
		return "No reference", ""
	case o.Order == "":
		return "Unknown reference", "bad"
	case !o.Transfer:
		return "Not paid by bank transfer", "bad"
	case o.Currency != o.Of:
		return "Other currency", "bad"
	case o.State == orders.Cancelled:
		return "The order was cancelled", "bad"
	case o.Due == 0:
		return "Paid before", "warn"
	case o.Amount < o.Due:
		return views.Money(o.Due-o.Amount, o.Currency) + " too little", "warn"
	case o.Amount > o.Due:
		return views.Money(o.Amount-o.Due, o.Currency) + " too much", "warn"
	}
	return "Matches", "good"
}

// entryAdvice says what applying an open entry does.
func entryAdvice(o banktransfer.Open) string {
	switch {
	case o.Order == "":
		return "Enter the order’s code or reference."
	case o.State == orders.Cancelled || o.Due == 0:
		return "If you apply it, all of it is to be paid out by hand."
	case o.Amount < o.Due:
		return "If you apply it, the rest stays due."
	case o.Amount > o.Due:
		return "If you apply it, the rest is to be paid out by hand."
	}
	return ""
}

package desk

import (
	"context"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/organizers"
)

// InvoicesPath is the address of the team's invoices.
const InvoicesPath = Path + "/invoices"

// InvoicesPage is the invoices and credit notes of a team, and the seller on them.
type InvoicesPage struct {
	Frame
	Next     string // cursor of the next page; empty: there is none
	Book     invoices.Book
	Sender   invoices.Sender // as stored, or as typed
	Issues   bool            // the team has entered a seller
	Mistakes organizers.Mistakes
}

// documentWord names a kind of document.
func documentWord(ctx context.Context, kind string) string { return invoices.KindWords(ctx, kind) }

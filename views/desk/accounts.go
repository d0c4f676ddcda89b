package desk

import (
	"context"
	"net/url"
	"strconv"

	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/text"
)

// AccountsPath is the address of the accounts of a team.
const AccountsPath = BooksPath + "/accounts"

// AccountsPage is the account numbers that a team's accountant books to.
type AccountsPage struct {
	Frame
	Chart books.Chart
	Keys  []books.AccountKey
	Form  url.Values // as it was typed; nil: what is stored
	Wrong string     // why it was not saved
}

// AccountField is the field of an account.
func AccountField(k books.AccountKey) string { return "account." + k.String() }

// value is what a field shows.
func (p AccountsPage) value(field, stored string) string {
	if p.Form != nil {
		return p.Form.Get(field)
	}
	return stored
}

func (p AccountsPage) number(field string, stored int) string {
	if p.Form == nil && stored == 0 {
		return ""
	}
	return p.value(field, strconv.Itoa(stored))
}

// AccountName says what is booked to an account.
func AccountName(ctx context.Context, k books.AccountKey) string {
	switch k.Kind {
	case books.AccountMethod:
		return text.T(ctx, "Money: %s", MethodName(ctx, k.Name))
	case books.LineTicket:
		return text.T(ctx, "Tickets at %s", RateName(ctx, k.Name))
	case books.LineFee:
		return text.T(ctx, "Fees at %s", RateName(ctx, k.Name))
	case books.LinePostage:
		return text.T(ctx, "Postage at %s", RateName(ctx, k.Name))
	case books.LineDeposit:
		return text.T(ctx, "Deposits of groups at %s", RateName(ctx, k.Name))
	case books.LineRetained:
		return text.T(ctx, "Deposits retained")
	case books.LineDonation:
		return text.T(ctx, "Donations")
	}
	return text.T(ctx, "Paid in excess, or without an order")
}

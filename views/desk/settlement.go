package desk

import (
	"cmp"
	"context"
	"net/url"
	"strconv"

	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// SettlementPath is the address of the settlement of an event.
func SettlementPath(slug string) string { return EventPath(slug) + "/settlement" }

// SettlementPage is what an event earned, and who gets what of it.
type SettlementPage struct {
	Frame
	books.Settlement
	Form  url.Values // as it was typed; nil: what is stored
	Wrong string     // why it was not saved
}

// shareRow is a share as its form shows it.
type shareRow struct{ name, percent, of string }

// shareRows are the shares in the form, with empty rows for more.
func (p SettlementPage) shareRows() []shareRow {
	rows := make([]shareRow, books.MostShares)
	for i := range rows {
		rows[i].of = books.OfNet
		if p.Form != nil {
			rows[i] = shareRow{nth(p.Form["name"], i), nth(p.Form["percent"], i), cmp.Or(nth(p.Form["of"], i), books.OfNet)}
		} else if i < len(p.Shares) {
			rows[i] = shareRow{p.Shares[i].Name, pricing.Percentage(p.Shares[i].Percent), p.Shares[i].Of}
		}
	}
	return rows
}

func nth(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// shareBases are what shares can be of.
var shareBases = []string{books.OfNet, books.OfTickets, books.OfTotal}

func (r shareRow) label(ctx context.Context, what string, i int) string {
	return text.T(ctx, what) + " " + strconv.Itoa(i+1)
}

package shop_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

func TestSettlementPaper_IsOnePageInEachDirection(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 5, 2, 8, 0, 0, 0, time.UTC)
	s := shop.Settlement{
		Settlement: books.Settlement{
			Event: &books.Event{Name: "The Seagull", StartsAt: at, Currency: "EUR"}, At: at, Tickets: 1_000_000, Unpaid: 4200, Promoter: 735_000,
			Total:   books.Sums{Tickets: 120, Gross: 1_300_000, Refunds: 100_000, Fees: 50_000, Tax: 78_505},
			Methods: []books.Row{{Key: "card", Sums: books.Sums{Gross: 1_300_000, Refunds: 100_000}}},
			Shares:  []books.SettledShare{{Share: books.Share{Name: "Author", Percent: 1250, Of: books.OfTickets}, Amount: 125_000}},
			Rows:    []books.SettledRow{{Category: "Stalls", Type: "Standard", Sums: books.Sums{Tickets: 120, Gross: 1_300_000, Refunds: 100_000, Fees: 50_000, Tax: 78_505}}, {Line: books.LineDonation, Sums: books.Sums{Gross: 500}}},
		},
		Place: "Theatre", Team: "Box office", Method: func(_ context.Context, method string) string { return method },
	}
	for _, language := range []string{"en", "ar"} {
		paper := shop.SettlementPaper(text.With(t.Context(), language), s, shop.Print{})
		if pages := bytes.Count(paper, []byte("/Type /Page ")); !bytes.HasPrefix(paper, []byte("%PDF")) || pages > 1 {
			t.Errorf("in %s the settlement has %d pages, %d bytes", language, pages, len(paper))
		}
	}
}

package books_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/books"
)

func TestSettlement_ComesToTheReport(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	h.exec(t, `INSERT INTO event_share (event_id, shares) SELECT id, '[{"name": "Author", "percent": 1250, "of": "tickets"}, {"name": "House", "percent": 3000, "of": "net"}, {"name": "Card", "percent": 33, "of": "total"}]' FROM event WHERE slug = 'evening'`)
	for _, slug := range []string{"evening", "evening-2"} { // the second one has the shares of the first, which leads the series
		s, err := h.books.Settlement(t.Context(), h.member, slug)
		if err != nil {
			t.Fatal(err)
		}
		want := h.report(t, books.Filter{Event: slug}, books.ByCategory).Total
		var rows, methods books.Sums
		for _, r := range s.Rows {
			rows.Tickets, rows.Gross, rows.Exchanged, rows.Refunds, rows.Fees, rows.Tax = rows.Tickets+r.Tickets, rows.Gross+r.Gross, rows.Exchanged+r.Exchanged, rows.Refunds+r.Refunds, rows.Fees+r.Fees, rows.Tax+r.Tax
		}
		for _, r := range s.Methods {
			methods.Gross, methods.Exchanged, methods.Refunds = methods.Gross+r.Gross, methods.Exchanged+r.Exchanged, methods.Refunds+r.Refunds
		}
		if s.Total != want || rows != want || methods.Total() != want.Total() {
			t.Errorf("%s is settled with %+v, its rows are %+v, by method %+v, and its report is %+v", slug, s.Total, rows, methods, want)
		}
		rest := want.Total()
		for _, share := range s.Shares {
			rest -= share.Amount
		}
		if s.Promoter != rest || len(s.Shares) != 3 || s.Shares[0].Amount != books.Part(s.Tickets, 1250) || s.Shares[0].Amount == 0 {
			t.Errorf("%s: the promoter gets %d of %d, the shares are %+v", slug, s.Promoter, want.Total(), s.Shares)
		}
	}
	s, err := h.books.Settlement(t.Context(), h.member, "evening")
	if due := h.number(t, `SELECT sum(total - paid) FROM orders WHERE method = 'invoice' AND state = 'confirmed'`); err != nil || s.Unpaid != due || due == 0 {
		t.Errorf("%d is unpaid, %v, want %d", s.Unpaid, err, due)
	}
}

func TestPart_RoundsHalfACentAwayFromZero(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount  int64
		percent int
		want    int64
	}{{100, 50, 1}, {99, 50, 0}, {-100, 50, -1}, {12345, 1250, 1543}, {0, 10000, 0}, {9_000_000_000_000_000, 10000, 9_000_000_000_000_000}} {
		if got := books.Part(c.amount, c.percent); got != c.want {
			t.Errorf("%d hundredths of a percent of %d are %d, want %d", c.percent, c.amount, got, c.want)
		}
	}
}

func TestShares_BadOnesAreRefused(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	e := h.sale(t, "evening").Event
	for _, s := range []books.Share{{Percent: 1, Of: books.OfNet}, {Name: "x", Of: books.OfNet}, {Name: "x", Percent: 10001, Of: books.OfNet}, {Name: "x", Percent: 1, Of: "all"}, {Name: "x\n", Percent: 1, Of: books.OfNet}} {
		var wrong *seats.ValidationError
		if err := h.books.SetShares(t.Context(), h.member, e, []books.Share{s}, "k"); !asValidation(err, &wrong) {
			t.Errorf("%+v was answered %v", s, err)
		}
	}
}

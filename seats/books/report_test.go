package books_test

import (
	"fmt"
	"testing"

	"github.com/usherbox/usher/seats/books"
)

func TestReport_EveryGroupingComesToWhatOrdersHave(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	h.wantPromises(t)
	paid := h.number(t, `SELECT sum(paid) FROM orders`)
	live := h.number(t, `SELECT count(*) FROM ticket WHERE revoked_at IS NULL`)
	back := h.number(t, `SELECT sum(amount) FROM refund`)
	for _, by := range books.Groups {
		r := h.report(t, books.Filter{}, by)
		var sum books.Sums
		for _, row := range r.Rows {
			sum.Tickets, sum.Gross, sum.Exchanged, sum.Refunds = sum.Tickets+row.Tickets, sum.Gross+row.Gross, sum.Exchanged+row.Exchanged, sum.Refunds+row.Refunds
			sum.Fees, sum.Tax = sum.Fees+row.Fees, sum.Tax+row.Tax
		}
		if sum != r.Total {
			t.Errorf("by %s: rows come to %+v, the total is %+v", by, sum, r.Total)
		}
		if r.Total.Total() != paid || int64(r.Total.Tickets) != live || r.Total.Exchanged != 0 || r.Total.Refunds != back || r.Total.Tax == 0 || r.Total.Fees == 0 {
			t.Errorf("by %s: the total is %+v, orders have %d and %d tickets, and refunds are %d", by, r.Total, paid, live, back)
		}
	}
	if t.Failed() {
		for _, by := range books.Groups {
			for _, row := range h.report(t, books.Filter{}, by).Rows {
				t.Log(by, row.Key, row.Line, fmt.Sprintf("%+v", row.Sums))
			}
		}
	}
}

func TestReport_TaxOfPaidTicketsIsWhatTheySay(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	want := h.number(t, `SELECT sum(t.tax + t.fee_tax) FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.revoked_at IS NULL AND o.at_office`)
	got := int64(0)
	err := h.books.Postings(t.Context(), h.member, books.Filter{}, func(p books.Posting) {
		if p.Channel == books.BoxOffice {
			got += p.Tax
		}
	})
	if err != nil || got != want || want == 0 {
		t.Errorf("the books have a tax of %d at the box office, %v, and its tickets %d", got, err, want)
	}
}

func TestReport_DaysAddUp(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	// Half of what happened was before midnight in Berlin, the rest after it.
	h.exec(t, `UPDATE orders SET created_at = '2019-03-01 22:59:59Z' WHERE method = 'cash'`)
	h.exec(t, `UPDATE orders SET created_at = '2019-03-01 23:00:00Z' WHERE method = 'terminal'`)
	first, second := h.report(t, books.Filter{From: "2019-03-01", To: "2019-03-01"}, books.ByMethod), h.report(t, books.Filter{From: "2019-03-02", To: "2019-03-02"}, books.ByMethod)
	if len(first.Rows) != 1 || first.Rows[0].Key != "cash" || first.Total.Tickets != 1 || len(second.Rows) != 1 || second.Rows[0].Key != "terminal" {
		t.Errorf("the days are %+v and %+v", first, second)
	}
	all := h.report(t, books.Filter{}, books.ByDay)
	rest := h.report(t, books.Filter{From: "2019-03-02"}, books.ByDay)
	if all.Total.Total() != first.Total.Total()+rest.Total.Total() || all.Rows[0].Key != "2019-03-01" {
		t.Errorf("%+v is not %+v and %+v", all.Total, first.Total, rest.Total)
	}
	one := h.report(t, books.Filter{Event: "evening-2"}, books.ByPerformance)
	if len(one.Rows) != 1 || one.Total.Exchanged <= 0 || one.Total.Tickets != 2 {
		t.Errorf("the other performance is %+v", one)
	}
}

func TestReport_IsOfTheTeamAlone(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	other := h.member
	other.Team = h.number(t, `INSERT INTO team (name) VALUES ('Other') RETURNING id`)
	if list, err := h.books.Report(t.Context(), other, books.Filter{Event: "evening"}, books.ByDay); err != nil || len(list) != 0 {
		t.Errorf("another team reads %+v, %v", list, err)
	}
}

func TestReport_OfAPromoterIsThatOfTheirEvents(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	if _, err := h.db.Exec(t.Context(), `UPDATE event SET promoter = 'Agency' WHERE slug = 'evening-2'`); err != nil {
		t.Fatal(err)
	}
	h.wantPromises(t)
	theirs := h.report(t, books.Filter{Event: "evening-2"}, books.ByPerformance).Total
	r := h.report(t, books.Filter{}, books.ByPromoter)
	if len(r.Rows) != 2 || r.Rows[0].Key != "Agency" || r.Rows[1].Key != "" || r.Rows[0].Sums != theirs || theirs.Total() == 0 || r.Rows[1].Sums.Total() != r.Total.Total()-theirs.Total() {
		t.Errorf("by promoter there are %+v, and the event of the promoter has %+v", r.Rows, theirs)
	}
}

package books_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// groupOf is the group of a posting, as docs/books.md has it.
func groupOf(p books.Posting, by string) string {
	line := ""
	if p.Line != books.LineTicket && p.Line != books.LineFee {
		line = p.Line
	}
	return p.Event.Currency + " " + map[string]string{
		books.ByDay: p.Day(), books.ByPerformance: p.Event.Slug, books.BySeries: p.Event.Series, books.ByCategory: p.Category + line, books.ByType: p.Type + line,
		books.ByChannel: p.Channel, books.ByMethod: p.Method, books.ByRate: strconv.Itoa(p.Rate), books.ByPromoter: p.Event.Promoter,
	}[by]
}

// wantReports holds the reports by every group, for some filters, against the sums of postings.
func (h *house) wantReports(t testing.TB, when string) {
	t.Helper()
	today := time.Now().UTC()
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	for _, f := range []books.Filter{
		{},
		{Event: "evening-2"},
		{Series: "run"},
		{From: day(-3), To: day(0)},
		{To: day(-2)},
		{From: day(-1)},
		{Event: "evening", From: day(-40), To: day(-2)},
		{Event: "none"},
		{From: day(-45), To: day(-3)},
		{From: day(-20), To: day(10)},
		{From: day(-1), To: day(-4)},
	} {
		sums := map[string]map[string]books.Sums{}
		for _, by := range books.Groups {
			sums[by] = map[string]books.Sums{}
		}
		err := h.books.Postings(t.Context(), h.member, f, func(p books.Posting) {
			for by, want := range sums {
				s := want[groupOf(p, by)]
				s.Tickets += p.Tickets
				switch p.Kind {
				case books.Payment:
					s.Gross += p.Amount
				case books.Exchanged:
					s.Exchanged += p.Amount
				case books.Refund:
					s.Refunds -= p.Amount
				}
				if p.Line == books.LineFee {
					s.Fees += p.Amount
				}
				s.Tax += p.Tax
				want[groupOf(p, by)] = s
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range books.Groups {
			list, err := h.books.Report(t.Context(), h.member, f, by)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]books.Sums{}
			rows := 0
			for _, r := range list {
				var total books.Sums
				for _, row := range r.Rows {
					rows++
					got[r.Currency+" "+row.Key+row.Line] = row.Sums
					total.Tickets, total.Gross, total.Exchanged = total.Tickets+row.Tickets, total.Gross+row.Gross, total.Exchanged+row.Exchanged
					total.Refunds, total.Fees, total.Tax = total.Refunds+row.Refunds, total.Fees+row.Fees, total.Tax+row.Tax
					if by == books.ByPerformance && row.Event.Slug != row.Key || by == books.BySeries && row.Key != "" && row.Event.Series != row.Key {
						t.Errorf("%s: the row %s is of event %+v", when, row.Key, row.Event)
					}
				}
				if total != r.Total {
					t.Errorf("%s: %+v by %s: rows come to %+v, the total is %+v", when, f, by, total, r.Total)
				}
			}
			if rows != len(got) || !maps.Equal(got, sums[by]) {
				t.Errorf("%s: %+v by %s: the report has %d rows %+v, postings come to %+v", when, f, by, rows, got, sums[by])
			}
		}
	}
}

// count counts all that changed.
func (h *house) count(t testing.TB) {
	t.Helper()
	for h.number(t, `SELECT count(*) FROM book_touch`) > 0 {
		if _, err := h.books.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// scatter has orders placed on several days.
func (h *house) scatter(t testing.TB) {
	t.Helper()
	h.exec(t, `UPDATE orders SET created_at = created_at - n * interval '17 hours' FROM (SELECT id, row_number() OVER (ORDER BY created_at) % 5 AS n FROM orders) x WHERE x.id = orders.id`)
}

func TestReport_IsTheSumOfPostingsWhateverIsCounted(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	h.scatter(t)
	h.exec(t, `UPDATE orders SET created_at = created_at - interval '40 days' WHERE code = (SELECT min(code) FROM orders WHERE method = 'card')`)
	h.exec(t, `UPDATE event SET promoter = 'Agency' WHERE slug = 'evening-2'`)
	h.books.Most(100)
	h.wantReports(t, "nothing is counted")
	h.books.Most(3)
	h.wantReports(t, "nothing is counted, and there is much of it")
	if n, err := h.books.CountSome(t.Context(), 5); err != nil || n != 5 {
		t.Fatal(n, err)
	}
	h.wantReports(t, "some is counted")
	who := seats.NewID()
	sold := h.pays(t, who, h.form(t, who, "B", 2, payments.Card))
	if err := h.orders.Cancel(t.Context(), h.sale(t, "evening"), sold, "again", sold.Tickets[0].ID); err != nil {
		t.Fatal(err)
	}
	h.settle(t)
	h.wantReports(t, "some is counted, and more happened")
	h.count(t)
	h.wantReports(t, "everything is counted")
	h.wantPromises(t)
	for i, refund := range []int64{5, 7} { // of what is counted
		if err := h.orders.Refund(t.Context(), h.find(t, sold.Code), fmt.Sprint("again", i), refund, "Loud neighbours"); err != nil {
			t.Fatal(err)
		}
	}
	h.settle(t)
	h.exec(t, `UPDATE refund SET by_hand = true WHERE amount = 7`)
	h.wantReports(t, "something happened to what is counted")
	h.wantPromises(t)
	h.count(t)
	h.wantReports(t, "and is counted")
	h.wantPromises(t)
	if h.number(t, `SELECT count(*) FROM book_order`) == 0 || h.number(t, `SELECT count(*) FROM book_day`) == 0 {
		t.Error("nothing is counted")
	}
}

// changes are all that postings depend on, each changed in an evening of everything.
var changes = []struct{ what, sql string }{
	{"time of an order", `UPDATE orders SET created_at = created_at - interval '3 days'`},
	{"channel of an order", `UPDATE orders SET at_office = NOT at_office WHERE email <> ''`},
	{"key of an order", `UPDATE orders SET sold_by = 'Partner'`},
	{"method of an order", `UPDATE orders SET method = 'demo' WHERE method = 'card'`},
	{"donation", `UPDATE orders SET extras = '[]' WHERE extras <> '[]'`},
	{"money at the door", `UPDATE orders SET received = received + 1 WHERE method = 'invoice'`},
	{"price", `UPDATE ticket SET price = price + 1`},
	{"fee", `UPDATE ticket SET fee = fee + 1 WHERE fee > 0`},
	{"tax", `UPDATE ticket SET tax = tax - 1, fee_tax = fee_tax - 1 WHERE tax > 0 AND fee_tax > 0`},
	{"tax rate", `UPDATE ticket SET tax_rate = 1 WHERE revoked_at IS NULL`},
	{"tax rate of a fee", `UPDATE ticket SET fee_rate = 1 WHERE fee > 0`},
	{"type", `UPDATE ticket SET type = 1 - type`},
	{"end of a ticket that is cancelled", `UPDATE cancellation SET tickets = tickets[2:] || gen_random_uuid()`},
	{"time of a cancellation", `UPDATE cancellation SET created_at = created_at + interval '3 days'`},
	{"cancellation", `DELETE FROM exchange; UPDATE refund SET cancellation_id = NULL; DELETE FROM cancellation`},
	{"move of a ticket", `UPDATE ticket SET moved_to = (SELECT b.id FROM ticket b WHERE b.order_id = ticket.order_id AND b.revoked_at IS NULL LIMIT 1)
		WHERE id = (SELECT t.id FROM ticket t JOIN ticket b ON b.order_id = t.order_id AND b.revoked_at IS NULL WHERE t.revoked_at IS NOT NULL LIMIT 1)`},
	{"new ticket", `INSERT INTO ticket (id, event_id, order_id, idx, price) SELECT gen_random_uuid(), event_id, order_id, (SELECT max(idx) FROM seat) - 40, 5 FROM ticket ORDER BY id LIMIT 1`},
	{"ticket", `DELETE FROM ticket WHERE revoked_at IS NULL`},
	{"category of a seat", `UPDATE seat SET category = 1 - category WHERE category < 2`},
	{"captured money", `UPDATE payment SET captured = captured - 1 WHERE captured > 0`},
	{"method of a payment", `UPDATE payment SET method = 'demo' WHERE captured > 0`},
	{"time of a payment", `UPDATE intention SET done_at = done_at - interval '3 days' WHERE step = 'capture'`},
	{"payment that was not captured", `DELETE FROM intention WHERE step = 'capture'; UPDATE orders SET created_at = created_at - interval '3 days'`},
	{"part that credit paid", `UPDATE credit_hold SET captured = captured - 1 WHERE captured > 0`},
	{"share of a payment", `INSERT INTO payment_share (order_id, payment_id, amount) SELECT order_id, id, 5 FROM payment WHERE captured > 0 ON CONFLICT DO NOTHING`},
	{"refund", `UPDATE refund SET amount = amount + 1`},
	{"time of a refund", `UPDATE refund SET created_at = created_at + interval '3 days' WHERE cancellation_id IS NULL`},
	{"refund that is paid by hand", `UPDATE refund SET by_hand = true, done_at = NULL`},
	{"refund by hand of which credit gave back a part", `UPDATE refund SET by_hand = true, by_credit = 1`},
	{"cancellation of a refund", `UPDATE cancellation SET created_at = created_at + interval '3 days'; UPDATE refund SET cancellation_id = NULL`},
	{"refund of another order of a payment", `UPDATE refund SET amount = 1 WHERE id = (SELECT r.id FROM refund r JOIN credit_hold h ON h.id = r.payment_id ORDER BY r.created_at LIMIT 1)`},
	{"receipt", `UPDATE receipt SET amount = amount - 1 WHERE amount > 1`},
	{"time of a receipt", `UPDATE receipt SET at = at - interval '3 days'`},
	{"exchange", `UPDATE exchange SET amount = amount - 1`},
	{"subscription", `INSERT INTO subscription (team_id, slug, name, currency, closes_at) VALUES (first_team(), 'x', 'x', 'EUR', '2040-01-01');
		INSERT INTO subscriber (id, subscription_id, seats) SELECT gen_random_uuid(), id, 1 FROM subscription;
		INSERT INTO subscriber_order (order_id, subscriber_id, event_id, seats) SELECT o.id, s.id, o.event_id, '{1}' FROM orders o, subscriber s WHERE o.method = 'card' AND NOT o.at_office ORDER BY o.created_at LIMIT 1`},
	// The day differs at any hour in one of two zones, of which one is 25 hours ahead of the other.
	{"time zone", `UPDATE event SET time_zone = CASE WHEN (now() AT TIME ZONE 'Pacific/Kiritimati')::date <> (now() AT TIME ZONE time_zone)::date THEN 'Pacific/Kiritimati' ELSE 'Pacific/Pago_Pago' END`},
	{"currency", `UPDATE event SET currency = 'CHF'`},
	{"test sale", testSaleSQL},
	{"payment of an order that is not there", `SET LOCAL session_replication_role = replica; DELETE FROM book_order USING orders o WHERE o.id = order_id AND o.method = 'card';
		DELETE FROM ticket USING orders o WHERE o.id = order_id AND o.method = 'card'; DELETE FROM orders WHERE method = 'card'; SET LOCAL session_replication_role = origin;
		UPDATE payment SET state = 'closed' WHERE captured > 0`},
}

// sharedSQL has another order share the payment of which credit paid a part, and get money back of it after the first order did.
const sharedSQL = `
WITH o AS (
    INSERT INTO payment_share (order_id, payment_id, amount)
    SELECT o.id, h.id, 2000 FROM credit_hold h JOIN payment p ON p.id = h.id
      JOIN orders o ON o.id = p.order_id OR o.id = (SELECT order_id FROM payment WHERE method = 'card' AND captured > 0 AND id <> h.id ORDER BY created_at LIMIT 1) RETURNING order_id, payment_id)
INSERT INTO refund (id, order_id, payment_id, amount, reason, done_at)
SELECT gen_random_uuid(), o.order_id, o.payment_id, 7000, 'x', now() FROM o JOIN payment p ON p.id = o.payment_id AND p.order_id <> o.order_id`

const testSaleSQL = `UPDATE event SET test_of = (SELECT id FROM event WHERE slug = 'evening'), series_id = NULL, demo = true, pay_at_door = false, invoices = false, name = 'TEST · Evening' WHERE slug = 'evening-2'`

func TestTrigger_NotesEachChangeThatPostingsDependOn(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	h.exec(t, sharedSQL)
	h.count(t)
	stale := func(tx pgx.Tx) (n int) {
		if err := books.Check(t.Context(), tx, func(a books.Account) {
			if a.Stale {
				n++
			}
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range changes {
		t.Run(c.what, func(t *testing.T) {
			tx, err := h.db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }() // nothing is to stay
			if n := stale(tx); n != 0 {
				t.Fatalf("%d orders are counted otherwise before anything changed", n)
			}
			if _, err := tx.Exec(t.Context(), c.sql); err != nil {
				t.Fatal(err)
			}
			if n := stale(tx); n != 0 {
				t.Errorf("%d orders changed without a note", n)
			}
			if _, err := tx.Exec(t.Context(), `DELETE FROM book_touch`); err != nil {
				t.Fatal(err)
			}
			if n := stale(tx); n == 0 {
				t.Error("the change made no difference to postings")
			}
		})
	}
}

func TestCount_TwoNodesAtOnceCountEachChangeOnce(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	h.scatter(t)
	var nodes sync.WaitGroup
	for range 3 {
		node := books.New(h.db, organizers.New(h.db, func() {}))
		node.Most(2)
		nodes.Go(func() {
			for range 12 {
				if _, err := node.Count(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		who := seats.NewID()
		h.pays(t, who, h.form(t, who, "B", 1, payments.Card))
		h.exec(t, `UPDATE orders SET created_at = created_at - interval '5 hours'`)
	}
	nodes.Wait()
	h.wantReports(t, "nodes counted at once")
	h.count(t)
	h.wantReports(t, "and counted all")
	h.wantPromises(t)
}

func TestCount_IsByOneNodeAtATime(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := books.CountIn(t.Context(), tx, 3); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	if n, err := h.books.CountSome(t.Context(), 3); err != nil || n != 0 {
		t.Errorf("while a node counts, another one took %d changes, %v", n, err)
	}
	h.exec(t, `UPDATE orders SET created_at = created_at - interval '30 hours'`) // of what is being counted, too
	h.wantReports(t, "a node counts")
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantReports(t, "what was counted changed meanwhile")
	h.count(t)
	h.wantReports(t, "all is counted")
	h.wantPromises(t)
}

func TestReport_HasNoTestSaleUnlessItIsNamed(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	h.count(t)
	before := h.report(t, books.Filter{}, books.ByPerformance)
	h.exec(t, testSaleSQL)
	for _, when := range []string{"before it is counted", "once it is counted"} {
		after := h.report(t, books.Filter{}, books.ByPerformance)
		if len(before.Rows) != 2 || len(after.Rows) != 1 || after.Rows[0].Key != "evening" {
			t.Errorf("%s, the performances are %+v", when, after.Rows)
		}
		if sold := h.report(t, books.Filter{Event: "evening-2"}, books.ByDay).Total; sold.Tickets != 2 {
			t.Errorf("%s, the test sale itself has %+v", when, sold)
		}
		h.wantReports(t, when)
		h.count(t)
	}
	h.exec(t, `UPDATE orders SET name = 'Eva' WHERE event_id = (SELECT id FROM event WHERE slug = 'evening-2')`)
	if n := h.number(t, `SELECT count(*) FROM book_touch`); n != 0 {
		t.Errorf("names of %d orders are counted", n)
	}
}

func TestReport_MovesDaysWithTheTimeZone(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	h.scatter(t)
	h.count(t)
	before := h.report(t, books.Filter{}, books.ByDay)
	days := map[string]bool{}
	for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago"} { // a day apart at each time
		h.exec(t, `UPDATE event SET time_zone = $1`, zone)
		h.wantReports(t, zone)
		h.count(t)
		h.wantReports(t, zone+", counted")
		after := h.report(t, books.Filter{}, books.ByDay)
		if after.Total != before.Total {
			t.Errorf("with another time zone the total is %+v, was %+v", after.Total, before.Total)
		}
		days[after.Rows[0].Key] = true
	}
	h.wantPromises(t)
	if len(days) != 2 {
		t.Errorf("in both zones the first day is %v", slices.Collect(maps.Keys(days)))
	}
}

func TestReport_OfDepositsIsAsWellOnceAllIsCounted(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.exec(t, `SET session_replication_role = replica; INSERT INTO deposit (booking_id, event_id, code, amount, due_at, paid_at, method, rates, ended_at, outcome)
		SELECT gen_random_uuid(), id, 'x', 500, now(), now(), 'cash', '[{"rate": 0, "amount": 500, "tax": 0}]', now(), 'retained' FROM event WHERE slug = 'evening'; RESET session_replication_role`)
	h.count(t)
	h.wantReports(t, "a deposit is retained")
	if r := h.report(t, books.Filter{}, books.ByCategory); len(r.Rows) != 1 || r.Rows[0].Line != books.LineRetained || r.Total.Gross != 500 {
		t.Errorf("the report is %+v", r)
	}
}

func TestCount_ForgetsAnOrderThatWasDeleted(t *testing.T) {
	t.Parallel()
	h := openMixed(t)
	h.count(t)
	h.exec(t, `ALTER TABLE orders ENABLE ALWAYS TRIGGER "the books have a new order"`)
	h.exec(t, `SET session_replication_role = replica; DELETE FROM ticket USING orders o WHERE o.id = order_id AND o.method = 'cash'; DELETE FROM orders WHERE method = 'cash'; RESET session_replication_role`)
	h.wantReports(t, "an order was deleted")
	h.count(t)
	h.wantReports(t, "and that is counted")
	if n := h.number(t, `SELECT count(*) FROM book_order WHERE NOT EXISTS (SELECT FROM orders o WHERE o.id = order_id)`); n != 0 {
		t.Errorf("%d rows are of no order", n)
	}
}

// manySQL places orders of two seats each, on several days.
const manySQL = `
WITH o AS (
    INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total, paid, created_at)
    SELECT gen_random_uuid(), e.id, 'many' || n, gen_random_uuid(), gen_random_uuid(), '', 'Ann', 'ann@example.org', 'card', 'EUR', 200, 200, now() - n * interval '20 minutes'
      FROM event e, generate_series(1, $1) n WHERE e.slug = 'evening' RETURNING id, event_id)
INSERT INTO ticket (id, event_id, order_id, idx, price, revoked_at) SELECT gen_random_uuid(), event_id, id, 1, 100, now() FROM o, generate_series(1, 2)`

func TestReport_ReadsNoOrderThatIsCounted(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	const many = 3000
	h.exec(t, manySQL, many)
	h.books.Most(1000)
	h.count(t)
	if n := h.number(t, `SELECT count(*) FROM book_order`); n != many {
		t.Errorf("%d orders are counted in %d rows", many, n)
	}
	if n := h.number(t, `SELECT count(*) FROM book_day`); n > 50 {
		t.Errorf("40 days of a team have %d rows", n)
	}
	h.wantReports(t, "all are counted")
	h.exec(t, `UPDATE orders SET name = 'Eva'`)
	h.exec(t, `UPDATE orders SET created_at = created_at - interval '1 day' WHERE code = 'many7'`)
	if n, err := h.books.Count(t.Context()); err != nil || n != 1 {
		t.Errorf("one order changed, and %d are counted, %v", n, err)
	}
	h.exec(t, `ALTER TABLE ticket RENAME TO ticket_elsewhere`) // of each order that is read
	for _, by := range books.Groups {
		if r := h.report(t, books.Filter{}, by); r.Total.Tickets != 2*many {
			t.Errorf("by %s there are %d tickets", by, r.Total.Tickets)
		}
	}
	h.exec(t, `UPDATE orders SET created_at = created_at - interval '1 day' WHERE code = 'many7'`)
	if _, err := h.books.Report(t.Context(), h.member, books.Filter{}, books.ByDay); err == nil {
		t.Error("an order that changed is not read")
	}
}

// What months and their edges have of each day is once for the days that were asked for, and nothing for all others.
func TestReport_MonthsAndTheirEdgesHaveEachDayOnce(t *testing.T) {
	t.Parallel()
	begin := time.Date(2027, 12, 1, 0, 0, 0, 0, time.UTC)
	for from := range 100 {
		for to := from - 2; to < 100; to++ {
			args := books.MonthsOf(begin.AddDate(0, 0, from), begin.AddDate(0, 0, to))
			signs, firsts, ends := args[2].([]int), args[3].([]time.Time), args[4].([]time.Time)
			for n := range 140 {
				day, times := begin.AddDate(0, 0, n-20), 0
				if month := day.AddDate(0, 0, 1-day.Day()); !month.Before(args[0].(time.Time)) && month.Before(args[1].(time.Time)) {
					times++
				}
				for i, sign := range signs {
					if edge := ends[i].Sub(firsts[i]); edge > 17*24*time.Hour || edge <= 0 {
						t.Fatalf("an edge has %v", edge)
					}
					if !day.Before(firsts[i]) && day.Before(ends[i]) {
						times += sign
					}
				}
				if asked := n-20 >= from && n-20 <= to; times != 0 != asked || times*times != times {
					t.Fatalf("from day %d to %d, day %d is counted %d times", from, to, n-20, times)
				}
			}
		}
	}
}

package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	ledger "github.com/usherbox/usher/seats/books"
)

// accountsSQL changes with everything that the books of a team are made of.
const accountsSQL = `
SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM cancellation) + (SELECT count(*) FROM refund) + (SELECT count(*) FROM receipt) + (SELECT count(paid_at) + count(ended_at) FROM deposit)
     + (SELECT coalesce(max(id), 0) + count(*) FILTER (WHERE done_at IS NULL) FROM intention) + (SELECT coalesce(max(id), 0) FROM credit_transfer)
     + (SELECT count(*) FROM book_touch) + (SELECT count(*) FROM book_order) + (SELECT coalesce(sum(postings), 0) FROM book_day)::bigint + (SELECT coalesce(sum(postings), 0) FROM book_month)::bigint`

// accountBooks stands for the books of teams where a Watch remembers events by number.
const accountBooks = -4

// What credit paid for orders. Nothing of a currency is compared while money of it is under way.
const creditPaidSQL = `
SELECT h.currency, sum(h.captured - h.refunded)::bigint,
       bool_or(EXISTS (SELECT FROM intention WHERE payment_id = h.id AND done_at IS NULL) OR NOT EXISTS (SELECT FROM payment WHERE id = h.id))
  FROM credit_hold h WHERE h.captured > 0 GROUP BY h.currency`

// checkAccounts looks at the books of all teams (seats/books).
func (l *look) checkAccounts(ctx context.Context, tx pgx.Tx, r *Report) error {
	var version int64
	if err := tx.QueryRow(ctx, accountsSQL).Scan(&version); err != nil {
		return err
	}
	if l.skip != nil && l.skip(accountBooks, version) {
		return nil
	}
	b := books{report: r}
	deposits := map[string]int64{}                                 // by currency
	credit, promoters := map[string]int64{}, map[[2]string]int64{} // by currency; by promoter and currency
	err := ledger.Check(ctx, tx, func(a ledger.Account) {
		credit[a.Currency] += a.Credit
		deposits[a.Currency] += a.Deposit
		b.slug = a.Event
		if a.Paid != a.Booked && (a.Placed || a.Booked < 0) {
			b.broken(b1, none, "order %s has %d, and the books %d", a.Order, a.Paid, a.Booked)
		}
		if a.Placed {
			promoters[[2]string{a.Promoter, a.Currency}] += a.Booked
		}
		if a.Placed && a.Tickets != a.Live {
			b.broken(b1, none, "order %s has %d valid tickets, and the books %d", a.Order, a.Live, a.Tickets)
		}
		if a.Stale {
			b.broken(b4, none, "what is counted of order %s is not what its postings are", a.Order)
		}
	})
	if err != nil {
		return err
	}
	b.slug = ""
	if err := b.checkDeposits(ctx, tx, deposits); err != nil {
		return err
	}
	if err := b.checkPromoters(ctx, tx, promoters); err != nil {
		return err
	}
	if err := b.checkCounted(ctx, tx); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, creditPaidSQL)
	if err != nil {
		return err
	}
	var currency string
	var paid int64
	var underWay bool
	_, err = pgx.ForEachRow(rows, []any{&currency, &paid, &underWay}, func() error {
		if !underWay && paid != credit[currency] {
			b.broken(b2, none, "credit paid %d %s, and the books have %d by credit", paid, currency, credit[currency])
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("credit of the books: %w", err)
	}
	if l.done != nil {
		l.done(accountBooks, version, b.findings)
	}
	return nil
}

const promotersSQL = `SELECT e.promoter, e.currency, sum(o.paid)::bigint FROM orders o JOIN event e ON e.id = o.event_id WHERE o.paid <> 0 GROUP BY 1, 2 ORDER BY 1, 2`

// checkPromoters compares what the books have of each promoter, by currency, with the orders for the promoter's events.
func (b *books) checkPromoters(ctx context.Context, tx pgx.Tx, booked map[[2]string]int64) error {
	rows, err := tx.Query(ctx, promotersSQL)
	if err != nil {
		return fmt.Errorf("promoters of the books: %w", err)
	}
	var promoter, currency string
	var paid int64
	_, err = pgx.ForEachRow(rows, []any{&promoter, &currency, &paid}, func() error {
		if of := [2]string{promoter, currency}; booked[of] != paid {
			b.broken(b1, none, "orders for events of the promoter %q have %d %s, and the books %d", promoter, paid, currency, booked[of])
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("promoters of the books: %w", err)
	}
	return nil
}

const (
	countedDaysSQL = `
SELECT coalesce(d.team_id, o.team_id), coalesce(d.day, o.day)::text, coalesce(d.method, o.method)
  FROM book_day d
  FULL JOIN (SELECT team_id, day, currency, channel, method, rate, sum(postings) AS postings, sum(tickets) AS tickets, sum(gross) AS gross, sum(exchanged) AS exchanged,
                    sum(refunds) AS refunds, sum(fees) AS fees, sum(tax) AS tax
               FROM book_order WHERE team_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6) o USING (team_id, day, currency, channel, method, rate)
 WHERE (coalesce(d.postings, 0), coalesce(d.tickets, 0), coalesce(d.gross, 0), coalesce(d.exchanged, 0), coalesce(d.refunds, 0), coalesce(d.fees, 0), coalesce(d.tax, 0))
    <> (coalesce(o.postings, 0), coalesce(o.tickets, 0), coalesce(o.gross, 0), coalesce(o.exchanged, 0), coalesce(o.refunds, 0), coalesce(o.fees, 0), coalesce(o.tax, 0))
 ORDER BY 1, 2, 3`

	countedMonthsSQL = `
SELECT coalesce(m.team_id, o.team_id), to_char(coalesce(m.month, o.month), 'YYYY-MM'), coalesce(m.event_id, o.event_id)
  FROM book_month m
  FULL JOIN (SELECT team_id, date_trunc('month', day)::date AS month, event_id, category, type, currency, line, reason, sum(postings) AS postings, sum(tickets) AS tickets,
                    sum(gross) AS gross, sum(exchanged) AS exchanged, sum(refunds) AS refunds, sum(fees) AS fees, sum(tax) AS tax
               FROM book_order WHERE team_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8) o USING (team_id, month, event_id, category, type, currency, line, reason)
 WHERE (coalesce(m.postings, 0), coalesce(m.tickets, 0), coalesce(m.gross, 0), coalesce(m.exchanged, 0), coalesce(m.refunds, 0), coalesce(m.fees, 0), coalesce(m.tax, 0))
    <> (coalesce(o.postings, 0), coalesce(o.tickets, 0), coalesce(o.gross, 0), coalesce(o.exchanged, 0), coalesce(o.refunds, 0), coalesce(o.fees, 0), coalesce(o.tax, 0))
 ORDER BY 1, 2, 3`

	countedNothingSQL = `
SELECT DISTINCT b.order_id::text FROM book_order b
 WHERE NOT EXISTS (SELECT FROM orders WHERE id = b.order_id) AND NOT EXISTS (SELECT FROM payment WHERE order_id = b.order_id) AND b.order_id NOT IN (SELECT order_id FROM book_touch)
 ORDER BY 1`
)

// checkCounted compares the sums of days and months with those of orders.
func (b *books) checkCounted(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, countedDaysSQL)
	if err != nil {
		return fmt.Errorf("sums of the books: %w", err)
	}
	var team int64
	var day, method, order string
	_, err = pgx.ForEachRow(rows, []any{&team, &day, &method}, func() error {
		b.broken(b4, none, "what is counted for %s by %s of team %d is not the sum of its orders", day, method, team)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sums of the books: %w", err)
	}
	if rows, err = tx.Query(ctx, countedMonthsSQL); err != nil {
		return fmt.Errorf("sums of the books: %w", err)
	}
	var month string
	var event int64
	_, err = pgx.ForEachRow(rows, []any{&team, &month, &event}, func() error {
		b.broken(b4, none, "what is counted for %s of event %d of team %d is not the sum of its orders", month, event, team)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sums of the books: %w", err)
	}
	if rows, err = tx.Query(ctx, countedNothingSQL); err != nil {
		return fmt.Errorf("sums of the books: %w", err)
	}
	_, err = pgx.ForEachRow(rows, []any{&order}, func() error {
		b.broken(b4, none, "order %s is counted, and there is none", order)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sums of the books: %w", err)
	}
	return nil
}

package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// invoicesSQL asks for everything that is against the promises of seats/invoices.
const invoicesSQL = `
WITH series AS (
    SELECT team_id, year, count(*) AS n, min(number) AS first, max(number) AS last FROM invoice GROUP BY team_id, year
), sums AS (
    SELECT order_id, sum(CASE kind WHEN 'invoice' THEN gross ELSE -gross END) AS amount FROM invoice GROUP BY order_id
), waiting AS (
    SELECT d.order_id, sum(CASE WHEN d.placed THEN o.total ELSE 0 END - coalesce(c.amount, 0) + d.kept - d.waived) AS amount
      FROM invoice_due d JOIN orders o ON o.id = d.order_id LEFT JOIN cancellation c ON c.id = d.cancellation_id GROUP BY d.order_id
), costs AS (
    SELECT o.id, o.code, coalesce(s.amount, 0) AS amount, coalesce(w.amount, 0) AS waiting,
           (SELECT coalesce(sum(price + fee), 0) FROM ticket WHERE order_id = o.id AND revoked_at IS NULL) + o.kept - o.waived AS cost
      FROM orders o LEFT JOIN sums s ON s.order_id = o.id LEFT JOIN waiting w ON w.order_id = o.id
     WHERE s.order_id IS NOT NULL OR w.order_id IS NOT NULL
), lines AS (
    SELECT i.label, i.net, i.tax, i.gross, l.*
      FROM invoice i, LATERAL (SELECT coalesce(sum((l->>'net')::bigint), 0) AS line_net, coalesce(sum((l->>'tax')::bigint), 0) AS line_tax,
                                      coalesce(sum((l->>'gross')::bigint), 0) AS line_gross
                                 FROM jsonb_array_elements(i.content->'lines') l) l
)
SELECT 'I1', format('the numbers of team %s in %s are %s from %s to %s', team_id, year, n, first, last)
  FROM series WHERE first <> 1 OR last <> n
 UNION ALL
SELECT 'I1', format('the numbers of team %s in %s end at %s, and the series says %s', s.team_id, s.year, coalesce(x.last, 0), s.last)
  FROM invoice_series s LEFT JOIN series x ON x.team_id = s.team_id AND x.year = s.year WHERE coalesce(x.last, 0) <> s.last
 UNION ALL
SELECT 'I1', format('%s documents of team %s have the number %s', count(*), team_id, label) FROM invoice GROUP BY team_id, label HAVING count(*) > 1
 UNION ALL
SELECT 'I2', format('order %s costs %s, and its invoices less credit notes come to %s, with %s without a number yet', code, cost, amount, waiting)
  FROM costs WHERE cost <> amount + waiting
 UNION ALL
SELECT 'I2', format('%s is a credit note of an order without an invoice', label)
  FROM invoice c WHERE kind = 'credit' AND booking_id IS NULL AND NOT EXISTS (SELECT FROM invoice i WHERE i.order_id = c.order_id AND i.kind = 'invoice')
 UNION ALL
SELECT 'I2', format('the deposit of booking %s is of %s, and its invoices less credit notes come to %s', d.booking_id, d.amount, s.amount)
  FROM deposit d, LATERAL (SELECT coalesce(sum(CASE kind WHEN 'credit' THEN -gross ELSE gross END), 0) AS amount, bool_or(true) AS any FROM invoice WHERE booking_id = d.booking_id) s
 WHERE s.any AND NOT EXISTS (SELECT FROM invoice_due WHERE booking_id = d.booking_id)
   AND NOT (s.amount = 0 AND d.outcome <> 'order' OR s.amount = d.amount AND d.withdrawn_at IS NULL AND d.outcome NOT IN ('refunded', 'retained'))
 UNION ALL
SELECT 'I3', format('%s comes to %s with %s of tax, and its lines to %s with %s', label, gross, tax, line_gross, line_tax)
  FROM lines WHERE (net, tax, gross) IS DISTINCT FROM (line_net, line_tax, line_gross)
 UNION ALL
SELECT 'I3', format('%s leaves the tax to the buyer, with %s of tax and the VAT ID "%s"', label, tax, content->'buyer'->>'vat_id')
  FROM invoice WHERE (content->>'reverse_charge')::boolean AND (tax <> 0 OR coalesce(content->'buyer'->>'vat_id', '') = '')`

const invoiceCountSQL = `SELECT count(*), count(*) + (SELECT coalesce(max(id), 0) + count(*) FROM invoice_due) FROM invoice`

// invoiceBooks stands for invoices where a Watch remembers events by number.
const invoiceBooks = -3

// checkInvoices looks at invoices, of all events.
func (l *look) checkInvoices(ctx context.Context, tx pgx.Tx, r *Report) error {
	var version int64
	if err := tx.QueryRow(ctx, invoiceCountSQL).Scan(&r.Invoices, &version); err != nil {
		return err
	}
	if l.skip != nil && l.skip(invoiceBooks, version) {
		r.Invoices = 0
		return nil
	}
	rows, err := tx.Query(ctx, invoicesSQL)
	if err != nil {
		return err
	}
	b := books{report: r}
	var name, what string
	_, err = pgx.ForEachRow(rows, []any{&name, &what}, func() error {
		b.broken(i1+int(name[1]-'1'), none, "%s", what)
		return nil
	})
	if err != nil {
		return fmt.Errorf("invoices: %w", err)
	}
	if l.done != nil {
		l.done(invoiceBooks, version, b.findings)
	}
	return nil
}

package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// creditSQL asks for everything that is against the promises of credit. An entry counts in the currency of its account,
// so that money which changed its currency on the way is missing in one and too much in the other.
const creditSQL = `
WITH entries AS (
    SELECT account_id, sum(amount) AS amount FROM credit_entry GROUP BY account_id
), moved AS (
    SELECT hold_id, coalesce(sum(amount) FILTER (WHERE kind = 'hold'), 0) AS held, coalesce(sum(amount) FILTER (WHERE kind = 'capture'), 0) AS captured,
           coalesce(sum(amount) FILTER (WHERE kind = 'void'), 0) AS voided, coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0) AS refunded
      FROM credit_transfer WHERE hold_id IS NOT NULL GROUP BY hold_id
), loads AS (
    SELECT voucher_id, count(*) AS n, sum(amount) AS amount, min(currency) AS currency
      FROM credit_transfer WHERE voucher_id IS NOT NULL GROUP BY voucher_id
)
SELECT 'C1', format('entries in %s sum to %s', coalesce(a.currency, 'no account'), sum(e.amount))
  FROM entries e LEFT JOIN credit_account a ON a.id = e.account_id
 GROUP BY a.currency HAVING sum(e.amount) IS DISTINCT FROM 0
 UNION ALL
SELECT 'C2', format('account %s has %s %s, and its entries sum to %s', a.id, a.balance, a.currency, coalesce(e.amount, 0))
  FROM credit_account a LEFT JOIN entries e ON e.account_id = a.id
 WHERE a.kind IN ('attendee', 'card') AND (a.balance IS DISTINCT FROM coalesce(e.amount, 0) OR a.balance < 0)
 UNION ALL
SELECT 'C3', format('hold %s of %s is %s with %s captured and %s refunded, and its transfers held %s, captured %s, gave back %s and refunded %s',
       h.id, h.amount, h.state, h.captured, h.refunded, m.held, m.captured, m.voided, m.refunded)
  FROM credit_hold h FULL JOIN moved m ON m.hold_id = h.id
 WHERE (h.amount = m.held AND h.captured = m.captured AND h.refunded = m.refunded AND h.captured <= h.amount AND h.refunded <= h.captured
        AND m.voided = CASE h.state WHEN 'open' THEN 0 ELSE h.amount - h.captured END
        AND (h.state = 'captured') = (h.captured > 0)) IS NOT TRUE
 UNION ALL
SELECT 'C4', format('the house has %s of %s, and its books of holds say %s %s', coalesce(e.amount, 0), a.kind, coalesce(h.amount, 0), a.currency)
  FROM credit_account a
       LEFT JOIN entries e ON e.account_id = a.id
       LEFT JOIN (SELECT 'held' AS kind, currency, sum(amount) AS amount FROM credit_hold WHERE state = 'open' GROUP BY currency
                   UNION ALL
                  SELECT 'sales', currency, sum(captured - refunded) FROM credit_hold GROUP BY currency) h
              ON h.kind = a.kind AND h.currency = a.currency
 WHERE a.kind IN ('held', 'sales') AND coalesce(e.amount, 0) <> coalesce(h.amount, 0)
 UNION ALL
SELECT 'C5', format('voucher %s of %s %s loaded %s %s in %s transfers', v.id, v.amount, v.currency, coalesce(l.amount, 0), l.currency, coalesce(l.n, 0))
  FROM credit_voucher v FULL JOIN loads l ON l.voucher_id = v.id
 WHERE CASE WHEN v.redeemed_at IS NULL THEN l.n IS NOT NULL AND v.voided_at IS NULL
            ELSE (l.n = 1 AND l.amount = v.amount AND l.currency = v.currency) IS NOT TRUE END`

const transfersSQL = `SELECT count(*), coalesce(max(id), 0) + (SELECT count(*) FROM credit_hold WHERE state = 'open') FROM credit_transfer`

// checkCredit looks at the ledger of credit, which belongs to no event.
func (l *look) checkCredit(ctx context.Context, tx pgx.Tx, r *Report) error {
	var version int64
	if err := tx.QueryRow(ctx, transfersSQL).Scan(&r.Transfers, &version); err != nil {
		return err
	}
	if l.skip != nil && l.skip(creditBooks, version) {
		r.Transfers = 0
		return nil
	}
	rows, err := tx.Query(ctx, creditSQL)
	if err != nil {
		return err
	}
	b := books{report: r}
	var name, what string
	_, err = pgx.ForEachRow(rows, []any{&name, &what}, func() error {
		b.broken(c1+int(name[1]-'1'), none, "%s", what)
		return nil
	})
	if err != nil {
		return fmt.Errorf("credit: %w", err)
	}
	if l.done != nil {
		l.done(creditBooks, version, b.findings)
	}
	return nil
}

// creditBooks stands for the ledger of credit where a Watch remembers events by number.
const creditBooks = -1

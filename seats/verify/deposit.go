package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// depositsSQL asks for everything that is against the promises of deposits of groups (seats/bookings).
const depositsSQL = `
SELECT 1, format('the deposit of booking %s is %s, and its order has %s of it', d.booking_id, coalesce(nullif(d.outcome, ''), 'open'), coalesce(r.amount, 0))
  FROM deposit d LEFT JOIN receipt r ON r.deposit_id = d.booking_id
 WHERE CASE d.outcome WHEN 'order' THEN (r.amount = d.amount AND r.order_id = d.order_id) IS NOT TRUE ELSE r.id IS NOT NULL END
 UNION ALL
SELECT 1, format('booking %s was confirmed after its deposit was paid, and its order does not have it', d.booking_id)
  FROM deposit d JOIN booking b ON b.id = d.booking_id WHERE d.paid_at IS NOT NULL AND d.outcome <> 'refunded' AND b.order_id IS DISTINCT FROM d.order_id
 UNION ALL
SELECT 1, format('booking %s lasts or was confirmed, and its deposit was %s', d.booking_id, d.outcome)
  FROM deposit d JOIN booking b ON b.id = d.booking_id JOIN block k ON k.id = b.id JOIN event e ON e.id = d.event_id
 WHERE d.outcome = 'retained' AND b.order_id IS NOT NULL
    OR d.outcome IN ('refunded', 'retained') AND b.order_id IS NULL AND b.cancelled_at IS NULL AND k.ended_at IS NULL AND k.ends_at > clock_timestamp() AND NOT (d.outcome = 'refunded' AND e.status = 'cancelled')
 UNION ALL
SELECT 1, format('the deposit of booking %s is of %s, and its tax rates come to %s', d.booking_id, d.amount, x.amount)
  FROM deposit d, LATERAL (SELECT coalesce(sum((r->>'amount')::bigint), 0) AS amount FROM jsonb_array_elements(d.rates) r) x WHERE d.paid_at IS NOT NULL AND x.amount <> d.amount
 UNION ALL
SELECT 1, format('the deposit of booking %s of %s was paid by %s, and its payment of %s by %s is %s', d.booking_id, d.amount, d.method, p.amount, p.method, coalesce(p.state, 'not there'))
  FROM deposit d LEFT JOIN deposit_payment p ON p.id = d.payment_id AND p.booking_id = d.booking_id
 WHERE d.method IN ('card', 'demo')
   AND ((p.amount, p.method) = (d.amount, d.method) AND CASE WHEN d.back = d.method THEN p.state IN ('refunding', 'refunded') ELSE p.state = 'paid' END) IS NOT TRUE
 UNION ALL
SELECT 1, format('payment %s of booking %s is its deposit, and the deposit has another one', p.id, p.booking_id)
  FROM deposit_payment p WHERE p.state = 'paid' AND NOT EXISTS (SELECT FROM deposit d WHERE d.payment_id = p.id)
 UNION ALL
SELECT 2, format('the deposit of booking %s was retained, and was refundable until %s when the booking ended', d.booking_id, d.refundable_until)
  FROM deposit d JOIN booking b ON b.id = d.booking_id JOIN block k ON k.id = b.id, LATERAL (SELECT coalesce(b.cancelled_at, least(k.ends_at, k.ended_at)) AS at) x
 WHERE d.outcome = 'retained' AND (d.paid_at >= x.at OR d.refundable_until >= x.at)`

// checkDeposits looks at deposits, of all events.
func checkDeposits(ctx context.Context, tx pgx.Tx, r *Report) error {
	rows, err := tx.Query(ctx, depositsSQL)
	if err != nil {
		return fmt.Errorf("deposits: %w", err)
	}
	b := &books{report: r}
	var promise int
	var what string
	if _, err = pgx.ForEachRow(rows, []any{&promise, &what}, func() error {
		b.broken(d1+promise-1, none, "%s", what)
		return nil
	}); err != nil {
		return fmt.Errorf("deposits: %w", err)
	}
	return nil
}

const takenOverSQL = `SELECT e.currency, sum(d.amount)::bigint FROM deposit d JOIN event e ON e.id = d.event_id WHERE d.outcome = 'order' AND d.method <> 'demo' GROUP BY 1`

// checkDeposits compares what the books have by deposits, by currency, with the deposits that orders took over.
func (b *books) checkDeposits(ctx context.Context, tx pgx.Tx, booked map[string]int64) error {
	rows, err := tx.Query(ctx, takenOverSQL)
	if err != nil {
		return fmt.Errorf("deposits of the books: %w", err)
	}
	var currency string
	var taken int64
	if _, err = pgx.ForEachRow(rows, []any{&currency, &taken}, func() error {
		booked[currency] -= taken
		return nil
	}); err != nil {
		return fmt.Errorf("deposits of the books: %w", err)
	}
	for currency, left := range booked {
		if left != 0 {
			b.broken(b3, none, "the books have %d %s by deposits beside what orders took over", left, currency)
		}
	}
	return nil
}

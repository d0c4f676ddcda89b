package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// subscriptionsSQL asks for everything that is against the promises of subscriptions. A ticket that moved to another seat stands for the one
// before.
const subscriptionsSQL = `
SELECT 1, format('subscriber %s has orders in %s performances, and %s has %s', b.id, o.n, s.slug, e.n)
  FROM subscriber b JOIN subscription s ON s.id = b.subscription_id,
       LATERAL (SELECT count(*) AS n FROM subscriber_order WHERE subscriber_id = b.id) o,
       LATERAL (SELECT count(DISTINCT event_id) AS n FROM subscription_price WHERE subscription_id = s.id) e
 WHERE o.n <> e.n
 UNION ALL
SELECT 1, format('subscriber %s has %s seats, and tickets for %s of them in order %s', b.id, b.seats, t.n, o.order_id)
  FROM subscriber_order o JOIN subscriber b ON b.id = o.subscriber_id,
       LATERAL (SELECT count(*) AS n FROM ticket t
                 WHERE t.order_id = o.order_id AND t.idx = ANY (o.seats) AND NOT EXISTS (SELECT FROM ticket m WHERE m.moved_to = t.id)) t
 WHERE t.n <> b.seats OR cardinality(o.seats) <> b.seats
 UNION ALL
SELECT 2, format('subscription %s counts %s seats, of them %s renewed, and its subscribers have %s and %s', s.slug, s.sold, s.renewed, b.n, b.renewed)
  FROM subscription s, LATERAL (SELECT coalesce(sum(b.seats), 0) AS n, coalesce(sum(b.seats) FILTER (WHERE r.renewed_by IS NOT NULL), 0) AS renewed
                                  FROM subscriber b LEFT JOIN renewal r ON r.renewed_by = b.id WHERE b.subscription_id = s.id) b
 WHERE s.sold <> b.n OR s.renewed <> b.renewed OR s.sold - s.renewed > s.places
 UNION ALL
SELECT 3, format('seat number %s of %s is kept for subscriber %s until %s, and its holder is %s', k.idx, e.slug, r.subscriber_id, s.keep_until, coalesce(t.holder::text, 'none'))
  FROM renewal_seat k JOIN renewal r USING (holder) JOIN subscription s ON s.id = r.subscription_id JOIN event e ON e.id = k.event_id
  JOIN seat_state t ON t.event_id = k.event_id AND t.idx = k.idx
 WHERE s.keep_until > clock_timestamp() AND r.renewed_by IS NULL AND e.status <> 'cancelled'
   AND (t.holder IS DISTINCT FROM r.holder OR t.state NOT IN (1, 3) /* held, paying */ OR t.expires_at < s.keep_until)`

// checkSubscriptions looks at subscriptions, which belong to no single event.
func checkSubscriptions(ctx context.Context, tx pgx.Tx, r *Report) error {
	rows, err := tx.Query(ctx, subscriptionsSQL)
	if err != nil {
		return fmt.Errorf("subscriptions: %w", err)
	}
	b := &books{report: r}
	var promise int
	var what string
	if _, err = pgx.ForEachRow(rows, []any{&promise, &what}, func() error {
		b.broken(u1+promise-1, none, "%s", what)
		return nil
	}); err != nil {
		return fmt.Errorf("subscriptions: %w", err)
	}
	return nil
}

const keptSQL = `SELECT DISTINCT r.holder FROM subscription_price p JOIN renewal r ON r.subscription_id = p.subscription_id WHERE p.event_id = $1`

// readKept notes for whom seats of the event are, or were, kept.
func (b *books) readKept(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, keptSQL, b.id)
	if err != nil {
		return err
	}
	b.kept = map[seats.ID]bool{}
	var holder seats.ID
	_, err = pgx.ForEachRow(rows, []any{&holder}, func() error { b.kept[holder] = true; return nil })
	return err
}

package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
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
SELECT 2, format('subscription %s counts %s seats, and its subscribers have %s', s.slug, s.sold, b.n)
  FROM subscription s, LATERAL (SELECT coalesce(sum(seats), 0) AS n FROM subscriber WHERE subscription_id = s.id) b
 WHERE s.sold <> b.n OR s.sold > s.places`

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

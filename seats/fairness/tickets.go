package fairness

import (
	"context"
	"fmt"

	"github.com/usherbox/usher/seats"
)

// Fewest is the fewest people or orders that a group of a report may have, so that no person can be recognised in it.
const Fewest = 20

// Count is a number in a report; nil: it is above 0 and below Fewest.
type Count *int64

// Hide is a number, unless it is so small that people could be recognised.
func Hide(n int64) Count {
	if n > 0 && n < Fewest {
		return nil
	}
	return &n
}

// Tickets are sums of the tickets of events, and of the claims that were refused there.
type Tickets struct {
	Sold     int64 // all that were ever sold
	Shared   int64 // of them, of orders with an email address, account or card that another order has
	Returned int64 // of them, cancelled later
	Refunded int64 // orders of which money went back, or is to

	Refused map[string]int64 // claims, by the code of what refused them
}

// A ticket that moved to another seat is counted there.
const ticketsSQL = `
WITH person AS (SELECT id, unnest(keys) AS key FROM orders WHERE event_id = ANY ($1)),
     several AS (SELECT key FROM person GROUP BY key HAVING count(*) > 1)
SELECT count(*), count(*) FILTER (WHERE t.order_id IN (SELECT id FROM person JOIN several USING (key))), count(*) FILTER (WHERE t.revoked_at IS NOT NULL),
       (SELECT count(DISTINCT f.order_id) FROM refund f JOIN orders o ON o.id = f.order_id WHERE o.event_id = ANY ($1)),
       (SELECT jsonb_object_agg(code, n) FROM (SELECT code, sum(n) AS n FROM refusal WHERE event_id = ANY ($1) GROUP BY code) r)
  FROM ticket t WHERE t.event_id = ANY ($1) AND t.moved_to IS NULL`

// TicketsOf sums up the tickets of some events.
func TicketsOf(ctx context.Context, db seats.DB, events ...int64) (t Tickets, err error) {
	if err := db.QueryRow(ctx, ticketsSQL, events).Scan(&t.Sold, &t.Shared, &t.Returned, &t.Refunded, &t.Refused); err != nil {
		return t, fmt.Errorf("fairness: sum up the tickets of events %v: %w", events, err)
	}
	return t, nil
}

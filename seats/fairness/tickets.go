package fairness

import (
	"context"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats"
)

// Fewest is the fewest people or orders that a group of a report may have, so that no person can be recognised in it.
const Fewest = 20

// Count is a number in a report; nil: it is above 0, and is of fewer than Fewest people or orders.
type Count *int64

// Hide is a number of people or orders, unless it is so small that people could be recognised.
func Hide(n int64) Count { return Sum{n, n}.Hide() }

// Sum is a number of tickets, and of how many orders they are.
type Sum struct{ Tickets, Orders int64 }

// Hide is the number of tickets, unless they are of so few orders that people could be recognised.
func (s Sum) Hide() Count {
	if s.Orders > 0 && s.Orders < Fewest {
		return nil
	}
	return &s.Tickets
}

// Tickets are sums of the tickets of events, and of the claims that were refused there.
type Tickets struct {
	Sold     Sum // all that were ever sold
	Shared   Sum // of them, of orders with an email address, account or card that another order has
	Returned Sum // of them, cancelled later

	Refunded int64 // orders of which money went back, or is to

	Refused map[string]int64 // claims, by the code of what refused them
}

// family are the orders of events until a time. One in exchange for tickets of the same event is no other order: it belongs to the root that its buyer
// placed first. bought are the roots.
const family = `
WITH RECURSIVE family AS (
    SELECT o.id AS root, o.id, o.event_id FROM orders o
     WHERE o.event_id = ANY ($1) AND o.created_at <= coalesce($2, 'infinity'::timestamptz)
       AND NOT EXISTS (SELECT FROM exchange x JOIN orders f ON f.id = x.from_order WHERE x.to_order = o.id AND f.event_id = o.event_id)
    UNION ALL
    SELECT f.root, o.id, o.event_id FROM family f JOIN exchange x ON x.from_order = f.id JOIN orders o ON o.id = x.to_order AND o.event_id = f.event_id
), bought AS (
    SELECT o.id, o.created_at, o.at_office, o.sold_by FROM family f JOIN orders o USING (id) WHERE f.id = f.root
)`

// A ticket that moved to another seat is counted there.
const ticketsSQL = family + `,
person AS (
    SELECT DISTINCT f.root, k.key FROM family f JOIN orders o USING (id), unnest(o.keys) k(key)
), several AS (
    SELECT DISTINCT root FROM person WHERE key IN (SELECT key FROM person GROUP BY key HAVING count(*) > 1)
), sold AS (
    SELECT t.order_id, t.order_id IN (SELECT root FROM several) AS shared FROM ticket t JOIN bought b ON b.id = t.order_id WHERE t.moved_to IS NULL
), returned AS (
    SELECT f.root FROM family f JOIN ticket t ON t.order_id = f.id
     WHERE t.revoked_at IS NOT NULL AND t.moved_to IS NULL AND NOT EXISTS (
           SELECT FROM cancellation c JOIN exchange x ON x.cancellation_id = c.id JOIN family o ON o.id = x.to_order WHERE c.order_id = f.id AND t.id = ANY (c.tickets))
)
SELECT (SELECT count(*) FROM sold), (SELECT count(DISTINCT order_id) FROM sold),
       (SELECT count(*) FROM sold WHERE shared), (SELECT count(DISTINCT order_id) FROM sold WHERE shared),
       (SELECT count(*) FROM returned), (SELECT count(DISTINCT root) FROM returned),
       (SELECT count(DISTINCT f.root) FROM family f JOIN refund r ON r.order_id = f.id),
       (SELECT jsonb_object_agg(code, n) FROM (SELECT code, sum(n) AS n FROM refusal WHERE event_id = ANY ($1) GROUP BY code) r)`

// TicketsOf sums up the tickets of some events, of orders until a time; nil: of all.
func TicketsOf(ctx context.Context, db seats.DB, until *time.Time, events ...int64) (t Tickets, err error) {
	err = db.QueryRow(ctx, ticketsSQL, events, until).Scan(&t.Sold.Tickets, &t.Sold.Orders, &t.Shared.Tickets, &t.Shared.Orders, &t.Returned.Tickets, &t.Returned.Orders, &t.Refunded, &t.Refused)
	if err != nil {
		return t, fmt.Errorf("fairness: sum up the tickets of events %v: %w", events, err)
	}
	return t, nil
}

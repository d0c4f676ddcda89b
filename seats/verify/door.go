package verify

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Everything that is against the promises of scans (O7) and of cancellations (O8).
//
// An unpaid order of an event that has begun needs no due time: cancelling it frees no seat that can still be used.
//
// Live tickets of an order are counted by a FILTER: with the condition in WHERE, PostgreSQL may read the index of all live
// tickets for each order, if it knows little of a new database (seen: 25 s for 14,300 orders).
const doorSQL = `
SELECT 'O7', t.idx, 'let ' || count(*) || ' people in'
  FROM scan s JOIN ticket t ON t.id = s.ticket_id WHERE t.event_id = $1 AND s.admitted GROUP BY t.id, t.idx HAVING count(*) > 1
 UNION ALL
SELECT 'O7', t.idx, 'came in again without an exit'
  FROM scan s JOIN ticket t ON t.id = s.ticket_id WHERE t.event_id = $1 GROUP BY t.id, t.idx
HAVING count(*) FILTER (WHERE s.said = 'in') > 1 + count(*) FILTER (WHERE s.way = 'out')
 UNION ALL
SELECT 'O7', t.idx, 'was accepted after its ticket was cancelled'
  FROM scan s JOIN ticket t ON t.id = s.ticket_id WHERE t.event_id = $1 AND s.admitted AND s.received_at > t.revoked_at
 UNION ALL
SELECT 'O7', NULL, 'scan ' || s.id || ' is of a ticket of another event, or of none'
  FROM scan s LEFT JOIN ticket t ON t.id = s.ticket_id WHERE s.event_id = $1 AND t.event_id IS DISTINCT FROM s.event_id
 UNION ALL
SELECT 'O7', NULL, 'scan ' || s.id || ' was of a door of another event'
  FROM scan s LEFT JOIN door d ON d.id = s.door_id WHERE s.event_id = $1 AND s.door_id IS NOT NULL AND d.event_id IS DISTINCT FROM s.event_id
 UNION ALL
SELECT 'O8', t.idx, 'has a ticket that was cancelled ' || n || ' times' || CASE WHEN t.revoked_at IS NULL THEN ' and holds' ELSE '' END
  FROM ticket t, LATERAL (SELECT count(*) AS n FROM cancellation c WHERE c.order_id = t.order_id AND t.id = ANY(c.tickets)) c
 WHERE t.event_id = $1 AND n <> CASE WHEN t.revoked_at IS NULL OR t.moved_to IS NOT NULL THEN 0 ELSE 1 END
 UNION ALL
SELECT 'O8', NULL, 'a cancellation is of ' || c.amount || ', and its tickets cost ' || p.cost
  FROM cancellation c, LATERAL (SELECT coalesce(sum(price + fee), 0) AS cost FROM ticket WHERE id = ANY(c.tickets) AND order_id = c.order_id) p
 WHERE c.event_id = $1 AND c.amount <> p.cost
 UNION ALL
SELECT 'O12', NULL, 'order ' || left(o.code, 6) || '… is to be paid later, and there is no time until when'
  FROM orders o
 WHERE o.event_id = $1 AND o.state = 'confirmed' AND o.method IN ('door', 'invoice') AND o.due_at IS NULL AND o.paid + o.waived < o.total
   AND (SELECT starts_at FROM event WHERE id = $1) > clock_timestamp()
   AND NOT EXISTS (SELECT FROM cancellation WHERE order_id = o.id) AND NOT EXISTS (SELECT FROM ticket t JOIN scan s ON s.ticket_id = t.id AND s.admitted WHERE t.order_id = o.id)
 UNION ALL
SELECT 'O8', NULL, 'order ' || left(o.code, 6) || '… is ' || o.state || ' with ' || l.n || ' tickets that hold'
  FROM orders o, LATERAL (SELECT count(*) FILTER (WHERE revoked_at IS NULL) AS n FROM ticket WHERE order_id = o.id) l
 WHERE o.event_id = $1 AND (o.state = 'cancelled') <> (l.n = 0)`

// checkDoor looks at what doors let in and at what was cancelled.
func (b *books) checkDoor(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, doorSQL, b.id)
	if err != nil {
		return err
	}
	var name, what string
	var seat *int
	_, err = pgx.ForEachRow(rows, []any{&name, &seat, &what}, func() error {
		promise, idx := o7, none
		switch name {
		case "O8":
			promise = o8
		case "O12":
			promise = o12
		}
		if seat != nil {
			idx = *seat
		}
		b.broken(promise, idx, "%s", what)
		return nil
	})
	return err
}

package verify

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const resaleSeatsSQL = `SELECT idx, order_id, ended_at IS NULL FROM resale WHERE event_id = $1`

// readResales notes which sold seats were offered back, and which are.
func (b *books) readResales(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, resaleSeatsSQL, b.id)
	if err != nil {
		return err
	}
	b.offeredBack = map[sale]bool{}
	var idx int
	var order seats.ID
	var open bool
	_, err = pgx.ForEachRow(rows, []any{&idx, &order, &open}, func() error {
		b.returned[sale{order, idx}] = true
		if open {
			b.offeredBack[sale{order, idx}] = true
		}
		return nil
	})
	return err
}

// Everything that is against the promises of tickets that are offered back (O18).
const resalesSQL = `
SELECT r.idx, CASE WHEN t.revoked_at IS NOT NULL THEN 'is offered back with a ticket that is not valid'
                   WHEN t.resale_id IS DISTINCT FROM r.id THEN 'is offered back, and its ticket does not say so'
                   WHEN t.order_id <> r.order_id OR t.idx <> r.idx THEN 'is offered back with the ticket of another seat'
                   ELSE 'is offered back, and its ticket was let in' END
  FROM resale r JOIN ticket t ON t.id = r.ticket_id
 WHERE r.event_id = $1 AND r.ended_at IS NULL
   AND (t.revoked_at IS NOT NULL OR t.resale_id IS DISTINCT FROM r.id OR t.order_id <> r.order_id OR t.idx <> r.idx OR EXISTS (SELECT FROM scan WHERE ticket_id = t.id AND admitted))
 UNION ALL
SELECT r.idx, CASE WHEN t.revoked_at IS NULL THEN 'was sold again, and the ticket that was offered back is valid'
                   WHEN NOT EXISTS (SELECT FROM cancellation c WHERE c.order_id = r.order_id AND t.id = ANY(c.tickets)) THEN 'was sold again, and the buyer who offered it back got nothing for it'
                   ELSE 'was sold again to an order without a ticket for it' END
  FROM resale r JOIN ticket t ON t.id = r.ticket_id
 WHERE r.event_id = $1 AND r.sold_to IS NOT NULL
   AND (t.revoked_at IS NULL OR NOT EXISTS (SELECT FROM cancellation c WHERE c.order_id = r.order_id AND t.id = ANY(c.tickets))
        OR NOT EXISTS (SELECT FROM ticket n WHERE n.order_id = r.sold_to AND n.idx = r.idx AND n.event_id = r.event_id))
 UNION ALL
SELECT r.idx, 'was sold again to order ' || left(o.code, 6) || '…, which pays later'
  FROM resale r JOIN orders o ON o.id = r.sold_to WHERE r.event_id = $1 AND o.method IN ('door', 'invoice') AND o.total > 0 AND o.received = 0 AND o.due_at IS NOT NULL
 UNION ALL
SELECT t.idx, 'has a valid ticket that says it is offered back, and it is not'
  FROM ticket t JOIN resale r ON r.id = t.resale_id WHERE t.event_id = $1 AND t.revoked_at IS NULL AND r.ended_at IS NOT NULL`

// checkResales holds O18: a ticket that is offered back is valid until its seat is sold again, and not longer.
func (b *books) checkResales(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, resalesSQL, b.id)
	if err != nil {
		return err
	}
	var idx int
	var what string
	_, err = pgx.ForEachRow(rows, []any{&idx, &what}, func() error {
		b.broken(o18, idx, "%s", what)
		return nil
	})
	return err
}

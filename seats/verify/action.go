package verify

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// A block that ended has no seats.
const blocksSQL = `SELECT id, CASE WHEN ended_at IS NULL THEN seats ELSE '{}' END FROM block WHERE event_id = $1`

func (b *books) readBlocks(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, blocksSQL, b.id)
	if err != nil {
		return err
	}
	b.blocks = map[seats.ID][]int32{}
	var id seats.ID
	var kept []int32
	_, err = pgx.ForEachRow(rows, []any{&id, &kept}, func() error {
		b.blocks[id], kept = kept, nil
		return nil
	})
	return err
}

// before is the holder of seats that were blocked without a reason.
var before = seats.ID{15: 1}

func (b *books) keeps(block seats.ID, idx int) bool {
	return block == before || slices.Contains(b.blocks[block], int32(idx))
}

// Everything that is against the promises of moves (O9), of bulk jobs (O10) and of tickets that are sent to friends (O17).
const actionsSQL = `
SELECT 'O9', t.idx, CASE WHEN n.id IS NULL THEN 'moved to a ticket that is not there'
                         WHEN n.order_id <> t.order_id OR n.event_id <> t.event_id THEN 'moved to a ticket of another order'
                         WHEN t.revoked_at IS NULL THEN 'moved and still has its old ticket'
                         ELSE 'moved from a price of ' || t.price + t.fee || ' to one of ' || n.price + n.fee END
  FROM ticket t LEFT JOIN ticket n ON n.id = t.moved_to
 WHERE t.event_id = $1 AND t.moved_to IS NOT NULL
   AND (n.id IS NULL OR n.order_id <> t.order_id OR n.event_id <> t.event_id OR t.revoked_at IS NULL OR (n.price, n.fee, n.discount, n.tax, n.fee_tax, n.tax_rate, n.fee_rate) <> (t.price, t.fee, t.discount, t.tax, t.fee_tax, t.tax_rate, t.fee_rate))
 UNION ALL
SELECT 'O9', min(idx), 'came of ' || count(*) || ' tickets that moved' FROM ticket WHERE event_id = $1 AND moved_to IS NOT NULL GROUP BY moved_to HAVING count(*) > 1
 UNION ALL
SELECT 'O10', NULL, 'a bulk job to ' || e.kind || ' was done to ' || e.done || ' orders and not to ' || e.refused || ', and it has been to ' || v.done || ' and ' || v.refused
  FROM errand e, LATERAL (SELECT count(*) FILTER (WHERE refused = '') AS done, count(*) FILTER (WHERE refused <> '') AS refused FROM errand_order WHERE errand_id = e.id) v
 WHERE e.event_id = $1 AND (e.done, e.refused) IS DISTINCT FROM (v.done::integer, v.refused::integer)
 UNION ALL
SELECT 'O10', NULL, 'a message has ' || m.n || ' mails for ' || e.done || ' orders'
  FROM errand e, LATERAL (SELECT count(*) AS n FROM mail WHERE message_id = e.message_id AND order_id IS NOT NULL) m
 WHERE e.event_id = $1 AND e.kind = 'message' AND m.n <> e.done
 UNION ALL
SELECT 'O10', t.idx, 'has a ticket that a bulk job cancelled'
  FROM errand e JOIN errand_order v ON v.errand_id = e.id AND v.refused = '' JOIN ticket t ON t.order_id = v.order_id
 WHERE e.event_id = $1 AND e.kind = 'cancel' AND t.revoked_at IS NULL
 UNION ALL
SELECT 'O10', NULL, 'a bulk job to cancel ended without order ' || left(o.code, 6) || '…'
  FROM errand e JOIN orders o ON o.event_id = e.event_id
 WHERE e.event_id = $1 AND e.kind = 'cancel' AND e.ended_at IS NOT NULL AND o.state = 'confirmed'
   AND NOT EXISTS (SELECT FROM errand_order WHERE errand_id = e.id AND order_id = o.id)
 UNION ALL
SELECT 'O17', t.idx, CASE WHEN t.order_id <> f.order_id THEN 'was sent to a friend from another order'
                          WHEN f.accepted_at IS NULL THEN 'is offered to a friend, and is not valid any more'
                          ELSE 'was accepted by a friend, and takes the place of no ticket' END
  FROM ticket_transfer f JOIN ticket t ON t.id = f.ticket_id
 WHERE f.event_id = $1 AND (t.order_id <> f.order_id
    OR f.accepted_at IS NOT NULL AND NOT EXISTS (SELECT FROM ticket p WHERE p.moved_to = t.id AND p.revoked_at IS NOT NULL)
    OR f.accepted_at IS NULL AND f.withdrawn_at IS NULL AND t.moved_to IS NOT NULL)`

// checkActions looks at what organizers did to tickets and orders.
func (b *books) checkActions(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, actionsSQL, b.id)
	if err != nil {
		return err
	}
	var name, what string
	var seat *int
	_, err = pgx.ForEachRow(rows, []any{&name, &seat, &what}, func() error {
		promise, idx := map[string]int{"O9": o9, "O10": o10, "O17": o17}[name], none
		if seat != nil {
			idx = *seat
		}
		b.broken(promise, idx, "%s", what)
		return nil
	})
	return err
}

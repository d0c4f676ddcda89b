package verify

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// What each visitor bought, and whether some of it may exceed the limit: money that came late buys what it was paid for,
// offers of the waitlist have limits of their own, and a ticket that was offered back may be taken back after others were bought.
const boughtSQL = `
SELECT o.holder, coalesce(sum(t.live), 0)::integer,
       bool_or(EXISTS (SELECT FROM payment p WHERE p.order_id = o.id) OR EXISTS (SELECT FROM payment_share p WHERE p.order_id = o.id) OR EXISTS (SELECT FROM offer f WHERE f.event_id = $1 AND f.hold_id = o.hold_id) OR EXISTS (SELECT FROM resale r WHERE r.order_id = o.id AND r.ended_at IS NOT NULL AND r.sold_to IS NULL))
  FROM orders o, LATERAL (SELECT count(*) FILTER (WHERE revoked_at IS NULL AND NOT EXISTS (SELECT FROM resale r WHERE r.id = ticket.resale_id AND r.ended_at IS NULL)) AS live FROM ticket WHERE order_id = o.id) t
 WHERE o.event_id = $1 AND NOT o.at_office
 GROUP BY o.holder`

// checkBought holds O1 and P8 against what visitors bought: each hold row counts its visitor's live tickets, and
// no visitor holds and bought more than the limit.
func (b *books) checkBought(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, boughtSQL, b.id)
	if err != nil {
		return err
	}
	bought, exempt := map[seats.ID]int{}, map[seats.ID]bool{}
	var holder seats.ID
	var n int
	var beyond bool
	if _, err := pgx.ForEachRow(rows, []any{&holder, &n, &beyond}, func() error {
		bought[holder], exempt[holder] = n, beyond
		if b.holdOf[holder] == nil && n > 0 {
			b.broken(o1, none, "%s bought %d tickets, which no hold row counts", short(holder), n)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, h := range b.holds {
		if n := bought[h.holder]; h.bought != n {
			b.broken(o1, none, "the hold row of %s counts %d tickets bought, and their orders have %d", short(h.holder), h.bought, n)
		}
		if !h.expired && h.holder != waitList && !b.offered[h.id] && !b.kept[h.holder] && !b.awaited[h.holder] && !exempt[h.holder] && h.has > 0 && h.has+h.bought > b.limit {
			b.broken(p8, none, "%s holds %d seats and bought %d, and the limit is %d", short(h.holder), h.has, h.bought, b.limit)
		}
	}
	return nil
}

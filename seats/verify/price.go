package verify

import (
	"context"

	"github.com/jackc/pgx/v5"
)

const phasesSQL = `
SELECT f.number, f.name, f.sells, c.quota[f.number], (SELECT count(*) FROM seat_state s WHERE s.event_id = $1 AND s.phase = f.number)
  FROM phase f JOIN counter c ON c.event_id = f.event_id
 WHERE f.event_id = $1 AND f.sells IS NOT NULL AND NOT f.retired`

const unlistedSQL = `
SELECT s.idx, s.price FROM seat_state s JOIN seat d ON d.event_id = s.event_id AND d.idx = s.idx
 WHERE s.event_id = $1 AND s.price IS NOT NULL
   AND (s.state NOT IN (1, 3, 4) /* held, paying, sold */
        OR NOT EXISTS (SELECT FROM price p WHERE p.event_id = $1 AND p.category = d.category AND p.type = s.type AND p.phase IN (0, s.phase) AND p.amount = s.price))
 ORDER BY s.idx`

// checkPrices holds P14: a phase has sold what its quota says, and every price of a seat was in a list of the event.
func (b *books) checkPrices(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, phasesSQL, b.id)
	if err != nil {
		return err
	}
	var number, sells, count int
	var quota *int
	var name string
	if _, err = pgx.ForEachRow(rows, []any{&number, &name, &sells, &quota, &count}, func() error {
		switch {
		case quota == nil:
			b.broken(p14, none, "phase %q sells %d seats, and its quota says any number", name, sells)
		case count > sells:
			b.broken(p14, none, "phase %q sells %d seats, and %d have its price", name, sells, count)
		case *quota != sells-count:
			b.broken(p14, none, "phase %q has %d of %d seats left by its quota, and %d by the rows", name, *quota, sells, sells-count)
		}
		return nil
	}); err != nil {
		return err
	}
	if rows, err = tx.Query(ctx, unlistedSQL, b.id); err != nil {
		return err
	}
	var idx int
	var price int64
	_, err = pgx.ForEachRow(rows, []any{&idx, &price}, func() error {
		b.broken(p14, idx, "has the price %d, which no price list of the event had for it", price)
		return nil
	})
	return err
}

package verify

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Seats that are held for the waitlist come back for one entry or for all visitors. They have no buyer yet.
const wholeSQL = `
SELECT min(d.idx), count(*), count(t.holder), count(DISTINCT t.holder)
  FROM event e JOIN plan p ON p.id = e.plan_id,
       jsonb_to_recordset(CASE jsonb_typeof(to_jsonb(p.drawing) -> 'Whole') WHEN 'array' THEN to_jsonb(p.drawing) -> 'Whole' ELSE '[]' END) AS w("Section" integer, "Row" text)
       JOIN seat d ON d.event_id = $1 AND d.section = w."Section" AND d.row = w."Row"
       LEFT JOIN (SELECT idx, holder FROM seat_state
                   WHERE event_id = $1 AND state IN (1, 2, 3, 4) /* held, lapsed, paying, sold */ AND holder <> '00000000-0000-0000-0000-000000000002') t ON t.idx = d.idx
 WHERE e.id = $1 AND e.status <> 'cancelled' -- then tickets that were used stay sold
 GROUP BY w."Section", w."Row"
HAVING count(t.holder) NOT IN (0, count(*)) OR count(DISTINCT t.holder) > 1`

// checkWhole holds P16: a row that is sold whole has no buyer, or one.
func (b *books) checkWhole(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, wholeSQL, b.id)
	if err != nil {
		return err
	}
	var idx, all, taken, holders int
	_, err = pgx.ForEachRow(rows, []any{&idx, &all, &taken, &holders}, func() error {
		b.broken(p16, idx, "is in a row that is sold whole: %d of its %d seats are taken, by %d", taken, all, holders)
		return nil
	})
	return err
}

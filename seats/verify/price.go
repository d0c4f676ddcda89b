package verify

import (
	"context"
	"time"

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

const phaseTimesSQL = `
SELECT s.idx, f.name, f.begins_at, f.ends_at FROM seat_state s JOIN phase f ON f.event_id = s.event_id AND f.number = s.phase
 WHERE s.event_id = $1 AND s.state IN (1, 3, 4) /* held, paying, sold */ AND (f.begins_at IS NOT NULL OR f.ends_at IS NOT NULL)
 ORDER BY s.idx`

// checkPhases holds the phase of each seat against its time (P14): it ran at some moment from the claim to the last change of the
// seat, as an expired hold gets another price. Seats that were claimed before the event was last edited are left out, because
// the phase may have had another time then.
func (b *books) checkPhases(ctx context.Context, tx pgx.Tx) error {
	const slack = 10 * time.Second // between the guard of a batch and the time of its version
	var edited int64
	for _, t := range b.terms {
		edited = max(edited, t.version)
	}
	rows, err := tx.Query(ctx, phaseTimesSQL, b.id)
	if err != nil {
		return err
	}
	var idx int
	var name string
	var begins, ends *time.Time
	_, err = pgx.ForEachRow(rows, []any{&idx, &name, &begins, &ends}, func() error {
		if idx < 0 || idx >= len(b.log.seats) || b.log.seats[idx].claim.version <= edited {
			return nil
		}
		s := &b.log.seats[idx]
		if ends != nil && s.claim.at.After(ends.Add(slack)) || begins != nil && s.at.Before(begins.Add(-slack)) {
			b.broken(p14, idx, "has the price of phase %q, which did not run from its claim in version %d to version %d", name, s.claim.version, s.version)
		}
		return nil
	})
	return err
}

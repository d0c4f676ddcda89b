package orders

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/paging"
)

// Programs that copy orders ask which ones changed since they asked last. Times do not answer that: a transaction that began earlier may
// commit later, after who asks has gone on. Nor does the change log of an event, which knows nothing of money, names and scans.
//
// So triggers note in the transaction of each change which order it is of, without a key and without a lock. The next reader numbers
// what is committed, under a lock of the event. A change gets its number after its commit, and numbers only grow.

// lockChangesSQL lets one transaction of an event number changes at a time.
const lockChangesSQL = `SELECT pg_advisory_xact_lock(hashtextextended('order changes of event ' || $1::bigint, house_seed()))`

// numberChangesSQL has a snapshot from after the lock. An order that changed several times gets one number.
const numberChangesSQL = `
WITH gone AS (DELETE FROM order_touch WHERE event_id = $1 RETURNING order_id)
INSERT INTO order_change (order_id, event_id, number, at)
SELECT id, $1, (SELECT coalesce(max(number), 0) FROM order_change WHERE event_id = $1) + row_number() OVER (ORDER BY created_at, id), clock_timestamp()
  FROM orders WHERE id IN (SELECT order_id FROM gone)
    ON CONFLICT (order_id) DO UPDATE SET number = excluded.number, at = excluded.at`

// numberChanges numbers the changes of an event that are committed.
func numberChanges(ctx context.Context, tx pgx.Tx, event int64) error {
	if _, err := tx.Exec(ctx, lockChangesSQL, event); err != nil {
		return fmt.Errorf("orders: lock changes: %w", err)
	}
	if _, err := tx.Exec(ctx, numberChangesSQL, event); err != nil {
		return fmt.Errorf("orders: number changes: %w", err)
	}
	return nil
}

const touchedSQL = `SELECT DISTINCT event_id FROM order_touch`

// numberAll numbers changes that no reader asked for, so that their notes do not pile up.
func (o *Orders) numberAll(ctx context.Context) error {
	rows, _ := o.db.Query(ctx, touchedSQL) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("orders: find changes: %w", err)
	}
	for _, event := range list {
		if err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error { return numberChanges(ctx, tx, event) }); err != nil {
			return err
		}
	}
	return nil
}

const lastChangeSQL = `SELECT coalesce(max(number), 0) FROM order_change WHERE event_id = $1`

const changedSQL = `
WITH found AS MATERIALIZED (
    SELECT o.*, c.number AS change FROM order_change c JOIN orders o ON o.id = c.order_id
     WHERE c.event_id = $1 AND c.number > $2 AND ($3::timestamptz IS NULL OR c.at >= $3)
     ORDER BY c.number
     LIMIT $4)` + foundColumns + `
 ORDER BY o.change`

// Changed returns orders of an event that changed after a place, each once, as they are now, in the order of their last changes. The first
// place has a time: what changed since then. next is where to go on, at once if there are more, or any time later.
//
// Errors: paging.ErrAhead; the database's.
func (o *Orders) Changed(ctx context.Context, s *seats.Sale, p paging.Page) (list []Found, next paging.Place, more bool, err error) {
	var last int64
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if err := numberChanges(ctx, tx, s.Event.ID); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, lastChangeSQL, s.Event.ID).Scan(&last); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, changedSQL, s.Event.ID, p.After.N, p.After.Time(), p.Limit+1) // CollectRows returns its error
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Found])
		return err
	})
	if err != nil {
		return nil, next, false, fmt.Errorf("orders: list changed ones: %w", err)
	}
	return paging.Follow(list, p, last, func(f Found) int64 { return f.Change })
}

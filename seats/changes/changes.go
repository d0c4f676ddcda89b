package changes

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/paging"
)

// List is what changed, as the tables have it.
type List string

// The lists.
const (
	Events    List = "events"    // subjects are ids of events
	Customers List = "customers" // subjects are ids of records
)

// Changed is something that changed.
type Changed struct {
	Subject string
	Number  int64
}

// lockSQL lets one transaction of a team number changes at a time.
const lockSQL = `SELECT pg_advisory_xact_lock(hashtextextended('changes of team ' || $1::bigint, house_seed()))`

// numberSQL has a snapshot from after the lock. What changed several times gets one number.
const numberSQL = `
WITH noted AS (DELETE FROM team_touch WHERE team_id = $1 RETURNING list, subject),
     each AS (SELECT DISTINCT list, changed_subject($1, list, subject) AS subject FROM (SELECT DISTINCT list, subject FROM noted) n)
INSERT INTO team_change (team_id, list, subject, number, at)
SELECT $1, list, subject, (SELECT coalesce(max(number), 0) FROM team_change WHERE team_id = $1) + row_number() OVER (ORDER BY list, subject), clock_timestamp()
  FROM each WHERE subject IS NOT NULL
    ON CONFLICT (team_id, list, subject) DO UPDATE SET number = excluded.number, at = excluded.at`

// number numbers the changes of a team that are committed.
func number(ctx context.Context, tx pgx.Tx, team int64) error {
	if _, err := tx.Exec(ctx, lockSQL, team); err != nil {
		return fmt.Errorf("changes: lock: %w", err)
	}
	if _, err := tx.Exec(ctx, numberSQL, team); err != nil {
		return fmt.Errorf("changes: number: %w", err)
	}
	return nil
}

const touchedSQL = `SELECT DISTINCT team_id FROM team_touch`

// NumberAll numbers changes that no reader asked for, so that their notes do not pile up.
func NumberAll(ctx context.Context, db seats.DB) error {
	rows, _ := db.Query(ctx, touchedSQL) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("changes: find: %w", err)
	}
	for _, team := range list {
		if err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return number(ctx, tx, team) }); err != nil {
			return err
		}
	}
	return nil
}

const lastSQL = `SELECT coalesce(max(number), 0) FROM team_change WHERE team_id = $1 AND list = $2`

const sinceSQL = `
SELECT subject, number FROM team_change
 WHERE team_id = $1 AND list = $2 AND number > $3 AND ($4::timestamptz IS NULL OR at >= $4)
 ORDER BY number LIMIT $5`

// Since returns what of a list of a team changed after a place, each once, in the order of the last changes. The first place has a time:
// what changed since then. next is where to go on, at once if there are more, or any time later.
//
// Errors: paging.ErrAhead; the database's.
func Since(ctx context.Context, tx pgx.Tx, team int64, of List, p paging.Page) (list []Changed, next paging.Place, more bool, err error) {
	if err := number(ctx, tx, team); err != nil {
		return nil, next, false, err
	}
	var last int64
	if err := tx.QueryRow(ctx, lastSQL, team, of).Scan(&last); err != nil {
		return nil, next, false, fmt.Errorf("changes: find the last one: %w", err)
	}
	rows, _ := tx.Query(ctx, sinceSQL, team, of, p.After.N, p.After.Time(), p.Limit+1) // CollectRows returns its error
	if list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Changed]); err != nil {
		return nil, next, false, fmt.Errorf("changes: list: %w", err)
	}
	return paging.Follow(list, p, last, func(c Changed) int64 { return c.Number })
}

package privacy

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/customers"
	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// MostMonths is the longest retention time.
const MostMonths = 120

// Erasure is one that was done.
type Erasure struct {
	ID     int64
	Event  string // its name, if it was of all persons of an event
	Orders int
	At     time.Time
}

const monthsSQL = `SELECT coalesce((SELECT months FROM retention WHERE team_id = $1), 0)`

const erasuresSQL = `
SELECT x.id, coalesce(e.name, ''), x.orders, x.at FROM erasure x LEFT JOIN event e ON e.id = x.event_id -- the wall hides test sales
 WHERE x.team_id = $1 AND (x.event_id IS NULL OR e.id IS NOT NULL) ORDER BY x.id DESC LIMIT 20`

// Settings returns how many months a member's team keeps personal data after an event, 0 for until it is asked, and its
// latest erasures.
func (p *Privacy) Settings(ctx context.Context, m organizers.Member) (months int, list []Erasure, err error) {
	err = p.desk.As(ctx, m, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, monthsSQL, m.Team).Scan(&months); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, erasuresSQL, m.Team)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Erasure])
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("privacy: read settings: %w", err)
	}
	return months, list, nil
}

const setMonthsSQL = `
INSERT INTO retention (team_id, months) VALUES ($1, nullif($2, 0)) ON CONFLICT (team_id) DO UPDATE SET months = excluded.months`

// SetRetention says how many months the team keeps personal data after an event; 0: until a person asks.
//
// Errors: organizers.Mistakes; those of idempotency.Key.Take; the database's.
func (p *Privacy) SetRetention(ctx context.Context, m organizers.Member, months int, key string) error {
	if months < 0 || months > MostMonths {
		return organizers.Mistakes{{Field: FieldMonths, Message: text.Mark("Enter a number of months from 1 to 120, or nothing.")}}
	}
	return p.desk.Change(ctx, m, key, []any{"retention", months}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setMonthsSQL, m.Team, months); err != nil {
			return fmt.Errorf("privacy: set the retention time: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("set the retention time"), "privacy", map[string]int{"months": months})
	})
}

const oldEventsSQL = `
SELECT e.id, e.team_id FROM event e JOIN retention r ON r.team_id = e.team_id
 WHERE e.starts_at < clock_timestamp() - make_interval(months => r.months)
   AND NOT EXISTS (SELECT FROM erasure x WHERE x.event_id = e.id AND x.complete)
 ORDER BY e.starts_at`

// A node that is second finds the event locked, and leaves it.
const lockEventSQL = `SELECT FROM event WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED`

const leftSQL = `
SELECT EXISTS (SELECT FROM orders WHERE event_id = $1 AND erased_at IS NULL) OR EXISTS (SELECT FROM payment WHERE event_id = $1 AND form->>'email' <> '')
    OR EXISTS (SELECT FROM entry WHERE event_id = $1 AND email <> '') OR EXISTS (SELECT FROM deposit WHERE event_id = $1 AND paid_at IS NOT NULL AND ended_at IS NULL)
    OR EXISTS (SELECT FROM deposit_payment WHERE event_id = $1 AND state IN ('open', 'refunding'))`

// EraseOld erases all persons of events, of gift cards, of imported lists and of empty credit accounts when their retention time is over, one
// event in a transaction.
func (p *Privacy) EraseOld(ctx context.Context) error {
	if err := giftcards.EraseOld(ctx, p.db); err != nil {
		return err
	}
	if err := credit.EraseOld(ctx, p.db); err != nil {
		return err
	}
	if err := customers.EraseOld(ctx, p.db); err != nil {
		return err
	}
	rows, err := p.db.Query(ctx, oldEventsSQL)
	if err != nil {
		return fmt.Errorf("privacy: find old events: %w", err)
	}
	due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (one [2]int64, err error) { return one, row.Scan(&one[0], &one[1]) })
	if err != nil {
		return fmt.Errorf("privacy: find old events: %w", err)
	}
	for _, one := range due {
		if _, err := p.EraseEvent(ctx, one[0], one[1]); err != nil {
			return err
		}
	}
	return nil
}

// EraseEvent erases all persons of an event of a team, and reports whether none is left. A person with a payment, a refund or a deposit that is not over stays until it is.
func (p *Privacy) EraseEvent(ctx context.Context, event, team int64) (all bool, err error) {
	err = pgx.BeginFunc(ctx, p.db, func(tx pgx.Tx) error {
		if err := customers.Lock(ctx, tx, team); err != nil {
			return err
		}
		if tag, err := tx.Exec(ctx, lockEventSQL, event); err != nil || tag.RowsAffected() == 0 {
			return err
		}
		changed, err := erase(ctx, tx, []int64{event}, "")
		if err != nil {
			return err
		}
		if err := customers.Erase(ctx, tx, team); err != nil {
			return err
		}
		var left bool
		if err := tx.QueryRow(ctx, leftSQL, event).Scan(&left); err != nil {
			return err
		}
		if left && changed == 0 {
			return nil // it waits for a refund or a payment
		}
		var id int64
		all = !left
		return tx.QueryRow(ctx, noteErasureSQL, team, nil, event, !left, changed).Scan(&id)
	})
	if err != nil {
		return false, fmt.Errorf("privacy: erase event %d: %w", event, err)
	}
	return all, nil
}

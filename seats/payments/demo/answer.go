package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/payments"
)

// Ways in which the demo card can be told to answer.
const (
	Pays     = "pay"     // at once
	Declines = "decline" // at once
	Slow     = "slow"    // pays, and tells so after ten seconds
	Late     = "late"    // pays, and tells so after the time for paying is over
	Twice    = "twice"   // pays, and tells so twice at once and a third time later
)

// told is one thing the demo card will tell.
type told struct {
	after time.Duration
	stand payments.Stand
	again bool // the same event as the one before
}

const (
	slowly = 10 * time.Second
	lately = 5 * time.Second // after the time for paying
)

// answers is what each way means. length is the event's time for paying.
func answers(way string, length time.Duration) []told {
	switch way {
	case Pays:
		return []told{{0, payments.Authorized, false}}
	case Declines:
		return []told{{0, payments.Declined, false}}
	case Slow:
		return []told{{slowly, payments.Authorized, false}}
	case Late:
		return []told{{length + lately, payments.Authorized, false}}
	case Twice:
		return []told{{0, payments.Authorized, false}, {0, payments.Authorized, true}, {lately, payments.Authorized, false}}
	}
	return nil
}

const lengthSQL = `
SELECT c.payment_id, extract(epoch FROM coalesce(e.payment_length, interval '1 hour'))::float8
  FROM demo_charge c LEFT JOIN payment p ON p.id = c.payment_id LEFT JOIN event e ON e.id = p.event_id -- the deposit of a group is no payment of an event
 WHERE c.reference = $1 AND c.stand = 'pending' AND NOT EXISTS (SELECT FROM demo_news n WHERE n.payment_id = c.payment_id)
   FOR UPDATE OF c`

const answeredSQL = `UPDATE demo_charge SET answer = $2 WHERE payment_id = $1`

const answerSQL = `
INSERT INTO demo_news (payment_id, event, stand, due_at) VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))`

// Answer is the choice of the payer. The first one counts: the same once more changes nothing, another one is
// ErrAnswered. A way that is none is ErrNoCharge.
func (c *Card) Answer(ctx context.Context, reference, way string) error {
	if answers(way, 0) == nil {
		return ErrNoCharge
	}
	err := pgx.BeginFunc(ctx, c.db, func(tx pgx.Tx) error {
		var payment seats.ID
		var length float64
		if err := tx.QueryRow(ctx, lengthSQL, reference).Scan(&payment, &length); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, answeredSQL, payment, way); err != nil {
			return err
		}
		var event string
		for _, t := range answers(way, time.Duration(length*float64(time.Second))) {
			if !t.again {
				event = seats.NewID().String()
			}
			if _, err := tx.Exec(ctx, answerSQL, payment, event, t.stand, t.after.Seconds()); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return c.answered(ctx, reference, way)
	}
	if err != nil {
		return fmt.Errorf("demo: answer: %w", err)
	}
	_, err = c.tellDue(ctx, "")
	c.telling.Wake() // there may be more later
	return err
}

const answerOfSQL = `SELECT answer FROM demo_charge WHERE reference = $1`

// answered reports whether a charge that waits for no answer had this one, or none.
func (c *Card) answered(ctx context.Context, reference, way string) error {
	var first string
	err := c.db.QueryRow(ctx, answerOfSQL, reference).Scan(&first)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNoCharge
	case err != nil:
		return fmt.Errorf("demo: read an answer: %w", err)
	case first != "" && first != way:
		return ErrAnswered
	}
	return nil
}

// What the charge becomes is true before anybody is told.
const dueSQL = `
WITH due AS (
    SELECT id, payment_id, event, stand FROM demo_news WHERE told_at IS NULL AND due_at <= clock_timestamp() ORDER BY due_at, id LIMIT 64
), become AS (
    UPDATE demo_charge c SET stand = due.stand FROM due WHERE c.payment_id = due.payment_id AND c.stand = 'pending'
)
SELECT id, payment_id, event FROM due`

const toldSQL = `UPDATE demo_news SET told_at = clock_timestamp() WHERE id = $1`

// Job returns the job that records the events of the demo card when they are due.
func (c *Card) Job() *jobs.Job { return c.telling }

const dueEventsSQL = `SELECT '', due_at FROM demo_news WHERE told_at IS NULL`

// tellDue tells what is due and returns how much that was. Events that were not stored are recorded again.
func (c *Card) tellDue(ctx context.Context, _ string) (int, error) {
	type dueEvent struct {
		ID      int64
		Payment seats.ID
		Event   string
	}
	rows, err := c.db.Query(ctx, dueSQL)
	if err != nil {
		return 0, fmt.Errorf("demo: find due events: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[dueEvent])
	if err != nil {
		return 0, fmt.Errorf("demo: find due events: %w", err)
	}
	for _, n := range due {
		if err := c.record(ctx, payments.WebhookEvent{Method: payments.Demo, Event: n.Event, Payment: n.Payment, Kind: "demo"}); err != nil {
			return 0, err
		}
		if _, err := c.db.Exec(ctx, toldSQL, n.ID); err != nil {
			return 0, fmt.Errorf("demo: note what was told: %w", err)
		}
	}
	return len(due), nil
}

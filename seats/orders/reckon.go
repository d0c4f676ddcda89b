package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/usherbox/usher/seats"
)

const (
	reckonAtLeast = 30 * time.Second // a pass is made at least this often, for what other nodes left behind
	reckonAtOnce  = 8                // calls to providers at a time
)

const dueSQL = `
SELECT DISTINCT payment_id
  FROM intention
 WHERE done_at IS NULL AND next_try <= statement_timestamp() AND (tried_at IS NULL OR tried_at < statement_timestamp() - interval '15 seconds')
 LIMIT 64`

const nextDueSQL = `
SELECT extract(epoch FROM min(greatest(next_try, tried_at + interval '15 seconds')) - clock_timestamp())::float8
  FROM intention WHERE done_at IS NULL`

// Reckon carries out what is meant and due until ctx is done: steps whose answer was lost, whose provider was down, whose
// node died, and what came into the inbox. Safe on all nodes at once. It sleeps while nothing is due.
func (o *Orders) Reckon(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.pay.wake:
		case <-timer.C:
		}
		wait, err := o.reckonDue(ctx)
		if err != nil && ctx.Err() == nil {
			o.pay.log.Warn("payments could not be looked at; the next try is in a second", "error", err)
			wait = time.Second
		}
		timer.Reset(wait)
	}
}

// reckonDue does what is due and returns how long until there is more.
func (o *Orders) reckonDue(ctx context.Context) (time.Duration, error) {
	if err := o.readInbox(ctx); err != nil {
		return 0, err
	}
	if err := o.forgetDue(ctx); err != nil {
		return 0, err
	}
	rows, err := o.db.Query(ctx, dueSQL)
	if err != nil {
		return 0, fmt.Errorf("orders: find what is due: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[seats.ID])
	if err != nil {
		return 0, fmt.Errorf("orders: find what is due: %w", err)
	}
	var g errgroup.Group
	g.SetLimit(reckonAtOnce)
	for _, payment := range due {
		g.Go(func() error { return o.work(ctx, payment) })
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	var next *float64
	if err := o.db.QueryRow(ctx, nextDueSQL).Scan(&next); err != nil {
		return 0, fmt.Errorf("orders: find what is due next: %w", err)
	}
	if next == nil {
		return reckonAtLeast, nil
	}
	return min(max(time.Duration(*next*float64(time.Second)), 10*time.Millisecond), reckonAtLeast), nil
}

func (o *Orders) wakeReckoner() {
	select {
	case o.pay.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Ask makes a payment due now, for an attendee who came back from the provider.
func (o *Orders) Ask(ctx context.Context, p Payment) error {
	if _, err := o.db.Exec(ctx, askAgainSQL, p.ID); err != nil {
		return fmt.Errorf("orders: ask about a payment: %w", err)
	}
	return o.work(ctx, p.ID)
}

package credit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// A payment voids its own hold when the seats are lost. What is past its time is of a payment nobody went on with. One
// whose order is there, or comes next, is left alone however late it is: its money is taken.
const expiredSQL = `
SELECT id FROM credit_hold h
 WHERE state = 'open' AND expires_at <= clock_timestamp()
   AND NOT EXISTS (SELECT FROM payment p WHERE p.id = h.id AND p.state IN ('authorized', 'sold'))
 ORDER BY expires_at
 LIMIT 256`

// Expire voids the open holds whose time is up, and returns how many. It is safe on all nodes at once, and beside a
// capture: whichever comes first, the other finds the hold ended.
func (l *Ledger) Expire(ctx context.Context) (n int, err error) {
	rows, err := l.db.Query(ctx, expiredSQL)
	if err != nil {
		return 0, fmt.Errorf("credit: find holds that are over: %w", err)
	}
	over, err := pgx.CollectRows(rows, pgx.RowTo[seats.ID])
	if err != nil {
		return 0, fmt.Errorf("credit: find holds that are over: %w", err)
	}
	for _, id := range over {
		done, err := l.db.Exec(ctx, voidSQL, id, true)
		if err != nil {
			return n, fmt.Errorf("credit: end a hold: %w", err)
		}
		n += int(done.RowsAffected())
	}
	return n, nil
}

const expireEvery = 15 * time.Second

// Run voids what is over until ctx is done.
func (l *Ledger) Run(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		_, err := l.Expire(ctx)
		if err = errors.Join(err, l.forget(ctx)); err != nil && ctx.Err() == nil {
			log.Warn("credit that was set aside could not be given back; the next try is in 15 s", "error", err)
		}
	}
}

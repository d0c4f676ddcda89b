package seats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connectionLost reports whether an error leaves open what the server did.
func connectionLost(err error) bool {
	var pg *pgconn.PgError
	return err != nil && !errors.Is(err, pgx.ErrNoRows) && (!errors.As(err, &pg) || pg.Severity == "FATAL")
}

// The counter row's lock is free again once the lost batch has ended, one way or the other.
const waitForCounterSQL = `SELECT version FROM counter WHERE event_id = $1 FOR NO KEY UPDATE`

const findBatchSQL = `
SELECT version, at, free, held, sold, blocked, quota FROM change WHERE event_id = $1 AND version <= $2 AND batch = $3
 ORDER BY version DESC LIMIT 1`

// findCommit resolves a lost answer to COMMIT: it reports whether the batch is in the change log after all. An error
// leaves that open.
func (b *batch) findCommit(db *pgxpool.Pool) (committed bool, err error) {
	if len(b.dirty) == 0 {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(forBatch(context.Background()), batchTime)
	defer cancel()
	var version int64
	wait := func() error { return db.QueryRow(ctx, waitForCounterSQL, b.sale.Event.ID).Scan(&version) }
	err = wait()
	for connectionLost(err) && Sleep(ctx, retryPause) == nil { // the database may be starting again
		err = wait()
	}
	if err != nil {
		return false, fmt.Errorf("seats: wait for a batch with a lost answer: %w", err)
	}
	c := &b.change
	err = db.QueryRow(ctx, findBatchSQL, b.sale.Event.ID, version, b.id).
		Scan(c.counted()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("seats: find a batch with a lost answer: %w", err)
	}
	return true, nil
}

const endOfHoldSQL = `SELECT expires_at, clock_timestamp() FROM hold WHERE event_id = $1 AND holder = $2`

// recover resolves a lost answer: either the batch was committed after all, or nothing happened and it may come again.
func (s *Sale) recover(ctx context.Context, t *inFlight, lost error) error {
	committed, err := t.batch.findCommit(s.inventory.db)
	if err != nil {
		return errors.Join(lost, err)
	}
	if !committed {
		for _, c := range t.batch.commands {
			c.lost = true
		}
		return errNotFast
	}
	var end, now time.Time
	if err := s.inventory.db.QueryRow(ctx, endOfHoldSQL, s.Event.ID, t.batch.commands[0].holder).Scan(&end, &now); err != nil {
		return fmt.Errorf("seats: event %d: read the end of holds with a lost answer: %w", s.Event.ID, err)
	}
	t.granted(end, now)
	return nil
}

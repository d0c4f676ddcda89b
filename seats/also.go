package seats

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Also queues statements that are committed with something, or not at all; nil for none. Where that is a batch they
// travel with other people's commands, which fail with them, and may be asked for again: nothing in them may fail
// for reasons of one person, and they must lock no seat and no hold.
type Also func(q *pgx.Batch)

// Both commits two things with something.
func Both(one, other Also) Also {
	return func(q *pgx.Batch) {
		one.queue(q)
		other.queue(q)
	}
}

// Run executes the statements in a transaction.
func (a Also) Run(ctx context.Context, tx pgx.Tx) error {
	if a == nil {
		return nil
	}
	var q pgx.Batch
	a(&q)
	return tx.SendBatch(ctx, &q).Close()
}

// queue adds the statements to those of a batch.
func (a Also) queue(q *pgx.Batch) {
	if a != nil {
		a(q)
	}
}

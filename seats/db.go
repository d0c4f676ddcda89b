package seats

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DB is what a function needs to talk to PostgreSQL. A pool, a connection and a transaction all fit,
// so functions compose inside a transaction without knowing it.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

type batchKey struct{}

// forBatch marks the context in which a batch waits for a connection.
func forBatch(ctx context.Context) context.Context { return context.WithValue(ctx, batchKey{}, true) }

// IsBatch reports whether a batch waits for a connection in this context. A pool makes those before others.
func IsBatch(ctx context.Context) bool { return ctx.Value(batchKey{}) != nil }

// Sleep waits for some time, or until ctx is done, whose error it returns then. No time is none.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// unfitCodes are the errors of PostgreSQL that are about a value which somebody sent: text that is none, a zero in
// text or in JSON, a number out of range, a time that there is not.
var unfitCodes = []string{"22021", "22P05", "22003", "22008", "22007"}

// Unfit tells whether the database would not take a value because of what it is. Nothing was changed then.
func Unfit(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(unfitCodes, pg.Code)
}

// IsConstraint reports whether err is a violation of the constraint or unique index with this name.
func IsConstraint(err error, name string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.ConstraintName == name
}

package database_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats/seatstest"
)

func TestConnect_ACommitThatItsStandbyMayNotHaveIsAnError(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	if _, err := db.Exec(t.Context(), `CREATE TABLE sold (seat integer)`); err != nil {
		t.Fatal(err)
	}
	standby.Stall(t)
	const insertSQL = `INSERT INTO sold VALUES ($1)`
	ways := map[string]func(ctx context.Context, seat int) error{
		"a statement": func(ctx context.Context, seat int) error {
			_, err := db.Exec(ctx, insertSQL, seat)
			return err
		},
		"a row": func(ctx context.Context, seat int) error {
			return db.QueryRow(ctx, insertSQL+` RETURNING seat`, seat).Scan(&seat)
		},
		"a transaction": func(ctx context.Context, seat int) error {
			return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, insertSQL, seat)
				return err
			})
		},
		"a batch": func(ctx context.Context, seat int) error {
			var q pgx.Batch
			q.Queue(`BEGIN`)
			q.Queue(insertSQL, seat)
			q.Queue(`COMMIT`)
			return db.SendBatch(ctx, &q).Close()
		},
		"a batch without a transaction": func(ctx context.Context, seat int) error {
			var q pgx.Batch
			q.Queue(insertSQL, seat)
			q.Queue(`SELECT 1`)
			return db.SendBatch(ctx, &q).Close()
		},
	}
	seat := 0
	for way, write := range ways {
		seat++
		answer := make(chan error, 1)
		go func() { answer <- write(t.Context(), seat) }()
		standby.Cancel(t)
		if err := <-answer; err == nil || errors.As(err, new(*pgconn.PgError)) { // an answer of the server would say that nothing was written
			t.Errorf("%s that no standby has was answered with %v", way, err)
		}
		standby.Sees(t, `SELECT EXISTS (SELECT FROM sold WHERE seat = $1)`, seat) // else this test proves nothing
	}
}

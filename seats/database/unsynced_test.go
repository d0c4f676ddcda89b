package database_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/seatstest"
)

// writes are the ways in which callers commit.
func writes(db *pgxpool.Pool) map[string]func(ctx context.Context, seat int) error {
	const insertSQL = `INSERT INTO sold VALUES ($1)`
	return map[string]func(ctx context.Context, seat int) error{
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
}

func TestConnect_ACommitThatItsStandbyMayNotHaveIsAnError(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	if _, err := db.Exec(t.Context(), `CREATE TABLE sold (seat integer)`); err != nil {
		t.Fatal(err)
	}
	standby.Stall(t)
	seat := 0
	for way, write := range writes(db) {
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

func TestConnect_ACallerThatStopsToWaitCancelsNoCommit(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	if _, err := db.Exec(t.Context(), `CREATE TABLE sold (seat integer)`); err != nil {
		t.Fatal(err)
	}
	seat := 0
	for way, write := range writes(db) {
		seat++
		standby.Stall(t)
		ctx, stop := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- write(ctx, seat) }()
		standby.AwaitCommit(t, answer)
		stop()
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("%s ended with %v", way, err)
		}
		for range 20 { // what the driver does to the connection, it does after the answer
			var seen bool
			if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM sold WHERE seat = $1)`, seat).Scan(&seen); err != nil || seen {
				t.Fatalf("%s is seen before a standby has it: %v, %v", way, seen, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		standby.Follow(t)
		standby.Sees(t, `SELECT EXISTS (SELECT FROM sold WHERE seat = $1)`, seat)
	}
}

func TestConnect_ACallerThatStopsToWaitCancelsAStatementOfItsTransaction(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	ctx, stop := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	const sleepsSQL = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')`
	go func() {
		answer <- pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `SELECT pg_sleep(600)`)
			return err
		})
	}()
	standby.Sees(t, sleepsSQL)
	stop()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("the transaction ended with %v", err)
	}
	standby.Sees(t, `SELECT NOT (`+sleepsSQL[len("SELECT "):]+`)`)
}

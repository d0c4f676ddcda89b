package database_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/seatstest"
)

// waiting is a server whose commits wait for a standby that never comes.
func waiting(t *testing.T) *pgxpool.Pool {
	t.Helper()
	dir, err := seatstest.Folder()
	if err != nil {
		t.Fatal(err)
	}
	server, err := postgres.Start(t.Context(), dir, slog.New(slog.NewTextHandler(io.Discard, nil)), "shared_buffers=16MB")
	if err != nil {
		t.Fatalf("this test needs PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(server.Stop(context.Background()), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	db, err := database.Connect(t.Context(), server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	for _, sql := range []string{`CREATE TABLE sold (seat integer)`, `ALTER SYSTEM SET synchronous_standby_names = 'nowhere'`, `SELECT pg_reload_conf()`} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	until(t, func() bool {
		var names string
		err := db.QueryRow(t.Context(), `SHOW synchronous_standby_names`).Scan(&names)
		return err == nil && names == "nowhere"
	})
	return db
}

func until(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to be")
		}
	}
}

func TestConnect_ACommitThatItsStandbyMayNotHaveIsAnError(t *testing.T) {
	t.Parallel()
	db := waiting(t)
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
		until(t, func() bool {
			var cancelled int
			err := db.QueryRow(t.Context(), `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`).Scan(&cancelled)
			return err == nil && cancelled > 0
		})
		if err := <-answer; err == nil || errors.As(err, new(*pgconn.PgError)) { // an answer of the server would say that nothing was written
			t.Errorf("%s that no standby has was answered with %v", way, err)
		}
		var there bool
		if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM sold WHERE seat = $1)`, seat).Scan(&there); err != nil || !there {
			t.Errorf("%s: the row is there: %v, %v; this test proves nothing", way, there, err)
		}
	}
}

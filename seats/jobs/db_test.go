package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

const (
	dueWorkSQL  = `SELECT id::text, due_at FROM work WHERE done_at IS NULL`
	takeWorkSQL = `
UPDATE work SET due_at = clock_timestamp() + interval '1 minute', tries = tries + 1
 WHERE id = (SELECT id FROM work WHERE id = $1::text::integer AND done_at IS NULL AND due_at <= clock_timestamp() FOR UPDATE SKIP LOCKED)`
	doneWorkSQL = `UPDATE work SET done_at = clock_timestamp() WHERE id = $1::text::integer`
)

func work(t *testing.T, n int) *pgxpool.Pool {
	t.Helper()
	db := seatstest.DB(t)
	for _, sql := range []string{
		`CREATE TABLE work (id integer PRIMARY KEY, due_at timestamptz NOT NULL DEFAULT clock_timestamp(), tries integer NOT NULL DEFAULT 0, done_at timestamptz)`,
		`CREATE INDEX work_due ON work (due_at) WHERE done_at IS NULL`,
	} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(t.Context(), `INSERT INTO work SELECT generate_series(1, $1::integer)`, n); err != nil {
		t.Fatal(err)
	}
	return db
}

// node is a job of a node on a table of work. between comes after a row was taken and before it is marked as done.
func node(db *pgxpool.Pool, between func() error) *jobs.Job {
	j := jobs.New("work", dueWorkSQL, func(ctx context.Context, key string) (int, error) {
		tag, err := db.Exec(ctx, takeWorkSQL, key)
		if err != nil || tag.RowsAffected() == 0 {
			return 0, err
		}
		if err := between(); err != nil {
			return 0, err
		}
		_, err = db.Exec(ctx, doneWorkSQL, key)
		return 1, err
	})
	j.AtOnce = 4
	return j
}

// start runs a job until it is stopped, or the test ends.
func start(t *testing.T, db *pgxpool.Pool, j *jobs.Job) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = jobs.NewRunner(db, slog.New(slog.DiscardHandler), j).Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// await waits until so much work is done, and returns how often it was tried.
func await(t *testing.T, db *pgxpool.Pool, n int) (tries int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var done int
		if err := db.QueryRow(t.Context(), `SELECT count(done_at), sum(tries) FROM work`).Scan(&done, &tries); err != nil {
			t.Fatal(err)
		}
		if done == n {
			return tries
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d were done", done, n)
		}
	}
}

func TestRunner_ThreeNodesDoEachRowOnce(t *testing.T) {
	t.Parallel()
	const rows = 300
	db := work(t, rows)
	for range 3 {
		start(t, db, node(db, func() error { return nil }))
	}
	if tries := await(t, db, rows); tries != rows {
		t.Errorf("%d rows were done %d times", rows, tries)
	}
}

func TestRunner_WorkThatWasAlwaysDueIsDoneAndWorkThatNeverIsWaits(t *testing.T) {
	t.Parallel()
	db := work(t, 3)
	if _, err := db.Exec(t.Context(), `UPDATE work SET due_at = CASE id WHEN 1 THEN timestamptz '-infinity' ELSE 'infinity' END WHERE id < 3`); err != nil {
		t.Fatal(err)
	}
	start(t, db, node(db, func() error { return nil }))
	if tries := await(t, db, 2); tries != 2 {
		t.Errorf("two rows were done in %d tries", tries)
	}
}

func TestRunner_CrashBetweenWorkAndItsMarkHasItDoneAgain(t *testing.T) {
	t.Parallel()
	db := work(t, 1)
	crashed := make(chan struct{}, 1)
	stop := start(t, db, node(db, func() error {
		crashed <- struct{}{}
		return errors.New("the node died")
	}))
	<-crashed
	stop()
	if _, err := db.Exec(t.Context(), `UPDATE work SET due_at = clock_timestamp()`); err != nil { // the minute is over
		t.Fatal(err)
	}
	start(t, db, node(db, func() error { return nil }))
	if tries := await(t, db, 1); tries != 2 {
		t.Errorf("it was done %d times, want once by each node", tries)
	}
}

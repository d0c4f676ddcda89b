package seatstest

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/jobs"
)

// Do does the work of jobs that is due, until none is left that can be done, and returns how much that was.
func Do(ctx context.Context, t testing.TB, db *pgxpool.Pool, list ...*jobs.Job) (n int) {
	t.Helper()
	for _, j := range list {
		for did := j.Due != ""; did; {
			did = false
			rows, _ := db.Query(ctx, `SELECT key FROM (`+j.Due+`) due(key, at) WHERE at <= clock_timestamp() ORDER BY at`) // CollectRows returns its error
			keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatalf("%s: %v", j.Name, err)
			}
			for i, key := range keys {
				if slices.Contains(keys[:i], key) {
					continue
				}
				some, err := j.Do(ctx, key)
				if err != nil {
					t.Logf("%s: %s: %v", j.Name, key, err)
				}
				n, did = n+some, did || some > 0
			}
		}
	}
	return n
}

// Run has a node do the work of jobs until the test ends.
func Run(t testing.TB, db *pgxpool.Pool, list ...*jobs.Job) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- jobs.NewRunner(db, slog.New(slog.DiscardHandler), list...).Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
}

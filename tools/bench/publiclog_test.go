package bench

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/publiclog"
)

// A log follows the claims on the same two cores. Both contenders begin when it has all that came before.
func BenchmarkPublicLog(b *testing.B) {
	db, without := startServer(b, 64), startServer(b, 64)
	inventory := office(b, db, true)
	logs := publiclog.New(db, organizers.New(db, func() {}), "https://tickets.example.org")
	notify := inventory.Committed
	inventory.Committed = func(event, version int64) {
		notify(event, version)
		logs.Follow(event)
	}
	start(b, jobs.NewRunner(db, quiet, logs.Jobs()...).Run)
	var all []scenario
	for _, clients := range []int{16, 256, 1024} {
		all = append(all, scenario{1, 1, clients})
	}
	compare(b, "### Claims per second with a public log, and without one", timesFirst, all, []contender{
		onceFollowed(db, ours("with its public log", db, inventory)), onceFollowed(db, ours("without", without, office(b, without, true))),
	})
	var leaves int64
	if err := db.QueryRow(b.Context(), `SELECT sum(size) FROM public_log`).Scan(&leaves); err != nil || leaves == 0 {
		b.Fatalf("the log has %d leaves, %v", leaves, err)
	}
}

const behindSQL = `SELECT count(*) FROM counter c LEFT JOIN public_log l USING (event_id) WHERE l.version IS DISTINCT FROM c.version`

// onceFollowed has a contender begin once the log is up to date.
func onceFollowed(db *pgxpool.Pool, c contender) contender {
	fresh := c.fresh
	c.fresh = func(ctx context.Context, events, n int) (claim, error) {
		for behind := -1; behind != 0; {
			if err := db.QueryRow(ctx, behindSQL).Scan(&behind); err != nil {
				return nil, err
			}
			if err := seats.Sleep(ctx, 100*time.Millisecond); err != nil {
				return nil, err
			}
		}
		return fresh(ctx, events, n)
	}
	return c
}

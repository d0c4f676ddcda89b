package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// office runs a node's office for the time of the benchmark, with the notifier of `usher serve`.
func office(b *testing.B, db *pgxpool.Pool, notify bool) *seats.Inventory {
	o := seats.NewInventory(db, quiet)
	start(b, o.Run)
	if notify {
		notifier := realtime.NewNotifier(db.Config().ConnString(), quiet)
		start(b, notifier.Run)
		o.Committed = notifier.Notify
	}
	return o
}

func start(b *testing.B, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = run(ctx) }() // ends by ctx
	b.Cleanup(func() { cancel(); <-done })
}

func BenchmarkOneHotEvent(b *testing.B) {
	db := startServer(b, 64)
	contenders := []contender{ours("(c) usher", db, office(b, db, true)), perClaim(db), bare(db), redisClaims(redis(b, 1024))}
	var all []scenario
	for _, seats := range []int{1, 4} {
		for _, clients := range []int{1, 16, 64, 256, 1024} {
			all = append(all, scenario{1, seats, clients})
		}
	}
	compare(b, "### One hot event: claims per second, and (c) in times of the others", firstTimes, all, contenders)
}

const batchesSQL = `SELECT count(*), coalesce(sum(passed), 0) FROM change WHERE event_id = (SELECT max(id) FROM event)`

// BenchmarkBatches counts how many claims a batch has: with few clients most of a batch is what any batch costs.
func BenchmarkBatches(b *testing.B) {
	db := startServer(b, 64)
	usher := ours("usher", db, office(b, db, true))
	var table strings.Builder
	table.WriteString("\n### One hot event: claims in a batch\n\n| | claims in a batch | batches a second | half of the answers within |\n|---|---:|---:|---:|\n")
	for _, clients := range []int{1, 16, 64, 256, 1024} {
		s := scenario{1, 1, clients}
		var sizes, rates, halves []float64
		for range *rounds {
			r, err := run(b.Context(), s, usher)
			if err != nil {
				b.Fatal(err)
			}
			var batches, claims float64
			if err := db.QueryRow(b.Context(), batchesSQL).Scan(&batches, &claims); err != nil {
				b.Fatal(err)
			}
			sizes, rates, halves = append(sizes, claims/batches), append(rates, r.rate*batches/claims), append(halves, r.half.Seconds()*1000)
		}
		fmt.Fprintf(&table, "| %s | %.1f | %.0f | %.2f ms |\n", s, median(sizes), median(rates), median(halves))
	}
	publish(b, table.String())
}

// notifyInsideSQL makes what is else rung after the commit part of each transaction.
const notifyInsideSQL = `
CREATE FUNCTION ring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('seats', NEW.event_id || ':' || NEW.version); RETURN NULL; END $$;
CREATE TRIGGER ring AFTER INSERT ON change FOR EACH ROW EXECUTE FUNCTION ring()`

// slowDisk has each flush take longer, as on one that turns or is in a network. A session that flushes for others waits as well, as on such a disk.
var slowDisk = []string{"commit_delay=5000", "commit_siblings=0"}

func BenchmarkFiftyEvents(b *testing.B) {
	fiftyEvents(b, "### Fifty events: claims per second, and a notification after the commit in times of the others")
	fiftyEvents(b, "### The same, each flush to the disk taking 5 ms longer", slowDisk...)
}

func fiftyEvents(b *testing.B, title string, settings ...string) {
	db, inside := startServer(b, 64, settings...), startServer(b, 64, settings...)
	if _, err := inside.Exec(b.Context(), notifyInsideSQL); err != nil {
		b.Fatal(err)
	}
	compare(b, title, firstTimes, []scenario{{50, 1, 1024}, {50, 4, 1024}}, []contender{
		ours("NOTIFY after commit", db, office(b, db, true)), ours("no NOTIFY", db, office(b, db, false)),
		ours("NOTIFY inside", inside, office(b, inside, false)),
	})
}

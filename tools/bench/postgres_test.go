package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/cmd/usher/postgres"
	"github.com/usherbox/usher/migrations"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
)

// startServer starts a durable server of its own, with settings beside those of `usher serve`, and returns a pool of so many
// connections to it, with the schema.
func startServer(b *testing.B, connections int32, settings ...string) *pgxpool.Pool {
	b.Helper()
	dir, err := os.MkdirTemp("", "usher-bench-")
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // the server's user must be able to walk in
		b.Fatal(err)
	}
	onDisk(b, dir)
	server, err := postgres.Start(b.Context(), dir, slog.New(slog.NewTextHandler(io.Discard, nil)), settings...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			b.Error(err)
		}
		_ = os.RemoveAll(dir) // a folder that stays is only untidy
	})
	conn, err := pgx.Connect(b.Context(), server.DSN)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := migrations.Up(b.Context(), conn); err != nil {
		b.Fatal(err)
	}
	if err := conn.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	return pool(b, server.DSN, connections)
}

// onDisk fails where a flush costs nothing: what is kept in memory is not durable, and every ratio is another one.
func onDisk(b *testing.B, dir string) {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "flush"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	least := time.Hour
	for range 20 {
		began := time.Now()
		if _, err := f.WriteAt(make([]byte, 8192), 0); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(began))
	}
	if least < 20*time.Microsecond {
		b.Fatalf("a flush to %s takes %v, so it is in memory; set TMPDIR to a folder on a disk", dir, least)
	}
}

func pool(b *testing.B, dsn string, connections int32) *pgxpool.Pool {
	b.Helper()
	p, err := database.Connect(b.Context(), fmt.Sprintf("%s pool_max_conns=%d", dsn, connections))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	return p
}

// ours claims through an office, with an idempotency key and the change log; every claim is another attendee's.
func ours(name string, db *pgxpool.Pool, office *seats.Inventory) contender {
	return contender{name, func(ctx context.Context, many, n int) (claim, error) {
		sales := make([]*seats.Sale, many)
		for i := range sales {
			slug := "bench-" + seats.NewID().String()
			if _, err := events.Create(ctx, db, events.Settings{Slug: slug, Name: "Bench", StartsAt: time.Now()}, rows(n)); err != nil {
				return nil, err
			}
			var err error
			if sales[i], err = office.Sale(ctx, slug); err != nil {
				return nil, err
			}
		}
		return func(ctx context.Context, event, first, n int) error {
			labels := make([]string, n)
			for i := range labels {
				labels[i] = sales[event].Plan.Label(first + i)
			}
			who := seats.NewID()
			_, err := sales[event].Claim(ctx, who, who.String(), seats.ClaimRequest{Seats: labels})
			return err
		}, settle(ctx, db)
	}}
}

// rows is a plan of n seats in rows of 100.
func rows(n int) *seats.Plan {
	box := []seats.Point{{X: 0, Y: 0}, {X: 1000, Y: 0}, {X: 1000, Y: 1000}}
	p := &seats.Plan{
		Name: "Bench", Width: 1000, Height: 1000, Categories: []seats.Category{{Key: "A", Name: "A"}},
		Sections: []seats.Section{{Name: "S", Count: n, Outline: box}}, Seats: make([]seats.Seat, n),
	}
	for i := range p.Seats {
		p.Seats[i] = seats.Seat{ID: fmt.Sprint(i), Row: fmt.Sprint(i / 100), Number: fmt.Sprint(i % 100), X: float64(i % 100), Y: float64(i / 100)}
	}
	return p
}

// settle writes what making the seats left behind, so that no contender pays for it.
func settle(ctx context.Context, db *pgxpool.Pool) error {
	_, err := db.Exec(ctx, "CHECKPOINT")
	return err
}

const bareTableSQL = `
DROP TABLE IF EXISTS bare_seat, bare_counter;
CREATE TABLE bare_seat (event integer, idx integer, holder uuid, expires_at timestamptz, PRIMARY KEY (event, idx)) WITH (fillfactor = 70);
CREATE TABLE bare_counter (event integer PRIMARY KEY, remaining integer) WITH (fillfactor = 10);
`

const bareClaimSQL = `
UPDATE bare_seat SET holder = $4, expires_at = now() + interval '8 min'
 WHERE event = $1 AND idx >= $2 AND idx < $2 + $3 AND (holder IS NULL OR expires_at <= now())`

func bareSeats(ctx context.Context, db *pgxpool.Pool, events, n int) error {
	fill := fmt.Sprintf(`INSERT INTO bare_seat SELECT e, i FROM generate_series(0, %d) e, generate_series(0, %d) i;
		INSERT INTO bare_counter SELECT e, %d FROM generate_series(0, %d) e`, events-1, n-1, n, events-1)
	for sql := range strings.SplitSeq(bareTableSQL+fill, ";") {
		if _, err := db.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return settle(ctx, db)
}

// bare is one guarded UPDATE for each claim, and nothing else.
func bare(db *pgxpool.Pool) contender {
	return contender{"(b) bare guarded UPDATE", func(ctx context.Context, many, n int) (claim, error) {
		return func(ctx context.Context, event, first, n int) error {
			tag, err := db.Exec(ctx, bareClaimSQL, event, first, n, seats.NewID())
			if err == nil && tag.RowsAffected() != int64(n) {
				err = fmt.Errorf("%d rows of %d", tag.RowsAffected(), n)
			}
			return err
		}, bareSeats(ctx, db, many, n)
	}}
}

// perClaim is what the descriptions suggest: one transaction for each claim, with a counter and a NOTIFY in it.
func perClaim(db *pgxpool.Pool) contender {
	return contender{"(a) transaction with counter and NOTIFY", func(ctx context.Context, many, n int) (claim, error) {
		return func(ctx context.Context, event, first, n int) error {
			return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
				tag, err := tx.Exec(ctx, bareClaimSQL, event, first, n, seats.NewID())
				if err != nil || tag.RowsAffected() != int64(n) {
					return fmt.Errorf("%d rows of %d: %w", tag.RowsAffected(), n, err)
				}
				if _, err := tx.Exec(ctx, `UPDATE bare_counter SET remaining = remaining - $2 WHERE event = $1`, event, n); err != nil {
					return err
				}
				_, err = tx.Exec(ctx, `SELECT pg_notify('seats', $1)`, fmt.Sprint(event, ":", first))
				return err
			})
		}, bareSeats(ctx, db, many, n)
	}}
}

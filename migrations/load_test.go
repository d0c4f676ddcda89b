package migrations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const loadSeats = 2000

const onSaleSQL = `
INSERT INTO plan (name, hash, drawing) VALUES ('Hall', 'x', '{}');
INSERT INTO event (plan_id, slug, name, starts_at, seats) SELECT id, 'evening', 'Evening', '2040-01-01', 2000 FROM plan;
INSERT INTO category (event_id, number, key, name, price) SELECT id, 0, 'A', 'All', 1000 FROM event;
INSERT INTO section (event_id, number, name, first, count) SELECT id, 0, 'Floor', 0, 2000 FROM event;
INSERT INTO seat (event_id, idx, section, category, x, y, row, number, external_id) SELECT id, n, 0, 0, n, 0, '1', n, n FROM event, generate_series(0, 1999) n;
INSERT INTO seat_state (event_id, idx) SELECT event_id, idx FROM seat;
INSERT INTO counter (event_id, free, held, sold, blocked) SELECT id, '{2000}', '{0}', '{0}', '{0}' FROM event`

// claimSQL is a claim as every version of the schema takes it, with tables in the order of the engine: the event, the guard,
// then the counter row.
const claimSQL = `BEGIN;
SELECT hold_length FROM event WHERE slug = 'evening';
WITH won AS (
  UPDATE seat_state SET state = 1, holder = gen_random_uuid(), expires_at = clock_timestamp() + interval '1 ms'
   WHERE event_id = (SELECT id FROM event WHERE slug = 'evening') AND idx = %d AND (holder IS NULL OR expires_at <= clock_timestamp())
  RETURNING event_id)
UPDATE counter SET version = version + 1 FROM won WHERE counter.event_id = won.event_id;
COMMIT`

// crowd claims seats all the time.
type crowd struct {
	done, longest atomic.Int64 // claims; microseconds of the slowest one
	crossed       atomic.Int64 // claims that waited for a migration that waited for them
	failed        atomic.Pointer[error]
	people        sync.WaitGroup
	end           context.CancelFunc
}

func sendCrowd(t *testing.T, dsn string) *crowd {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	c := &crowd{end: end}
	for n := range 3 {
		conn := reach(t, dsn)
		c.people.Go(func() {
			for i := n; ctx.Err() == nil; i += 3 {
				time.Sleep(2 * time.Millisecond) // a machine has other things to do, too
				began := time.Now()
				_, err := conn.Exec(ctx, fmt.Sprintf(claimSQL, i%loadSeats))
				if crossed, ok := errors.AsType[*pgconn.PgError](err); ok && crossed.Code == deadlockDetected {
					c.crossed.Add(1) // the engine tries such a batch again, too
					_, _ = conn.Exec(ctx, "ROLLBACK")
					continue
				}
				if err != nil && ctx.Err() == nil {
					c.failed.Store(&err)
					return
				}
				c.done.Add(1)
				if took := time.Since(began).Microseconds(); took > c.longest.Load() {
					c.longest.Store(took)
				}
			}
		})
	}
	t.Cleanup(c.stop)
	return c
}

func (c *crowd) stop() {
	c.end()
	c.people.Wait()
}

// more waits until so many claims have been answered, and tells whether they were.
func (c *crowd) more(n int64, within time.Duration) bool {
	enough := c.done.Load() + n
	for deadline := time.Now().Add(within); time.Now().Before(deadline) && c.failed.Load() == nil; time.Sleep(time.Millisecond) {
		if c.done.Load() >= enough {
			return true
		}
	}
	return false
}

func reach(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestPeopleClaimWhileTheDatabaseIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	conn := reach(t, dsn)
	if _, err := conn.Exec(t.Context(), createTableSQL); err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names[:1] {
		if err := apply(t.Context(), conn, i+1, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Exec(t.Context(), onSaleSQL); err != nil {
		t.Fatal(err)
	}
	people := sendCrowd(t, dsn)
	slowest, which := int64(0), ""
	for i, name := range names[1:] {
		people.longest.Store(0)
		began := time.Now()
		if err := apply(t.Context(), conn, i+2, name); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Logf("%s took %s", name, took)
		}
		people.more(3, time.Minute)
		if took := people.longest.Load(); took > slowest {
			slowest, which = took, name
		}
	}
	if err := people.failed.Load(); err != nil {
		t.Fatalf("a claim failed: %v", *err)
	}
	t.Logf("%d claims, %d of them twice; the slowest took %d ms, beside %s", people.done.Load(), people.crossed.Load(), slowest/1000, which)
	if slowest > 20e6 { // milliseconds on a quiet machine; a migration that rewrites or waits for what people use takes for ever
		t.Errorf("a claim stood still for %d ms because of %s", slowest/1000, which)
	}
	wantLetPass(t, dsn, conn, people)
}

// wantLetPass wants a migration that cannot have its lock to let people pass, and to be applied once it can.
func wantLetPass(t *testing.T, dsn string, conn *pgx.Conn, people *crowd) {
	t.Helper()
	const adds = `ALTER TABLE seat_state ADD COLUMN planted integer`
	reader := reach(t, dsn)
	read := func(sql string) {
		if _, err := reader.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	read(`BEGIN; SELECT count(*) FROM seat_state`) // and it goes for a coffee
	number := 1000
	migrating := make(chan error, 1)
	go func() { migrating <- step(t.Context(), conn, number, "planted", adds, time.Minute) }()
	for range 3 { // it tries, and lets go
		if !people.more(20, time.Minute) {
			t.Fatal("no claim succeeded while a migration waited for a reader")
		}
		time.Sleep(lockWithin / 8)
	}
	select {
	case err := <-migrating:
		t.Fatalf("it did not wait for the reader: %v", err)
	default:
	}
	read(`COMMIT`)
	if err := <-migrating; err != nil {
		t.Fatal(err)
	}

	// A planted bug: the same without a limit. Everybody stands behind it for as long as the reader likes.
	read(`BEGIN; SELECT count(*) FROM seat_state`)
	planted, end := context.WithCancel(t.Context())
	careless, ended := reach(t, dsn), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = careless.Exec(planted, strings.ReplaceAll(adds, "planted", "careless")) // it is cancelled
	}()
	defer func() { end(); <-ended }()
	blocked := func() (n int) {
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for blocked() == 0 {
		time.Sleep(time.Millisecond)
	}
	if people.more(20, lockWithin/4) {
		t.Error("a migration that waits without limit was not noticed")
	}
	end()
	read(`COMMIT`)
}

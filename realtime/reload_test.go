package realtime

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

// questions are the statements of a pool that read the rows of events, and until when each may take.
type questions struct {
	mu    sync.Mutex
	until map[string][]time.Time // by slug
}

func (q *questions) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !strings.Contains(data.SQL, "e.slug = $1") {
		return ctx
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	end, _ := ctx.Deadline()
	slug, _ := data.Args[0].(string)
	q.until[slug] = append(q.until[slug], end)
	return ctx
}

func (q *questions) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// traced is a pool of the same database, with what it is asked.
func traced(t *testing.T, db *pgxpool.Pool) (*pgxpool.Pool, *questions) {
	t.Helper()
	q := &questions{until: map[string][]time.Time{}}
	config := db.Config()
	config.BeforeConnect, config.ConnConfig.Tracer = nil, q // a connection has one tracer, and the pool's own would be it
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool, q
}

// After PostgreSQL started again, a node with hundreds of events needs longer than one statement may take.
func TestListener_GivesEachEventItsOwnTimeAndReadsItOnce(t *testing.T) {
	t.Parallel()
	plain := seatstest.DB(t)
	db, asked := traced(t, plain)
	office := seats.NewInventory(db, quiet())
	slugs := []string{"one", "two", "three"}
	for _, slug := range slugs {
		if _, err := events.Create(t.Context(), plain, events.Settings{Name: slug, StartsAt: time.Unix(2e9, 0)}, room(3)); err != nil {
			t.Fatal(err)
		}
		if _, err := office.Sale(t.Context(), slug); err != nil {
			t.Fatal(err)
		}
	}
	asked.mu.Lock()
	clear(asked.until)
	asked.mu.Unlock()
	l := NewListener(plain.Config().ConnString(), office, NewHub(), quiet())
	made := l.lastPoll.Load()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	eventually(t, "the node polls", func() bool { return l.lastPoll.Load() != made })
	cancel()
	<-done
	asked.mu.Lock()
	defer asked.mu.Unlock()
	ends := map[time.Time]bool{}
	for _, slug := range slugs {
		if n := len(asked.until[slug]); n != 1 {
			t.Fatalf("the row of event %s is read %d times, want once", slug, n)
		}
		ends[asked.until[slug][0]] = true
	}
	if len(ends) != len(slugs) || ends[time.Time{}] {
		t.Errorf("%d events are to be read until %v: each has its own time", len(slugs), ends)
	}
}

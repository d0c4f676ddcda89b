package realtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
)

const (
	pollEvery  = time.Second // bounds what a lost bell costs
	clockEvery = 5 * time.Second
	askWithin  = 5 * time.Second // a connection on which nothing comes back for so long died without a word
)

// Feed brings this node's maps up to what other nodes committed.
type Feed struct {
	dsn    string
	office *seats.Office
	hub    *Hub
	log    *slog.Logger
	every  time.Duration // between two polls

	heard atomic.Int64 // when the database told how far it is, in nanoseconds of this machine's clock
}

// NewFeed returns a feed from the database at dsn into the office's open events.
func NewFeed(dsn string, office *seats.Office, hub *Hub, log *slog.Logger) *Feed {
	f := &Feed{dsn: dsn, office: office, hub: hub, log: log, every: pollEvery}
	f.heard.Store(time.Now().UnixNano())
	return f
}

// Silence is how long this node has heard nothing of what others sell. It is about a second while all is well.
func (f *Feed) Silence() time.Duration { return time.Since(time.Unix(0, f.heard.Load())) }

// Run follows the database until ctx is done, on a connection of its own, connecting again when it breaks.
func (f *Feed) Run(ctx context.Context) error {
	for {
		err := f.follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.log.Warn("the feed lost its connection and connects again", "error", err)
		if err := seats.Sleep(ctx, 100*time.Millisecond+rand.N(400*time.Millisecond)); err != nil {
			return err
		}
	}
}

// follow listens first, then reads what it missed, then waits: nothing can fall between.
func (f *Feed) follow(ctx context.Context) error {
	conn, err := dial(ctx, f.dsn, `LISTEN usher; LISTEN usher_mine`)
	if err != nil {
		return err
	}
	defer hangUp(conn) // it only reads
	if err := within(ctx, f.reload); err != nil {
		return err
	}
	var polled, asked time.Time
	for {
		if time.Since(asked) >= clockEvery {
			if err := within(ctx, func(ctx context.Context) error { return f.askTime(ctx, conn) }); err != nil {
				return err
			}
			asked = time.Now()
		}
		if time.Since(polled) >= f.every {
			if err := within(ctx, func(ctx context.Context) error { return f.poll(ctx, conn) }); err != nil {
				return err
			}
			polled = time.Now()
			f.heard.Store(polled.UnixNano())
		}
		if err := f.wait(ctx, conn, time.Until(polled.Add(f.every))); err != nil {
			return err
		}
	}
}

// within gives the database a while to answer: what passes nothing on and is not closed would keep us waiting for ever.
func within(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return ask(ctx)
}

// dial opens a connection of its own and says what it is for.
func dial(ctx context.Context, dsn, first string) (conn *pgx.Conn, err error) {
	return conn, within(ctx, func(ctx context.Context) error {
		if conn, err = database.Dial(ctx, dsn); err != nil {
			return err
		}
		if _, err = conn.Exec(ctx, first); err != nil {
			hangUp(conn)
		}
		return err
	})
}

// hangUp ends a connection that carries nothing that could be lost, and may be dead.
func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// reload reads what was missed while nobody listened.
func (f *Feed) reload(ctx context.Context) error {
	return f.office.Reload(ctx)
}

// wait handles one ring, or returns when it is time to poll.
func (f *Feed) wait(ctx context.Context, conn *pgx.Conn, atMost time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, max(atMost, time.Millisecond))
	defer cancel()
	ring, err := conn.WaitForNotification(waiting)
	if err != nil {
		if errors.Is(waiting.Err(), context.DeadlineExceeded) && ctx.Err() == nil && !conn.IsClosed() {
			return nil
		}
		return err
	}
	if ring.Channel == mineChannel {
		f.hub.hear(ring.Payload)
		return nil
	}
	return within(ctx, func(ctx context.Context) error { return f.catchUp(ctx, versions(ring.Payload)) })
}

// versions reads "event:version,event:version"; what it cannot read it leaves to the poll.
func versions(payload string) map[int64]int64 {
	rung := map[int64]int64{}
	for pair := range strings.SplitSeq(payload, ",") {
		event, version, _ := strings.Cut(pair, ":")
		e, err := strconv.ParseInt(event, 10, 64)
		v, err2 := strconv.ParseInt(version, 10, 64)
		if err == nil && err2 == nil {
			rung[e] = v
		}
	}
	return rung
}

const pollSQL = `SELECT event_id, version FROM counter WHERE event_id = ANY($1)`

// poll asks for the versions of the events that are open here.
func (f *Feed) poll(ctx context.Context, conn *pgx.Conn) error {
	var events []int64
	for _, s := range f.office.Open() {
		events = append(events, s.Event.ID)
	}
	if len(events) == 0 {
		return nil
	}
	rows, err := conn.Query(ctx, pollSQL, events)
	if err != nil {
		return fmt.Errorf("realtime: poll versions: %w", err)
	}
	newest := map[int64]int64{}
	var event, version int64
	if _, err := pgx.ForEachRow(rows, []any{&event, &version}, func() error { newest[event] = version; return nil }); err != nil {
		return fmt.Errorf("realtime: poll versions: %w", err)
	}
	return f.catchUp(ctx, newest)
}

// catchUp reads the change log of events that are open here and behind.
func (f *Feed) catchUp(ctx context.Context, newest map[int64]int64) error {
	for _, s := range f.office.Open() {
		if version, ok := newest[s.Event.ID]; ok && s.Behind(version) {
			if err := s.CatchUp(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

const clockSQL = `SELECT clock_timestamp()`

func (f *Feed) askTime(ctx context.Context, conn *pgx.Conn) error {
	var there time.Time
	asked := time.Now()
	if err := conn.QueryRow(ctx, clockSQL).Scan(&there); err != nil {
		return fmt.Errorf("realtime: ask the database for the time: %w", err)
	}
	f.hub.clock.set(there, asked, time.Now())
	return nil
}

// clock tells the database's time without asking it: this machine's time and how far that is off.
type clock struct{ offset atomic.Int64 }

// set learns from one question: the database answered there while here the time went from asked to answered.
func (c *clock) set(there, asked, answered time.Time) {
	c.offset.Store(int64(there.Sub(asked.Add(answered.Sub(asked) / 2))))
}

// Now is the database's time, give or take half a round trip.
func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

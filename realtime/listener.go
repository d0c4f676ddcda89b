package realtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
)

const (
	pollEvery  = time.Second // bounds the delay after a lost notification
	clockEvery = 5 * time.Second
	askWithin  = 5 * time.Second // without an answer for so long a connection counts as dead
)

// Listener brings this node's maps up to date with the commits of other nodes.
type Listener struct {
	dsn    string
	office *seats.Inventory
	hub    *Hub
	log    *slog.Logger
	every  time.Duration // between two polls
	others map[string]func(context.Context) error

	lastPoll atomic.Int64 // time of the last poll, in nanoseconds of this machine's clock
}

// NewListener returns a listener that follows the database at dsn for the office's open events.
func NewListener(dsn string, office *seats.Inventory, hub *Hub, log *slog.Logger) *Listener {
	l := &Listener{dsn: dsn, office: office, hub: hub, log: log, every: pollEvery, others: map[string]func(context.Context) error{}}
	l.lastPoll.Store(time.Now().UnixNano())
	return l
}

// OnNotify makes the listener call read once it listens on a channel, and after each notification there. PostgreSQL loses none
// while the connection lasts. Call it before Run.
func (l *Listener) OnNotify(channel string, read func(context.Context) error) {
	l.others[channel] = read
}

// Silence is the time since the last successful poll. It is about a second while all is well.
func (l *Listener) Silence() time.Duration { return time.Since(time.Unix(0, l.lastPoll.Load())) }

// Run follows the database until ctx is done, on its own connection. It connects again when that breaks.
func (l *Listener) Run(ctx context.Context) error {
	for {
		err := l.follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.log.Warn("the listener lost its connection and connects again", "error", err)
		if err := seats.Sleep(ctx, 100*time.Millisecond+rand.N(400*time.Millisecond)); err != nil {
			return err
		}
	}
}

// follow listens first, then reads what it missed, then waits. So no change is missed.
func (l *Listener) follow(ctx context.Context) error {
	conn, err := openConn(ctx, l.dsn, "")
	if err != nil {
		return err
	}
	defer closeConn(conn) // it only reads
	channels := append(slices.Collect(maps.Keys(l.others)), VersionsChannel, notesChannel)
	if err := within(ctx, func(ctx context.Context) error { return database.Listen(ctx, conn, channels...) }); err != nil {
		return err
	}
	if err := l.office.Reload(ctx); err != nil { // the changes that were missed before LISTEN
		return err
	}
	for _, read := range l.others {
		if err := within(ctx, read); err != nil {
			return err
		}
	}
	for range 2 { // and once more below: a first answer may be slow
		if err := within(ctx, func(ctx context.Context) error { return l.askTime(ctx, conn) }); err != nil {
			return err
		}
	}
	var polled, asked time.Time
	for {
		if time.Since(asked) >= clockEvery {
			if err := within(ctx, func(ctx context.Context) error { return l.askTime(ctx, conn) }); err != nil {
				return err
			}
			asked = time.Now()
		}
		if time.Since(polled) >= l.every {
			if err := within(ctx, func(ctx context.Context) error { return l.poll(ctx, conn) }); err != nil {
				return err
			}
			polled = time.Now()
			l.lastPoll.Store(polled.UnixNano())
		}
		if err := l.wait(ctx, conn, time.Until(polled.Add(l.every))); err != nil {
			return err
		}
	}
}

// within limits the time of a question. Otherwise a connection that is open but passes nothing on would block for ever.
func within(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return ask(ctx)
}

// openConn opens a connection and runs the first statement.
func openConn(ctx context.Context, dsn, first string) (conn *pgx.Conn, err error) {
	return conn, within(ctx, func(ctx context.Context) error {
		if conn, err = database.Dial(ctx, dsn); err != nil {
			return err
		}
		if _, err = conn.Exec(ctx, first); err != nil {
			closeConn(conn)
		}
		return err
	})
}

// closeConn closes a connection that may be dead, without waiting long.
func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// wait handles one notification, or returns when it is time to poll.
func (l *Listener) wait(ctx context.Context, conn *pgx.Conn, atMost time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, max(atMost, time.Millisecond))
	defer cancel()
	notification, err := conn.WaitForNotification(waiting)
	if err != nil {
		if errors.Is(waiting.Err(), context.DeadlineExceeded) && ctx.Err() == nil && !conn.IsClosed() {
			return nil
		}
		return err
	}
	channel := database.Channel(notification.Channel)
	if channel == notesChannel {
		l.hub.receiveNotes(notification.Payload)
		return nil
	}
	if read := l.others[channel]; read != nil {
		return within(ctx, read)
	}
	return within(ctx, func(ctx context.Context) error { return l.catchUp(ctx, versions(notification.Payload)) })
}

// versions parses "event:version,event:version". It skips malformed pairs: the poll covers them.
func versions(payload string) map[int64]int64 {
	newest := map[int64]int64{}
	for pair := range strings.SplitSeq(payload, ",") {
		event, version, _ := strings.Cut(pair, ":")
		e, err := strconv.ParseInt(event, 10, 64)
		v, err2 := strconv.ParseInt(version, 10, 64)
		if err == nil && err2 == nil {
			newest[e] = v
		}
	}
	return newest
}

const pollSQL = `SELECT event_id, version FROM counter WHERE event_id = ANY($1)`

// poll reads the versions of the events that are open here.
func (l *Listener) poll(ctx context.Context, conn *pgx.Conn) error {
	var events []int64
	for _, s := range l.office.Open() {
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
	return l.catchUp(ctx, newest)
}

// catchUp reads the change log of open events that are behind.
func (l *Listener) catchUp(ctx context.Context, newest map[int64]int64) error {
	for _, s := range l.office.Open() {
		if version, ok := newest[s.Event.ID]; ok && s.Behind(version) {
			if err := s.CatchUp(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

const clockSQL = `SELECT clock_timestamp()`

// askTime reads the database's clock.
func (l *Listener) askTime(ctx context.Context, conn *pgx.Conn) error {
	var there time.Time
	asked := time.Now()
	if err := conn.QueryRow(ctx, clockSQL).Scan(&there); err != nil {
		return fmt.Errorf("realtime: ask the database for the time: %w", err)
	}
	l.hub.clock.set(there, asked, time.Now())
	return nil
}

// clock estimates the database's time: this machine's time and an offset. Of readings that agree the one with the shortest round
// trip counts: pages weigh what they are told by how fast they are told it, and do not see how slow the database was.
type clock struct {
	offset atomic.Int64
	trip   time.Duration // of the reading that counts, 0 before the first; for set
}

// set measures the offset: the database answered there between the local times asked and answered. One goroutine calls it.
func (c *clock) set(there, asked, answered time.Time) {
	trip := answered.Sub(asked)
	offset := there.Sub(asked.Add(trip / 2))
	agree := (offset - time.Duration(c.offset.Load())).Abs() <= (trip+c.trip)/2 // otherwise a clock was set, or drifted
	if c.trip > 0 && agree && trip > c.trip {
		return
	}
	c.offset.Store(int64(offset))
	c.trip = trip
}

// Now is the database's time, give or take half a round trip.
func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

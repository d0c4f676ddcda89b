package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// connections is how many a pool opens at most, if its address does not say it with pool_max_conns. Claims travel in
// batches, so that a few carry a crowd.
const connections = 16

// A statement is planned once, for any number of seats, and looks each row up by its key or its place. Left to its
// estimates, the planner reads the whole house for an event that was put on sale a minute ago, of which it knows
// nothing yet: seen 43 ms instead of 1 for 252 seats of 100,000. Seats are met in the order of their index, which
// is the order of locks; a bitmap would meet them as they lie. Where a whole table is read after all, that costs so
// much by its books that it would compile the statement: seen 300 ms for a table of no rows.
const planSQL = `
SET plan_cache_mode = force_generic_plan;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET jit = off`

// Connect opens a pool of connections to a PostgreSQL, set up as this package wants them.
func Connect(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("seats: this is not an address of a PostgreSQL: %w", err)
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = connections
	}
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.PgConn().Exec(ctx, planSQL).ReadAll()
		return err
	}
	(&door{}).guard(cfg)
	return pgxpool.NewWithConfig(ctx, cfg)
}

// Dial opens one connection beside the pool. What an address says of the pool (pool_max_conns) is nothing to the
// server.
func Dial(ctx context.Context, dsn string) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("seats: this is not an address of a PostgreSQL: %w", err)
	}
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}

// DB is what a function needs to talk to PostgreSQL. A pool, a connection and a transaction all fit,
// so functions compose inside a transaction without knowing it.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// door is where a pool makes its connections. It is open until one could not be made: then the database is taken to be away.
// One caller at a time knocks, and the others hear what that one was told.
//
// A database that comes back is slow to those who come first: each costs it a process and tens of milliseconds to read its
// catalogs and to plan what it is asked. All at once they kept each other from it. So they have turns until nobody waits,
// batches before everybody else, and a turn lasts until what the caller came for is done.
type door struct {
	mu    sync.Mutex
	shut  bool      // one at a time
	away  bool      // the last one was not let in
	busy  bool      // somebody has the turn
	queue []*caller // who waits for it
}

// caller is somebody who makes a connection, and the tracer of that.
type caller struct {
	door  *door
	batch bool
	asks  int        // statements, or batches of them, until their turn is over
	turn  bool       // guarded by door.mu
	told  chan error // has room for one: what the one before was told, or nil, which makes it their turn
}

const (
	knockPause = 20 * time.Millisecond  // before a database that is away is asked again
	mostTurn   = 100 * time.Millisecond // for what somebody asks once they are in
	mostWait   = time.Second            // who waited so long goes in without a turn: the one before may be stuck
)

type batchKey struct{}

// forBatch is for connections that batches wait for: they are made before others.
func forBatch(ctx context.Context) context.Context { return context.WithValue(ctx, batchKey{}, true) }

// guard has a pool make its connections at this door.
func (d *door) guard(cfg *pgxpool.Config) {
	cfg.BeforeConnect = func(ctx context.Context, to *pgx.ConnConfig) error {
		c := d.caller(ctx.Value(batchKey{}) != nil)
		to.Tracer = c
		return d.enter(ctx, c)
	}
}

func (d *door) caller(batch bool) *caller {
	c := &caller{door: d, batch: batch, asks: 1, told: make(chan error, 1)}
	if batch {
		c.asks = 2 // lock and save
	}
	return c
}

// enter returns when the caller may connect, or why they need not try.
func (d *door) enter(ctx context.Context, c *caller) error {
	d.mu.Lock()
	knocks, waits := d.shut && !d.busy, d.shut && d.busy
	pause := knocks && d.away
	switch {
	case knocks:
		c.turn, d.busy = true, true
	case waits:
		d.queue = append(d.queue, c)
	}
	d.mu.Unlock()
	if pause {
		_ = Sleep(ctx, knockPause) // whoever connects then asks ctx
	}
	if waits {
		return d.wait(ctx, c)
	}
	return nil
}

// wait returns when the caller may connect, or with what the one before was told.
func (d *door) wait(ctx context.Context, c *caller) error {
	most := time.NewTimer(mostWait)
	defer most.Stop()
	select {
	case err := <-c.told:
		return err
	case <-most.C:
	case <-ctx.Done():
	}
	d.mu.Lock()
	at := slices.Index(d.queue, c)
	if at >= 0 {
		d.queue = slices.Delete(d.queue, at, at+1)
	}
	d.mu.Unlock()
	if at < 0 {
		return <-c.told // just now
	}
	return ctx.Err()
}

// failed hears that a connection could not be made. Whoever waits need not try.
func (d *door) failed(c *caller, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut, d.away = true, true
	if !c.turn {
		return
	}
	c.turn, d.busy = false, false
	for _, other := range d.queue {
		other.told <- err
	}
	d.queue = nil
}

// done ends a caller's turn, if they have it, and gives it to the next one. When nobody waits the door is open.
func (d *door) done(c *caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !c.turn {
		return
	}
	c.turn, d.away = false, false
	if d.busy = len(d.queue) > 0; !d.busy {
		d.shut = false
		return
	}
	at := max(0, slices.IndexFunc(d.queue, func(c *caller) bool { return c.batch }))
	next := d.queue[at]
	d.queue = slices.Delete(d.queue, at, at+1)
	next.turn = true
	next.told <- nil
}

// asked ends the turn when the caller has what they came for.
func (c *caller) asked() {
	if c.asks > 0 {
		if c.asks--; c.asks == 0 {
			c.door.done(c)
		}
	}
}

// TraceConnectEnd is part of pgx.ConnectTracer.
func (c *caller) TraceConnectEnd(_ context.Context, how pgx.TraceConnectEndData) {
	if how.Err != nil {
		c.door.failed(c, how.Err)
		return
	}
	time.AfterFunc(mostTurn, func() { c.door.done(c) })
}

// TraceQueryEnd is part of pgx.QueryTracer.
func (c *caller) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) { c.asked() }

// TraceBatchEnd is part of pgx.BatchTracer.
func (c *caller) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) { c.asked() }

// TraceBatchQuery is part of pgx.BatchTracer.
func (c *caller) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceConnectStart is part of pgx.ConnectTracer.
func (c *caller) TraceConnectStart(ctx context.Context, _ pgx.TraceConnectStartData) context.Context {
	return ctx
}

// TraceQueryStart is part of pgx.QueryTracer.
func (c *caller) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceBatchStart is part of pgx.BatchTracer.
func (c *caller) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// Sleep waits for some time, or until ctx is done, whose error it returns then. No time is none.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// unfitCodes are the errors of PostgreSQL that are about a value which somebody sent: text that is none, a zero in
// text or in JSON, a number out of range, a time that there is not.
var unfitCodes = []string{"22021", "22P05", "22003", "22008", "22007"}

// Unfit tells whether the database would not take a value because of what it is. Nothing was changed then.
func Unfit(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(unfitCodes, pg.Code)
}

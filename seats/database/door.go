package database

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
)

// door is where a pool makes its connections. It is open until one could not be made: then the database is taken to be away.
// One caller at a time knocks, and the others hear what that one was told.
//
// A database that comes back is slow to those who come first: each costs it a process and tens of milliseconds to read its
// catalogs and to plan what it is asked. All at once they kept each other from it. So they have turns until none waits,
// batches before everybody else, and a turn lasts until what the caller came for is done.
type door struct {
	mu    sync.Mutex
	shut  bool      // one at a time
	away  bool      // the last one was not let in
	busy  bool      // a caller has the turn
	queue []*caller // who waits for it
}

// caller is a goroutine that makes a connection, and the tracer of that.
type caller struct {
	door  *door
	batch bool
	asks  int        // statements, or batches of them, until their turn is over
	turn  bool       // guarded by door.mu
	told  chan error // has room for one: what the one before was told, or nil, which makes it their turn
}

const (
	knockPause = 20 * time.Millisecond  // before a database that is away is asked again
	mostTurn   = 100 * time.Millisecond // for a caller's first statements
	mostWait   = time.Second            // who waited so long goes in without a turn: the one before may be stuck
)

// guard has a pool make its connections at this door.
func (d *door) guard(cfg *pgxpool.Config) {
	cfg.BeforeConnect = func(ctx context.Context, to *pgx.ConnConfig) error {
		c := d.caller(seats.IsBatch(ctx))
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
		_ = seats.Sleep(ctx, knockPause) // the connect that follows checks ctx
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

// failed hears that a connection could not be made. Waiting callers need not try.
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

// done ends a caller's turn, if they have it, and gives it to the next one. When no caller waits the door is open.
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

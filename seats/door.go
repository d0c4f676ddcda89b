package seats

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// door is where a pool makes its connections. It is open until one could not be made: then the database is taken to be away.
// One comer at a time knocks, and the others hear what that one was told.
//
// A database that comes back is slow to those who come first: each costs it a process and some 20 ms to read its catalogs
// anew. All at once they kept each other from it (seen with four nodes on two cores: 208 ms until the first claim was
// granted, 426 at worst). So they come in one by one, batches of claims before everybody else, until nobody waits.
type door struct {
	mu    sync.Mutex
	shut  bool      // one by one
	away  bool      // the last one was not let in
	busy  bool      // somebody has the turn
	queue []*caller // who waits for it
}

// caller is somebody who wants a connection.
type caller struct {
	door   *door
	urgent bool
	turn   bool       // they came in by turn; set before told
	told   chan error // has room for one: what the one before was told, or nil, which makes it their turn
}

const (
	knockPause = 20 * time.Millisecond // before a database that is away is asked again
	turnTime   = time.Second           // who waited so long goes in without a turn: somebody may be stuck in the door
)

type urgentKey struct{}

// urgently is for batches: their connections are made before those of others.
func urgently(ctx context.Context) context.Context { return context.WithValue(ctx, urgentKey{}, true) }

// guard has a pool make its connections at this door.
func (d *door) guard(cfg *pgxpool.Config) {
	cfg.BeforeConnect = func(ctx context.Context, to *pgx.ConnConfig) error {
		c := &caller{door: d, urgent: ctx.Value(urgentKey{}) != nil, told: make(chan error, 1)}
		to.Tracer = c // hears how it ends
		return d.enter(ctx, c)
	}
}

// enter returns when the caller may connect, or why they need not try.
func (d *door) enter(ctx context.Context, c *caller) error {
	d.mu.Lock()
	first, pause := d.shut && !d.busy, d.away
	switch {
	case first:
		c.turn, d.busy = true, true
	case d.shut:
		d.queue = append(d.queue, c)
	}
	wait := d.shut && !first
	d.mu.Unlock()
	switch {
	case wait:
		return d.wait(ctx, c)
	case first && pause:
		_ = Sleep(ctx, knockPause) // whoever connects asks ctx
	}
	return nil
}

// wait returns when it is the caller's turn, or they heard what the one before was told.
func (d *door) wait(ctx context.Context, c *caller) error {
	most := time.NewTimer(turnTime)
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
	return nil // without a turn
}

// left hears how it went: who had the turn gives it to the next one, or tells everybody that there is no need to try.
func (d *door) left(c *caller, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.shut, d.away = true, true
	}
	if !c.turn {
		return
	}
	d.busy = false
	if err != nil {
		for _, other := range d.queue {
			other.told <- err
		}
		d.queue = nil
		return
	}
	d.away = false
	if len(d.queue) == 0 {
		d.shut = false
		return
	}
	at := max(0, slices.IndexFunc(d.queue, func(c *caller) bool { return c.urgent }))
	next := d.queue[at]
	d.queue = slices.Delete(d.queue, at, at+1)
	d.busy, next.turn = true, true
	next.told <- nil
}

// TraceConnectEnd is part of pgx.ConnectTracer.
func (c *caller) TraceConnectEnd(_ context.Context, how pgx.TraceConnectEndData) { c.door.left(c, how.Err) }

// TraceConnectStart is part of pgx.ConnectTracer.
func (c *caller) TraceConnectStart(ctx context.Context, _ pgx.TraceConnectStartData) context.Context {
	return ctx
}

// TraceQueryStart is part of pgx.QueryTracer, which a ConnectTracer has to be.
func (c *caller) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd is part of pgx.QueryTracer.
func (c *caller) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

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

// limiter limits new connections of a pool after one failed. Then one caller at a time tries to connect. If that fails, all
// waiting callers get its error.
//
// A database that comes back answers its first connections slowly: each costs it a process and tens of milliseconds to read
// catalogs and plan statements. All at once they blocked each other. So callers take turns until none waits, batches first.
// A turn lasts until the caller's first statements are answered.
type limiter struct {
	mu    sync.Mutex
	shut  bool      // one at a time
	away  bool      // the last try failed
	busy  bool      // a caller has the turn
	queue []*caller // waiting for a turn
}

// caller opens one connection, and traces it to find the end of its turn.
type caller struct {
	limiter *limiter
	batch   bool
	asks    int        // statements, or batches of them, until the turn is over
	turn    bool       // guarded by limiter.mu
	told    chan error // has room for one: nil gives the turn, an error is that of the caller before
	commits commits
}

const (
	retryPause = 20 * time.Millisecond  // before the next try
	mostTurn   = 100 * time.Millisecond // for statements after connecting
	mostWait   = time.Second            // after which a caller connects without a turn: the one before may be stuck
)

// guard limits the connections of a pool.
func (l *limiter) guard(cfg *pgxpool.Config) {
	cfg.BeforeConnect = func(ctx context.Context, to *pgx.ConnConfig) error {
		c := l.caller(seats.IsBatch(ctx))
		to.Tracer = c
		to.DialFunc = c.commits.leave(to.DialFunc)
		return l.enter(ctx, c)
	}
}

func (l *limiter) caller(batch bool) *caller {
	c := &caller{limiter: l, batch: batch, asks: 1, told: make(chan error, 1)}
	if batch {
		c.asks = 2 // lock and save
	}
	return c
}

// enter returns when the caller may connect, or an error if that would fail.
func (l *limiter) enter(ctx context.Context, c *caller) error {
	l.mu.Lock()
	tries, waits := l.shut && !l.busy, l.shut && l.busy
	pause := tries && l.away
	switch {
	case tries:
		c.turn, l.busy = true, true
	case waits:
		l.queue = append(l.queue, c)
	}
	l.mu.Unlock()
	if pause {
		_ = seats.Sleep(ctx, retryPause) // connecting checks ctx
	}
	if waits {
		return l.wait(ctx, c)
	}
	return nil
}

// wait returns when the caller may connect, or the error of the caller before.
func (l *limiter) wait(ctx context.Context, c *caller) error {
	most := time.NewTimer(mostWait)
	defer most.Stop()
	select {
	case err := <-c.told:
		return err
	case <-most.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	at := slices.Index(l.queue, c)
	if at >= 0 {
		l.queue = slices.Delete(l.queue, at, at+1)
	}
	l.mu.Unlock()
	if at < 0 {
		return <-c.told // just now
	}
	return ctx.Err()
}

// failed notes a failed connection, and passes its error to all waiting callers.
func (l *limiter) failed(c *caller, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shut, l.away = true, true
	if !c.turn {
		return
	}
	c.turn, l.busy = false, false
	for _, other := range l.queue {
		other.told <- err
	}
	l.queue = nil
}

// done ends a caller's turn and gives it to the next one. Without a waiting caller the limit ends.
func (l *limiter) done(c *caller) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !c.turn {
		return
	}
	c.turn, l.away = false, false
	if l.busy = len(l.queue) > 0; !l.busy {
		l.shut = false
		return
	}
	at := max(0, slices.IndexFunc(l.queue, func(c *caller) bool { return c.batch }))
	next := l.queue[at]
	l.queue = slices.Delete(l.queue, at, at+1)
	next.turn = true
	next.told <- nil
}

// asked ends the turn after the caller's first statements.
func (c *caller) asked() {
	if c.asks > 0 {
		if c.asks--; c.asks == 0 {
			c.limiter.done(c)
		}
	}
}

// TraceConnectEnd is part of pgx.ConnectTracer.
func (c *caller) TraceConnectEnd(_ context.Context, how pgx.TraceConnectEndData) {
	if how.Err != nil {
		c.limiter.failed(c, how.Err)
		return
	}
	c.commits.connected.Store(true)
	time.AfterFunc(mostTurn, func() { c.limiter.done(c) })
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
func (c *caller) TraceQueryStart(ctx context.Context, conn *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	c.commits.asked(conn, q.SQL)
	return ctx
}

// TraceBatchStart is part of pgx.BatchTracer.
func (c *caller) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.commits.sent.Store(true)
	return ctx
}

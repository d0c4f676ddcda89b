package realtime

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/usherbox/usher/seats"
)

const (
	bellRest  = 20 * time.Millisecond // between two rings
	bellBytes = 7900                  // NOTIFY takes payloads below 8,000 bytes
	mostNotes = 1 << 16               // that wait to be told; more are dropped

	mineChannel = "usher_mine"
)

// Bell wakes the other nodes after a commit. It may lose, double or delay a ring; the change log is the truth. It rings
// outside the claim's transaction because NOTIFY takes a lock of the whole cluster until its transaction is on disk.
type Bell struct {
	dsn string
	log *slog.Logger

	mu    sync.Mutex
	rings map[int64]int64 // event → newest version not rung yet
	notes []string        // about visitors' pages, in order, not told yet
	wake  chan struct{}
}

// NewBell returns a bell for the database at dsn. Run rings it.
func NewBell(dsn string, log *slog.Logger) *Bell {
	return &Bell{dsn: dsn, log: log, rings: map[int64]int64{}, wake: make(chan struct{}, 1)}
}

// Ring tells that an event is at a version now. It never waits.
func (b *Bell) Ring(event, version int64) {
	b.mu.Lock()
	b.rings[event] = max(b.rings[event], version)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // awake already
	}
}

// Tell takes a note to the other nodes (Hub.Tell). It never waits, and drops notes of which there are too many.
func (b *Bell) Tell(note string) {
	b.mu.Lock()
	if len(b.notes) < mostNotes && len(note) < bellBytes {
		b.notes = append(b.notes, note)
	}
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // awake already
	}
}

// Run rings, at once after a rest and then at most each 20 ms, until ctx is done.
func (b *Bell) Run(ctx context.Context) error {
	for pause := time.Duration(0); ; pause = min(2*pause+100*time.Millisecond, 5*time.Second) {
		if err := seats.Sleep(ctx, pause); err != nil {
			return err
		}
		connected := time.Now()
		err := b.ringWhileConnected(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.log.Warn("the bell lost its connection; other nodes learn of changes by their poll", "error", err)
		if time.Since(connected) > time.Minute {
			pause = 0
		}
	}
}

const notifySQL = `SELECT pg_notify('usher', $1)`

const tellSQL = `SELECT pg_notify('usher_mine', $1)`

func (b *Bell) ringWhileConnected(ctx context.Context) error {
	conn, err := dial(ctx, b.dsn, `SET synchronous_commit = off`)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.wake:
		}
		for payload := b.payload(); payload != ""; payload = b.payload() {
			if err := within(ctx, func(ctx context.Context) error { _, err := conn.Exec(ctx, notifySQL, payload); return err }); err != nil {
				return err
			}
		}
		for notes := b.told(); notes != ""; notes = b.told() {
			if err := within(ctx, func(ctx context.Context) error { _, err := conn.Exec(ctx, tellSQL, notes); return err }); err != nil {
				return err
			}
		}
		if err := seats.Sleep(ctx, bellRest); err != nil {
			return err
		}
	}
}

// payload takes as many rings as fit into one notification.
func (b *Bell) payload() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var text strings.Builder
	for event, version := range b.rings {
		if text.Len() > bellBytes-42 {
			break
		}
		if text.Len() > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "%d:%d", event, version)
		delete(b.rings, event)
	}
	return text.String()
}

// told takes as many notes as fit into one notification.
func (b *Bell) told() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, length := 0, 0
	for n < len(b.notes) && length+1+len(b.notes[n]) <= bellBytes {
		length += 1 + len(b.notes[n])
		n++
	}
	text := strings.Join(b.notes[:n], ",")
	if b.notes = b.notes[n:]; len(b.notes) == 0 {
		b.notes = nil
	}
	return text
}

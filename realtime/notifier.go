package realtime

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const (
	notifyEvery = 20 * time.Millisecond // between two notifications
	maxPayload  = 7900                  // NOTIFY takes payloads below 8,000 bytes
	maxNotes    = 1 << 16               // that wait to be sent; more are dropped

	notesChannel = "usher_mine"
)

// VersionsChannel is where nodes notify each other that seats changed.
const VersionsChannel = "usher"

// publisher takes notifications to the other nodes. An error leaves open whether one arrived.
type publisher interface {
	publish(ctx context.Context, channel, payload string) error
}

// Notifier wakes the other nodes after a commit. It may lose, double or delay a notification: the change log is the truth.
// It runs outside the claim's transaction, because NOTIFY takes a lock of the whole cluster until its transaction is on disk.
//
// It publishes by PostgreSQL, or by another publisher: then by PostgreSQL only what that one did not take.
type Notifier struct {
	By *NATS // nil: PostgreSQL alone. Set it before Run

	dsn string
	log *slog.Logger

	mu       sync.Mutex
	versions map[int64]int64 // event → newest version not sent yet
	notes    []string        // about visitors' pages, in order, not sent yet
	wake     chan struct{}
}

// NewNotifier returns a notifier for the database at dsn. Run sends its notifications.
func NewNotifier(dsn string, log *slog.Logger) *Notifier {
	return &Notifier{dsn: dsn, log: log, versions: map[int64]int64{}, wake: make(chan struct{}, 1)}
}

// Notify announces the version that an event reached. It never waits.
func (n *Notifier) Notify(event, version int64) {
	n.mu.Lock()
	n.versions[event] = max(n.versions[event], version)
	n.mu.Unlock()
	n.wakeUp()
}

// Tell sends a note to the other nodes (Hub.Tell). It never waits, and drops notes if there are too many.
func (n *Notifier) Tell(note string) {
	n.mu.Lock()
	if len(n.notes) < maxNotes && len(note) < maxPayload {
		n.notes = append(n.notes, note)
	}
	n.mu.Unlock()
	n.wakeUp()
}

func (n *Notifier) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default: // awake already
	}
}

// Run sends notifications until ctx is done: the first after a rest at once, then one each 20 ms.
func (n *Notifier) Run(ctx context.Context) error {
	for pause := time.Duration(0); ; pause = min(2*pause+100*time.Millisecond, 5*time.Second) {
		if err := seats.Sleep(ctx, pause); err != nil {
			return err
		}
		connected := time.Now()
		err := n.sendWhileConnected(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n.log.Warn("the notifier lost its connection; other nodes learn of changes by their poll", "error", err)
		if time.Since(connected) > time.Minute {
			pause = 0
		}
	}
}

const notifySQL = `SELECT pg_notify(house_channel($1), $2)`

// postgresPublisher publishes by NOTIFY.
type postgresPublisher struct{ conn *pgx.Conn }

func (b postgresPublisher) publish(ctx context.Context, channel, payload string) error {
	_, err := b.conn.Exec(ctx, notifySQL, channel, payload)
	return err
}

func (n *Notifier) sendWhileConnected(ctx context.Context) error {
	conn, err := openConn(ctx, n.dsn, `SET synchronous_commit = off`)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	by := []publisher{postgresPublisher{conn}}
	if n.By != nil {
		by = []publisher{n.By, postgresPublisher{conn}}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-n.wake:
		}
		if err := sendAll(ctx, by, VersionsChannel, n.versionsPayload); err != nil {
			return err
		}
		if err := sendAll(ctx, by, notesChannel, n.notesPayload); err != nil {
			return err
		}
		if err := seats.Sleep(ctx, notifyEvery); err != nil {
			return err
		}
	}
}

// sendAll sends payloads until there is none left, each by the first that takes it.
func sendAll(ctx context.Context, by []publisher, channel string, next func() string) error {
	for payload := next(); payload != ""; payload = next() {
		var err error
		for _, b := range by {
			if err = within(ctx, func(ctx context.Context) error { return b.publish(ctx, channel, payload) }); err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// versionsPayload takes as many versions as fit into one notification.
func (n *Notifier) versionsPayload() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var text strings.Builder
	for event, version := range n.versions {
		if text.Len() > maxPayload-42 {
			break
		}
		if text.Len() > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "%d:%d", event, version)
		delete(n.versions, event)
	}
	return text.String()
}

// notesPayload takes as many notes as fit into one notification.
func (n *Notifier) notesPayload() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken, length := 0, 0
	for taken < len(n.notes) && length+1+len(n.notes[taken]) <= maxPayload {
		length += 1 + len(n.notes[taken])
		taken++
	}
	text := strings.Join(n.notes[:taken], ",")
	if n.notes = n.notes[taken:]; len(n.notes) == 0 {
		n.notes = nil
	}
	return text
}

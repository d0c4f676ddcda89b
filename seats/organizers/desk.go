package organizers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/openid"
	"github.com/usherbox/usher/seats/seal"
)

// Desk is the desk of one node. Any number of nodes may have one on the same database.
type Desk struct {
	db    *pgxpool.Pool
	hands chan struct{} // how many passwords are looked at at once: each takes memory
	queue atomic.Int64  // how many are looked at or wait for it
	decoy func() string // the hash that stands in for an organizer who is not there
	wake  func()        // mail was written

	slow    sync.Mutex
	waiting map[string]int // tries to sign in that wait, by what they are limited by; guarded by slow

	events        sync.Mutex
	happened      map[SecurityEvent]*pending // of this minute; guarded by events
	wrote         map[SecurityEvent]bool     // of these, those of which a row was written; guarded by events
	happenedFirst chan struct{}              // there is a new one, or a request to note

	requests []Request     // with API keys, to be written; guarded by events
	unnoted  int           // of these, those that were too many; guarded by events
	written  map[int64]int // requests by key since this node deleted old ones; guarded by events

	// Requests does forms that change seats or orders, once.
	Requests *idempotency.Requests

	Log  *slog.Logger // where security events are told, if it is set
	Seal *seal.Box    // for secrets of second factors; nil: they are kept as they are

	OpenID *openid.Provider // that organizers may sign in at; nil: none
}

// atOnce is how many passwords a node looks at at once.
const atOnce = 2

// MailWritten has mail sent that a change of the desk wrote.
func (d *Desk) MailWritten() { d.wake() }

// New returns the desk of a database. wake is told after mail was written; it must return at once.
func New(db *pgxpool.Pool, wake func()) *Desk {
	return &Desk{
		db: db, Requests: idempotency.NewRequests(db), hands: make(chan struct{}, atOnce), decoy: sync.OnceValue(newDecoy), wake: wake,
		waiting: map[string]int{}, happened: map[SecurityEvent]*pending{}, wrote: map[SecurityEvent]bool{}, written: map[int64]int{}, happenedFirst: make(chan struct{}, 1), Log: slog.New(slog.DiscardHandler),
	}
}

const asSQL = `SELECT set_config('usher.team', $1::bigint::text, true), set_config('usher.test', CASE WHEN $2 THEN 'on' ELSE '' END, true), set_config('role', 'usher_desk', true)`

// As runs f in a transaction behind the second wall: it sees and changes rows of the member's team only, whatever its
// statements say; of its events the test sales if the member works in one (Member.Test), else all others. It commits if f returns nil.
func (d *Desk) As(ctx context.Context, m Member, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, asSQL, m.Team, m.Test); err != nil {
			return fmt.Errorf("organizers: work as team %d: %w", m.Team, err)
		}
		return f(tx)
	})
}

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

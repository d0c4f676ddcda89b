package desk

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Desk is the desk of one node. Any number of nodes may have one on the same database.
type Desk struct {
	db    *pgxpool.Pool
	hands chan struct{} // how many passwords are looked at at once: each takes memory
	decoy func() string // the hash that stands in for an organizer who is not there
	wake  func()        // mail was written

	noes      sync.Mutex
	told      map[refused]int64 // refusals that are not written down yet; guarded by noes
	toldFirst chan struct{}     // there is one
}

// atOnce is how many passwords a node looks at at once.
const atOnce = 2

// New returns the desk of a database. wake is told after mail was written; it must return at once.
func New(db *pgxpool.Pool, wake func()) *Desk {
	return &Desk{db: db, hands: make(chan struct{}, atOnce), decoy: sync.OnceValue(newDecoy), wake: wake, told: map[refused]int64{}, toldFirst: make(chan struct{}, 1)}
}

const asSQL = `SELECT set_config('usher.team', $1::bigint::text, true), set_config('role', 'usher_desk', true)`

// As runs f in a transaction behind the second wall: it sees and changes rows of the member's team only, whatever its
// statements say. It commits if f returns nil.
func (d *Desk) As(ctx context.Context, m Member, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, asSQL, m.Team); err != nil {
			return fmt.Errorf("desk: work as team %d: %w", m.Team, err)
		}
		return f(tx)
	})
}

// isConstraint tells whether err is the refusal of the constraint with this name.
func isConstraint(err error, name string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.ConstraintName == name
}

package sales

import (
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/organizers"
)

// Sales tells organizers how their events sell. Any number of nodes may have one on the same database.
type Sales struct {
	db         *pgxpool.Pool
	organizers *organizers.Desk

	noes      sync.Mutex
	told      map[refused]int64 // refusals that are not written down yet; guarded by noes
	toldFirst chan struct{}     // there is one
}

// New returns the sales of a database, for the members that d knows.
func New(db *pgxpool.Pool, d *organizers.Desk) *Sales {
	return &Sales{db: db, organizers: d, told: map[refused]int64{}, toldFirst: make(chan struct{}, 1)}
}

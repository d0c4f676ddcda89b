package waitingroom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// LooksPerSecond is how often pages ask unless a house is told otherwise. static/js/stand.js knows it.
const LooksPerSecond = 1000

// Gate is the waiting rooms of one node. Any number of nodes may run on one database; none of them is special.
type Gate struct {
	// Changed is told after what a room shows to everybody changed on this node. It must return at once.
	Changed func(*Room)
	// Ended tells what became of the held seats of an event: how many came back free, and how many were sold. It must
	// return at once; nil: nobody counts them.
	Ended func(event int64) (returned, sold int64)
	// Beacon asks drand for a round of its quicknet chain; tests have one of their own.
	Beacon func(ctx context.Context, url string, round uint64) (signature []byte, err error)

	// Looks is how often in a second all pages of a room together may ask how it is, without a socket; ten times as often
	// while no seat is free. 0: LooksPerSecond. A cache before the house may answer far more.
	Looks int
	// Patience is how long somebody waits who does not work before they join: a minute.
	Patience time.Duration

	db    *pgxpool.Pool
	dsn   string
	log   *slog.Logger
	node  seats.ID
	keys  *keys
	wake  chan struct{}  // something happened that the loop need not sleep over
	lanes sync.WaitGroup // running lanes

	claims claims // answered on this node

	mu    sync.RWMutex
	rooms map[int64]*Room
	event map[int64]*Room // by event
}

// New returns the node's gate on the database at dsn. Run starts it; set Changed before that.
func New(db *pgxpool.Pool, dsn string, log *slog.Logger) *Gate {
	return &Gate{
		Changed: func(*Room) {}, Beacon: askDrand, Patience: time.Minute,
		db: db, dsn: dsn, log: log, node: seats.NewID(), keys: newKeys(db, nil), wake: make(chan struct{}, 1),
		rooms: map[int64]*Room{}, event: map[int64]*Room{},
	}
}

// SealWith has the keys of places sealed with a key outside the database. Call it before anything else.
func (g *Gate) SealWith(box *seal.Box) { g.keys.box = box }

// Of returns the room of an event; nil if it has none. It asks nobody: a new room is known within a second.
func (g *Gate) Of(event int64) *Room {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.event[event]
}

// Room returns a room by its slug. ErrNoRoom if there is none.
func (g *Gate) Room(ctx context.Context, slug string) (*Room, error) {
	if r := g.named(slug); r != nil {
		return r, nil
	}
	if err := g.load(ctx); err != nil {
		return nil, err
	}
	if r := g.named(slug); r != nil {
		return r, nil
	}
	return nil, ErrNoRoom
}

func (g *Gate) named(slug string) *Room {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, r := range g.rooms {
		if r.Slug == slug {
			return r
		}
	}
	return nil
}

// Rooms lists the rooms that this node knows.
func (g *Gate) Rooms() []*Room {
	g.mu.RLock()
	defer g.mu.RUnlock()
	list := make([]*Room, 0, len(g.rooms))
	for _, r := range g.rooms {
		list = append(list, r)
	}
	return list
}

const loadRoomsSQL = `SELECT ` + stateColumns + ` FROM room r`

const loadCoveredSQL = `SELECT id, room_id FROM event WHERE room_id IS NOT NULL`

// load reads every room and which events it covers.
func (g *Gate) load(ctx context.Context) error {
	var states []State
	covered := map[int64]int64{}
	var q pgx.Batch
	q.Queue(loadRoomsSQL).Query(func(rows pgx.Rows) (err error) {
		states, err = pgx.CollectRows(rows, scanState)
		return err
	})
	q.Queue(loadCoveredSQL).Query(func(rows pgx.Rows) error {
		var event, room int64
		_, err := pgx.ForEachRow(rows, []any{&event, &room}, func() error { covered[event] = room; return nil })
		return err
	})
	if err := g.db.SendBatch(ctx, &q).Close(); err != nil {
		return fmt.Errorf("waitingroom: read rooms and which events they cover: %w", err)
	}
	for i, r := range g.know(states, covered) {
		r.learn(states[i])
	}
	return nil
}

// know returns the rooms with these states, of which some may be new, and notes which events they cover.
func (g *Gate) know(states []State, covered map[int64]int64) []*Room {
	g.mu.Lock()
	defer g.mu.Unlock()
	rooms := make([]*Room, len(states))
	for i, s := range states {
		if g.rooms[s.ID] == nil {
			g.rooms[s.ID] = newRoom(g, s)
		}
		rooms[i] = g.rooms[s.ID]
	}
	g.event = make(map[int64]*Room, len(covered))
	for event, room := range covered {
		if r := g.rooms[room]; r != nil { // else it is newer than the rooms that were read
			g.event[event] = r
		}
	}
	return rooms
}

// Errors that say why somebody cannot have what they asked for. None of them costs anybody their place.
var (
	ErrNoRoom  = errors.New("there is no such waiting room")
	ErrNotYet  = errors.New("the waiting room is not open yet")
	ErrEnded   = errors.New("the waiting room has ended")
	ErrNoPlace = errors.New("this is not a place of this waiting room")
	ErrEmail   = errors.New("this waiting room wants an address that was verified")
)

package waitingroom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
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

// Phase is what a room does at a moment; doc.go draws how one becomes another.
type Phase string

// The phases of a room.
const (
	PhaseThrough Phase = "through" // who comes is let in, until the slots are full
	PhaseLobby   Phase = "lobby"   // who comes has a place in the draw
	PhaseDrawing Phase = "drawing" // the lobby is closed; the numbers are about to be known
	PhaseOpen    Phase = "open"    // numbers are called
	PhasePaused  Phase = "paused"  // nobody is called or let in
	PhaseEnded   Phase = "ended"   // nobody joins, is called or let in any more
)

// State is the row of a room at one version.
type State struct {
	ID           int64
	Slug         string
	Name         string
	Epoch        int32
	Mode         string // auto, scheduled
	Entry        string // browser, email
	Phase        Phase
	Version      int64
	LobbyOpensAt *time.Time // nil: it is open
	OpensAt      *time.Time
	Lobby        int64 // places of the draw
	Line         int64 // places after them
	Serving      int64 // numbers up to here were called
	Slots        int
	Rate         float64       // numbers a second, at most; 0: no limit
	Work         int           // rounds in each try of a browser before it joins; 0: none is asked for
	Valid        time.Duration // how long a called number may be used
	Idle         time.Duration // how long a slot waits for its person to do something
	Stay         time.Duration // how long a slot may be had without holding a seat
	Note         string
	Pace         Pace       // of the controller
	Outlook      Outlook    // for those who wait
	TickedAt     *time.Time // nil: never

	Commitment  []byte
	CommittedAt *time.Time
	ClosedAt    *time.Time
	Beacon      string
	BeaconURL   string
	BeaconWait  time.Duration
	Round       int64 // of the beacon; 0 if there is none
	Signature   []byte
	Value       []byte
	DrawnAt     *time.Time
	Secret      []byte // nil until the numbers are drawn

	Now time.Time // the database's clock when this was read
}

const stateColumns = `r.id, r.slug, r.name, r.epoch, r.mode, r.entry, r.phase, r.version, r.lobby_opens_at, r.opens_at,
       r.lobby, r.line, r.serving, r.slots, coalesce(r.rate, 0)::float8, r.work,
       extract(epoch FROM r.valid)::float8, extract(epoch FROM r.idle)::float8, extract(epoch FROM r.stay)::float8,
       r.note, r.pace, r.outlook, CASE WHEN isfinite(r.ticked_at) THEN r.ticked_at END,
       r.commitment, r.committed_at, r.closed_at, r.beacon, coalesce(r.beacon_url, ''), extract(epoch FROM r.beacon_wait)::float8,
       coalesce(r.beacon_round, 0), r.beacon_sign, r.beacon_value, r.drawn_at, r.secret, clock_timestamp()`

func (s *State) scan(row pgx.Row, more ...any) error {
	var valid, idle, stay, wait float64
	err := row.Scan(append([]any{
		&s.ID, &s.Slug, &s.Name, &s.Epoch, &s.Mode, &s.Entry, &s.Phase, &s.Version, &s.LobbyOpensAt, &s.OpensAt,
		&s.Lobby, &s.Line, &s.Serving, &s.Slots, &s.Rate, &s.Work, &valid, &idle, &stay, &s.Note, &s.Pace, &s.Outlook, &s.TickedAt,
		&s.Commitment, &s.CommittedAt, &s.ClosedAt, &s.Beacon, &s.BeaconURL, &wait,
		&s.Round, &s.Signature, &s.Value, &s.DrawnAt, &s.Secret, &s.Now,
	}, more...)...)
	s.Valid, s.Idle, s.Stay, s.BeaconWait = seconds(valid), seconds(idle), seconds(stay), seconds(wait)
	return err
}

func scanState(row pgx.CollectableRow) (s State, err error) { return s, s.scan(row) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// last is the last number that was given.
func (s *State) last() int64 { return s.Lobby + s.Line }

// Draw is the draw of the lobby; false before it was made.
func (s *State) Draw() (Draw, bool) {
	if s.DrawnAt == nil {
		return Draw{}, false
	}
	d := Draw{Room: s.ID, Epoch: s.Epoch, Beacon: s.Value, People: int(s.Lobby)}
	copy(d.Secret[:], s.Secret)
	return d, true
}

// Record is what everybody may check the draw with; false before it was made.
func (s *State) Record() (Record, bool) {
	d, drawn := s.Draw()
	if !drawn {
		return Record{}, false
	}
	r := RecordOf(d)
	r.CommittedAt, r.ClosedAt = *s.CommittedAt, *s.ClosedAt
	if len(s.Value) > 0 && s.Beacon == BeaconDrand {
		r.Beacon = Beacon{Kind: BeaconDrand, Round: uint64(s.Round), Signature: s.Signature, Value: s.Value}
	}
	return r, true
}

// Room is one room as this node knows it.
type Room struct {
	ID   int64
	Slug string

	gate   *Gate
	state  atomic.Pointer[State]
	status atomic.Pointer[Status]
	draw   atomic.Pointer[table]
	record atomic.Pointer[Record]
	counts counts       // of those who are still there
	asking atomic.Bool  // the beacon is being asked
	hurry  atomic.Int64 // people who were told to join later, and of whom nothing is written down yet
	idle   atomic.Int64 // proofs of work that were worth nothing, of which nothing is written down yet
	moved  atomic.Int64 // when a change was seen last, in nanoseconds of this machine's clock

	joiners seats.Batches[*joiner]
	comers  seats.Batches[*comer]

	mu      sync.Mutex
	recent  map[seats.ID]Place // who joined here lately; guarded by mu
	drawing sync.Mutex         // held while the numbers are drawn, so that it is done once
}

func newRoom(g *Gate, s State) *Room {
	r := &Room{ID: s.ID, Slug: s.Slug, gate: g, recent: map[seats.ID]Place{}}
	r.joiners.Most, r.joiners.Send, r.joiners.Ends = mostJoin, r.give, g.lanes.Add
	r.comers.Most, r.comers.Send, r.comers.Ends = mostComers, r.letIn, g.lanes.Add
	r.state.Store(&s)
	return r
}

// State is what this node knows of the room. It may be behind by a second, and more while the database is gone.
func (r *Room) State() State { return *r.state.Load() }

// learn takes a state on, unless a later one is known.
func (r *Room) learn(s State) {
	for {
		known := r.state.Load()
		if s.Epoch < known.Epoch || s.Epoch == known.Epoch && s.Version < known.Version || s.Now.Before(known.Now) {
			return
		}
		if r.state.CompareAndSwap(known, &s) {
			if s.Version != known.Version {
				r.moved.Store(time.Now().UnixNano())
			}
			return
		}
	}
}

const readRoomSQL = `SELECT ` + stateColumns + ` FROM room r WHERE r.id = $1`

// read asks the database how the room is.
func (r *Room) read(ctx context.Context) error {
	var s State
	if err := s.scan(r.gate.db.QueryRow(ctx, readRoomSQL, r.ID)); err != nil {
		return fmt.Errorf("waitingroom: room %d: read: %w", r.ID, err)
	}
	r.learn(s)
	return nil
}

// table is the numbers of a lobby, by index.
type table struct {
	epoch   int32
	numbers []uint32
}

// Number is the number of a place; 0 while nobody knows it.
func (r *Room) Number(p Place) int64 {
	s := r.state.Load()
	switch {
	case p.Epoch != s.Epoch || s.Phase == PhaseLobby:
		return 0
	case p.Kind == Line:
		return s.Lobby + p.Index
	}
	if d := r.numbers(s); d != nil && p.Index <= int64(len(d.numbers)) {
		return int64(d.numbers[p.Index-1])
	}
	return 0
}

// numbers makes the draw, once; nil before it is known.
func (r *Room) numbers(s *State) *table {
	if d := r.draw.Load(); d != nil && d.epoch == s.Epoch {
		return d
	}
	draw, ok := s.Draw()
	if !ok {
		return nil
	}
	r.drawing.Lock()
	defer r.drawing.Unlock()
	if d := r.draw.Load(); d != nil && d.epoch == s.Epoch {
		return d
	}
	d := &table{epoch: s.Epoch, numbers: draw.Numbers()}
	r.draw.Store(d)
	return d
}

// step does what is due in a room by the database's clock. Every node tries; the row decides which one does it.
func (r *Room) step(ctx context.Context) error {
	var err error
	switch s := r.state.Load(); {
	case s.Phase == PhaseLobby && !s.OpensAt.After(s.Now):
		err = r.closeLobby(ctx)
	case s.Phase == PhaseOpen:
		err = r.tick(ctx)
	}
	if err != nil {
		return err
	}
	if s := r.state.Load(); s.Phase == PhaseDrawing {
		if err := r.open(ctx, s); err != nil {
			return err
		}
	}
	return r.show(ctx)
}

const closeLobbySQL = `
UPDATE room
   SET version = version + 1, phase = 'drawing', closed_at = clock_timestamp()
 WHERE id = $1 AND phase = 'lobby' AND opens_at <= clock_timestamp()
RETURNING version`

// closeLobby ends the lobby when its time has come. From this commit on, the number of people in the draw is final.
func (r *Room) closeLobby(ctx context.Context) error { return r.move(ctx, closeLobbySQL, r.ID) }

// move runs a guarded change of the room; if it changed something everybody is told.
func (r *Room) move(ctx context.Context, sql string, args ...any) error {
	var version int64
	err := r.gate.db.QueryRow(ctx, sql, args...).Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // somebody else did, or it is not due
	case err != nil:
		return fmt.Errorf("waitingroom: room %d: move on: %w", r.ID, err)
	default:
		r.gate.ring(ctx, r.ID, version)
	}
	return r.read(ctx)
}

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

// LooksPerSecond is the default for Rooms.Looks. static/js/stand.js knows it.
const LooksPerSecond = 1000

// Rooms is the waiting rooms of one node. Any number of nodes may run on one database; none of them is special.
type Rooms struct {
	// Changed is called after the status of a room changed on this node. It must return at once.
	Changed func(*Room)
	// Ended returns how many held seats of an event became available again, and how many were sold. It must return at once.
	// nil: they are not counted.
	Ended func(event int64) (returned, sold int64)
	// Beacon asks drand for a round of its quicknet chain.
	Beacon func(ctx context.Context, url string, round uint64) (signature []byte, err error)

	// Looks is how often per second all pages of a room together may poll its status without a socket; ten times as often
	// while no seat is available. 0: LooksPerSecond. A cache in front of the server allows far more.
	Looks int
	// Patience is how long a visitor without a proof of work waits before they join: a minute.
	Patience time.Duration

	db      *pgxpool.Pool
	dsn     string
	log     *slog.Logger
	node    seats.ID
	keys    *keys
	wake    chan struct{}  // wakes the loop before its next tick
	running sync.WaitGroup // batches, beacon requests and counts of promises under way

	claims claims // answered on this node

	mu    sync.RWMutex
	rooms map[int64]*Room
	event map[int64]*Room // by event
}

// New returns the node's waiting rooms on the database at dsn. Run starts them; set Changed before that.
func New(db *pgxpool.Pool, dsn string, log *slog.Logger) *Rooms {
	return &Rooms{
		Changed: func(*Room) {}, Beacon: askDrand, Patience: time.Minute,
		db: db, dsn: dsn, log: log, node: seats.NewID(), keys: newKeys(db, nil), wake: make(chan struct{}, 1),
		rooms: map[int64]*Room{}, event: map[int64]*Room{},
	}
}

// SealWith seals the keys of places with a key outside the database. Call it before anything else.
func (rs *Rooms) SealWith(box *seal.Box) { rs.keys.box = box }

// Of returns the room of an event, or nil. It answers from memory: a new room is known within a second.
func (rs *Rooms) Of(event int64) *Room {
	rs.mu.RLock()
	defer rs.mu.RUnlock()
	return rs.event[event]
}

// Room returns a room by its slug. ErrNoRoom if there is none.
func (rs *Rooms) Room(ctx context.Context, slug string) (*Room, error) {
	if r := rs.named(slug); r != nil {
		return r, nil
	}
	if err := rs.load(ctx); err != nil {
		return nil, err
	}
	if r := rs.named(slug); r != nil {
		return r, nil
	}
	return nil, ErrNoRoom
}

func (rs *Rooms) named(slug string) *Room {
	rs.mu.RLock()
	defer rs.mu.RUnlock()
	for _, r := range rs.rooms {
		if r.Slug == slug {
			return r
		}
	}
	return nil
}

// All lists the rooms that this node knows.
func (rs *Rooms) All() []*Room {
	rs.mu.RLock()
	defer rs.mu.RUnlock()
	list := make([]*Room, 0, len(rs.rooms))
	for _, r := range rs.rooms {
		list = append(list, r)
	}
	return list
}

const loadRoomsSQL = `SELECT ` + stateColumns + ` FROM room r`

const loadCoveredSQL = `SELECT id, room_id FROM event WHERE room_id IS NOT NULL`

// load reads every room and which events it covers.
func (rs *Rooms) load(ctx context.Context) error {
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
	if err := rs.db.SendBatch(ctx, &q).Close(); err != nil {
		return fmt.Errorf("waitingroom: read rooms and which events they cover: %w", err)
	}
	for i, r := range rs.updateAll(states, covered) {
		r.update(states[i])
	}
	return nil
}

// know returns the rooms with these states, of which some may be new, and notes which events they cover.
func (rs *Rooms) updateAll(states []State, covered map[int64]int64) []*Room {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rooms := make([]*Room, len(states))
	for i, s := range states {
		if rs.rooms[s.ID] == nil {
			rs.rooms[s.ID] = newRoom(rs, s)
		}
		rooms[i] = rs.rooms[s.ID]
	}
	rs.event = make(map[int64]*Room, len(covered))
	for event, room := range covered {
		if r := rs.rooms[room]; r != nil { // else it is newer than the rooms that were read
			rs.event[event] = r
		}
	}
	return rooms
}

// Errors of requests. None of them costs a visitor their place.
var (
	ErrNoRoom  = errors.New("there is no such waiting room")
	ErrNotYet  = errors.New("the waiting room is not open yet")
	ErrEnded   = errors.New("the waiting room has ended")
	ErrNoPlace = errors.New("this is not a place of this waiting room")
	ErrEmail   = errors.New("this waiting room wants an address that was verified")
)

// Phase is the state of a room; doc.go draws how one becomes another.
type Phase string

// The phases of a room.
const (
	PhaseThrough Phase = "through" // every visitor is admitted, until the slots are full
	PhaseLobby   Phase = "lobby"   // visitors get a place in the draw
	PhaseDrawing Phase = "drawing" // the lobby is closed; the numbers are about to be known
	PhaseOpen    Phase = "open"    // numbers are called
	PhasePaused  Phase = "paused"  // no number is called, no visitor is admitted
	PhaseEnded   Phase = "ended"   // closed for good
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
	Work         int           // rounds in each try of a browser's proof of work; 0: none
	Valid        time.Duration // how long a called number may be used
	Idle         time.Duration // how long a slot lasts without activity
	Stay         time.Duration // how long a slot lasts without a held seat
	Note         string
	Pace         Pace       // of the controller
	Outlook      Outlook    // for the estimates of waiting visitors
	Forecast     Forecast   // from which promises are made
	IsReported   bool       // its fairness report is published
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
       r.note, r.pace, r.outlook, r.forecast, r.fairness IS NOT NULL, CASE WHEN isfinite(r.ticked_at) THEN r.ticked_at END,
       r.commitment, r.committed_at, r.closed_at, r.beacon, coalesce(r.beacon_url, ''), extract(epoch FROM r.beacon_wait)::float8,
       coalesce(r.beacon_round, 0), r.beacon_sign, r.beacon_value, r.drawn_at, r.secret, clock_timestamp()`

func (s *State) scan(row pgx.Row, more ...any) error {
	var valid, idle, stay, wait float64
	err := row.Scan(append([]any{
		&s.ID, &s.Slug, &s.Name, &s.Epoch, &s.Mode, &s.Entry, &s.Phase, &s.Version, &s.LobbyOpensAt, &s.OpensAt,
		&s.Lobby, &s.Line, &s.Serving, &s.Slots, &s.Rate, &s.Work, &valid, &idle, &stay, &s.Note, &s.Pace, &s.Outlook, &s.Forecast, &s.IsReported, &s.TickedAt,
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

// Record is the public record of the draw; false before it was made.
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

	rooms       *Rooms
	state       atomic.Pointer[State]
	status      atomic.Pointer[Status]
	draw        atomic.Pointer[table]
	record      atomic.Pointer[Record]
	calibration atomic.Pointer[Calibration]
	calibrating atomic.Bool  // a count of promises is under way
	counts      counts       // of waiting visitors who are still there
	asking      atomic.Bool  // a request to the beacon is under way
	throttled   atomic.Int64 // joins refused for their network's rate, not recorded yet
	badProofs   atomic.Int64 // invalid proofs of work, not recorded yet
	changedAt   atomic.Int64 // time of the last seen change, in nanoseconds of this machine's clock

	joins      seats.Batches[*joinRequest]
	admissions seats.Batches[*admissionRequest]

	mu      sync.Mutex
	recent  map[seats.ID]Place // of visitors who joined here lately; guarded by mu
	drawing sync.Mutex         // held while the numbers are drawn, so that it is done once
}

func newRoom(rs *Rooms, s State) *Room {
	r := &Room{ID: s.ID, Slug: s.Slug, rooms: rs, recent: map[seats.ID]Place{}}
	r.joins.Most, r.joins.Send, r.joins.Ends = maxJoins, r.issuePlaces, rs.running.Add
	r.admissions.Most, r.admissions.Send, r.admissions.Ends = maxAdmissions, r.answerAdmissions, rs.running.Add
	r.state.Store(&s)
	return r
}

// State is the room as this node knows it. It may be a second old, and older while the database is gone.
func (r *Room) State() State { return *r.state.Load() }

// update stores a state, unless a later one is known.
func (r *Room) update(s State) {
	for {
		known := r.state.Load()
		if s.Epoch < known.Epoch || s.Epoch == known.Epoch && s.Version < known.Version || s.Now.Before(known.Now) {
			return
		}
		if r.state.CompareAndSwap(known, &s) {
			if s.Version != known.Version {
				r.changedAt.Store(time.Now().UnixNano())
			}
			return
		}
	}
}

const readRoomSQL = `SELECT ` + stateColumns + ` FROM room r WHERE r.id = $1`

// read reads the room from the database.
func (r *Room) read(ctx context.Context) error {
	var s State
	if err := s.scan(r.rooms.db.QueryRow(ctx, readRoomSQL, r.ID)); err != nil {
		return fmt.Errorf("waitingroom: room %d: read: %w", r.ID, err)
	}
	r.update(s)
	return nil
}

// table is the drawn numbers of a lobby, by index.
type table struct {
	epoch   int32
	numbers []uint32
}

// Number is the number of a place; 0 before the draw.
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

// step does what is due in a room by the database's clock. Every node tries; the row of the room lets one succeed.
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
	return r.refreshStatus(ctx)
}

const closeLobbySQL = `
UPDATE room
   SET version = version + 1, phase = 'drawing', closed_at = clock_timestamp()
 WHERE id = $1 AND phase = 'lobby' AND opens_at <= clock_timestamp()
RETURNING version`

// closeLobby ends the lobby at its time. From this commit on, the number of places in the draw is final.
func (r *Room) closeLobby(ctx context.Context) error { return r.move(ctx, closeLobbySQL, r.ID) }

// move runs a guarded change of the room, and notifies all nodes if it changed something.
func (r *Room) move(ctx context.Context, sql string, args ...any) error {
	var version int64
	err := r.rooms.db.QueryRow(ctx, sql, args...).Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // done by another node, or not due
	case err != nil:
		return fmt.Errorf("waitingroom: room %d: move on: %w", r.ID, err)
	default:
		r.rooms.notify(ctx, r.ID, version)
	}
	return r.read(ctx)
}

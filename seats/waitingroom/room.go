package waitingroom

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
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

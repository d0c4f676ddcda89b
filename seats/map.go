package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// State is what may be done with a seat at this moment. The numbers are those of column seat_state.state.
type State int16

// The states of a seat; doc.go draws how one becomes another.
const (
	Free    State = iota // any visitor may claim it
	Held                 // an attendee's until its time is up
	Expired              // time is up: free for everyone, and still its last holder's to confirm
	Paying               // an attendee's while a payment runs, until a time of its own
	Sold                 // an order's
	Blocked              // kept back by the organizer
)

var stateNames = [...]string{"free", "held", "lapsed", "paying", "sold", "blocked"}

// String returns the state's word, as pages and answers show it.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return "unknown"
	}
	return stateNames[s]
}

// Shown is the state that all visitors but the seat's holder see: one of Free, Held, Sold and Blocked.
// An expired seat is free to all, and a seat in payment is as good as held.
func (s State) Shown() State {
	switch s {
	case Expired:
		return Free
	case Paying:
		return Held
	default:
		return s
	}
}

// Bits is the state that all visitors see, as it travels, and the place of its count: 0 free, 1 held, 2 sold, 3 blocked
// (docs/wire-format.md).
func (s State) Bits() byte {
	switch s.Shown() {
	case Held:
		return 1
	case Sold:
		return 2
	case Blocked:
		return 3
	default:
		return 0
	}
}

// Counts are how many seats of each category are in which state, by position in Plan.Categories. Seats that expired
// count as free and seats in payment as held, as on the map.
type Counts struct {
	Free, Held, Sold, Blocked []int
	Quota                     []*int // by phase, the seats it may still sell; nil: any number, or it does not run any more
}

// Remaining is how many seats any visitor may claim, over all categories.
func (c Counts) Remaining() int { return sum(c.Free) }

func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// Snapshot is the whole map at one version, each state as all visitors see it.
type Snapshot struct {
	Epoch   uint32 // of the database's run that the version belongs to
	Version int64
	States  []State
	Counts  Counts
}

// Bitmap is a snapshot as it travels: two bits a seat, see State.Bits. Seat 0 has the lowest bits of the first byte.
type Bitmap struct {
	Epoch   uint32
	Version int64
	Seats   int
	Bits    []byte
	Counts  Counts
}

// Bitmap returns the same map in bits.
func (s Snapshot) Bitmap() Bitmap {
	return Bitmap{Epoch: s.Epoch, Version: s.Version, Seats: len(s.States), Bits: pack(s.States), Counts: s.Counts}
}

func pack(states []State) []byte {
	bits := make([]byte, (len(states)+3)/4)
	for i, state := range states {
		bits[i/4] |= state.Bits() << (2 * (i % 4))
	}
	return bits
}

// Delta is what changed on the map after version From and up to version To: the last state of each seat, as everybody
// sees it, in the order of idx, and the counts as of To.
type Delta struct {
	Epoch    uint32
	From, To int64
	Changes  []SeatChange
	Counts   Counts
}

// SeatChange is one seat and the state it came to.
type SeatChange struct {
	Idx   int
	State State
}

// ringSeats is how many seat changes the map remembers for those who come back; more than that and a snapshot is as
// small as the delta.
const ringSeats = 16_384

// seatMap is an event's seats as this node last read or wrote them. It may be behind the database, never ahead of it.
type seatMap struct {
	mu         sync.RWMutex
	epoch      uint32
	version    int64
	at         time.Time // of the version; zero: not known, as when there is none yet
	torn       bool      // a version did not follow from the one before: the database went back, and both are not of one history
	states     []State
	bits       []byte // the same as all visitors see it: a crowd asks for the map more often than it changes
	counts     Counts
	open       []int32            // free seats of each run
	of         []int32            // run of each seat
	ring       []Change           // the versions up to and including version, without gap
	ringed     int                // seat changes in the ring
	waitlisted map[int32]struct{} // seats held for the waitlist: see waitlist.go

	returned, sold int64 // held seats that came back free, and that were sold, since the map was read first
}

// reset replaces everything by what the database says.
func (m *seatMap) reset(epoch uint32, version int64, at time.Time, states []State, counts Counts, waitlisted []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.torn = at, false
	m.epoch, m.version, m.states, m.counts, m.ring, m.ringed = epoch, version, states, counts, nil, 0
	m.bits = pack(states)
	clear(m.open)
	m.waitlisted = make(map[int32]struct{}, len(waitlisted))
	for _, idx := range waitlisted {
		m.waitlisted[idx] = struct{}{}
	}
	for idx, state := range states {
		if state.Shown() == Free {
			m.open[m.of[idx]]++
		}
	}
}

// knows reports whether the map has room for so many seats.
func (m *seatMap) knows(seats int) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.of) >= seats
}

// grow makes room for seats that a newer plan has behind the others, all of them free. The runs of the others
// stay.
func (m *seatMap) grow(t *runs) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(t.of) <= len(m.of) {
		return
	}
	m.of = t.of
	m.open = append(slices.Clone(m.open), make([]int32, len(t.all)-len(m.open))...)
	if m.states == nil {
		return // nothing was read yet
	}
	for idx := len(m.states); idx < len(t.of); idx++ {
		m.states = append(m.states, Free)
		m.open[t.of[idx]]++
	}
	m.bits = pack(m.states)
}

// apply takes the map one version further. It reports false, and leaves the map as it is, if c is not the next version.
func (m *seatMap) apply(c Change) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Version != m.version+1 || m.torn {
		return false
	}
	if m.torn = !m.leadsTo(c); m.torn {
		return false
	}
	for i, idx := range c.Idx {
		was, is := m.states[idx].Shown() == Free, State(c.State[i]).Shown() == Free
		m.end(idx, State(c.State[i]), c.Holder[i])
		m.put(int(idx), State(c.State[i]))
		switch {
		case is && !was:
			m.open[m.of[idx]]++
		case was && !is:
			m.open[m.of[idx]]--
		}
	}
	m.version, m.at, m.counts = c.Version, c.At, c.Counts
	m.ring, m.ringed = append(m.ring, c), m.ringed+len(c.Idx)
	for m.ringed > ringSeats {
		m.ringed -= len(m.ring[0].Idx)
		m.ring = m.ring[1:]
	}
	return true
}

// leadsTo reports whether the map has the counts of a change once its seats have changed. A version without seats may bring new ones.
func (m *seatMap) leadsTo(c Change) bool {
	if len(c.Idx) == 0 {
		return true
	}
	var moved [4]int
	for i, idx := range c.Idx {
		moved[m.states[idx].Bits()]--
		moved[State(c.State[i]).Bits()]++
	}
	was, is := m.counts, c.Counts
	return moved == [4]int{sum(is.Free) - sum(was.Free), sum(is.Held) - sum(was.Held), sum(is.Sold) - sum(was.Sold), sum(is.Blocked) - sum(was.Blocked)}
}

// compare finds out whether the history of the database, which had a version at a time, is the map's. After a failover it may have given
// numbers anew that this node had read where no standby had them. nil: it has no such version.
func (m *seatMap) compare(version int64, at *time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.version == version && !m.at.IsZero() && (at == nil || !at.Equal(m.at)) {
		m.torn = true
	}
}

func (m *seatMap) isTorn() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.torn
}

// put sets the state of one seat.
func (m *seatMap) put(idx int, s State) {
	shift := 2 * (idx % 4)
	m.states[idx] = s
	m.bits[idx/4] = m.bits[idx/4]&^(3<<shift) | s.Bits()<<shift
}

// end counts what becomes of a held seat, and remembers which are held for the waitlist. Such a seat has come back.
func (m *seatMap) end(idx int32, to State, holder ID) {
	was, is := m.states[idx].Shown(), to.Shown()
	if _, waitlisted := m.waitlisted[idx]; waitlisted {
		was = Free
		delete(m.waitlisted, idx)
	}
	if to == Held && holder == waitList {
		is = Free
		m.waitlisted[idx] = struct{}{}
	}
	switch {
	case was != Held:
	case is == Free:
		m.returned++
	case is == Sold:
		m.sold++
	}
}

// Ended is what became of the held seats of an event, as far as this node saw it: how many came back free, by hand
// or by time, and how many were sold. Seats held for the waitlist came back. Both are 0 for an event that is not
// open here.
func (o *Inventory) Ended(event int64) (returned, sold int64) {
	for _, s := range o.Open() {
		if s.Event.ID == event {
			s.seats.mu.RLock()
			defer s.seats.mu.RUnlock()
			return s.seats.returned, s.seats.sold
		}
	}
	return 0, 0
}

// Version is the version of the event's map on this node.
func (s *Sale) Version() int64 {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	return s.seats.version
}

// At is the epoch and the version of the event's map on this node.
func (s *Sale) At() (epoch uint32, version int64) {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	return s.seats.epoch, s.seats.version
}

// Remaining is how many seats any visitor may claim, as this node last read.
func (s *Sale) Remaining() int {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	return s.seats.counts.Remaining()
}

// Snapshot returns the map as it is on this node; it is the caller's to keep.
func (s *Sale) Snapshot() Snapshot {
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	shown := make([]State, len(m.states))
	for i, state := range m.states {
		shown[i] = state.Shown()
	}
	return Snapshot{Epoch: m.epoch, Version: m.version, States: shown, Counts: m.counts}
}

// Bitmap returns the map as it is on this node; it is the caller's to keep.
func (s *Sale) Bitmap() Bitmap {
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	return Bitmap{Epoch: m.epoch, Version: m.version, Seats: len(m.states), Bits: slices.Clone(m.bits), Counts: m.counts}
}

// Recent returns the versions after one as they were committed, in order and without gap, as far as this node knows;
// false if it does not remember that far back. They are read only.
func (s *Sale) Recent(version int64) ([]Change, bool) {
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if version < m.version-int64(len(m.ring)) || version > m.version {
		return nil, false
	}
	return slices.Clone(m.ring[len(m.ring)-int(m.version-version):]), true
}

// Since returns what changed after a version; false if the node does not remember that far back, or the version is
// from the future.
func (s *Sale) Since(version int64) (Delta, bool) {
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if version < m.version-int64(len(m.ring)) || version > m.version {
		return Delta{}, false
	}
	var touched []int32
	for _, c := range m.ring[len(m.ring)-int(m.version-version):] {
		touched = append(touched, c.Idx...)
	}
	slices.Sort(touched)
	touched = slices.Compact(touched)
	changes := make([]SeatChange, len(touched))
	for i, idx := range touched {
		changes[i] = SeatChange{int(idx), m.states[idx].Shown()}
	}
	return Delta{Epoch: m.epoch, From: version, To: m.version, Changes: changes, Counts: m.counts}, true
}

// Change is one version of an event: what one batch of commands did to its seats. Idx, State and Holder go together;
// a seat that became free has the zero Holder. A version without seats says that the event itself was changed.
type Change struct {
	Version int64
	At      time.Time
	Idx     []int32
	State   []int16
	Holder  []ID
	Counts  Counts
}

// counted is where the version, the time and the counts of a change are read to.
func (c *Change) counted() []any {
	n := &c.Counts
	return []any{&c.Version, &c.At, &n.Free, &n.Held, &n.Sold, &n.Blocked, &n.Quota}
}

const changesSQL = `
SELECT (SELECT at FROM change WHERE event_id = $1 AND version = $2), version, at, free, held, sold, blocked, quota, idx, state, holder
  FROM change
 WHERE event_id = $1 AND version > $2
 ORDER BY version
 LIMIT $3`

// Changes reads the event's change log after a version, at most limit rows, in order and without gap.
func Changes(ctx context.Context, db DB, event, after int64, limit int) ([]Change, error) {
	changes, _, err := changesAfter(ctx, db, event, after, limit)
	return changes, err
}

// changesAfter is Changes, with the time of the version before the first of them; nil if it is not in the log.
func changesAfter(ctx context.Context, db DB, event, after int64, limit int) (changes []Change, at *time.Time, err error) {
	rows, _ := db.Query(ctx, changesSQL, event, after, limit) // CollectRows returns its error
	changes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Change, err error) {
		return c, row.Scan(append(append([]any{&at}, c.counted()...), &c.Idx, &c.State, &c.Holder)...)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("seats: changes of event %d after %d: %w", event, after, err)
	}
	return changes, at, nil
}

const catchUpRows = 512

// CatchUp brings this node's map to the newest committed version and tells Inventory.Changed if it moved.
func (s *Sale) CatchUp(ctx context.Context) error {
	moved, changed := false, s.stale.Load()
	for {
		from := s.Version()
		changes, at, err := changesAfter(ctx, s.inventory.db, s.Event.ID, from, catchUpRows)
		if err != nil {
			return err
		}
		if len(changes) > 0 {
			s.seats.compare(from, at)
		}
		if slices.ContainsFunc(changes, func(c Change) bool { return len(c.Idx) == 0 }) {
			changed = true
			if err := s.inventory.reloadEvent(ctx, s.Event.Slug); err != nil { // first: what comes after may name seats that are new
				s.stale.Store(true)
				return err
			}
		}
		for _, c := range changes {
			moved = s.seats.apply(c) || moved
		}
		if s.seats.isTorn() {
			return s.startOver(ctx)
		}
		if len(changes) < catchUpRows {
			break
		}
	}
	if changed {
		s.stale.Store(true)
		if err := s.inventory.reloadEvent(ctx, s.Event.Slug); err != nil {
			return err
		}
		s.inventory.wakeOpening()
	}
	if moved {
		s.inventory.changed(s)
	}
	return nil
}

// startOver reads the map anew after versions that the database does not have.
func (s *Sale) startOver(ctx context.Context) error {
	s.inventory.log.Warn("the database went back, as after a failover: the map is read anew", "event", s.Event.ID, "version", s.Version())
	s.stale.Store(true)
	epoch, err := s.inventory.readEpoch(ctx)
	if err != nil {
		return err
	}
	if err := s.reload(ctx, epoch); err != nil {
		return err
	}
	if err := s.inventory.reloadEvent(ctx, s.Event.Slug); err != nil {
		return err
	}
	s.inventory.changed(s)
	return nil
}

// Behind reports whether this node has to read something to be where the event is: its changes up to a version, or
// its row.
func (s *Sale) Behind(version int64) bool { return version > s.Version() || s.stale.Load() }

// One statement, so that version, counts, states and array sizes are of one moment.
const mapSQL = `
SELECT c.version, c.free, c.held, c.sold, c.blocked, c.quota,
       (SELECT array_agg(s.state ORDER BY s.idx) FROM seat_state s WHERE s.event_id = c.event_id),
       ARRAY(SELECT s.idx FROM seat_state s WHERE s.event_id = c.event_id AND s.holder = $2 AND s.state = 1 /* held */),
       (SELECT l.at FROM change l WHERE l.event_id = c.event_id AND l.version = c.version)
  FROM counter c
 WHERE c.event_id = $1`

// reload reads the whole map anew, in a run of the database.
func (s *Sale) reload(ctx context.Context, epoch uint32) error {
	err := s.readMap(ctx, s.inventory.db, epoch)
	if errors.Is(err, errGrew) {
		if err := s.inventory.reloadEvent(ctx, s.Event.Slug); err != nil {
			return err
		}
		err = s.readMap(ctx, s.inventory.db, epoch)
	}
	return err
}

// errGrew says that seats were added since the plan was read.
var errGrew = errors.New("the event has more seats than its plan on this node")

// readMap reads the whole map from the seat rows.
func (s *Sale) readMap(ctx context.Context, db DB, epoch uint32) error {
	var version int64
	var states []State
	var counts Counts
	var waitlisted []int32
	var at *time.Time // null: of the first version, or of one that is in the log no more
	err := db.QueryRow(ctx, mapSQL, s.Event.ID, waitList).
		Scan(&version, &counts.Free, &counts.Held, &counts.Sold, &counts.Blocked, &counts.Quota, &states, &waitlisted, &at)
	if err == nil && !s.seats.knows(len(states)) {
		err = errGrew
	}
	if err != nil {
		return fmt.Errorf("seats: read map of event %d: %w", s.Event.ID, err)
	}
	if at == nil {
		at = &time.Time{}
	}
	s.seats.reset(epoch, version, *at, states, counts, waitlisted)
	return nil
}

// Expired reports of which of the seats the hold has expired, as this node last read.
func (s *Sale) Expired(seats []int) map[int]bool {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	expired := map[int]bool{}
	for _, idx := range seats {
		if s.seats.states[idx] == Expired {
			expired[idx] = true
		}
	}
	return expired
}

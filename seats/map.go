package seats

import (
	"slices"
	"sync"
)

// Counts are how many seats of each category are in which state, by position in Plan.Categories. Seats that lapsed
// count as free and seats in payment as held, as on the map.
type Counts struct {
	Free, Held, Sold, Blocked []int
}

// Remaining is how many seats anybody may claim, over all categories.
func (c Counts) Remaining() int { return sum(c.Free) }

func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// Snapshot is the whole map at one version, each state as everybody sees it.
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
	mu      sync.RWMutex
	epoch   uint32
	version int64
	states  []State
	bits    []byte // the same as everybody sees it: a crowd asks for the map more often than it changes
	counts  Counts
	open    []int32            // free seats of each stretch
	of      []int32            // stretch of each seat
	ring    []Change           // the versions up to and including version, without gap
	ringed  int                // seat changes in the ring
	kept    map[int32]struct{} // seats kept for those who wait: see kept.go

	returned, sold int64 // held seats that came back free, and that were sold, since the map was read first
}

// reset replaces everything by what the database says.
func (m *seatMap) reset(epoch uint32, version int64, states []State, counts Counts, kept []int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch, m.version, m.states, m.counts, m.ring, m.ringed = epoch, version, states, counts, nil, 0
	m.bits = pack(states)
	clear(m.open)
	m.kept = make(map[int32]struct{}, len(kept))
	for _, idx := range kept {
		m.kept[idx] = struct{}{}
	}
	for idx, state := range states {
		if state.Shown() == Free {
			m.open[m.of[idx]]++
		}
	}
}

// knows tells whether the map has room for so many seats.
func (m *seatMap) knows(seats int) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.of) >= seats
}

// grow makes room for seats that a newer plan has behind the others, all of them free. The stretches of the others
// stay.
func (m *seatMap) grow(t *stretches) {
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

// apply takes the map one version further. It reports false, and does nothing, if c is not the next version.
func (m *seatMap) apply(c Change) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Version != m.version+1 {
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
	m.version, m.counts = c.Version, c.Counts
	m.ring, m.ringed = append(m.ring, c), m.ringed+len(c.Idx)
	for m.ringed > ringSeats {
		m.ringed -= len(m.ring[0].Idx)
		m.ring = m.ring[1:]
	}
	return true
}

// put sets the state of one seat.
func (m *seatMap) put(idx int, s State) {
	shift := 2 * (idx % 4)
	m.states[idx] = s
	m.bits[idx/4] = m.bits[idx/4]&^(3<<shift) | s.Bits()<<shift
}

// end counts what becomes of a held seat, and remembers which are kept. A seat that is kept has come back.
func (m *seatMap) end(idx int32, to State, holder ID) {
	was, is := m.states[idx].Shown(), to.Shown()
	if _, kept := m.kept[idx]; kept {
		was = Free
		delete(m.kept, idx)
	}
	if to == Held && holder == waitList {
		is = Free
		m.kept[idx] = struct{}{}
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
// or by time, and how many were sold. Seats kept for those who wait came back. Both are 0 for an event that is not
// open here.
func (o *Office) Ended(event int64) (returned, sold int64) {
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

// Remaining is how many seats anybody may claim, as this node last read.
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
// false if it does not remember that far back. Nobody may write to them.
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

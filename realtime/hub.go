package realtime

import (
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/seats"
)

// Hub keeps, for every event that somebody watches, who watches it and which version each of them has. While nothing
// changes it does nothing.
type Hub struct {
	// SocketsPerAddress is the most sockets of one address. Set it before the first one.
	SocketsPerAddress int
	// Sockets is the most sockets of this node. More are told 503 before they are sockets.
	Sockets int
	// RoomSockets is the most of them that pages of waiting rooms may have, so that there is always one for a map.
	RoomSockets int
	// Tell takes notes to the other nodes; it must return at once. nil: there are none. Set it before the first socket.
	Tell func(note string)
	// Log hears of pages whose map was not ours.
	Log *slog.Logger

	name     string        // of this node in notes
	audits   time.Duration // between a change and the audit that follows it
	clock    clock
	pace     pace
	diverged atomic.Int64

	mu     sync.Mutex
	houses map[int64]*house // by event
	rooms  map[int64]*house // by waiting room
	census census
	closed bool
	within time.Duration // over which pages that are sent away should come back; set before they are
	empty  chan struct{} // closed when the last socket of a closed hub has left
}

// mostDiverged is how many maps that were not ours are logged; a fault of the program would be one of every page.
const mostDiverged = 100

// NewHub returns a hub for the events of an office. Hand Changed to the office.
func NewHub() *Hub {
	return &Hub{
		SocketsPerAddress: SocketsPerAddress, Sockets: socketLimit(), RoomSockets: min(RoomSockets, socketLimit()/2), Log: slog.New(slog.DiscardHandler),
		name: rand.Text()[:8], audits: auditEvery, pace: pace{least: leastTick},
		houses: map[int64]*house{}, rooms: map[int64]*house{}, census: census{addresses: map[string]int{}, sessions: map[uint64]*watcher{}},
		empty: make(chan struct{}),
	}
}

// Changed is told that an event's map moved on: those who watch it hear at once after a rest, else at the next tick.
func (h *Hub) Changed(s *seats.Sale) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if house := h.houses[s.Event.ID]; house != nil {
		h.wake(house)
	}
}

// Watchers is how many pages watch an event on this node.
func (h *Hub) Watchers(s *seats.Sale) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if house := h.houses[s.Event.ID]; house != nil {
		return len(house.watchers)
	}
	return 0
}

// Mine tells the pages that a visitor has open of an event, on this node and, if elsewhere, on every other one, what they
// hold now. The session is their token, or nothing.
func (h *Hub) Mine(s *seats.Sale, session string, hold seats.Hold, elsewhere bool) {
	of := sessionOf(session)
	if of == 0 {
		return
	}
	h.show(s.Event.ID, of, func(epoch uint32) []byte { return mine(epoch, hold) })
	if elsewhere && h.Tell != nil {
		h.Tell(h.holds(s.Event.ID, of, mine(0, hold)))
	}
}

// Renamed is told that a session has another token: the pages it has open, on whatever node, stay its own.
func (h *Hub) Renamed(was, is string) {
	old, now := sessionOf(was), sessionOf(is)
	h.mu.Lock()
	h.census.rename(old, now)
	h.mu.Unlock()
	if h.Tell != nil && old != 0 && now != 0 {
		h.Tell(h.renamed(old, now))
	}
}

// Now is the database's time, give or take half a round trip.
func (h *Hub) Now() time.Time { return h.clock.Now() }

// Open is how many sockets pages of events and pages of waiting rooms have on this node.
func (h *Hub) Open() (maps, rooms int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.census.all - h.census.waiting, h.census.waiting
}

// Diverged is how many pages found that their map was not the node's. There should be none.
func (h *Hub) Diverged() int64 { return h.diverged.Load() }

func (h *Hub) join(w *watcher, s *seats.Sale) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || !h.admits(w) {
		return false
	}
	event := s.Event.ID
	if h.houses[event] == nil {
		h.houses[event] = &house{sale: s}
		h.houses[event].edition.Store(newEdition(s, none, false))
	}
	h.seat(w, h.houses[event])
	return true
}

// admits counts a page, unless there are too many. The caller holds h.mu.
func (h *Hub) admits(w *watcher) bool {
	if w.visitor.waits && h.census.waiting >= h.RoomSockets {
		return false
	}
	return h.census.admit(w, h.Sockets, h.SocketsPerAddress)
}

// seat puts a page among those that watch the same. The caller holds h.mu.
func (h *Hub) seat(w *watcher, house *house) {
	w.house = house
	w.at = len(house.watchers)
	house.watchers = append(house.watchers, w)
}

func (h *Hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.census.dismiss(w)
	all := w.house.watchers
	last := len(all) - 1
	all[w.at], all[last] = all[last], nil
	if w.at != last {
		all[w.at].at = w.at
	}
	if w.house.watchers = all[:last]; last == 0 {
		h.forget(w.house)
	}
	if h.closed && h.census.all == 0 {
		close(h.empty)
	}
}

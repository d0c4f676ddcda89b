package realtime

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
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

// house is everybody who watches one event, or one waiting room. A round tells all of them; then it rests. The hub's mu guards all but edition.
type house struct {
	sale     *seats.Sale // nil: it is a waiting room
	room     Room        // nil: it is an event
	roomID   int64
	edition  atomic.Pointer[edition]
	watchers []*watcher

	turning  bool          // a round is under way or rests
	again    bool          // something changed since it began
	called   []*watcher    // of the round under way
	cost     time.Duration // of the last round
	audit    *time.Timer   // set while changes await their audit
	auditDue bool
}

const (
	leastTick  = 100 * time.Millisecond // between two frames to one page; the first after a rest goes at once
	mostTick   = time.Second
	auditEvery = 30 * time.Second
	many       = 512 // watchers that are worth another processor
)

// pace finds the tick: so long that rounds take at most a third of the processors.
type pace struct {
	least time.Duration
	load  time.Duration // what the last rounds of all houses took, one processor's time
}

const share = 3

func (p *pace) tick() time.Duration {
	return min(max(p.load*share/time.Duration(runtime.GOMAXPROCS(0)), p.least), mostTick)
}

// wake starts a round, or has one follow the one under way. The caller holds h.mu.
func (h *Hub) wake(house *house) {
	if house.turning {
		house.again = true
		return
	}
	house.turning = true
	go h.round(house)
}

// round brings everybody to a new edition and then rests for what is left of a tick.
func (h *Hub) round(house *house) {
	began := time.Now()
	h.mu.Lock()
	house.again = false
	audited := house.auditDue
	house.called = append(house.called[:0], house.watchers...)
	h.mu.Unlock()

	now := house.next(audited)
	house.edition.Store(now)
	cost := each(house.called, (*watcher).tell)

	h.mu.Lock()
	defer h.mu.Unlock()
	clear(house.called) // who leaves must not stay in memory
	h.pace.load += cost - house.cost
	house.cost = cost
	h.planAudit(house, now)
	time.AfterFunc(max(h.pace.tick()-time.Since(began), 0), func() { h.rested(house) })
}

// next is the edition after the one that everybody has.
func (house *house) next(audited bool) *edition {
	before := house.edition.Load()
	if house.room != nil {
		return newNotice(house.room, before.version)
	}
	most := before.version
	if epoch, _ := house.sale.At(); before.epoch != epoch {
		most = none
	}
	return newEdition(house.sale, most, audited)
}

func (h *Hub) rested(house *house) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if house.again && len(house.watchers) > 0 {
		go h.round(house)
		return
	}
	h.pace.load -= house.cost
	house.cost, house.turning = 0, false
}

// planAudit has every change followed by an audit, some time later and not one by one. The caller holds h.mu.
func (h *Hub) planAudit(house *house, now *edition) {
	if now.audit != nil {
		house.auditDue = false
		return
	}
	if house.room != nil || house.audit != nil || len(house.watchers) == 0 {
		return
	}
	house.audit = time.AfterFunc(h.audits, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		house.audit = nil
		if len(house.watchers) > 0 {
			house.auditDue = true
			h.wake(house)
		}
	})
}

// forget lets go of what nobody watches any more. The caller holds h.mu.
func (h *Hub) forget(house *house) {
	if house.room != nil {
		delete(h.rooms, house.roomID)
		return
	}
	delete(h.houses, house.sale.Event.ID)
	if house.audit != nil {
		house.audit.Stop()
	}
}

// each calls do for all of them, on more than one processor if they are many, and returns the processors' time it took.
func each(all []*watcher, do func(*watcher)) time.Duration {
	parts := min(runtime.GOMAXPROCS(0), 1+len(all)/many)
	if parts == 1 {
		return one(all, do)
	}
	var busy atomic.Int64
	var done sync.WaitGroup
	for part := range parts {
		done.Go(func() { busy.Add(int64(one(all[part*len(all)/parts:(part+1)*len(all)/parts], do))) })
	}
	done.Wait()
	return time.Duration(busy.Load())
}

func one(all []*watcher, do func(*watcher)) time.Duration {
	return worked(func() {
		for _, w := range all {
			do(w)
		}
	})
}

// edition is what everybody who watches an event, or a room, should have as of one round. Its frames are made once and shared.
type edition struct {
	sale    *seats.Sale
	epoch   uint32
	version int64
	audit   []byte // the frame with the checksum of this version; nil in most editions
	notice  []byte // the frame that everybody gets in a waiting room; nil for an event

	// Most pages come from the edition before; the others wait for mu.
	from   int64
	common link

	mu    sync.Mutex
	links map[int64]link // by the version they start from; the whole map is under none
}

// link is a frame that takes a page to a version.
type link struct {
	frame []byte
	text  func() []byte // the same as JSON, made once for all pages that read it
	epoch uint32
	to    int64
}

func newLink(message []byte, epoch uint32, to int64) link {
	return link{enframe(opBinary, message), sync.OnceValue(func() []byte { return enframe(opText, readable(message)) }), epoch, to}
}

// as is the frame as a page reads it.
func (l link) as(json bool) []byte {
	if json {
		return l.text()
	}
	return l.frame
}

const (
	none       = -1 // the version of a page that has no map
	mostLinks  = 64 // that are kept of one edition
	fewChanges = 64 // that a delta may always have; with more than a quarter of the seats the map is shorter
)

// newEdition is the event as it is now, for people most of whom have a version already.
func newEdition(sale *seats.Sale, most int64, audited bool) *edition {
	e := &edition{sale: sale, from: most, links: map[int64]link{}}
	if most == none {
		e.epoch, e.version = sale.At()
	} else {
		e.common = e.make(most)
		e.epoch, e.version = e.common.epoch, e.common.to
	}
	if audited {
		if s := sale.Bitmap(); s.Epoch == e.epoch && s.Version == e.version {
			e.audit = enframe(opBinary, audit(e.epoch, s))
		}
	}
	return e
}

// link returns what takes a page from a version at least to the edition's.
func (e *edition) link(from int64) link {
	if e.notice != nil {
		return link{e.notice, func() []byte { return e.notice }, e.epoch, e.version}
	}
	if from == e.from && from != none {
		return e.common
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l, ok := e.links[from]
	if !ok {
		l = e.make(from)
		if len(e.links) < mostLinks {
			e.links[from] = l
		}
	}
	return l
}

// make encodes a delta, or the whole map if the delta is unknown or longer.
func (e *edition) make(from int64) link {
	if from != none {
		if d, ok := e.sale.Since(from); ok && len(d.Changes) <= max(fewChanges, len(e.sale.Plan.Seats)/4) {
			return newLink(delta(d.Epoch, d), d.Epoch, d.To)
		}
	}
	s := e.sale.Bitmap()
	return newLink(snap(s.Epoch, s), s.Epoch, s.Version)
}

const (
	goodbyes  = 500 * time.Millisecond // for pages to take leave, and then for their sockets to be gone
	perSecond = 2000                   // sockets that a node opens again without trouble
)

// Run waits until ctx is done; then it sends every page away so that it connects again elsewhere.
func (h *Hub) Run(ctx context.Context) error {
	<-ctx.Done()
	h.drain()
	return ctx.Err()
}

// drain says where to go and good-bye to every page at once, and waits a moment, for all of them together.
func (h *Hub) drain() {
	all := h.everybody()
	h.within = max(time.Second, time.Duration(len(all))*time.Second/perSecond)
	each(all, (*watcher).dismiss)
	if h.emptied() {
		return
	}
	each(h.everybody(), func(w *watcher) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.end()
	})
	h.emptied()
}

// emptied waits a moment for the last socket to leave.
func (h *Hub) emptied() bool {
	select {
	case <-h.empty:
		return true
	case <-time.After(goodbyes):
		return false
	}
}

// everybody closes the hub for newcomers and lists who is here.
func (h *Hub) everybody() (all []*watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed && h.census.all == 0 {
		close(h.empty)
	}
	h.closed = true
	for _, houses := range []map[int64]*house{h.houses, h.rooms} {
		for _, house := range houses {
			all = append(all, house.watchers...)
		}
	}
	return all
}

// dismiss says where to go and good-bye. A page of a waiting room hears only the good-bye: it goes on asking, at its own pace.
func (w *watcher) dismiss() {
	if w.house.room != nil {
		w.owe(owesClose)
		return
	}
	w.owe(owesMove | owesClose)
}

// What one node tells the others about the pages of one visitor travels beside the change log: the log does not say who
// extended a hold, and pages are known by their session alone. A note may be lost; then a page learns it when it looks.
//
// A note is "node:event:session:what": the session is a hash, what is a MINE without its head. A note of event 0 says that
// the session has another name, which stands for what.

// holds is the note about what a visitor holds.
func (h *Hub) holds(event int64, session uint64, message []byte) string {
	return fmt.Sprintf("%s:%d:%x:%s", h.name, event, session, base64.RawStdEncoding.EncodeToString(message[headLen:]))
}

// renamed is the note about a session that has another token.
func (h *Hub) renamed(was, is uint64) string { return fmt.Sprintf("%s:0:%x:%x", h.name, was, is) }

const headLen = 1 + 4 // type and epoch

// hear takes the notes of other nodes. What it cannot read is of another version of the program.
func (h *Hub) hear(payload string) {
	for note := range strings.SplitSeq(payload, ",") {
		parts := strings.Split(note, ":")
		if len(parts) != 4 || parts[0] == h.name {
			continue
		}
		event, err := strconv.ParseInt(parts[1], 10, 64)
		session, err2 := strconv.ParseUint(parts[2], 16, 64)
		if err != nil || err2 != nil {
			continue
		}
		if event == 0 {
			if is, err := strconv.ParseUint(parts[3], 16, 64); err == nil {
				h.mu.Lock()
				h.census.rename(session, is)
				h.mu.Unlock()
			}
			continue
		}
		if body, err := base64.RawStdEncoding.DecodeString(parts[3]); err == nil && len(body) <= 8*seats.MaxSeats {
			h.show(event, session, func(epoch uint32) []byte { return append(begin(typeMine, epoch), body...) })
		}
	}
}

// show sends the pages that a session has open of an event on this node what its visitor holds.
func (h *Hub) show(event int64, session uint64, message func(epoch uint32) []byte) {
	h.mu.Lock()
	var pages []*watcher
	for w := h.census.sessions[session]; w != nil; w = w.sibling {
		if w.house.sale != nil && w.house.sale.Event.ID == event {
			pages = append(pages, w)
		}
	}
	h.mu.Unlock()
	if len(pages) == 0 {
		return
	}
	epoch, _ := pages[0].house.sale.At()
	frame := enframe(opBinary, message(epoch))
	for _, w := range pages {
		w.mu.Lock()
		w.mine, w.owed = frame, w.owed|owesMine
		w.advance()
		w.mu.Unlock()
	}
}

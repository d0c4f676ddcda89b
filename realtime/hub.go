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

// Hub knows the open pages of every watched event, and the version that each of them has. Without changes it does nothing.
type Hub struct {
	// SocketsPerAddress is the most sockets of one address, or of one /56 of IPv6. Set it before the first one.
	SocketsPerAddress int
	// Sockets is the most sockets of this node. More are told 503 before they are sockets.
	Sockets int
	// RoomSockets is the most of them that pages of waiting rooms may have, so that there is always one for a map.
	RoomSockets int
	// Tell sends notes to the other nodes. It must return at once. nil: there are none. Set it before the first socket.
	Tell func(note string)
	// Log gets a line for each page with a map that differs from the node's.
	Log *slog.Logger

	name     string        // of this node in notes
	audits   time.Duration // between a change and the audit that follows it
	clock    clock
	pace     pace
	diverged atomic.Int64

	mu     sync.Mutex
	events map[int64]*topic // by event
	rooms  map[int64]*topic // by waiting room
	gauges gauges
	closed bool
	within time.Duration // over which pages should reconnect after a shutdown; set before they are sent away
	empty  chan struct{} // closed when the last socket of a closed hub has left
}

// maxDiverged limits the log lines about differing maps: a bug would affect every page.
const maxDiverged = 100

// NewHub returns a hub for the events of an office. Hand Changed to the office.
func NewHub() *Hub {
	return &Hub{
		SocketsPerAddress: SocketsPerAddress, Sockets: socketLimit(), RoomSockets: min(RoomSockets, socketLimit()/2), Log: slog.New(slog.DiscardHandler),
		name: rand.Text()[:8], audits: auditEvery, pace: pace{least: minTick},
		events: map[int64]*topic{}, rooms: map[int64]*topic{}, gauges: gauges{addresses: map[string]int{}, sessions: map[uint64]*watcher{}},
		empty: make(chan struct{}),
	}
}

// Changed notes that an event's map changed. Its pages learn of it at once after a quiet tick, else at the next tick.
func (h *Hub) Changed(s *seats.Sale) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic := h.events[s.Event.ID]; topic != nil {
		h.schedule(topic)
	}
}

// Watchers is how many pages watch an event on this node.
func (h *Hub) Watchers(s *seats.Sale) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic := h.events[s.Event.ID]; topic != nil {
		return len(topic.watchers)
	}
	return 0
}

// Mine tells a visitor's open pages of an event what the visitor holds now, on this node and, if elsewhere, on every other
// one. The session is the visitor's token, or empty.
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

// Renamed notes that a session has a new token, and tells the other nodes. Its open pages stay with it.
func (h *Hub) Renamed(was, is string) {
	old, now := sessionOf(was), sessionOf(is)
	h.mu.Lock()
	h.gauges.rename(old, now)
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
	return h.gauges.all - h.gauges.waiting, h.gauges.waiting
}

// Diverged is how many pages found that their map differs from the node's. There should be none.
func (h *Hub) Diverged() int64 { return h.diverged.Load() }

func (h *Hub) join(w *watcher, s *seats.Sale) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || !h.admits(w) {
		return false
	}
	event := s.Event.ID
	if h.events[event] == nil {
		h.events[event] = &topic{sale: s}
		first := newFrameSet(s, none, false)
		first.prices = newPriceState(s, first.epoch, h.clock.Now(), nil)
		h.events[event].frames.Store(first)
	}
	h.add(w, h.events[event])
	return true
}

// admits counts a page, and refuses it if there are too many. The caller holds h.mu.
func (h *Hub) admits(w *watcher) bool {
	if w.visitor.waits && h.gauges.waiting >= h.RoomSockets {
		return false
	}
	return h.gauges.admit(w, h.Sockets, h.SocketsPerAddress)
}

// add adds a page to the watchers of a topic. The caller holds h.mu.
func (h *Hub) add(w *watcher, topic *topic) {
	w.topic = topic
	w.at = len(topic.watchers)
	topic.watchers = append(topic.watchers, w)
}

func (h *Hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gauges.dismiss(w)
	all := w.topic.watchers
	last := len(all) - 1
	all[w.at], all[last] = all[last], nil
	if w.at != last {
		all[w.at].at = w.at
	}
	if w.topic.watchers = all[:last]; last == 0 {
		h.remove(w.topic)
	}
	if h.closed && h.gauges.all == 0 {
		close(h.empty)
	}
}

// topic is one event or waiting room with its watchers. After a broadcast to all of them it waits for the rest of a tick.
// The hub's mu guards all fields but frames.
type topic struct {
	sale     *seats.Sale // nil: it is a waiting room
	room     Room        // nil: it is an event
	roomID   int64
	frames   atomic.Pointer[frameSet]
	watchers []*watcher

	broadcasting bool          // a broadcast is under way, or waits for the rest of its tick
	changed      bool          // something changed since it began
	recipients   []*watcher    // of the broadcast under way
	cost         time.Duration // of the last broadcast
	audit        *time.Timer   // set while changes await their audit
	auditDue     bool
}

const (
	minTick    = 100 * time.Millisecond // between two frames to one page; the first after a rest goes at once
	maxTick    = time.Second
	auditEvery = 30 * time.Second
	many       = 512 // watchers that are worth another processor
)

// pace finds the tick: so long that broadcasts take at most a third of the processors.
type pace struct {
	least time.Duration
	load  time.Duration // processor time of the last broadcasts of all topics
}

const share = 3

func (p *pace) tick() time.Duration {
	return min(max(p.load*share/time.Duration(runtime.GOMAXPROCS(0)), p.least), maxTick)
}

// schedule starts a broadcast, or has one follow the current one. The caller holds h.mu.
func (h *Hub) schedule(topic *topic) {
	if topic.broadcasting {
		topic.changed = true
		return
	}
	topic.broadcasting = true
	go h.broadcast(topic)
}

// broadcast brings all watchers to a new frame set, and then waits for the rest of a tick.
func (h *Hub) broadcast(topic *topic) {
	began := time.Now()
	h.mu.Lock()
	topic.changed = false
	audited := topic.auditDue
	h.mu.Unlock()

	now := topic.next(audited, h.clock.Now())
	topic.frames.Store(now)
	h.mu.Lock() // only now: a page that joined meanwhile may have the frame set before
	topic.recipients = append(topic.recipients[:0], topic.watchers...)
	h.mu.Unlock()
	cost := each(topic.recipients, (*watcher).tell)

	h.mu.Lock()
	defer h.mu.Unlock()
	clear(topic.recipients) // a watcher that leaves must not stay in memory
	h.pace.load += cost - topic.cost
	topic.cost = cost
	h.planAudit(topic, now)
	time.AfterFunc(max(h.pace.tick()-time.Since(began), 0), func() { h.finishBroadcast(topic) })
}

// next makes the frame set that follows the current one.
func (topic *topic) next(audited bool, at time.Time) *frameSet {
	before := topic.frames.Load()
	if topic.room != nil {
		return newNotice(topic.room, before.version)
	}
	most := before.version
	if epoch, _ := topic.sale.At(); before.epoch != epoch {
		most = none
	}
	next := newFrameSet(topic.sale, most, audited)
	next.prices = newPriceState(topic.sale, next.epoch, at, before.prices)
	return next
}

func (h *Hub) finishBroadcast(topic *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic.changed && len(topic.watchers) > 0 {
		go h.broadcast(topic)
		return
	}
	h.pace.load -= topic.cost
	topic.cost, topic.broadcasting = 0, false
}

// planAudit schedules one audit for the changes of the next while. The caller holds h.mu.
func (h *Hub) planAudit(topic *topic, now *frameSet) {
	if now.audit != nil {
		topic.auditDue = false
		return
	}
	if topic.room != nil || topic.audit != nil || len(topic.watchers) == 0 {
		return
	}
	topic.audit = time.AfterFunc(h.audits, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		topic.audit = nil
		if len(topic.watchers) > 0 {
			topic.auditDue = true
			h.schedule(topic)
		}
	})
}

// remove drops a topic without watchers. The caller holds h.mu.
func (h *Hub) remove(topic *topic) {
	if topic.room != nil {
		delete(h.rooms, topic.roomID)
		return
	}
	delete(h.events, topic.sale.Event.ID)
	if topic.audit != nil {
		topic.audit.Stop()
	}
}

// each calls do for all watchers, on several processors if there are many, and returns the processor time.
func each(all []*watcher, do func(*watcher)) time.Duration {
	parts := min(runtime.GOMAXPROCS(0), 1+len(all)/many)
	if parts == 1 {
		return tellAll(all, do)
	}
	var busy atomic.Int64
	var done sync.WaitGroup
	for part := range parts {
		done.Go(func() { busy.Add(int64(tellAll(all[part*len(all)/parts:(part+1)*len(all)/parts], do))) })
	}
	done.Wait()
	return time.Duration(busy.Load())
}

func tellAll(all []*watcher, do func(*watcher)) time.Duration {
	return worked(func() {
		for _, w := range all {
			do(w)
		}
	})
}

// frameSet is the frames of one broadcast: they bring every page of a topic to one version. Each is made once and shared.
type frameSet struct {
	sale    *seats.Sale
	epoch   uint32
	version int64
	audit   []byte // the frame with the checksum of this version; nil in most frame sets
	notice  []byte // the frame for every page of a waiting room; nil for an event
	prices  *priceState

	// Most pages have the version of the frame set before; the others wait for mu.
	from   int64
	common update

	mu      sync.Mutex
	updates map[int64]update // by the version they start from; the whole map is under none
}

// priceState says which prices count. A page with an older one is sent its frame.
type priceState struct {
	list        int64
	phase, left int
	frame       []byte // nil: the event has no phases, and had no other prices since it is watched
}

// newPriceState returns what counts at a time, which is the state before if that did not change.
func newPriceState(s *seats.Sale, epoch uint32, at time.Time, before *priceState) *priceState {
	list, r, phases := s.Running(at)
	if before != nil && before.list == list && before.phase == r.Phase && before.left == r.Left {
		return before
	}
	state := &priceState{list: list, phase: r.Phase, left: r.Left}
	if phases || before != nil {
		state.frame = enframe(opBinary, prices(epoch, list, r))
	}
	return state
}

// update is a frame that brings a page to a version.
type update struct {
	frame []byte
	text  func() []byte // the same as JSON, made once for all pages that read JSON
	epoch uint32
	to    int64
}

func newUpdate(message []byte, epoch uint32, to int64) update {
	return update{enframe(opBinary, message), sync.OnceValue(func() []byte { return enframe(opText, toJSON(message)) }), epoch, to}
}

// as is the frame in the encoding of a page.
func (u update) as(json bool) []byte {
	if json {
		return u.text()
	}
	return u.frame
}

const (
	none       = -1 // the version of a page that has no map
	maxUpdates = 64 // that are kept of one frame set
	minDelta   = 64 // that a delta may always have; with more than a quarter of the seats the map is shorter
)

// newFrameSet makes the frames of an event's current version, for pages that mostly have the same earlier version.
func newFrameSet(sale *seats.Sale, most int64, audited bool) *frameSet {
	e := &frameSet{sale: sale, from: most, updates: map[int64]update{}}
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

// update returns the frame that brings a page from a version at least to that of the frame set.
func (e *frameSet) update(from int64) update {
	if e.notice != nil {
		return update{e.notice, func() []byte { return e.notice }, e.epoch, e.version}
	}
	if from == e.from && from != none {
		return e.common
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l, ok := e.updates[from]
	if !ok {
		l = e.make(from)
		if len(e.updates) < maxUpdates {
			e.updates[from] = l
		}
	}
	return l
}

// make encodes a delta, or the whole map if there is no delta or it is longer.
func (e *frameSet) make(from int64) update {
	if from != none {
		if d, ok := e.sale.Since(from); ok && len(d.Changes) <= max(minDelta, len(e.sale.Plan.Seats)/4) {
			return newUpdate(delta(d.Epoch, d), d.Epoch, d.To)
		}
	}
	s := e.sale.Bitmap()
	return newUpdate(snap(s.Epoch, s), s.Epoch, s.Version)
}

const (
	closeWait = 500 * time.Millisecond // for pages to close their sockets, and then for the sockets to be gone
	perSecond = 2000                   // sockets that a node can open per second
)

// Run waits until ctx is done. Then it sends every page away, so that it connects to another node.
func (h *Hub) Run(ctx context.Context) error {
	<-ctx.Done()
	h.drain()
	return ctx.Err()
}

// drain sends every page MOVE and a close frame at once, and waits a moment for all of them together.
func (h *Hub) drain() {
	all := h.close()
	h.within = max(time.Second, time.Duration(len(all))*time.Second/perSecond)
	each(all, (*watcher).dismiss)
	if h.waitUntilEmpty() {
		return
	}
	each(h.close(), func(w *watcher) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.end()
	})
	h.waitUntilEmpty()
}

// waitUntilEmpty waits a moment for the last socket to close, and reports whether it did.
func (h *Hub) waitUntilEmpty() bool {
	select {
	case <-h.empty:
		return true
	case <-time.After(closeWait):
		return false
	}
}

// close closes the hub to new sockets and lists the open ones.
func (h *Hub) close() (all []*watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed && h.gauges.all == 0 {
		close(h.empty)
	}
	h.closed = true
	for _, topics := range []map[int64]*topic{h.events, h.rooms} {
		for _, topic := range topics {
			all = append(all, topic.watchers...)
		}
	}
	return all
}

// dismiss sends MOVE and a close frame. A page of a waiting room gets only the latter, because it polls at its own pace.
func (w *watcher) dismiss() {
	if w.topic.room != nil {
		w.owe(owesClose)
		return
	}
	w.owe(owesMove | owesClose)
}

// Notes between nodes are about the pages of one visitor. They travel beside the change log, which knows neither sessions nor
// extended holds. If a note is lost, the page learns of the change with its next request.
//
// A note is "node:event:session:body". The session is a hash, and the body a MINE without its head. In a note of event 0 the
// body is the new hash of the session.

// holds is the note about a visitor's hold.
func (h *Hub) holds(event int64, session uint64, message []byte) string {
	return fmt.Sprintf("%s:%d:%x:%s", h.name, event, session, base64.RawStdEncoding.EncodeToString(message[headLen:]))
}

// renamed is the note about a session with a new token.
func (h *Hub) renamed(was, is uint64) string { return fmt.Sprintf("%s:0:%x:%x", h.name, was, is) }

const headLen = 1 + 4 // type and epoch

// receiveNotes handles notes of other nodes. It skips malformed ones, which may come from another version of the program.
func (h *Hub) receiveNotes(payload string) {
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
				h.gauges.rename(session, is)
				h.mu.Unlock()
			}
			continue
		}
		if body, err := base64.RawStdEncoding.DecodeString(parts[3]); err == nil && len(body) <= 8*seats.MaxSeats {
			h.show(event, session, func(epoch uint32) []byte { return append(begin(TypeMine, epoch), body...) })
		}
	}
}

// show sends a session's open pages of an event on this node the visitor's hold.
func (h *Hub) show(event int64, session uint64, message func(epoch uint32) []byte) {
	h.mu.Lock()
	var pages []*watcher
	for w := h.gauges.sessions[session]; w != nil; w = w.sibling {
		if w.topic.sale != nil && w.topic.sale.Event.ID == event {
			pages = append(pages, w)
		}
	}
	h.mu.Unlock()
	if len(pages) == 0 {
		return
	}
	epoch, _ := pages[0].topic.sale.At()
	frame := enframe(opBinary, message(epoch))
	for _, w := range pages {
		w.mu.Lock()
		w.mine, w.owed = frame, w.owed|owesMine
		w.advance()
		w.mu.Unlock()
	}
}

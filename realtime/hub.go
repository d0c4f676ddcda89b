package realtime

import (
	"context"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
)

const (
	tick       = 200 * time.Millisecond // between two frames to one page; the first after a rest goes at once
	stuckAfter = 15 * time.Second       // a page that takes nothing for so long is let go
	mostSocket = 15_000                 // sockets of one node
	mostFrom   = 100                    // sockets of one address
)

// Hub keeps, for every event that somebody watches, who watches it and which version each of them has.
type Hub struct {
	office *seats.Office
	clock  clock

	mu     sync.Mutex
	houses map[*seats.Sale]*house
	from   map[string]int // sockets by address
	count  int
	closed bool
}

// house is everybody who watches one event.
type house struct {
	sale     *seats.Sale
	watchers map[*watcher]struct{}
	timer    *time.Timer // set while a frame was sent less than a tick ago
	again    bool        // something changed since that frame

	frames sync.Mutex
	cached map[int64][]byte // delta frames to version cachedTo, by the version they start from
	to     int64
	epoch  uint32
}

// NewHub returns a hub for the office's events. Hand Changed to the office.
func NewHub(office *seats.Office) *Hub {
	return &Hub{office: office, houses: map[*seats.Sale]*house{}, from: map[string]int{}}
}

// Changed is told that an event's map moved on: those who watch it hear at once after a rest, else at the next tick.
func (h *Hub) Changed(s *seats.Sale) {
	h.mu.Lock()
	defer h.mu.Unlock()
	house := h.houses[s]
	switch {
	case house == nil:
	case house.timer != nil:
		house.again = true
	default:
		h.send(house)
	}
}

// send starts a flush of everybody who is behind, and the rest of a tick after it. The caller holds h.mu.
func (h *Hub) send(house *house) {
	for w := range house.watchers {
		w.flush()
	}
	house.again = false
	house.timer = time.AfterFunc(tick, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		house.timer = nil
		if house.again && len(house.watchers) > 0 {
			h.send(house)
		}
	})
}

// frame is what takes a page from a version to the newest: shared by all pages that have the same version.
func (house *house) frame(epoch uint32, from int64) (frame []byte, to int64) {
	d, ok := house.sale.Since(from)
	if !ok {
		s := house.sale.Snapshot()
		return snap(epoch, s), s.Version
	}
	house.frames.Lock()
	defer house.frames.Unlock()
	if house.to != d.To || house.epoch != epoch {
		house.to, house.epoch, house.cached = d.To, epoch, map[int64][]byte{}
	}
	if house.cached[from] == nil {
		house.cached[from] = delta(epoch, d)
	}
	return house.cached[from], d.To
}

// Watchers is how many pages watch an event on this node.
func (h *Hub) Watchers(s *seats.Sale) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if house := h.houses[s]; house != nil {
		return len(house.watchers)
	}
	return 0
}

func (h *Hub) join(w *watcher, s *seats.Sale) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.count >= mostSocket || h.from[w.address] >= mostFrom {
		return false
	}
	if h.houses[s] == nil {
		h.houses[s] = &house{sale: s, watchers: map[*watcher]struct{}{}}
	}
	w.house = h.houses[s]
	w.house.watchers[w] = struct{}{}
	h.count++
	h.from[w.address]++
	return true
}

func (h *Hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, here := w.house.watchers[w]; !here {
		return
	}
	delete(w.house.watchers, w)
	h.count--
	if h.from[w.address]--; h.from[w.address] == 0 {
		delete(h.from, w.address)
	}
}

// Run lets go of pages that take nothing, until ctx is done; then it closes every socket so that pages connect again
// elsewhere.
func (h *Hub) Run(ctx context.Context) error {
	ticker := time.NewTicker(stuckAfter / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			h.close()
			return ctx.Err()
		case now := <-ticker.C:
			for _, w := range h.everybody(false) {
				if began := w.writing.Load(); began != 0 && now.Sub(time.Unix(0, began)) > stuckAfter {
					_ = w.conn.CloseNow() // it is gone either way
				}
			}
		}
	}
}

func (h *Hub) everybody(last bool) (all []*watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = h.closed || last
	for _, house := range h.houses {
		for w := range house.watchers {
			all = append(all, w)
		}
	}
	return all
}

func (h *Hub) close() {
	var all sync.WaitGroup
	for _, w := range h.everybody(true) {
		all.Go(func() {
			_ = w.conn.Close(websocket.StatusServiceRestart, "connect again") // a page that is gone hears nothing
		})
	}
	all.Wait()
}

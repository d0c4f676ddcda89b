package realtime

import (
	"context"
	"time"
)

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

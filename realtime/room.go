package realtime

import (
	"net/http"
)

// RoomSockets is the most sockets of waiting rooms on one node. All other pages poll. The answer is the same for every page
// and may be cached, so millions can wait.
const RoomSockets = 15_000

// Room is a waiting room as its pages watch it.
type Room interface {
	// Notice is the current state for every page, as JSON. It must return at once, without a question to the database.
	Notice() []byte
}

// ServeRoom turns a request into a socket. The page gets the current notice, and then one after each change. A page that
// reads slowly gets fewer: always the newest. It sends nothing itself.
func (h *Hub) ServeRoom(w http.ResponseWriter, r *http.Request, id int64, room Room, session string) {
	me := &watcher{hub: h, visitor: visitorOf(r, session), sent: none}
	me.visitor.waits = true
	me.busy = true // until the page knows that this is a socket
	if !h.enter(me, id, room) {
		h.refuse(w)
		return
	}
	h.accept(w, r, me)
}

// RoomChanged notes that the notice of a room changed.
func (h *Hub) RoomChanged(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic := h.rooms[id]; topic != nil {
		h.schedule(topic)
	}
}

// Waiting is how many pages watch a room on this node.
func (h *Hub) Waiting(id int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if topic := h.rooms[id]; topic != nil {
		return len(topic.watchers)
	}
	return 0
}

// enter counts a page of a room, and refuses it if there are too many.
func (h *Hub) enter(w *watcher, id int64, room Room) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || !h.admits(w) {
		return false
	}
	if h.rooms[id] == nil {
		h.rooms[id] = &topic{room: room, roomID: id}
		h.rooms[id].frames.Store(newNotice(room, none))
	}
	h.add(w, h.rooms[id])
	return true
}

// newNotice is the next frame set of a room: one frame for all pages.
func newNotice(room Room, before int64) *frameSet {
	e := &frameSet{version: before + 1}
	e.notice = enframe(opText, room.Notice())
	return e
}

package realtime

import (
	"net/http"
)

// RoomSockets is the most pages of waiting rooms that have a socket on one node. All others ask now and then, which is
// the same answer for everybody and may be cached; so millions can wait.
const RoomSockets = 15_000

// Room is a waiting room as its pages watch it.
type Room interface {
	// Notice is what everybody in it is told now, as JSON. It must return at once, and ask nobody.
	Notice() []byte
}

// ServeRoom makes a socket of a request: the page is told how the room stands, and from then on whenever that changes. It
// gets the newest notice, never one after another: who reads slowly gets fewer. The page itself says nothing.
func (h *Hub) ServeRoom(w http.ResponseWriter, r *http.Request, id int64, room Room, session string) {
	me := &watcher{hub: h, visitor: visitorOf(r, session), sent: none}
	me.visitor.waits = true
	me.busy = true // until the page knows that this is a socket
	if !h.enter(me, id, room) {
		h.full(w)
		return
	}
	h.accept(w, r, me)
}

// RoomChanged is told that everybody in a room is to be told something else now.
func (h *Hub) RoomChanged(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if house := h.rooms[id]; house != nil {
		h.wake(house)
	}
}

// Waiting is how many pages watch a room on this node.
func (h *Hub) Waiting(id int64) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if house := h.rooms[id]; house != nil {
		return len(house.watchers)
	}
	return 0
}

// enter counts a page of a room, unless there are too many.
func (h *Hub) enter(w *watcher, id int64, room Room) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || !h.admits(w) {
		return false
	}
	if h.rooms[id] == nil {
		h.rooms[id] = &house{room: room, roomID: id}
		h.rooms[id].edition.Store(newNotice(room, none))
	}
	h.seat(w, h.rooms[id])
	return true
}

// newNotice is the edition of a room after another: one frame that everybody shares.
func newNotice(room Room, before int64) *edition {
	e := &edition{version: before + 1}
	e.notice = enframe(opText, room.Notice())
	return e
}

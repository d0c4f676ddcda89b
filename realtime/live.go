package realtime

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
)

// ServeLive makes a socket of a request. The page says which epoch and version it has; it is told the rest, and from
// then on every change. The handler returns at once: a socket costs one goroutine and two small buffers. The session is
// the token of the visitor's, or nothing.
func (h *Hub) ServeLive(w http.ResponseWriter, r *http.Request, s *seats.Sale, session string) {
	query := r.URL.Query()
	if !speaks(w, query.Get("format")) {
		return
	}
	me := &watcher{hub: h, visitor: visitorOf(r, session), json: query.Get("as") == "json", owed: owesHello}
	me.busy = true // until the page knows that this is a socket
	me.epoch, me.sent = has(query.Get("epoch"), query.Get("v"))
	if !h.join(me, s) {
		h.full(w)
		return
	}
	h.accept(w, r, me)
}

// full tells a page that there is no socket for it, before it is one.
func (h *Hub) full(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	http.Error(w, "Too many pages are open here at the moment. This page asks again by itself.", http.StatusServiceUnavailable)
}

// accept makes the request of a page that was counted a socket.
func (h *Hub) accept(w http.ResponseWriter, r *http.Request, me *watcher) {
	conn, err := websocket.Accept(upgrade{w, me}, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil { // Accept has answered
		h.leave(me)
		return
	}
	conn.SetReadLimit(readLimit)
	me.begin(conn)
	go me.read()
}

// has is what a page says it has; the epoch 0 is nobody's.
func has(epoch, version string) (uint32, int64) {
	e, err := strconv.ParseUint(epoch, 10, 32)
	v, err2 := strconv.ParseInt(version, 10, 64)
	if err = errors.Join(err, err2); err != nil || v < 0 {
		return 0, none
	}
	return uint32(e), v
}

// speaks refuses a page whose format is not ours: it is of another program and loads itself anew.
func speaks(w http.ResponseWriter, asked string) bool {
	if asked == "" || asked == strconv.Itoa(format) {
		return true
	}
	http.Error(w, "This box office speaks another format. Please load the page again.", http.StatusUpgradeRequired)
	return false
}

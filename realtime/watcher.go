package realtime

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
)

// watcher is one socket: a page that watches one event. All it keeps is the version the page has.
type watcher struct {
	hub     *Hub
	house   *house
	conn    *websocket.Conn
	address string
	ready   atomic.Bool

	// One flush at a time writes deltas; sent is its own.
	flushing atomic.Bool
	sent     int64
	epoch    uint32
	told     atomic.Int64 // sent, for those who do not flush
	writing  atomic.Int64 // when the write under way began, in Unix nanoseconds; 0 if there is none
}

const (
	readLimit    = 1024 // a ping has 13 bytes
	pingsPerTen  = 50   // messages in ten seconds before a page is sent away
	pingInterval = 10 * time.Second
)

// ServeLive makes a socket of a request. The page says which epoch and version it has; it is told the rest, and from
// then on every change. The handler returns at once: a socket costs one goroutine and two small buffers.
func (h *Hub) ServeLive(w http.ResponseWriter, r *http.Request, s *seats.Sale) {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	version, err := strconv.ParseInt(r.URL.Query().Get("v"), 10, 64)
	if epoch, epochErr := strconv.ParseUint(r.URL.Query().Get("epoch"), 10, 32); err != nil || epochErr != nil || uint32(epoch) != h.office.Epoch() {
		version = -1 // a snapshot
	}
	me := &watcher{hub: h, address: address, sent: version, epoch: h.office.Epoch()}
	if !h.join(me, s) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "Too many pages are open here at the moment. This page asks again by itself.", http.StatusServiceUnavailable)
		return
	}
	me.conn, err = websocket.Accept(smallBuffers{w}, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil { // Accept has answered
		h.leave(me)
		return
	}
	me.conn.SetReadLimit(readLimit)
	me.write(hello(me.epoch, s.Version(), h.clock.Now(), tick))
	me.ready.Store(true)
	me.flush()
	go me.read()
}

// read answers pings until the socket ends.
func (w *watcher) read() {
	defer w.hub.leave(w)
	defer func() { _ = w.conn.CloseNow() }() // it has ended already
	began, pings := time.Now(), 0
	for {
		_, message, err := w.conn.Read(context.Background())
		if err != nil {
			return
		}
		if now := time.Now(); now.Sub(began) > pingInterval {
			began, pings = now, 0
		}
		sent, err := readPing(message)
		if pings++; err != nil || pings > pingsPerTen {
			_ = w.conn.Close(websocket.StatusPolicyViolation, fmt.Sprint(errNotAPing)) // it may not listen
			return
		}
		w.write(pong(w.hub.office.Epoch(), sent, w.hub.clock.Now()))
	}
}

// flush sends what the page does not have yet, unless that is under way.
func (w *watcher) flush() {
	if w.ready.Load() && w.flushing.CompareAndSwap(false, true) {
		go w.sendNews()
	}
}

func (w *watcher) sendNews() {
	for w.behind() {
		frame, to := w.house.frame(w.epoch, w.sent)
		if !w.write(frame) {
			return // flushing stays set: nobody writes to a dead socket
		}
		w.sent = to
	}
	w.flushing.Store(false)
	if w.house.sale.Version() != w.told.Load() { // a change between the last look and here found flushing set
		w.flush()
	}
}

// behind tells whether the page lacks something. A page of another epoch lacks everything.
func (w *watcher) behind() bool {
	if epoch := w.hub.office.Epoch(); epoch != w.epoch {
		w.epoch, w.sent = epoch, -1
	}
	w.told.Store(w.sent)
	return w.sent != w.house.sale.Version()
}

func (w *watcher) write(frame []byte) bool {
	w.writing.Store(time.Now().UnixNano())
	err := w.conn.Write(context.Background(), websocket.MessageBinary, frame)
	w.writing.Store(0)
	return err == nil
}

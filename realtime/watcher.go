package realtime

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/coder/websocket"
)

// watcher is one socket: a page that watches one event. It keeps no messages, only what the page has and is owed.
type watcher struct {
	hub     *Hub
	house   *house
	at      int // its place in house.watchers; guarded by hub.mu
	visitor visitor
	sibling *watcher // another page of the same browser; guarded by hub.mu
	conn    *websocket.Conn
	json    bool // the page is a person, who reads JSON

	mu      sync.Mutex
	out     outlet
	busy    bool     // somebody pushes a frame that was not taken at once, and then looks for more
	dead    bool     // nothing can be written any more
	owed    owed     // to be sent before any news
	pings   uint64   // the clock of the last ping, for the pong
	control []byte   // frames of the WebSocket protocol itself
	mine    []byte   // the last MINE, until it is sent
	epoch   uint32   // which the page knows
	sent    int64    // the version it has, or will when the frame under way is there
	audited *edition // the last whose checksum it got
}

// owed is a set of messages; a later one replaces an earlier one of its kind.
type owed uint8

const (
	owesHello owed = 1 << iota
	owesPong
	owesMine
	owesMove
	owesClose
	saidGoodbye
)

const mostControl = 512 // bytes

// begin starts sending. The hub may have closed meanwhile.
func (w *watcher) begin(conn *websocket.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn, w.busy = conn, false
	if w.dead {
		w.end()
	}
	w.advance()
}

// tell sends what the page does not have yet. It never waits for the page.
func (w *watcher) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
}

// owe notes a message and sends it as soon as the page takes it.
func (w *watcher) owe(what owed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owed |= what
	w.advance()
}

// advance sends frames until there is none left or the page takes no more. The caller holds w.mu.
func (w *watcher) advance() {
	for !w.busy && !w.dead {
		frame := w.next()
		if frame == nil {
			return
		}
		rest, err := w.out.try(frame)
		if err != nil {
			w.end()
			return
		}
		if len(rest) > 0 {
			w.busy = true
			go w.crawl(rest)
		}
	}
}

// crawl pushes what was not taken at once, and then everything that came up meanwhile, merged.
func (w *watcher) crawl(rest []byte) {
	for rest != nil {
		err := w.out.push(rest)
		w.mu.Lock()
		if rest = nil; err != nil {
			w.end()
		} else if !w.dead {
			rest = w.next()
		}
		w.busy = rest != nil
		w.mu.Unlock()
	}
}

// end gives the socket up; the reader then notices and leaves. The caller holds w.mu.
func (w *watcher) end() {
	w.dead = true
	if w.out.conn != nil {
		_ = w.out.conn.Close() // it has ended already
	}
}

// next is the next frame the page should get, nil if it has everything. The caller holds w.mu and sends it.
func (w *watcher) next() []byte {
	switch {
	case w.control != nil:
		frame := w.control
		w.control = nil
		return frame
	case w.owed&saidGoodbye != 0:
		return nil
	case w.owed != 0:
		return w.pay()
	}
	e := w.house.edition.Load()
	if w.epoch != e.epoch {
		w.epoch, w.sent = e.epoch, none
	}
	if w.sent < e.version {
		l := e.link(w.sent)
		if l.epoch != e.epoch || l.to < e.version { // the map was read anew; the next round tells of that
			return nil
		}
		w.sent = l.to
		return l.as(w.json)
	}
	if e.audit != nil && w.sent == e.version && w.audited != e {
		w.audited = e
		return w.dressed(e.audit)
	}
	return nil
}

// pay is the frame of one message that is owed.
func (w *watcher) pay() []byte {
	if w.house.room != nil {
		w.owed = saidGoodbye // the only thing that is owed there
		return goodbye
	}
	epoch, _ := w.house.sale.At()
	switch what := w.owed & -w.owed; what {
	case owesHello:
		w.owed &^= what
		e := w.house.edition.Load() // what follows is of its epoch, even if the map was read anew since
		return w.dressed(enframe(opBinary, hello(e.epoch, e.version, w.hub.clock.Now(), mostTick)))
	case owesPong:
		w.owed &^= what
		return w.dressed(enframe(opBinary, pong(epoch, w.pings, w.hub.clock.Now())))
	case owesMine:
		w.owed &^= what
		frame := w.mine
		w.mine = nil
		return w.dressed(frame)
	case owesMove:
		w.owed &^= what
		return w.dressed(enframe(opBinary, move(epoch, w.hub.within)))
	default:
		w.owed = saidGoodbye
		return goodbye
	}
}

var goodbye = enframe(opClose, append(binary.BigEndian.AppendUint16(nil, uint16(websocket.StatusServiceRestart)), "connect again"...))

// dressed is a frame as this page reads it.
func (w *watcher) dressed(frame []byte) []byte {
	if w.json {
		return enframe(opText, readable(payload(frame)))
	}
	return frame
}

// Write takes the frames that the WebSocket library writes by itself: answers to its pings and the closing handshake.
func (w *watcher) Write(frame []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.dead || len(w.control)+len(frame) > mostControl:
		return 0, io.ErrClosedPipe
	case w.owed&saidGoodbye != 0: // nothing comes after that
		return len(frame), nil
	case frame[0] == opClose:
		w.owed = saidGoodbye
	}
	w.control = append(w.control, frame...)
	w.advance()
	return len(frame), nil
}

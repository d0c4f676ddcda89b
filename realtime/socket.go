package realtime

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

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

const (
	// SocketsPerAddress is how many pages one address may have open, unless a hub is told otherwise: a school behind
	// one router, not a flood.
	SocketsPerAddress = 100
	// socketsPerSession is how many pages one browser may have open.
	socketsPerSession = 20

	mostSockets    = 1 << 20 // of a node that may have any number of descriptors
	fewDescriptors = 64      // of a node that may have very few
)

// visitor is who opens a socket, as far as caps go.
type visitor struct {
	address string
	session uint64 // a hash of the session's token, which is not kept; 0 if there is none
	waits   bool   // it is a page of a waiting room
}

func visitorOf(r *http.Request, session string) (v visitor) {
	var err error
	if v.address, _, err = net.SplitHostPort(r.RemoteAddr); err != nil {
		v.address = r.RemoteAddr
	}
	v.session = sessionOf(session)
	return v
}

func sessionOf(token string) uint64 {
	if token == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(token))        // the same on every node
	return binary.BigEndian.Uint64(sum[:]) | 1 // 0 is nobody's
}

// socketLimit is how many sockets this process may have: three of four descriptors. The rest is for requests, the
// database and files; a node without descriptors could not even say that it is full.
func socketLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return mostSockets
	}
	return max(fewDescriptors, int(min(limit.Cur/4*3, mostSockets)))
}

// census counts sockets. The hub's mu guards it.
type census struct {
	all       int
	waiting   int // of them, pages of waiting rooms
	addresses map[string]int
	sessions  map[uint64]*watcher // the last page of a session that came, and by it the others
}

// admit counts a socket, unless there are too many.
func (c *census) admit(w *watcher, most, perAddress int) bool {
	v := w.visitor
	if c.all >= most || c.addresses[v.address] >= perAddress || c.pages(v.session) >= socketsPerSession {
		return false
	}
	c.all++
	if v.waits {
		c.waiting++
	}
	c.addresses[v.address]++
	if v.session != 0 {
		w.sibling, c.sessions[v.session] = c.sessions[v.session], w
	}
	return true
}

// pages is how many pages a session has open.
func (c *census) pages(session uint64) (n int) {
	for w := c.sessions[session]; w != nil; w = w.sibling {
		n++
	}
	return n
}

// rename puts the pages of a session under another name.
func (c *census) rename(was, is uint64) {
	first := c.sessions[was]
	if first == nil || is == 0 || is == was {
		return
	}
	delete(c.sessions, was)
	last := first
	for last.visitor.session = is; last.sibling != nil; last.visitor.session = is {
		last = last.sibling
	}
	last.sibling, c.sessions[is] = c.sessions[is], first
}

func (c *census) dismiss(w *watcher) {
	v := w.visitor
	c.all--
	if v.waits {
		c.waiting--
	}
	if c.addresses[v.address]--; c.addresses[v.address] == 0 {
		delete(c.addresses, v.address)
	}
	switch first := c.sessions[v.session]; {
	case v.session == 0:
	case first == w && w.sibling == nil:
		delete(c.sessions, v.session)
	case first == w:
		c.sessions[v.session] = w.sibling
	default:
		for first.sibling != w {
			first = first.sibling
		}
		first.sibling = w.sibling
	}
	w.sibling = nil
}

// upgrade takes a request's connection over for a watcher. It makes sockets cheap: net/http gives a connection two
// buffers of 4 KiB for life, and a page sends 13 bytes at a time. What the library writes goes through the watcher.
type upgrade struct {
	http.ResponseWriter
	watcher *watcher
}

const (
	readBuffer  = 128
	writeBuffer = 128 // a frame of the WebSocket protocol itself has at most 127 bytes
)

// Unwrap lets http.ResponseController reach the writer beneath.
func (u upgrade) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// Hijack takes the connection over, with what the client sent ahead.
func (u upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, big, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	u.watcher.mu.Lock()
	u.watcher.out.open(conn)
	u.watcher.mu.Unlock()
	n := big.Reader.Buffered()
	ahead, err := big.Reader.Peek(n)
	if err != nil {
		return nil, nil, err
	}
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(ahead)), conn), max(readBuffer, n))
	if _, err := r.Peek(n); err != nil { // the library takes over only what is in the buffer
		return nil, nil, err
	}
	return conn, bufio.NewReadWriter(r, bufio.NewWriterSize(u.watcher, writeBuffer)), nil
}

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

// outlet writes to one socket: as much as the kernel takes at once, for most frames are taken whole and then cost one
// system call, no goroutine, no timer and no memory; or, for what is left, as long as the page makes progress.
type outlet struct {
	conn net.Conn
	raw  syscall.RawConn // nil if the connection is none of the kernel's

	// Of the attempt under way; attempt itself is made once, since each closure would be an allocation.
	attempt func(fd uintptr) bool
	frame   []byte
	taken   int
	err     error
}

const (
	stuckAfter = 15 * time.Second // without a byte taken, a page is let go
	glance     = 5 * time.Second  // how often it is looked whether one was
	morsel     = 4 << 10          // bytes that are pushed at once

	// What the kernel may keep for one page. More would only be older news: a page behind gets it merged.
	kernelBuffer = 32 << 10
)

func (o *outlet) open(conn net.Conn) {
	o.conn = conn
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(kernelBuffer) // without it the socket works too
	}
	kernel, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := kernel.SyscallConn(); err == nil {
		o.raw = raw
		o.attempt = func(fd uintptr) bool {
			o.taken, o.err = syscall.Write(int(fd), o.frame)
			return true
		}
	}
}

// try writes what is taken at once and returns what is left. One caller at a time, and none during a push.
func (o *outlet) try(frame []byte) (left []byte, err error) {
	if o.raw == nil {
		return frame, nil
	}
	o.frame = frame
	err = o.raw.Write(o.attempt)
	o.frame = nil
	switch {
	case err != nil:
		return frame, err
	case errors.Is(o.err, syscall.EAGAIN), errors.Is(o.err, syscall.EINTR):
		return frame, nil
	case o.err != nil:
		return frame, o.err
	}
	return frame[o.taken:], nil
}

// push writes the rest, however slowly it is taken; an error if nothing is for stuckAfter.
func (o *outlet) push(rest []byte) error {
	for still := time.Duration(0); len(rest) > 0; {
		if err := o.conn.SetWriteDeadline(time.Now().Add(glance)); err != nil {
			return err
		}
		n, err := o.conn.Write(rest[:min(len(rest), morsel)])
		rest = rest[n:]
		if still += glance; n > 0 {
			still = 0
		}
		if err != nil && (!errors.Is(err, os.ErrDeadlineExceeded) || still >= stuckAfter) {
			return err
		}
	}
	return o.conn.SetWriteDeadline(time.Time{})
}

// The first byte of a WebSocket frame: the last of its message, and what it carries.
const (
	opText   = 0x81
	opBinary = 0x82
	opClose  = 0x88
)

// enframe puts the WebSocket header in front of a message. Frames to a page are not masked, so all pages may share one.
func enframe(op byte, payload []byte) []byte {
	frame := make([]byte, 0, len(payload)+10)
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, op, byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, op, 126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, op, 127), uint64(n))
	}
	return append(frame, payload...)
}

// payload is the message in a frame that enframe made.
func payload(frame []byte) []byte {
	switch frame[1] {
	case 126:
		return frame[4:]
	case 127:
		return frame[10:]
	default:
		return frame[2:]
	}
}

const (
	readLimit    = 128 // a RESYNC has at most 20 bytes
	asksPerTen   = 50  // messages in ten seconds before a page is sent away
	asksInterval = 10 * time.Second
)

// read answers what the page asks until the socket ends.
func (w *watcher) read() {
	defer w.hub.leave(w)
	defer func() { _ = w.conn.CloseNow() }() // it has ended already
	began, asks := time.Now(), 0
	for {
		a, err := w.hear()
		if err != nil {
			return
		}
		if now := time.Now(); now.Sub(began) > asksInterval {
			began, asks = now, 0
		}
		if asks++; asks > asksPerTen || w.house.room != nil { // who waits only listens
			a.kind = 0
		}
		switch a.kind {
		case typePing:
			w.mu.Lock()
			w.pings, w.owed = a.sent, w.owed|owesPong
			w.advance()
			w.mu.Unlock()
		case typeResync:
			w.resync(a)
		default:
			_ = w.conn.Close(websocket.StatusPolicyViolation, errNotAnAsk.Error()) // it may not listen
			return
		}
	}
}

// hear waits for a message; what is none of ours has kind 0.
func (w *watcher) hear() (ask, error) {
	_, r, err := w.conn.Reader(context.Background())
	if err != nil {
		return ask{}, err
	}
	var buffer [mostAsk]byte
	n, err := io.ReadFull(r, buffer[:])
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
	case nil:
		if _, err := io.Copy(io.Discard, r); err != nil {
			return ask{}, err
		}
	default:
		return ask{}, err
	}
	a, err := readAsk(buffer[:n])
	if err != nil {
		return ask{}, nil // the page hears of it
	}
	return a, nil
}

// resync sends the whole map. That a page asks because an audit failed is something an operator should know.
func (w *watcher) resync(a ask) {
	epoch, _ := w.house.sale.At()
	if a.reason == reasonAudit && a.epoch == epoch && w.hub.diverged.Add(1) <= mostDiverged {
		w.hub.Log.Error("a page's map was not ours", "event", w.house.sale.Event.Slug, "version", a.version, "page", a.sum)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = none
	w.advance()
}

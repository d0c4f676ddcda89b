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
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
)

// ServeLive turns a request into a socket. The page names the epoch and version that it has. It gets the missing changes, and
// then every new one. The handler returns at once: a socket costs one goroutine and two small buffers. The session is the
// visitor's token, or empty.
func (h *Hub) ServeLive(w http.ResponseWriter, r *http.Request, s *seats.Sale, session string) {
	query := r.URL.Query()
	if !knowsFormat(w, query.Get("format")) {
		return
	}
	me := &watcher{hub: h, visitor: visitorOf(r, session), json: query.Get("as") == "json", owed: owesHello}
	me.busy = true // until the page knows that this is a socket
	me.epoch, me.sent = parseVersion(query.Get("epoch"), query.Get("v"))
	if !h.join(me, s) {
		h.refuse(w)
		return
	}
	h.accept(w, r, me)
}

// refuse answers a page that gets no socket, because there are too many.
func (h *Hub) refuse(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	http.Error(w, "Too many pages are open here at the moment. This page asks again by itself.", http.StatusServiceUnavailable)
}

// accept upgrades the request of a counted page to a socket.
func (h *Hub) accept(w http.ResponseWriter, r *http.Request, me *watcher) {
	conn, err := websocket.Accept(upgrade{w, me}, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil { // Accept answered the request
		h.leave(me)
		return
	}
	conn.SetReadLimit(readLimit)
	me.begin(conn)
	go me.read()
}

// parseVersion reads the epoch and version of a page. No database has the epoch 0.
func parseVersion(epoch, version string) (uint32, int64) {
	e, err := strconv.ParseUint(epoch, 10, 32)
	v, err2 := strconv.ParseInt(version, 10, 64)
	if err = errors.Join(err, err2); err != nil || v < 0 {
		return 0, none
	}
	return uint32(e), v
}

// knowsFormat refuses a page of another version of the program, which then reloads itself.
func knowsFormat(w http.ResponseWriter, asked string) bool {
	if asked == "" || asked == strconv.Itoa(format) {
		return true
	}
	http.Error(w, "This box office speaks another format. Please load the page again.", http.StatusUpgradeRequired)
	return false
}

const (
	// SocketsPerAddress is the default for Hub.SocketsPerAddress: enough for a school behind one router, not for a flood.
	SocketsPerAddress = 100
	// socketsPerSession is how many pages one browser may have open.
	socketsPerSession = 20

	maxSockets = 1 << 20 // of a node without a limit of descriptors
	minSockets = 64      // of a node with a very low limit
)

// visitor identifies the page behind a socket, for the limits.
type visitor struct {
	address string // see addressOf
	session uint64 // hash of the session's token, which is not stored; 0 if there is none
	waits   bool   // it is a page of a waiting room
}

func visitorOf(r *http.Request, session string) visitor {
	return visitor{address: addressOf(r.RemoteAddr), session: sessionOf(session)}
}

// addressOf is the address of the other end of a connection; of an IPv6 address the network (/56), all of which one browser may have.
func addressOf(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	ip := at.Addr().Unmap()
	if ip.Is4() {
		return ip.String()
	}
	return netip.PrefixFrom(ip, 56).Masked().String()
}

func sessionOf(token string) uint64 {
	if token == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(token))        // the same on every node
	return binary.BigEndian.Uint64(sum[:]) | 1 // 0 means no session
}

// socketLimit is how many sockets this process may have: three quarters of the file descriptors. The rest is for requests,
// the database and files. Without a free descriptor a node could not even refuse a page.
func socketLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return maxSockets
	}
	return max(minSockets, int(min(limit.Cur/4*3, maxSockets)))
}

// gauges counts sockets by their visitors. The hub's mu guards it.
type gauges struct {
	all       int
	waiting   int // of them, pages of waiting rooms
	addresses map[string]int
	sessions  map[uint64]*watcher // the newest page of each session; its siblings follow
}

// admit counts a socket, and refuses it if there are too many.
func (c *gauges) admit(w *watcher, most, perAddress int) bool {
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
func (c *gauges) pages(session uint64) (n int) {
	for w := c.sessions[session]; w != nil; w = w.sibling {
		n++
	}
	return n
}

// rename moves the pages of a session to its new hash.
func (c *gauges) rename(was, is uint64) {
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

func (c *gauges) dismiss(w *watcher) {
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

// upgrade takes over the connection of a request for a watcher. It makes sockets cheap: net/http keeps two buffers of 4 KiB
// for a connection, but a page sends 13 bytes at a time. The library's own writes go through the watcher.
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

// Hijack takes over the connection, with the bytes that the client sent ahead.
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

// watcher is one socket: a page that watches one topic. It has no queue of messages, only the version that the page has and
// a set of owed messages.
type watcher struct {
	hub     *Hub
	topic   *topic
	at      int // index in topic.watchers; guarded by hub.mu
	visitor visitor
	sibling *watcher // another page of the same browser; guarded by hub.mu
	conn    *websocket.Conn
	json    bool // the page reads JSON

	mu      sync.Mutex
	out     connWriter
	busy    bool      // drain is writing, and looks for more afterwards
	dead    bool      // nothing can be written any more
	owed    owed      // to be sent before any news
	pings   uint64    // the clock of the last ping, for the pong
	control []byte    // frames of the WebSocket protocol itself
	mine    []byte    // the last MINE, until it is sent
	epoch   uint32    // which the page knows
	sent    int64     // the version it has, or will have after the frame under way
	audited *frameSet // the last one with a checksum that it got
	priced  *priceState
}

// owed is a set of messages; a later one replaces an earlier one of its kind.
type owed uint8

const (
	owesHello owed = 1 << iota
	owesPong
	owesMine
	owesMove
	owesClose
	closeSent
)

const maxControl = 512 // bytes

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

// tell sends the changes that the page does not have yet. It never waits for the page.
func (w *watcher) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
}

// owe adds a message and sends it as soon as the page takes it.
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
			go w.drain(rest)
		}
	}
}

// drain writes the rest of a frame to a slow page, and then everything that came up meanwhile, merged.
func (w *watcher) drain(rest []byte) {
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

// end closes the socket; the reader notices that and leaves. The caller holds w.mu.
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
	case w.owed&closeSent != 0:
		return nil
	case w.owed != 0:
		return w.nextOwed()
	}
	e := w.topic.frames.Load()
	if w.epoch != e.epoch {
		w.epoch, w.sent = e.epoch, none
	}
	if w.sent < e.version {
		l := e.update(w.sent)
		if l.epoch != e.epoch || l.to < e.version { // the map was reloaded; the next broadcast is about that
			return nil
		}
		w.sent = l.to
		return l.as(w.json)
	}
	if e.prices != nil && e.prices != w.priced {
		if w.priced = e.prices; w.priced.frame != nil {
			return w.encoded(w.priced.frame)
		}
	}
	if e.audit != nil && w.sent == e.version && w.audited != e {
		w.audited = e
		return w.encoded(e.audit)
	}
	return nil
}

// nextOwed returns the frame of one owed message.
func (w *watcher) nextOwed() []byte {
	if w.topic.room != nil {
		w.owed = closeSent // the only message that a room owes
		return closeFrame
	}
	epoch, _ := w.topic.sale.At()
	switch what := w.owed & -w.owed; what {
	case owesHello:
		w.owed &^= what
		e := w.topic.frames.Load() // what follows is of its epoch, even if the map was read anew since
		return w.encoded(enframe(opBinary, hello(e.epoch, e.version, w.hub.clock.Now(), maxTick)))
	case owesPong:
		w.owed &^= what
		return w.encoded(enframe(opBinary, pong(epoch, w.pings, w.hub.clock.Now())))
	case owesMine:
		w.owed &^= what
		frame := w.mine
		w.mine = nil
		return w.encoded(frame)
	case owesMove:
		w.owed &^= what
		return w.encoded(enframe(opBinary, move(epoch, w.hub.within)))
	default:
		w.owed = closeSent
		return closeFrame
	}
}

var closeFrame = enframe(opClose, append(binary.BigEndian.AppendUint16(nil, uint16(websocket.StatusServiceRestart)), "connect again"...))

// encoded is a frame in the encoding of the page.
func (w *watcher) encoded(frame []byte) []byte {
	if w.json {
		return enframe(opText, toJSON(payload(frame)))
	}
	return frame
}

// Write takes the frames that the WebSocket library writes itself: answers to pings, and the closing handshake.
func (w *watcher) Write(frame []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.dead || len(w.control)+len(frame) > maxControl:
		return 0, io.ErrClosedPipe
	case w.owed&closeSent != 0: // a close frame is the last one
		return len(frame), nil
	case frame[0] == opClose:
		w.owed = closeSent
	}
	w.control = append(w.control, frame...)
	w.advance()
	return len(frame), nil
}

// connWriter writes to one socket. try writes as much as the kernel takes at once: most frames cost one system call, no
// goroutine, no timer and no memory. push writes the rest while the page makes progress.
type connWriter struct {
	conn net.Conn
	raw  syscall.RawConn // nil if the connection has no file descriptor

	// Of the attempt under way; attempt itself is made once, since each closure would be an allocation.
	attempt func(fd uintptr) bool
	frame   []byte
	taken   int
	err     error
}

const (
	maxStall   = 15 * time.Second // without progress, after which a page is dropped
	writeWait  = 5 * time.Second  // between two checks for progress
	writeChunk = 4 << 10          // bytes of one write

	// The kernel's buffer for one page. A larger one would only hold older news: a slow page gets it merged.
	kernelBuffer = 32 << 10
)

func (o *connWriter) open(conn net.Conn) {
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

// try writes as much as the kernel takes at once and returns the rest. One caller at a time, and none during a push.
func (o *connWriter) try(frame []byte) (left []byte, err error) {
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

// push writes the rest at the pace of the page. Without progress for maxStall it fails.
func (o *connWriter) push(rest []byte) error {
	for still := time.Duration(0); len(rest) > 0; {
		if err := o.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
			return err
		}
		n, err := o.conn.Write(rest[:min(len(rest), writeChunk)])
		rest = rest[n:]
		if still += writeWait; n > 0 {
			still = 0
		}
		if err != nil && (!errors.Is(err, os.ErrDeadlineExceeded) || still >= maxStall) {
			return err
		}
	}
	return o.conn.SetWriteDeadline(time.Time{})
}

// The first byte of a WebSocket frame: the final bit, and the opcode.
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
	readLimit        = 128 // a RESYNC has at most 20 bytes
	maxRequests      = 50  // messages in ten seconds before a page is sent away
	requestsInterval = 10 * time.Second
)

// read answers the requests of the page until the socket closes.
func (w *watcher) read() {
	defer w.hub.leave(w)
	defer func() { _ = w.conn.CloseNow() }() // it has ended already
	began, asks := time.Now(), 0
	for {
		a, err := w.nextRequest()
		if err != nil {
			return
		}
		if now := time.Now(); now.Sub(began) > requestsInterval {
			began, asks = now, 0
		}
		if asks++; asks > maxRequests || w.topic.room != nil { // a page of a waiting room only listens
			a.kind = 0
		}
		switch a.kind {
		case TypePing:
			w.mu.Lock()
			w.pings, w.owed = a.sent, w.owed|owesPong
			w.advance()
			w.mu.Unlock()
		case TypeResync:
			w.resync(a)
		default:
			_ = w.conn.Close(websocket.StatusPolicyViolation, errNotARequest.Error()) // it may not listen
			return
		}
	}
}

// nextRequest waits for a message of the page. One that is not a request has kind 0.
func (w *watcher) nextRequest() (request, error) {
	_, r, err := w.conn.Reader(context.Background())
	if err != nil {
		return request{}, err
	}
	var buffer [maxRequest]byte
	n, err := io.ReadFull(r, buffer[:])
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
	case nil:
		if _, err := io.Copy(io.Discard, r); err != nil {
			return request{}, err
		}
	default:
		return request{}, err
	}
	a, err := readRequest(buffer[:n])
	if err != nil {
		return request{}, nil // read closes the socket with a reason
	}
	return a, nil
}

// resync sends the whole map. It logs requests after a failed audit, because an operator should know of them.
func (w *watcher) resync(a request) {
	epoch, _ := w.topic.sale.At()
	if a.reason == reasonAudit && a.epoch == epoch && w.hub.diverged.Add(1) <= maxDiverged {
		w.hub.Log.Error("a page's map differed from this node's", "event", w.topic.sale.Event.Slug, "version", a.version, "page", a.sum)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = none
	w.advance()
}

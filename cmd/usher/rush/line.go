package rush

import (
	"bufio"
	"bytes"
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
)

const (
	answerTime = 60 * time.Second // a request without an answer for so long is an error
	idleTime   = 20 * time.Second // the box office may end a connection that rests for longer
)

// line is one connection, kept open from one person to the next. A crowd shares the machine with the box office: a
// request costs it one write and one read, where http.Client has two goroutines for each connection.
type line struct {
	url  *url.URL
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	used time.Time

	again  time.Duration // for how long a request is sent again that gets no answer
	sent   bool          // the last try got as far as that
	doubts int           // how many tries of the last request may have been heard, and their answers lost

	security *tls.Config // of an https address
	http2    *http2Conn  // nil: it speaks HTTP/1.1

	from   int32 // person that requests come from
	spread bool  // people come from many networks, and the box office believes a header about it

	body []byte // of the last answer, until the next one
	etag string // of the last answer
}

func newLine(u *url.URL) *line {
	return &line{url: u, in: bufio.NewReaderSize(nil, 4096), security: &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}}
}

// request is what a person sends.
type request struct {
	method, path string
	cookie, key  string // left out if empty
	body         []byte
	page         bool // as a browser asks, not a program
}

func (r request) accept() string {
	if r.page {
		return "text/html"
	}
	return "application/json"
}

// ask sends a request and reads its answer. cookie is those the answer sets, as they are to be sent back, or empty.
func (l *line) ask(ctx context.Context, r request) (status int, cookie string, err error) {
	l.doubts = 0
	for began := time.Now(); ; {
		l.sent = false
		status, cookie, err = l.once(ctx, r)
		if l.again == 0 || err == nil && status != http.StatusServiceUnavailable || time.Since(began) > l.again {
			return status, cookie, err
		}
		if l.sent {
			l.doubts++
		}
		if seats.Sleep(ctx, againPause) != nil {
			return status, cookie, err
		}
	}
}

// againPause is the time between two tries without an answer.
const againPause = 50 * time.Millisecond

func (l *line) once(ctx context.Context, r request) (status int, cookie string, err error) {
	if err := l.dial(ctx); err != nil {
		return 0, "", err
	}
	l.sent = true
	status, cookie, keep, err := l.exchange(r)
	if errors.Is(err, errUnheard) { // the other side ended the connection meanwhile
		l.close()
		if err := l.dial(ctx); err != nil {
			return 0, "", err
		}
		status, cookie, keep, err = l.exchange(r)
	}
	if err != nil || !keep {
		l.close()
	}
	return status, cookie, err
}

func (l *line) dial(ctx context.Context) error {
	if l.conn != nil && time.Since(l.used) < idleTime {
		return nil
	}
	l.close()
	host := l.url.Host
	if l.url.Port() == "" {
		host = net.JoinHostPort(l.url.Hostname(), l.url.Scheme) // the names of the ports are http and https
	}
	dialer := net.Dialer{Timeout: answerTime}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return fmt.Errorf("rush: connect: %w", err)
	}
	l.conn = conn
	if l.url.Scheme == "https" {
		return l.secure(tls.Client(conn, l.security))
	}
	l.in.Reset(conn)
	return nil
}

// secure shakes hands, and speaks HTTP/2 if both sides do.
func (l *line) secure(conn *tls.Conn) error {
	l.conn = conn
	l.in.Reset(conn)
	offered, err := offersHTTP2(conn)
	if err == nil && offered {
		l.http2, err = newHTTP2Conn(l.in)
	}
	if err != nil {
		l.close()
	}
	return err
}

func (l *line) exchange(r request) (status int, cookie string, keep bool, err error) {
	l.used = time.Now()
	if err := l.conn.SetDeadline(l.used.Add(answerTime)); err != nil {
		return 0, "", false, err
	}
	if l.http2 != nil {
		return l.http2.exchange(l, r)
	}
	l.write(r)
	if _, err := l.conn.Write(l.out); err != nil {
		return 0, "", false, fmt.Errorf("rush: send: %w", err)
	}
	answer, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return 0, "", false, fmt.Errorf("rush: read an answer: %w", err)
	}
	defer answer.Body.Close()
	if l.body, err = readAll(answer.Body, l.body[:0]); err != nil {
		return 0, "", false, fmt.Errorf("rush: read the rest of an answer: %w", err)
	}
	l.etag = answer.Header.Get("ETag")
	for _, set := range answer.Header["Set-Cookie"] {
		one, _, _ := strings.Cut(set, ";")
		cookie = merge(cookie, one)
	}
	return answer.StatusCode, cookie, !answer.Close, nil
}

// write puts the request into l.out.
func (l *line) write(r request) {
	b := append(l.out[:0], r.method...)
	b = append(append(append(b, ' '), r.path...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, l.url.Host...), "\r\nAccept: "...)
	b = append(append(b, r.accept()...), "\r\n"...)
	if l.spread {
		b = append(appendAddress(append(append(b, addressHeader...), ": "...), l.from), "\r\n"...)
	}
	if r.cookie != "" {
		b = append(append(append(b, "Cookie: "...), r.cookie...), "\r\n"...)
	}
	if r.key != "" {
		b = append(append(append(b, "Idempotency-Key: "...), r.key...), "\r\n"...)
	}
	if r.body != nil {
		b = append(b, "Content-Type: application/json\r\n"...)
	}
	if r.method != http.MethodGet {
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(len(r.body)), 10), "\r\n"...)
	}
	l.out = append(append(b, "\r\n"...), r.body...)
}

// readAll reads to the end into b, which is kept from answer to answer.
func readAll(from io.Reader, b []byte) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

func (l *line) close() {
	if l.conn != nil {
		_ = l.conn.Close() // whatever it had to say was read
	}
	l.conn, l.http2 = nil, nil
}

// socket is a WebSocket that only listens. A crowd shares the machine with the box office: a frame costs it one read,
// where a library of WebSockets has locks, a timer and a buffer for each.
type socket struct {
	conn  net.Conn
	in    *bufio.Reader
	frame []byte // the last one, until the next
}

const (
	socketBuffer = 512
	frameLimit   = 1 << 20 // a snapshot of 100,000 seats has 25 KB
	frameClose   = 8       // what the first byte of a frame says it is

	deadBuffer = 4 << 10
	deadAsks   = 40 // as often as a page may in ten seconds
)

// askAgain is a frame that asks for the whole map: RESYNC of docs/wire-format.md.
var askAgain = []byte{0x82, 0x80 | 11, 0, 0, 0, 0, 5, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}

// ended reports whether the box office closed a socket that reads nothing: its kernel refuses the second of two writes.
func (s *socket) ended() bool {
	_, _ = s.conn.Write(askAgain)
	_ = seats.Sleep(context.Background(), lastWords) // the background does not end
	_, err := s.conn.Write(askAgain)
	return err != nil
}

const lastWords = 300 * time.Millisecond // for an answer of the other kernel

var errFull = errors.New("rush: the box office lets no more watchers in; it is told how many of one address with --sockets-per-address")

// listen opens a socket. Any key will do: there is no cache between us and the box office. A dead one
// has little room in its kernel, asks for the map until that is full, and reads nothing of it.
func listen(ctx context.Context, u *url.URL, path string, dead bool) (*socket, error) {
	l := newLine(u)
	l.security.NextProtos = nil // a socket begins as HTTP/1.1
	if err := l.dial(ctx); err != nil {
		return nil, err
	}
	if err := l.conn.SetDeadline(time.Time{}); err != nil { // that of the handshake
		return nil, err
	}
	s := &socket{conn: l.conn, in: bufio.NewReaderSize(l.conn, socketBuffer)}
	if tcp, ok := l.conn.(*net.TCPConn); ok && dead {
		_ = tcp.SetReadBuffer(deadBuffer) // with more room it is dead a little later
	}
	_, err := fmt.Fprintf(s.conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", path, u.Host)
	if err == nil {
		err = s.welcome()
	}
	if err == nil && dead {
		_, err = s.conn.Write(bytes.Repeat(askAgain, deadAsks))
	}
	if err != nil {
		_ = s.conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) welcome() error {
	answer, err := http.ReadResponse(s.in, nil)
	if err != nil {
		return fmt.Errorf("rush: open a socket: %w", err)
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusSwitchingProtocols:
		return nil
	case http.StatusServiceUnavailable:
		return errFull
	default:
		return fmt.Errorf("rush: open a socket: status %d", answer.StatusCode)
	}
}

// next waits for a frame. It is overwritten by the one after it.
func (s *socket) next() ([]byte, error) {
	head, err := s.in.Peek(2)
	if err != nil {
		return nil, err
	}
	kind, n, skip := head[0]&15, uint64(head[1]&127), 2
	if n >= 126 {
		skip += map[uint64]int{126: 2, 127: 8}[n]
		if head, err = s.in.Peek(skip); err != nil {
			return nil, err
		}
		if n == 126 {
			n = uint64(binary.BigEndian.Uint16(head[2:]))
		} else {
			n = binary.BigEndian.Uint64(head[2:])
		}
	}
	if n > frameLimit || kind == frameClose {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := s.in.Discard(skip); err != nil {
		return nil, err
	}
	if uint64(cap(s.frame)) < n {
		s.frame = make([]byte, n)
	}
	s.frame = s.frame[:n]
	_, err = io.ReadFull(s.in, s.frame)
	return s.frame, err
}

// addressHeader is where a box office of the crowd's own believes where people come from.
const addressHeader = "X-Forwarded-For"

// appendAddress appends the address of a person: everybody has a household of their own.
func appendAddress(b []byte, who int32) []byte {
	b = strconv.AppendInt(append(b, "2001:db8:"...), int64(who>>8&0xffff), 16)
	b = strconv.AppendInt(append(b, ':'), int64(who&0xff)<<8, 16)
	return append(b, "::1"...)
}

// solving is how many browsers of a crowd work at once; each has a processor of its own outside.
var solving = make(chan struct{}, max(1, runtime.NumCPU()))

// browse does the work that an event asks of a person before a claim, as their browser does, and keeps the pass.
func (r *run) browse(ctx context.Context, l *line, who int32) error {
	p, path := &r.people[who], "/events/"+r.venue.slug+"/challenge"
	status, cookie, err := l.ask(ctx, request{method: http.MethodGet, path: path, cookie: p.cookie})
	if err != nil || status != http.StatusOK {
		return cmpErr(err, &errAnswer{status, string(l.body)})
	}
	p.cookie = merge(p.cookie, cookie)
	proof, err := work(ctx, l.body)
	if err != nil {
		return err
	}
	status, cookie, err = l.ask(ctx, request{method: http.MethodPost, path: path, cookie: p.cookie, body: fmt.Appendf(nil, `{"proof":%q}`, proof)})
	if err != nil || status != http.StatusNoContent {
		return cmpErr(err, &errAnswer{status, string(l.body)})
	}
	p.cookie = merge(p.cookie, cookie)
	r.worked.Add(1)
	return nil
}

func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// work finds the counter that a challenge asks for and returns the proof. It gives up when the crowd is sent home.
func work(ctx context.Context, challenge []byte) (proof string, err error) {
	var c struct {
		Parameters struct {
			Cost        int
			KeyLength   int
			KeyPrefix   string
			Nonce, Salt string
		}
	}
	if err := json.Unmarshal(challenge, &c); err != nil {
		return "", fmt.Errorf("rush: read a challenge: %w", err)
	}
	nonce, err := hex.DecodeString(c.Parameters.Nonce)
	if err != nil {
		return "", fmt.Errorf("rush: read a challenge: %w", err)
	}
	salt, err := hex.DecodeString(c.Parameters.Salt)
	if err != nil {
		return "", fmt.Errorf("rush: read a challenge: %w", err)
	}
	select {
	case solving <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-solving }()
	for counter := uint32(0); ctx.Err() == nil; counter++ {
		key, err := pbkdf2.Key(sha256.New, string(binary.BigEndian.AppendUint32(nonce[:len(nonce):len(nonce)], counter)), salt, c.Parameters.Cost, c.Parameters.KeyLength)
		if err != nil {
			return "", fmt.Errorf("rush: work: %w", err)
		}
		if found := hex.EncodeToString(key); strings.HasPrefix(found, c.Parameters.KeyPrefix) {
			text := fmt.Appendf(nil, `{"challenge":%s,"solution":{"counter":%d,"derivedKey":%q}}`, challenge, counter, found)
			return base64.StdEncoding.EncodeToString(text), nil
		}
	}
	return "", ctx.Err()
}

package rush

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/usherbox/usher/seats"
)

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

// ended tells whether the box office gave a socket up whose owner reads nothing: it takes no more words, and says so when it
// has got some.
func (s *socket) ended() bool {
	_, _ = s.conn.Write(askAgain)
	_ = seats.Sleep(context.Background(), lastWords) // the background does not end
	_, err := s.conn.Write(askAgain)
	return err != nil
}

const lastWords = 300 * time.Millisecond // for an answer of the other kernel

var errFull = errors.New("rush: the box office lets no more watchers in; it is told how many of one address with --sockets-per-address")

// listen opens a socket. The key is anything: nobody between us and the box office is to be told from a cache. A dead one
// has little room in its kernel, asks for the map until that is full, and reads nothing of it.
func listen(ctx context.Context, u *url.URL, path string, dead bool) (*socket, error) {
	l := newLine(u)
	if err := l.dial(ctx); err != nil {
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

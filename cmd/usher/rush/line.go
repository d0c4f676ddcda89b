package rush

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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

	from   int32 // person that requests come from
	spread bool  // people come from many networks, and the box office believes a header about it

	body []byte // of the last answer, until the next one
	etag string // of the last answer
}

func newLine(u *url.URL) *line { return &line{url: u, in: bufio.NewReaderSize(nil, 4096)} }

// request is what a person sends.
type request struct {
	method, path string
	cookie, key  string // left out if empty
	body         []byte
	page         bool // as a browser asks, not a program
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

// againPause is between two tries of somebody who gets no answer.
const againPause = 50 * time.Millisecond

func (l *line) once(ctx context.Context, r request) (status int, cookie string, err error) {
	if err := l.dial(ctx); err != nil {
		return 0, "", err
	}
	l.sent = true
	status, cookie, keep, err := l.exchange(r)
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
	if l.url.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: l.url.Hostname(), MinVersion: tls.VersionTLS12})
	}
	l.conn = conn
	l.in.Reset(conn)
	return nil
}

func (l *line) exchange(r request) (status int, cookie string, keep bool, err error) {
	l.used = time.Now()
	if err := l.conn.SetDeadline(l.used.Add(answerTime)); err != nil {
		return 0, "", false, err
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
	if r.page {
		b = append(b, "text/html\r\n"...)
	} else {
		b = append(b, "application/json\r\n"...)
	}
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
	l.conn = nil
}

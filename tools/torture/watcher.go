package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
)

// watcher is a page with a socket. It connects again when the socket ends, as a page does, at whichever node.
type watcher struct {
	run    *run
	number int
	random *rand.Rand

	mu      sync.Mutex
	picture picture
	frames  int64
	opened  int
	ended   time.Time // when the last socket ended
	gaps    []gap
}

// gap is a time in which a page had no socket.
type gap struct {
	at   time.Time // when it was over
	took time.Duration
}

func (w *watcher) watch(ctx context.Context) {
	for ctx.Err() == nil {
		pause := 20*time.Millisecond + time.Duration(w.random.Int64N(int64(max(w.follow(ctx), 150*time.Millisecond))))
		_ = seats.Sleep(ctx, pause) // the loop asks ctx
	}
}

// follow opens one socket, with what the page has, and reads until it ends. It returns within which time to open the next,
// if the node said so.
func (w *watcher) follow(ctx context.Context) (within time.Duration) {
	n := w.run.nodes[(w.number+w.opened)%len(w.run.nodes)]
	w.opened++
	dialing, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	w.mu.Lock()
	query := ""
	if w.picture.known {
		query = fmt.Sprintf("&epoch=%d&v=%d", w.picture.epoch, w.picture.version)
	}
	w.mu.Unlock()
	conn, _, err := websocket.Dial(dialing, strings.Replace(n.url(), "http", "ws", 1)+"/events/"+eventSlug+"/live?format=1"+query, nil) // the library closes the body
	if err != nil {
		return 0
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(1 << 20)
	for {
		// A socket that says nothing may be dead: pages ask after a while, this one opens another.
		reading, cancel := context.WithTimeout(ctx, silence)
		_, frame, err := conn.Read(reading)
		cancel()
		w.mu.Lock()
		if err != nil {
			w.ended = time.Now()
			w.mu.Unlock()
			return within
		}
		if !w.ended.IsZero() {
			w.gaps, w.ended = append(w.gaps, gap{time.Now(), time.Since(w.ended)}), time.Time{}
		}
		within = max(within, moveWithin(frame))
		wrong := w.picture.read(frame)
		if wrong == nil {
			wrong = w.run.pictures.note(&w.picture)
		}
		w.frames++
		if wrong != nil {
			w.picture = picture{}
		}
		w.mu.Unlock()
		if wrong != nil {
			w.run.history.violated("sockets", "socket %d at node %d: %v", w.number, n.number, wrong)
			return 0
		}
	}
}

// silence is after how long a page doubts a socket that says nothing.
const silence = 15 * time.Second

func (w *watcher) now() (epoch uint32, version uint64, states string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.picture.epoch, w.picture.version, string(w.picture.states)
}

// deadReader opens a socket and never reads from it.
func (r *run) deadReader(n *node) {
	conn, err := net.DialTimeout("tcp", n.clients.addr(), time.Second)
	if err != nil {
		return
	}
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetReadBuffer(1024) // a hint
	}
	_, err = fmt.Fprintf(conn, "GET /events/%s/live HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", eventSlug, n.clients.addr())
	if err != nil {
		_ = conn.Close()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deadReaders = append(r.deadReaders, conn)
	if len(r.deadReaders) > mostDead {
		_ = r.deadReaders[0].Close() // it is not read again
		r.deadReaders = r.deadReaders[1:]
	}
}

// mostDead is how many dead readers there are at once.
const mostDead = 40

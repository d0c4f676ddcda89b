package realtime

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
)

// pipes is a network for a testing/synctest bubble: no goroutine waits for a kernel, so that its clock goes on as soon
// as everybody waits.
type pipes struct {
	end      func(net.Conn) net.Conn // the node's end of a connection; nil: as it is
	arriving chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newPipes() *pipes { return &pipes{arriving: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.arriving:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "bubble", Net: "unix"} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	if p.end != nil {
		far = p.end(far)
	}
	select {
	case p.arriving <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// bubbleNode is a node whose sockets are pipes. Its office and its database are real ones; the test sends the notifications.
type bubbleNode struct {
	node
	listener *Listener
	pipes    *pipes
	stop     func()
}

func startBubbleNode(t *testing.T, db *pgxpool.Pool, slug string) *bubbleNode {
	t.Helper()
	n := &bubbleNode{pipes: newPipes()}
	n.office = seats.NewInventory(db, quiet())
	n.hub = NewHub()
	n.office.Changed = n.hub.Changed
	n.listener = NewListener("", n.office, n.hub, quiet())
	var err error
	if n.sale, err = n.office.Sale(t.Context(), slug); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(n.serve)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(n.pipes) }()
	n.stop = func() {
		_ = server.Close() // its pages have left
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
	return n
}

// dial opens a socket to the node.
func (n *bubbleNode) dial(t *testing.T, query string) *websocket.Conn {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: n.pipes.dial, DisableKeepAlives: true}}
	conn, _, err := websocket.Dial(t.Context(), "ws://bubble/live?"+query, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	return conn
}

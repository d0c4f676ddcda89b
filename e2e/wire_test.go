package e2e

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// wire is the network between a browser and a box office. It can be cut, and it can go silent: connections stay, and
// nothing comes through.
type wire struct {
	office *office // as it is reached through the wire

	mu     sync.Mutex
	to     string
	talks  sync.Cond
	isCut  bool
	silent bool
	conns  map[net.Conn]bool
	last   time.Time // when something was carried
}

func between(t *testing.T, o *office) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	w := &wire{office: &office{url: "http://" + listener.Addr().String()}, conns: map[net.Conn]bool{}}
	w.leadTo(o.url)
	w.talks.L = &w.mu
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut()
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(conn)
		}
	}()
	return w
}

// leadTo tells where the box office is.
func (w *wire) leadTo(url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = strings.TrimPrefix(url, "http://")
}

func (w *wire) carry(near net.Conn) {
	w.mu.Lock()
	to := w.to
	w.mu.Unlock()
	far, err := net.Dial("tcp", to)
	if err != nil || !w.add(near, far) {
		_ = near.Close()
		return
	}
	go func() { w.copy(far, near); _ = far.Close() }()
	w.copy(near, far)
	_ = near.Close()
}

// copy carries what comes, and keeps it while the wire is silent.
func (w *wire) copy(to, from net.Conn) {
	b := make([]byte, 16<<10)
	for {
		n, err := from.Read(b)
		w.mu.Lock()
		for w.silent && !w.isCut {
			w.talks.Wait()
		}
		w.last = time.Now()
		w.mu.Unlock()
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

func (w *wire) add(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		w.conns[conn] = true
	}
	return !w.isCut
}

// cut ends what is under way and lets nothing through until it is mended.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	w.talks.Broadcast()
	for conn := range w.conns {
		_ = conn.Close()
	}
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut, w.silent = false, false
	w.talks.Broadcast()
}

// hush lets nothing through, and leaves the connections open.
func (w *wire) hush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = true
}

// rests waits until nothing is under way.
func (w *wire) rests(t *testing.T) {
	t.Helper()
	eventually(t, patience, "nothing is carried any more", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return time.Since(w.last) > 2*time.Second
	})
}

package e2e

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// wire is the network between a browser and a box office. It can be cut.
type wire struct {
	office *office // as it is reached through the wire
	to     string

	mu    sync.Mutex
	isCut bool
	conns map[net.Conn]bool
}

func between(t *testing.T, o *office) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	w := &wire{office: &office{url: "http://" + listener.Addr().String()}, to: strings.TrimPrefix(o.url, "http://"), conns: map[net.Conn]bool{}}
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

func (w *wire) carry(near net.Conn) {
	far, err := net.Dial("tcp", w.to)
	if err != nil || !w.add(near, far) {
		_ = near.Close()
		return
	}
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	_, _ = io.Copy(near, far)
	_ = near.Close()
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
	for conn := range w.conns {
		_ = conn.Close()
	}
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = false
}

package realtime

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestWhenANodeClosesItsPagesAreSpreadAndDeadOnesDoNotHoldItUp(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 10), false)
	h := NewHub()
	n.hub = h
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	alive := open(t, n, "")
	for range 50 { // they say nothing, not even good-bye
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", n.url[len("ws://"):])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	for h.Watchers(n.sale) < 51 {
		time.Sleep(time.Millisecond)
	}

	began := time.Now()
	cancel()
	if m := alive.awaits(t, "move"); *m.Within != 1000 {
		t.Errorf("pages are told to come back within %d ms, want 1000", *m.Within)
	}
	if _, _, err := alive.conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("the socket ended with %v, want 1012", err)
	}
	<-ended
	if took := time.Since(began); took > 24*closeWait { // who is dead is let go after 15 s elsewhere
		t.Errorf("to close took %v, want about %v", took, closeWait)
	}
	if h.Watchers(n.sale) != 0 {
		t.Errorf("%d pages are left", h.Watchers(n.sale))
	}
	if _, _, err := websocket.Dial(t.Context(), n.url, nil); err == nil {
		t.Error("a closed node took a new page")
	}
}

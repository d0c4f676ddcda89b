package realtime

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// hall is a waiting room with a number for a notice, and a node's hub with its socket.
type hall struct {
	hub     *Hub
	serving atomic.Int64
	more    string // what else a notice says
	writes  func() // called before a notice is written; nil for nothing
	url     string
}

func (w *hall) Notice() []byte {
	if w.writes != nil {
		w.writes()
	}
	text, err := json.Marshal(map[string]any{"serving": w.serving.Load(), "more": w.more})
	if err != nil {
		panic(err) // a number can be written
	}
	return text
}

func openHall(t *testing.T, set ...func(*Hub)) *hall {
	t.Helper()
	w := &hall{hub: NewHub()}
	for _, do := range set {
		do(w.hub)
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.hub.ServeRoom(rw, r, 7, w, "") }))
	t.Cleanup(server.Close)
	w.url = "ws" + strings.TrimPrefix(server.URL, "http")
	return w
}

func (w *hall) serve(n int64) {
	w.serving.Store(n)
	w.hub.RoomChanged(7)
}

func (w *hall) page(t *testing.T) *websocket.Conn {
	t.Helper()
	return w.pageOver(t, nil)
}

// smallPage is a page for which its kernel keeps little. How much it keeps otherwise depends on the machine.
func (w *hall) smallPage(t *testing.T) *websocket.Conn {
	t.Helper()
	return w.pageOver(t, &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return conn, conn.(*net.TCPConn).SetReadBuffer(32 << 10)
		},
	}}})
}

func (w *hall) pageOver(t *testing.T, how *websocket.DialOptions) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), w.url, how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return conn
}

// told reads what a page is told next.
func told(t *testing.T, conn *websocket.Conn) int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	kind, text, err := conn.Read(ctx)
	if err != nil || kind != websocket.MessageText {
		t.Fatal(kind, err)
	}
	var notice struct{ Serving int64 }
	if err := json.Unmarshal(text, &notice); err != nil {
		t.Fatal(err)
	}
	return notice.Serving
}

// astray says what is wrong with what a page was told while a room went up to last; nothing if all is well. Each page that waits
// is never taken back, hears how it is in the end, and is not told each of many changes at once: most is how many messages
// that may be.
func astray(told []int64, last int64, most int) string {
	for i := 1; i < len(told); i++ {
		if told[i] <= told[i-1] {
			return fmt.Sprintf("a page is told %d after %d", told[i], told[i-1])
		}
	}
	switch {
	case len(told) == 0 || told[len(told)-1] != last:
		return fmt.Sprintf("a page is told %v, and never %d", told, last)
	case len(told) > most:
		return fmt.Sprintf("changes at once came in %d messages", len(told))
	}
	return ""
}

func TestReader_JudgeCatchesPlantedBugs(t *testing.T) {
	t.Parallel()
	if problem := astray([]int64{3, 4, 7}, 7, 3); problem != "" {
		t.Errorf("an honest room is accused: %s", problem)
	}
	for says, told := range map[string][]int64{"told 5 after 6": {4, 6, 5, 7}, "told 4 after 4": {4, 4, 7}, "never 7": {4, 6}, "in 4 messages": {4, 5, 6, 7}} {
		if problem := astray(told, 7, 3); !strings.Contains(problem, says) {
			t.Errorf("of %v is said %q, want %q", told, problem, says)
		}
	}
	if problem := astray(nil, 7, 3); problem == "" {
		t.Error("no page was told anything, and that is not noticed")
	}
}

// until reads all that a page is told until it is told so much, or less than before.
func until(t *testing.T, conn *websocket.Conn, last int64) (seen []int64) {
	t.Helper()
	for len(seen) == 0 || seen[len(seen)-1] < last && (len(seen) < 2 || seen[len(seen)-1] > seen[len(seen)-2]) {
		seen = append(seen, told(t, conn))
	}
	return seen
}

func TestRoom_PageGetsTheStateAndThenEachChange(t *testing.T) {
	t.Parallel()
	w := openHall(t)
	w.serving.Store(3)
	first, second := w.page(t), w.page(t)
	if a, b := told(t, first), told(t, second); a != 3 || b != 3 {
		t.Fatalf("they are told %d and %d at first, want 3", a, b)
	}
	w.serve(4)
	if a, b := told(t, first), told(t, second); a != 4 || b != 4 {
		t.Errorf("they are told %d and %d, want 4", a, b)
	}
	for n := int64(5); n <= 200; n++ {
		w.serve(n)
	}
	for _, page := range []*websocket.Conn{first, second} {
		if problem := astray(until(t, page, 200), 200, 100); problem != "" { // one at once and one a tick: about two
			t.Error(problem)
		}
	}
}

func TestRoom_SlowReaderGetsTheNewestAndDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := openHall(t)
	w.more = strings.Repeat(".", 900_000) // the kernels of both ends together do not keep one of them
	dead, alive := w.smallPage(t), w.page(t)
	told(t, dead)
	const changes = 8 // at a second each, the longest tick, they take less than the time after which a page is let go
	for n := int64(1); n <= changes; n++ {
		w.serve(n)
		for told(t, alive) < n {
		}
	}
	if problem := astray(until(t, dead, changes), changes, 2); problem != "" { // the one under way, and the newest
		t.Error(problem)
	}
}

func TestPagesOfRoomsLeaveSocketsForMaps(t *testing.T) {
	t.Parallel()
	w := openHall(t, func(h *Hub) { h.RoomSockets = 2 })
	first := w.page(t)
	w.page(t)
	_, answer, err := websocket.Dial(t.Context(), w.url, nil)
	if err == nil || answer == nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Fatalf("a third page got %v, %v, want 503", answer, err)
	}
	if maps, rooms := w.hub.Open(); maps != 0 || rooms != 2 || w.hub.Waiting(7) != 2 {
		t.Errorf("there are %d and %d sockets", maps, rooms)
	}
	_ = first.CloseNow()
	for deadline := time.Now().Add(30 * time.Second); w.hub.Waiting(7) > 1; {
		if time.Now().After(deadline) {
			t.Fatal("who left is still counted")
		}
		time.Sleep(time.Millisecond)
	}
	told(t, w.page(t))
}

func TestRoom_MessageFromAPageEndsItsSocket(t *testing.T) {
	t.Parallel()
	w := openHall(t)
	conn := w.page(t)
	told(t, conn)
	if err := conn.Write(t.Context(), websocket.MessageBinary, le.AppendUint64(begin(TypePing, 0), 0)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("got %v, want a policy violation", err)
	}
}

func TestRoom_ClosingNodeMovesItsPages(t *testing.T) {
	t.Parallel()
	w := openHall(t)
	conn := w.page(t)
	told(t, conn)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.hub.Run(ctx)
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("the socket ended with %v, want 1012", err)
	}
	if w.hub.Waiting(7) != 0 {
		t.Error("a watcher is left")
	}
}

func TestHub_PageThatJoinsWhileAChangeIsPreparedIsToldOfIt(t *testing.T) {
	t.Parallel()
	w := openHall(t)
	w.serving.Store(3)
	first := w.page(t)
	told(t, first)
	begun, joined := make(chan struct{}), make(chan struct{})
	w.writes = sync.OnceFunc(func() { close(begun); <-joined })
	w.serve(4)
	<-begun
	second := w.page(t)
	if n := told(t, second); n != 3 {
		t.Errorf("it is told %d at first, want 3", n)
	}
	close(joined)
	if a, b := told(t, first), told(t, second); a != 4 || b != 4 {
		t.Errorf("they are told %d and %d, want 4", a, b)
	}
}

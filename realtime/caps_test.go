package realtime

import (
	"net/http"
	"testing"

	"github.com/coder/websocket"
)

func TestAPageThatAsksTooMuchIsSentAway(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 3), false)
	p := open(t, n, "")
	if err := p.conn.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	for {
		_, _, err := p.conn.Read(t.Context())
		if err == nil {
			continue
		}
		if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("got %v, want a policy violation", err)
		}
		return
	}
}

func TestAnAddressHasOnlyAsManyPagesAsItMay(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 3), false)
	n.hub.SocketsPerAddress = 2
	open(t, n, "")
	open(t, n, "")
	_, answer, err := websocket.Dial(t.Context(), n.url+"/live", nil)
	if err == nil || answer == nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a third page got %v, %v, want 503", answer, err)
	}
}

func TestSocket_AddressesOfOneIPv6NetworkCountAsOne(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"[2001:db8:1:200::7]:1", "[2001:db8:1:2ff:1:2:3:4]:2"}, {"203.0.113.7:1", "[::ffff:203.0.113.7]:2"}, {"[fe80::7%eth0]:1", "[fe80::8%eth1]:2"},
	} {
		if a, b := addressOf(same[0]), addressOf(same[1]); a != b {
			t.Errorf("%s and %s count as %s and %s, want one", same[0], same[1], a, b)
		}
	}
	for _, other := range [][2]string{{"[2001:db8:1:200::7]:1", "[2001:db8:1:300::7]:1"}, {"203.0.113.7:1", "203.0.113.8:1"}, {"[::ffff:203.0.113.7]:1", "[::ffff:203.0.113.8]:1"}} {
		if a := addressOf(other[0]); a == addressOf(other[1]) {
			t.Errorf("%s and %s count as one: %s", other[0], other[1], a)
		}
	}
}

func TestABrowserHasOnlyAsManyPagesAsItMay(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 3), false)
	browser := &websocket.DialOptions{HTTPHeader: http.Header{"Session": {"ann"}}}
	for range socketsPerSession {
		conn, _, err := websocket.Dial(t.Context(), n.url+"/live", browser)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.CloseNow() }()
	}
	if _, answer, err := websocket.Dial(t.Context(), n.url+"/live", browser); err == nil || answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one page more got %v, want 503", answer)
	}
	open(t, n, "") // another visitor
}

func TestSocket_FullNodeAnswers503UntilAPageLeaves(t *testing.T) {
	t.Parallel()
	n := startNode(t, event(t, 3), false)
	n.hub.Sockets = 1
	first := open(t, n, "")
	_, answer, err := websocket.Dial(t.Context(), n.url+"/live", nil)
	if err == nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Fatalf("a second page got %v, want 503 with Retry-After", answer)
	}
	_ = first.conn.CloseNow()
	for {
		conn, answer, err := websocket.Dial(t.Context(), n.url+"/live", nil)
		if err == nil {
			_ = conn.CloseNow()
			return
		}
		if answer == nil || answer.StatusCode != http.StatusServiceUnavailable {
			t.Fatal(err)
		}
	}
}

func TestTheLimitLeavesDescriptorsForRequestsAndTheDatabase(t *testing.T) {
	t.Parallel()
	if n := socketLimit(); n < minSockets || n > maxSockets {
		t.Errorf("the limit is %d", n)
	}
}

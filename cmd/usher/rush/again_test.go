package rush

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// door leads to the shared server, and cuts every connection when told to.
type door struct {
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
}

func openDoor(t *testing.T) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{listener: l}
	t.Cleanup(func() { _ = l.Close(); d.cut() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go d.lead(near)
		}
	}()
	return d
}

func (d *door) lead(near net.Conn) {
	far, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		_ = near.Close()
		return
	}
	d.mu.Lock()
	d.open = append(d.open, near, far)
	d.mu.Unlock()
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	_, _ = io.Copy(near, far)
	_ = near.Close()
}

func (d *door) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.open {
		_ = c.Close() // it may be closed already
	}
	d.open = nil
}

func TestWhereConnectionsAreCutPagesComeBackAndNothingUntrueIsFound(t *testing.T) {
	t.Parallel()
	d, event := openDoor(t), hall(t, 300, true, time.Minute)
	for after := 1; after <= 3; after++ {
		time.AfterFunc(time.Duration(after)*700*time.Millisecond, d.cut)
	}
	report, err := Run(t.Context(), &Crowd{
		URL: "http://" + d.listener.Addr().String(), Event: event, Scenario: Places, People: 300, Over: 3 * time.Second,
		Watchers: 20, Again: 30 * time.Second, Connections: 16, Seed: 1, Own: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Failed() || report.Back < 20 || report.Got == 0 {
		t.Errorf("%d sockets came back and %d people got places; untrue %d, oversold %d, errors %d: %s", report.Back, report.Got, report.Untrue, report.Oversold, report.Errors, strings.Join(report.Lies(), "\n"))
	}
}

// secureEdge is a proxy with TLS and HTTP/2 in front of the shared server. It ends a connection after each so many requests of it; 0: never.
func secureEdge(t *testing.T, most int64) (address string, spoken *[3]atomic.Int64) {
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	spoken = new([3]atomic.Int64) // requests by version
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	edge := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := spoken[r.ProtoMajor].Add(1); most > 0 && n%most == 0 && r.ProtoMajor == 2 {
			w.Header().Set("Connection", "close") // by GOAWAY
		}
		proxy.ServeHTTP(w, r)
	}))
	edge.EnableHTTP2 = true
	edge.StartTLS()
	t.Cleanup(edge.Close)
	trust := filepath.Join(t.TempDir(), "edge.pem")
	if err := os.WriteFile(trust, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: edge.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", trust)
	return edge.URL, spoken
}

// At an https address each step of a person is a connection of theirs: the first with a whole handshake, others resume. It speaks HTTP/2
// where the other side does, as a browser does.
func TestHandshakes_OnlyTheFirstOfAPersonIsWhole(t *testing.T) {
	edge, spoken := secureEdge(t, 0)
	r := rushes(t, "--url", edge, "--event", hall(t, 40, false, time.Minute), "--people", "20", "--over", "200ms", "--connections", "1", "--handshakes")
	if r.Got != 20 || r.Untrue+r.Oversold+r.Errors > 0 {
		t.Errorf("of 20 people %d got seats, %d untrue answers, %d errors", r.Got, r.Untrue, r.Errors)
	}
	if whole := r.Handshakes - r.Resumed; r.Handshakes < 40 || whole != 21 { // with one of the first who resumes: there is no session yet
		t.Errorf("%d of %d handshakes were whole; each of 20 people looks first and then claims", whole, r.Handshakes)
	}
	if one, two := spoken[1].Load(), spoken[2].Load(); two < 40 || one > 0 {
		t.Errorf("%d requests by HTTP/1.1 and %d by HTTP/2, want all by HTTP/2", one, two)
	}
}

func TestHTTP2_ConnectionThatEndsLosesNoRequestAndNoSocket(t *testing.T) {
	edge, spoken := secureEdge(t, 5)
	r := rushes(t, "--url", edge, "--event", hall(t, 80, false, time.Minute), "--people", "40", "--over", "400ms", "--connections", "2", "--watchers", "3")
	if r.Got != 40 || r.Untrue+r.Oversold+r.Errors > 0 {
		t.Errorf("of 40 people %d got seats, %d untrue answers, %d errors", r.Got, r.Untrue, r.Errors)
	}
	if one, two := spoken[1].Load(), spoken[2].Load(); two < 80 || one != 3 {
		t.Errorf("%d requests by HTTP/1.1 and %d by HTTP/2, want those of three sockets by HTTP/1.1", one, two)
	}
}

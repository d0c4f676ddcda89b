package rush

import (
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// At an https address each step of a person is a connection of theirs: the first with a whole handshake, others resume.
func TestHandshakes_OnlyTheFirstOfAPersonIsWhole(t *testing.T) {
	to, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	edge := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	t.Cleanup(edge.Close)
	trust := filepath.Join(t.TempDir(), "edge.pem")
	if err := os.WriteFile(trust, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: edge.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", trust)
	r := rushes(t, "--url", edge.URL, "--event", hall(t, 40, false, time.Minute), "--people", "20", "--over", "200ms", "--connections", "1", "--handshakes")
	if r.Got != 20 || r.Untrue+r.Oversold+r.Errors > 0 {
		t.Errorf("of 20 people %d got seats, %d untrue answers, %d errors", r.Got, r.Untrue, r.Errors)
	}
	if whole := r.Handshakes - r.Resumed; r.Handshakes < 40 || whole != 21 { // with one of the first who resumes: there is no session yet
		t.Errorf("%d of %d handshakes were whole; each of 20 people looks first and then claims", whole, r.Handshakes)
	}
}

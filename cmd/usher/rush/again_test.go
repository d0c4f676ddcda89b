package rush

import (
	"io"
	"net"
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

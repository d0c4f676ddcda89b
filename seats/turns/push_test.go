package turns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/jobs"
)

// lines is a log that a test reads while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// calls is a push service as a function.
type calls func(r *http.Request) (*http.Response, error)

func (c calls) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// run has the node do its jobs as in the program, until the test ends.
func (n *node) run(log *slog.Logger) {
	n.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- jobs.NewRunner(n.db, log, n.Jobs()...).Run(ctx) }()
	n.t.Cleanup(func() { stop(); <-done })
}

func (n *node) until(what string, holds func() bool) {
	n.t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			n.t.Fatalf("%s: not within 30 seconds", what)
		}
	}
}

func TestPush_LogHasNoEndpoint(t *testing.T) {
	t.Parallel()
	n, log := open(t).node(), &lines{}
	n.Client = &http.Client{Transport: calls(func(*http.Request) (*http.Response, error) { return nil, errors.New("the line is cut") })}
	n.asks(5, newBrowser(t).request())
	n.call(5)
	n.run(slog.New(slog.NewTextHandler(log, nil)))
	n.until("the failure is logged", func() bool { return strings.Contains(log.String(), "the line is cut") })
	if strings.Contains(log.String(), "/push/1") {
		t.Errorf("the log has the endpoint of the browser: %s", log)
	}
}

func TestPush_IsTriedSixTimesAtMost(t *testing.T) {
	t.Parallel()
	n, b := open(t).node(), newBrowser(t)
	n.Client = b.Client()
	b.answers(http.StatusServiceUnavailable)
	n.asks(5, b.request())
	n.call(5)
	for range 10 {
		n.do()
		n.exec(`UPDATE turn_request SET next_try = clock_timestamp()`)
	}
	if left := n.count(`SELECT count(*) FROM turn_request`); b.got() != 6 || left != 0 {
		t.Errorf("the service was called %d times, %d requests are kept", b.got(), left)
	}
}

func TestAsk_PortOfHTTPSMayBeWritten(t *testing.T) {
	t.Parallel()
	n, r := open(t).node(), newBrowser(t).request()
	r.Endpoint = "https://Push.example.com:443/1"
	n.asks(5, r)
	if rows := n.count(`SELECT count(*) FROM turn_request WHERE host = 'push.example.com'`); rows != 1 {
		t.Errorf("%d requests are at the host, want 1", rows)
	}
}

// All push services that a node calls at a time hang.
func TestMail_SlowPushServicesDelayNoMail(t *testing.T) {
	t.Parallel()
	n := open(t).node()
	var hanging sync.WaitGroup
	hanging.Add(16)
	var first sync.Map
	release := make(chan struct{})
	end := sync.OnceFunc(func() { close(release) })
	n.Client = &http.Client{Transport: calls(func(r *http.Request) (*http.Response, error) {
		if _, again := first.LoadOrStore(r.URL.Host, true); !again {
			hanging.Done()
		}
		<-release
		return nil, context.DeadlineExceeded
	})}
	for i := range int64(16) {
		r := newBrowser(t).request()
		r.Endpoint = fmt.Sprintf("https://push%d.example.com/1", i)
		n.asks(5+i, r)
	}
	n.call(50)
	n.run(slog.New(slog.DiscardHandler))
	t.Cleanup(end) // before it waits for what runs
	hanging.Wait()
	n.exec(`INSERT INTO turn_request (room_id, epoch, kind, index, number, email) SELECT id, 1, 2, 30, 30, 'ann@example.org' FROM room`)
	n.Jobs()[0].Wake()
	n.until("the mail is written while they hang", func() bool { return n.count(`SELECT count(*) FROM mail`) == 1 })
	end()
	n.until("slow calls end", func() bool {
		return n.count(`SELECT count(*) FROM turn_request WHERE next_try < clock_timestamp() + interval '20 seconds'`) == 16
	})
}

package turns_test

import (
	"bytes"
	"context"
	"errors"
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

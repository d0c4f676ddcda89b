package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/verify"
)

// group is everything that runs while the box office is open. What starts later leans on what started earlier, so it is
// ended in reverse.
type group struct {
	parts  []*part
	failed chan error // the first part that ended by itself
	once   sync.Once
}

type part struct {
	name string
	end  context.CancelFunc
	done chan struct{}
	err  error
}

func newGroup() *group { return &group{failed: make(chan error, 1)} }

var errNoReason = errors.New("it gave no reason")

// start runs a part until its ctx is done. Parts outlive the ctx of the program: they are ended one by one, by stop.
func (c *group) start(ctx context.Context, name string, run func(context.Context) error) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	p := &part{name: name, end: end, done: make(chan struct{})}
	c.parts = append(c.parts, p)
	go func() {
		defer close(p.done)
		err := run(ctx)
		switch {
		case ctx.Err() == nil:
			c.once.Do(func() { c.failed <- fmt.Errorf("%s ended by itself: %w", name, cmp.Or(err, errNoReason)) })
		case !errors.Is(err, context.Canceled):
			p.err = err
		}
	}()
}

// wait returns when the program shall end (nil), or when a part ended that should not have.
func (c *group) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-c.failed:
		return err
	}
}

// stop ends the parts, the last one first, each before the one it leans on.
func (c *group) stop() error {
	var errs []error
	for i := len(c.parts) - 1; i >= 0; i-- {
		p := c.parts[i]
		p.end()
		<-p.done
		if p.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, p.err))
		}
	}
	return errors.Join(errs...)
}

// leaving reports whether this node is about to close. Then /readyz says no and everything else answers as always: a proxy
// in front sends new requests elsewhere before any could fail.
type leaving struct{ now atomic.Bool }

func (l *leaving) why() string {
	if l.now.Load() {
		return "this node is closing"
	}
	return ""
}

// wait is the time between being told to end and ending. A part that ends by itself meanwhile ends it.
func (l *leaving) wait(drain time.Duration, c *group, log *slog.Logger) error {
	l.now.Store(true)
	if drain == 0 {
		return nil
	}
	log.Info("told to end: not ready any more, and open a little longer", "for", drain.String())
	select {
	case <-time.After(drain):
		return nil
	case err := <-c.failed:
		return err
	}
}

// mostSilence is how long a node may hear nothing of what others sell and still show maps to newcomers.
const mostSilence = 10 * time.Second

// deaf says that a node hears nothing of the others.
func deaf(silence time.Duration) string {
	if silence < mostSilence {
		return ""
	}
	return fmt.Sprintf("nothing was heard of the database for %s", silence.Truncate(time.Second))
}

// listen takes the address before anything else starts, so that a second usher hears at once that it is one too many.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken, perhaps by another usher: stop that, or choose another address with --addr or USHER_ADDR", addr)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", addr, err)
	}
	return l, nil
}

// lastRequests is how long requests under way may take when the program ends.
const lastRequests = 2 * time.Second

// How long a connection without a request is kept. A proxy keeps its own for a minute (nginx) to two (Caddy): were ours the shorter time, a
// request could meet the end of its connection, and a proxy does not send a POST again.
const (
	idleTime        = time.Minute
	idleBehindProxy = 3 * time.Minute
)

func (cfg *Config) idleTime() time.Duration {
	if cfg.Header != "" {
		return idleBehindProxy
	}
	return idleTime
}

// serveHTTP returns a part that answers requests until its ctx is done, and then lets those under way finish. Sockets
// are not requests: the hub, which ends after this part, closes them.
func serveHTTP(l net.Listener, pages http.Handler, idle time.Duration, log *slog.Logger) func(context.Context) error {
	server := &http.Server{
		Handler:           pages,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      web.LongestAnswer,
		IdleTimeout:       idle,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	return func(ctx context.Context) error {
		served := make(chan error, 1)
		go func() { served <- server.Serve(l) }()
		select {
		case err := <-served:
			return err
		case <-ctx.Done():
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
		defer cancel()
		if err := server.Shutdown(ending); err != nil {
			return server.Close() // a client reads very slowly
		}
		return nil
	}
}

// address is where a browser on this machine finds the listener.
func address(cfg *Config, l net.Listener) string {
	if cfg.URL != "" {
		return cfg.URL
	}
	at := l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", at.Port)
	}
	return "http://" + at.String()
}

const (
	lookEvery  = time.Minute
	lookWithin = 2 * time.Minute
	lookShare  = 20 // a look takes at most one part of so many of the time
)

// watchBooks returns a part that looks at the books every minute, and more seldom where they are so large that a look takes more than three
// seconds. What it finds is an error in the log, and a number of the metrics. The node stays open.
func watchBooks(watch *verify.Watch, m *metrics, log *slog.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			began := time.Now()
			glance(ctx, watch, m, log)
			if err := seats.Sleep(ctx, nextLook(time.Since(began))); err != nil {
				return err
			}
		}
	}
}

// nextLook is how long to wait after a look that took so long.
func nextLook(took time.Duration) time.Duration { return max(lookEvery, (lookShare-1)*took) }

// glance is one look.
func glance(ctx context.Context, watch *verify.Watch, m *metrics, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	began := time.Now()
	report, err := watch.Look(ctx)
	if ctx.Err() == context.Canceled {
		return // the node closes
	}
	m.looked(report, time.Since(began))
	if err != nil {
		log.Error("the books could not be checked; they are checked again later", "error", err)
		return
	}
	for _, p := range report.Promises {
		if p.Broken > 0 {
			log.Error("a promise is broken; \"usher verify\" tells all", "promise", p.Name, "words", p.Words,
				"findings", p.Broken, "first", p.Findings[0].String())
		}
	}
}

package handlers

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/waitingroom"
)

var (
	torments    = flag.Int("torment", 1500, "how many bad requests to send")
	tormentSeed = flag.Uint64("torment-seed", 1, "the luck of the bad requests")
)

const (
	tormentors  = 8
	mostGrown   = 64 << 20 // bytes that may be in use more after all bad requests than after the first tenth of them
	mostLinger  = 200      // goroutines that may be left a while after the last
	perSite     = 50_000   // bad requests that one site gets: they do change things, and in the end there is little left to reach
	tormentWait = 30 * time.Second
)

// torment is bad requests on their way to a server, and what came of them.
type torment struct {
	address string
	maker   *maker
	log     *failures

	mu       sync.Mutex
	statuses map[int]int
	closed   int // connections that were ended without an answer, as HTTP allows for what is no request
	sockets  int // that were opened and then spoken to badly
	found    []string
}

// failures counts what a server logs as its own fault.
type failures struct {
	slog.Handler
	panics atomic.Int64
	last   atomic.Pointer[string]
}

func newFailures() *failures { return &failures{Handler: slog.NewTextHandler(io.Discard, nil)} }

// Handle is part of slog.Handler.
func (f *failures) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "panic") {
		f.panics.Add(1)
	}
	if r.Level >= slog.LevelError {
		line := r.Message
		r.Attrs(func(a slog.Attr) bool { line += fmt.Sprintf(" %s=%.600v", a.Key, a.Value); return true })
		f.last.Store(&line)
	}
	return nil
}

func (f *failures) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f *failures) WithGroup(string) slog.Handler      { return f }

// tormented opens a site in which there is one of everything, with further routes if there are some, and returns what torments it.
func tormented(t *testing.T, planted ...route) *torment {
	t.Helper()
	log := newFailures()
	s := newSiteFor(t, events.Settings{HoldLength: time.Hour}, func(c *Config) { c.Log, c.AddressHeader, c.Joins = slog.New(log), "X-Forwarded-For", 600 })
	s.config.Hub.SocketsPerAddress = 1 << 20
	h := newHandlers(s.config)
	table := append(h.table(), planted...)
	server := httptest.NewUnstartedServer(h.Wrap(h.routes(table)))
	server.Config.ErrorLog = slog.NewLogLogger(log, slog.LevelWarn)
	server.Config.ReadHeaderTimeout, server.Config.MaxHeaderBytes = 5*time.Second, 16<<10
	server.Start()
	t.Cleanup(server.Close)
	x := &torment{address: server.Listener.Addr().String(), log: log, statuses: map[int]int{}, maker: newMaker(description(t), table)}
	x.furnish(t, s)
	return x
}

// furnish puts something at every address, and a visitor with a hold and an organizer into the site.
func (x *torment) furnish(t *testing.T, s *site) {
	t.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	cookies := func(who *http.Client) (line string) {
		for _, c := range who.Jar.Cookies(at) {
			line += c.Name + "=" + c.Value + "; "
		}
		return strings.TrimSuffix(line, "; ")
	}
	guest, owner := person(t), s.owner(t)
	w := &wall{site: s, team: s.others(t, "theirs")}
	w.plant(t)
	w.drawn(t)
	if _, err := (waitingroom.Control{DB: s.db, Who: "test"}).Create(t.Context(), waitingroom.NewRoom{Name: "Tour", Slug: "tour", Events: []string{"theirs"}, Slots: 5}); err != nil {
		t.Fatal(err)
	}
	s.held(t, guest, 1)
	door, _ := strings.CutPrefix(s.door(t), s.url+"/door/")
	m := x.maker
	m.guest, m.owner, m.wire = cookies(guest), cookies(owner), wireMessages(t)
	m.known = map[string]string{
		"/events/{slug}": "evening", "/events/{slug}/sections/{section}": "1", "/events/{slug}/claims/{idx}": "1", "/rooms/{slug}": "tour", "/door/{secret}": door,
		"/orders/{code}": w.id("SELECT code AS id FROM orders WHERE name = 'Own'"),
	}
	for path, one := range w.things() {
		m.known[path] = one.own
	}
}

// run sends so many bad requests and returns how much more memory is in use after them than after a tenth of them.
func (x *torment) run(n int, seed uint64) (grown int64) {
	x.send(n/10, seed)
	before := inUse()
	x.send(n-n/10, seed+1<<32)
	return inUse() - before
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers let go of
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func (x *torment) send(n int, seed uint64) {
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for i := range tormentors {
		all.Go(func() {
			c := &caller{torment: x, random: rand.New(rand.NewPCG(seed, uint64(i)))}
			for left.Add(-1) >= 0 {
				c.call(x.maker.make(c.random))
			}
			c.hangUp()
		})
	}
	all.Wait()
}

// eachOperation sends some bodies of its schema to each operation that has one, and returns how many operations these are.
func (x *torment) eachOperation(seed uint64) (n int) {
	c := &caller{torment: x, random: rand.New(rand.NewPCG(seed, 1<<40))}
	defer c.hangUp()
	for _, op := range x.maker.operations {
		if op.body == nil {
			continue
		}
		n++
		for range 3 {
			c.call(x.maker.whole(c.random, op, op.method, x.maker.target(c.random, op)))
		}
	}
	return n
}

// prescribed are answers of the HTTP server itself that HTTP prescribes, although it numbers them as faults of a server: to who
// wants a transfer coding or a version of HTTP that there is not.
var prescribed = []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported}

func (x *torment) note(bad badRequest, status int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.statuses[status]++
	if status == 0 && errors.Is(err, errEndedInstead) {
		x.closed++
		return
	}
	if status == http.StatusServiceUnavailable && bytes.Contains(bad.bytes, []byte("/readyz")) {
		return // that is what it is for: the machine has other things to do
	}
	if status == 0 || status >= 500 && !slices.Contains(prescribed, status) || slices.Contains(prescribed, status) && !bad.last {
		last := ""
		if p := x.log.last.Load(); p != nil {
			last = *p
		}
		if len(x.found) < 20 {
			x.found = append(x.found, fmt.Sprintf("%d (%v) to %.300q; the last that was logged: %s", status, err, bad.bytes, last))
		}
	}
}

func (x *torment) finds(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.found = append(x.found, fmt.Sprintf(format, args...))
}

func (x *torment) String() string {
	var b strings.Builder
	for _, status := range slices.Sorted(maps.Keys(x.statuses)) {
		fmt.Fprintf(&b, "%d: %d, ", status, x.statuses[status])
	}
	return fmt.Sprintf("%sended without an answer: %d, sockets spoken to: %d, panics: %d", b.String(), x.closed, x.sockets, x.log.panics.Load())
}

// Bad requests of every kind, made of the description and of the wire format: none makes the server fail, panic, or keep
// something. make torment sends a million, fifty thousand to each of twenty sites.
func TestBadRequestsAreAnsweredAndLeaveNothing(t *testing.T) {
	if *torments <= perSite {
		t.Parallel() // the memory of a few says nothing
		tormentSite(t, *torments, *tormentSeed)
		return
	}
	before, began, all := runtime.NumGoroutine(), time.Now(), &torment{statuses: map[int]int{}, log: newFailures()}
	var first int64
	for which := range *torments / perSite {
		if !t.Run(fmt.Sprint("site ", which+1), func(t *testing.T) { all.add(tormentSite(t, perSite, *tormentSeed+uint64(which))) }) {
			break
		}
		if which == 0 {
			first = inUse()
		}
	}
	if grown := inUse() - first; grown > mostGrown {
		t.Errorf("%d bytes more are in use than after the first site", grown)
	}
	for deadline := time.Now().Add(tormentWait); runtime.NumGoroutine() > before+mostLinger; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left, of %d before", runtime.NumGoroutine(), before)
		}
	}
	t.Logf("%d bad requests in all, seed %d, %s; %v; %d KB more in use than after the first site",
		*torments, *tormentSeed, time.Since(began).Round(time.Second/10), all, (inUse()-first)>>10)
}

// tormentSite sends so many to a site of their own.
func tormentSite(t *testing.T, n int, seed uint64) *torment {
	t.Helper()
	x, began := tormented(t), time.Now()
	described := 0
	for _, item := range description(t).Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody != nil {
				described++
			}
		}
	}
	if sent := x.eachOperation(seed); sent != described || sent < 100 {
		t.Errorf("%d operations of %d with a body are sent one by its schema", sent, described)
	}
	grown := x.run(n, seed)
	for _, found := range x.found {
		t.Error(found)
	}
	if n := x.log.panics.Load(); n > 0 {
		t.Errorf("%d panics", n)
	}
	if n >= perSite && grown > mostGrown {
		t.Errorf("%d bytes more are in use", grown)
	}
	reached := []int{200, 400, 404, 405, 415, 422}
	if n >= perSite {
		reached = append(reached, 101, 201, 204, 303, 401, 403, 409, 426)
	}
	for _, status := range reached {
		if x.statuses[status] == 0 {
			t.Errorf("nothing was answered %d: these requests do not reach what they should", status)
		}
	}
	if x.sockets < n/200 {
		t.Errorf("only %d sockets were opened", x.sockets)
	}
	t.Logf("%d bad requests, seed %d, %s; %v; %d KB more in use", n, seed, time.Since(began).Round(time.Second/10), x, grown>>10)
	return x
}

// add counts what came of another site.
func (x *torment) add(of *torment) {
	for status, n := range of.statuses {
		x.statuses[status] += n
	}
	x.closed, x.sockets = x.closed+of.closed, x.sockets+of.sockets
	x.log.panics.Add(of.log.panics.Load())
}

// Planted: a route that panics, one that fails, and one that keeps what it was sent.
func TestTheTormentFindsAPanicAFailureAndALeak(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var kept [][]byte
	x := tormented(t,
		route{"GET /planted/panics", func(http.ResponseWriter, *http.Request) error { panic("planted") }, pageRule},
		route{"POST /planted/fails", func(http.ResponseWriter, *http.Request) error { return io.ErrUnexpectedEOF }, pageRule},
		route{"GET /planted/keeps", func(w http.ResponseWriter, _ *http.Request) error {
			mu.Lock()
			defer mu.Unlock()
			kept = append(kept, make([]byte, 24<<20))
			return web.WriteJSON(w, http.StatusOK, len(kept))
		}, pageRule})
	x.maker.only("/planted/")
	if grown := x.run(60, 1); grown < mostGrown {
		t.Errorf("a route that keeps 24 MB a time was not noticed: %d bytes", grown)
	}
	mu.Lock()
	kept = nil
	mu.Unlock()
	if x.log.panics.Load() == 0 || !slices.ContainsFunc(x.found, func(f string) bool { return strings.Contains(f, "/planted/fails") }) {
		t.Errorf("a panic or a failure was not noticed: %v\n%s", x, strings.Join(x.found, "\n"))
	}
}

package rush

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/realtime"
	"github.com/usherbox/usher/seats"
)

// watching is everybody who only watches: their sockets, and what they saw when.
type watching struct {
	run     *run
	stop    context.CancelFunc
	sockets []*socket
	all     sync.WaitGroup

	mu    sync.Mutex
	seen  []sight
	cut   int           // sockets that ended before the crowd was gone, and could not be opened again
	back  int           // that could
	away  time.Duration // the longest that one of them was not open
	letGo int           // dead ones that the box office gave up
}

// sight is a seat that a frame showed as held, and when it came, by our clock.
type sight struct {
	at  int64
	idx int32
}

const (
	mostSights = 2 << 20 // that are kept
	dialers    = 32      // sockets that are opened at once
)

// watch opens the sockets, all before the crowd comes.
func watch(ctx context.Context, r *run) (*watching, error) {
	w := &watching{run: r, sockets: make([]*socket, r.crowd.Watchers)}
	ctx, w.stop = context.WithCancel(ctx)
	next, errs := make(chan int), make(chan error, dialers)
	for range dialers {
		go func() { errs <- w.dial(ctx, next) }()
	}
	go func() {
		defer close(next)
		for i := range w.sockets {
			next <- i
		}
	}()
	var err error
	for range dialers {
		err = errors.Join(err, <-errs)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// dial opens sockets as long as there is a next; after an error it only counts them.
func (w *watching) dial(ctx context.Context, next <-chan int) (failed error) {
	for i := range next {
		if failed != nil {
			continue
		}
		dead := i < w.run.crowd.Dead
		if w.sockets[i], failed = listen(ctx, w.run.url, w.path(), dead); failed == nil && !dead {
			w.all.Go(func() { w.follow(ctx, i) })
		}
	}
	return failed
}

// follow reads a socket, and opens it again when it ends, as a page does: as long as people of the crowd ask again.
func (w *watching) follow(ctx context.Context, i int) {
	for {
		w.read(w.sockets[i])
		ended := time.Now()
		next := w.open(ctx, ended.Add(w.run.crowd.Again))
		if !w.replace(ctx, i, next, time.Since(ended)) {
			return
		}
	}
}

// replace puts a socket in the place of one that ended. It reports whether there is one and the watch goes on.
func (w *watching) replace(ctx context.Context, i int, next *socket, away time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case ctx.Err() != nil && next != nil:
		_ = next.conn.Close() // it came too late
		return false
	case ctx.Err() != nil:
		return false
	case next == nil:
		w.cut++
		return false
	}
	_ = w.sockets[i].conn.Close() // it has ended
	w.sockets[i], w.back, w.away = next, w.back+1, max(w.away, away)
	return true
}

// open opens a socket, by some time; nil if that came to nothing. Pages do not all come at once.
func (w *watching) open(ctx context.Context, by time.Time) *socket {
	for time.Now().Before(by) {
		if seats.Sleep(ctx, againPause+rand.N(3*againPause)) != nil {
			return nil
		}
		if s, err := listen(ctx, w.run.url, w.path(), false); err == nil {
			return s
		}
	}
	return nil
}

func (w *watching) path() string { return "/events/" + w.run.venue.slug + "/live" }

// read takes frames and remembers of each one seat, any, that it shows as held, until the socket ends.
func (w *watching) read(s *socket) {
	for {
		frame, err := s.next()
		if err != nil {
			return
		}
		at := time.Now().UnixNano()
		if idx := heldIn(frame, at/1000); idx >= 0 {
			w.mu.Lock()
			if len(w.seen) < mostSights {
				w.seen = append(w.seen, sight{at, idx})
			}
			w.mu.Unlock()
		}
	}
}

// heldIn is one of the seats that a DELTA shows as held, chosen by luck; -1 for other frames and if there is none.
func heldIn(frame []byte, luck int64) int32 {
	kind, _, r := realtime.Open(frame)
	if kind != realtime.TypeDelta {
		return -1
	}
	r.Uvarint() // from
	r.Uvarint() // to
	r.Counts()
	n := eachHeld(r, func(int32) bool { return true })
	if n == 0 {
		return -1
	}
	found, nth := int32(-1), luck%int64(n)
	eachHeld(r, func(idx int32) bool {
		found = idx
		nth--
		return nth >= 0
	})
	return found
}

// eachHeld calls visit for the seats that the entries of a DELTA show as held, until it says no, and counts them.
func eachHeld(r realtime.Reader, visit func(idx int32) bool) (n int) {
	for idx := uint64(0); len(r.Rest) > 0; {
		entry := r.Uvarint()
		if idx += entry >> 2; entry&3 != heldBits || r.Short {
			continue
		}
		n++
		if !visit(int32(idx)) {
			break
		}
	}
	return n
}

// end waits for the last frames, closes the sockets and tells how long after each claim was decided they showed it.
func (w *watching) end(b *books) *latencies {
	lags := newLatencies()
	if len(w.sockets) == 0 {
		w.stop()
		return lags
	}
	_ = seats.Sleep(context.Background(), lastFrames) // the background does not end
	w.countLetGo()
	w.close()
	if w.cut > 0 {
		w.run.errors.Add(int64(w.cut))
		b.note("%d sockets of %d were cut while people came", w.cut, len(w.sockets))
	}
	bySeat := b.bySeat(len(w.run.venue.seats))
	ahead := (b.clock.least + b.clock.most) / 2
	for _, s := range w.seen {
		grants := bySeat[s.idx]
		after := sort.Search(len(grants), func(i int) bool { return grants[i].from > s.at+ahead })
		if after > 0 {
			lags.add(time.Duration(s.at + ahead - grants[after-1].from))
		}
	}
	return lags
}

const lastFrames = 500 * time.Millisecond

// countLetGo asks all dead sockets at once, for each takes its time.
func (w *watching) countLetGo() {
	var all sync.WaitGroup
	for _, s := range w.sockets[:w.run.crowd.Dead] {
		all.Go(func() {
			if s.ended() {
				w.mu.Lock()
				w.letGo++
				w.mu.Unlock()
			}
		})
	}
	all.Wait()
}

func (w *watching) close() {
	w.stop()
	w.mu.Lock()
	for _, s := range w.sockets {
		if s != nil {
			_ = s.conn.Close() // it only watched
		}
	}
	w.mu.Unlock()
	w.all.Wait()
}

// desks are live desks that organizers have open while the crowd comes.
type desks struct {
	stop context.CancelFunc
	all  sync.WaitGroup
	news atomic.Int64 // that were told to all of them
	size atomic.Int64 // bytes of it
	cut  atomic.Int64 // feeds that ended before the crowd was gone
}

var setupLink = regexp.MustCompile(`http://\S+/desk/setup/\S+`)

// SetupLink returns the link by which the first organizer of the server signs up.
func (s *Server) SetupLink(ctx context.Context) (string, error) {
	out, err := s.ask(ctx, "organizer", "link", "--url", s.URL)
	if err != nil {
		return "", err
	}
	if link := setupLink.FindString(out); link != "" {
		return link, nil
	}
	return "", fmt.Errorf("rush: no set-up link in %q", out)
}

// organize signs the first organizer up and returns a browser of theirs.
func organize(ctx context.Context, link string) (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form := url.Values{"name": {"Rush"}, "email": {"rush@example.org"}, "password": {"a crowd that comes to buy"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, link, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	a, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Body.Close() }() // nothing in it is wanted
	if a.StatusCode != http.StatusSeeOther {
		return nil, fmt.Errorf("rush: signing up at the desk is answered with status %d", a.StatusCode)
	}
	return client, nil
}

// openDesks opens the desks of the event, all before the crowd comes.
func openDesks(ctx context.Context, c *Crowd) (*desks, error) {
	d := &desks{}
	ctx, d.stop = context.WithCancel(ctx)
	if c.Desks == 0 {
		return d, nil
	}
	client, err := organize(ctx, c.Setup)
	if err != nil {
		d.close()
		return nil, err
	}
	for range c.Desks {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+"/desk/events/"+c.Event+"/live", nil)
		if err == nil {
			r.Header.Set("Accept", "text/event-stream")
			err = d.open(ctx, client, r)
		}
		if err != nil {
			d.close()
			return nil, err
		}
	}
	return d, nil
}

func (d *desks) open(ctx context.Context, client *http.Client, r *http.Request) error {
	a, err := client.Do(r)
	if err != nil {
		return err
	}
	if a.StatusCode != http.StatusOK {
		_ = a.Body.Close() // it is of no use
		return fmt.Errorf("rush: a live desk answers with status %d", a.StatusCode)
	}
	d.all.Go(func() {
		defer func() { _ = a.Body.Close() }() // it was read to its end
		lines := bufio.NewReaderSize(a.Body, 64<<10)
		for {
			line, err := lines.ReadSlice('\n')
			d.size.Add(int64(len(line)))
			if strings.HasPrefix(string(line[:min(len(line), 6)]), "data: ") {
				d.news.Add(1)
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				if ctx.Err() == nil {
					d.cut.Add(1)
				}
				return
			}
		}
	})
	return nil
}

func (d *desks) close() {
	d.stop()
	d.all.Wait()
}

// end closes the desks.
func (d *desks) end(r *run) {
	d.close()
	if n := d.cut.Load(); n > 0 {
		r.errors.Add(n)
		r.books.note("%d live desks of %d were cut while people came", n, r.crowd.Desks)
	}
}

// tell adds to a report what so many desks were told.
func (d *desks) tell(p *Report, n int) *Report {
	p.Desks, p.DeskNews, p.DeskMB = n, d.news.Load(), float64(d.size.Load())/(1<<20)
	return p
}

package rush

import (
	"context"
	"errors"
	"math/rand/v2"
	"sort"
	"sync"
	"time"

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

// follow reads a socket, and opens it again when it ends, as a page does: as long as somebody of the crowd asks again.
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

// replace puts a socket in the place of one that ended. It tells whether there is one, and somebody still watches.
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

func (w *watching) path() string { return "/events/" + w.run.house.slug + "/live" }

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
	if len(frame) < 5 || frame[0] != typeDelta {
		return -1
	}
	r := numbers{rest: frame[5:]}
	r.next() // from
	r.next() // to
	r.counts()
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
func eachHeld(r numbers, visit func(idx int32) bool) (n int) {
	for idx := uint64(0); len(r.rest) > 0; {
		entry := r.next()
		if idx += entry >> 2; entry&3 != heldBits || r.short {
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
	bySeat := b.bySeat(len(w.run.house.seats))
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

package rush

import (
	"container/heap"
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// run is a crowd under way.
type run struct {
	crowd    *Crowd
	url      *url.URL
	venue    *venue
	room     *room // nil without a waiting room
	opened   error // of closing its lobby
	people   []person
	books    *books
	schedule *schedule
	began    time.Time
	used     time.Duration // of the processors until then
	done     context.CancelFunc
	sessions tls.ClientSessionCache // of browsers that come again

	latencies *latencies // of every request, from the moment a person was ready to send it
	requests  atomic.Int64
	asked     *latencies   // of every claim, the same
	claims    atomic.Int64 // that were answered
	taken     atomic.Int64 // that were refused because other people were faster
	latest    atomic.Int64 // the most that a person came too late
	back      atomic.Int64 // people who give their seats back, or let them expire
	worked    atomic.Int64 // browsers that were checked
	waited    atomic.Int64 // claims that waited because their network held as many seats as it may
	handshakes,
	resumed atomic.Int64 // of TLS, and those of them that went on with an earlier session
	orders    atomic.Int64 // that were confirmed
	lastOrder atomic.Int64 // when, since the first person
	ends      [failed + 1]atomic.Int64
	errors    atomic.Int64
	open      atomic.Int64 // people who have something to do still
}

// Run lets the crowd come and judges what it was told. The error is for a crowd that could not come; what went wrong
// with those that did is in the report.
func Run(ctx context.Context, c *Crowd) (*Report, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r, err := newRun(ctx, c)
	if err != nil {
		return nil, err
	}
	watching, err := watch(ctx, r)
	if err != nil {
		return nil, err
	}
	desks, err := openDesks(ctx, c)
	if err != nil {
		watching.close()
		return nil, err
	}
	r.rush(ctx)
	seconds := time.Duration(r.now()).Seconds()
	lags := watching.end(r.books)
	desks.end(r)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("rush: stopped before the crowd was gone: %w", context.Cause(ctx))
	}
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	if r.opened != nil {
		return nil, fmt.Errorf("rush: close the lobby: %w", r.opened)
	}
	if r.room != nil {
		if err := r.judgeRoom(ctx); err != nil {
			return nil, err
		}
	}
	report := r.report(seconds, lags)
	report.Dead, report.LetGo = c.Dead, watching.letGo
	report.Back, report.Away = watching.back, float64(watching.away)/float64(time.Millisecond)
	return desks.tell(report, c.Desks), nil
}

func newRun(ctx context.Context, c *Crowd) (*run, error) {
	u, err := c.address()
	if err != nil {
		return nil, err
	}
	r := &run{crowd: c, url: u, books: &books{}, latencies: newLatencies(), asked: newLatencies(), people: make([]person, c.People), sessions: tls.NewLRUClientSessionCache(0)}
	l := newLine(u)
	defer l.close()
	if r.venue, err = look(ctx, l, c.Event); err != nil {
		return nil, err
	}
	if c.Scenario == Places && len(r.venue.areas) == 0 {
		return nil, fmt.Errorf("the event %q has no area, and places are in areas; choose another scenario", c.Event)
	}
	random := rand.New(rand.NewPCG(c.Seed, 0))
	for i := range r.people {
		r.people[i] = c.person(random)
	}
	for i := range c.bots() {
		p := &r.people[i]
		p.bot, p.phone, p.party, p.fate = true, true, c.most(), keeps
	}
	r.schedule = newSchedule(c.arrivals(random))
	if c.Still != nil {
		r.schedule.still = c.Still
	}
	r.open.Store(int64(c.People))
	if c.Scenario == Room {
		if r.room, err = r.newRoom(ctx, l); err != nil {
			return nil, err
		}
		for i := range r.room.tickets {
			r.room.tickets[i].absent = random.Float64() < c.Absent
		}
		r.schedule.urgent = true
		r.startLooking()
	}
	if c.Own {
		r.books.clock = offset{least: -sameClock, most: sameClock, fixed: true}
	}
	return r, nil
}

// rush lets all people come and returns when all of them are done.
func (r *run) rush(ctx context.Context) {
	ctx, r.done = context.WithCancel(ctx)
	defer r.done()
	r.began, r.used = time.Now(), processorTime()
	r.schedule.start()
	var all sync.WaitGroup
	all.Go(func() { r.schedule.run(ctx) })
	all.Go(func() { r.showProgress(ctx) })
	all.Go(func() { r.tellLive(ctx) })
	for range r.crowd.Connections {
		all.Go(func() { r.serve(ctx) })
	}
	all.Wait()
}

// serve lends one connection to person after person.
func (r *run) serve(ctx context.Context) {
	l := newLine(r.url)
	l.again = r.crowd.Again
	defer l.close()
	anew, known := l.security, l.security.Clone()
	known.ClientSessionCache = r.sessions
	for t := range r.schedule.ready {
		if t.who < 0 {
			if err := r.lookOn(ctx, l, t); err != nil && ctx.Err() == nil {
				r.errors.Add(1)
				r.books.note("a look at the line: %v", err)
			}
			continue
		}
		joins, claims := r.people[t.who].step == stepJoin, r.people[t.who].step == stepClaim
		if t.at == r.schedule.arrivals[t.who] {
			r.cameLate(r.now() - t.at)
		}
		if l.from, l.spread = t.who, r.crowd.Own; r.crowd.OneAddress {
			l.from = 0
		}
		if r.crowd.Handshakes {
			l.close()
			l.security = known
			if t.at == r.schedule.arrivals[t.who] {
				l.security = anew
			}
		}
		err := r.act(ctx, l, t.who)
		if conn, ok := l.conn.(*tls.Conn); ok && r.crowd.Handshakes {
			r.handshakes.Add(1)
			if conn.ConnectionState().DidResume {
				r.resumed.Add(1)
			}
		}
		if joins && err == nil {
			r.room.joins.add(time.Duration(r.now() - t.at))
		}
		if claims {
			r.asked.add(time.Duration(r.now() - t.at))
		}
		r.latencies.add(time.Duration(r.now() - t.at))
		r.requests.Add(1)
		if err != nil && ctx.Err() == nil {
			r.wentWrong(t.who, err)
		}
	}
}

// cameLate notes that a person came too late by so many nanoseconds: all connections were taken, or this process did not run.
func (r *run) cameLate(by int64) {
	for most := r.latest.Load(); by > most && !r.latest.CompareAndSwap(most, by); most = r.latest.Load() {
	}
}

func (r *run) wentWrong(who int32, err error) {
	r.errors.Add(1)
	r.books.note("person %d: %v", who, err)
	r.finish(who, failed)
}

// finish says how it ended for a person, the first time.
func (r *run) finish(who int32, how end) {
	p := &r.people[who]
	if p.end != under {
		return
	}
	p.end = how
	r.ends[how].Add(1)
	if how != got {
		p.claim = nil
		if p.inside && how != failed {
			r.hold(1)
			r.next(who, stepLeave, 0)
		}
	}
	r.hold(-1)
}

// hold keeps the crowd from being over (1), or lets it (-1).
func (r *run) hold(by int64) {
	if r.open.Add(by) == 0 {
		r.done()
	}
}

// next lets the person do the next thing after a while.
func (r *run) next(who int32, s step, after time.Duration) {
	r.people[who].step = s
	r.schedule.add(turn{r.now() + int64(after), who})
}

func (r *run) now() int64 { return r.schedule.now() }

// wall is the time by the clock of this machine, nanoseconds since 1970.
func wall() int64 { return time.Now().UnixNano() }

// random is a source for one decision of one person, the same in each crowd with the same seed.
func (r *run) random(who int32, n int) *rand.Rand {
	return rand.New(rand.NewPCG(r.crowd.Seed, uint64(who)<<20|uint64(n)+1))
}

// turn is when a person wants to do the next thing: nanoseconds since the crowd began to come.
type turn struct {
	at  int64
	who int32
}

// schedule hands out turns in the order of their time, none before it. A turn that no connection could take at its time keeps
// it: being late is part of what an attendee sees.
type schedule struct {
	began    time.Time
	still    *Standstill
	arrivals []int64 // by person, ascending
	ready    chan turn

	urgent bool // called people go before late arrivals

	mu    sync.Mutex
	come  int   // arrivals that were handed out
	later turns // what else is to be done
	wake  chan struct{}
}

func newSchedule(arrivals []int64) *schedule {
	return &schedule{still: &Standstill{}, arrivals: arrivals, ready: make(chan turn), wake: make(chan struct{}, 1)}
}

// start starts the clock of the crowd.
func (s *schedule) start() {
	stood, _ := s.still.Total()
	s.began = time.Now().Add(-stood)
}

// now is the time since the crowd began to come, without the times in which it stood still.
func (s *schedule) now() int64 {
	stood, _ := s.still.Total()
	return int64(time.Since(s.began) - stood)
}

// add puts a turn among those to come.
func (s *schedule) add(t turn) {
	s.mu.Lock()
	heap.Push(&s.later, t)
	first := s.later[0] == t
	s.mu.Unlock()
	if first {
		select {
		case s.wake <- struct{}{}:
		default: // it looks anyway
		}
	}
}

// next takes the earliest turn if its time has come; else it tells how long to wait.
func (s *schedule) next(now int64) (t turn, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const long = int64(time.Hour)
	arrival, other := now+long, now+long
	if s.come < len(s.arrivals) {
		arrival = s.arrivals[s.come]
	}
	if len(s.later) > 0 {
		other = s.later[0].at
	}
	if wait := min(arrival, other) - now; wait > 0 {
		return turn{}, time.Duration(wait)
	}
	if other < arrival || s.urgent && other <= now {
		return heap.Pop(&s.later).(turn), 0
	}
	s.come++
	return turn{arrival, int32(s.come - 1)}, 0
}

// run hands out turns until ctx is done.
func (s *schedule) run(ctx context.Context) {
	defer close(s.ready)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for s.still.Wait(ctx) == nil {
		t, wait := s.next(s.now())
		if wait == 0 {
			select {
			case s.ready <- t:
				continue
			case <-ctx.Done():
				return
			}
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// turns is a heap, the earliest first.
type turns []turn

func (t turns) Len() int           { return len(t) }
func (t turns) Less(i, j int) bool { return t[i].at < t[j].at }
func (t turns) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *turns) Push(x any)        { *t = append(*t, x.(turn)) }

func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

const (
	progressEvery = 200 * time.Millisecond
	barWidth      = 30
)

// showProgress draws how far the crowd is, on one line, until ctx is done.
func (r *run) showProgress(ctx context.Context) {
	w := r.crowd.Progress
	if w == nil {
		return
	}
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			fmt.Fprint(w, "\r\x1b[K")
			return
		case <-ticker.C:
			fmt.Fprint(w, "\r\x1b[K", r.progress())
		}
	}
}

func (r *run) progress() string {
	var n [failed + 1]int
	served := 0
	for i := range n {
		n[i] = int(r.ends[i].Load())
		served += n[i]
	}
	full := barWidth * served / len(r.people)
	return fmt.Sprintf("[%s%s] %s of %s people, %s got seats, %s sold out, %d errors, %.0f s",
		strings.Repeat("#", full), strings.Repeat(".", barWidth-full), Thousands(served), Thousands(len(r.people)),
		Thousands(n[got]), Thousands(n[toldSoldOut]), r.errors.Load(), time.Duration(r.now()).Seconds())
}

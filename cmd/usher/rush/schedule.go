package rush

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// turn is when a person wants to do the next thing: nanoseconds since the crowd began to come.
type turn struct {
	at  int64
	who int32
}

// schedule hands out turns in the order of their time, none before it. A turn that nobody could take at its time keeps
// it: being late is part of what an attendee sees.
type schedule struct {
	began    time.Time
	arrivals []int64 // by person, ascending
	ready    chan turn

	urgent bool // whoever was called does not stand behind arrivals that are late

	mu    sync.Mutex
	come  int   // arrivals that were handed out
	later turns // what else is to be done
	wake  chan struct{}
}

func newSchedule(arrivals []int64) *schedule {
	return &schedule{arrivals: arrivals, ready: make(chan turn), wake: make(chan struct{}, 1)}
}

// now is the time since the crowd began to come.
func (s *schedule) now() int64 { return int64(time.Since(s.began)) }

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
	for {
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

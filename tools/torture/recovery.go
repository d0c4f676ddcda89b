package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/seats"
)

// What is measured after a fault, and how long it may take.
const (
	afterKill     = "PostgreSQL killed: from accepting again to the first claim that was granted"
	afterKillAll  = "PostgreSQL killed: from the kill to the first claim that was granted"
	afterFailover = "standby promoted: from the death of the server to the first claim that was granted"
	afterPromoted = "standby promoted: from when it takes writes to the first claim that was granted"
	afterListen   = "LISTEN lost: until every socket shows what the database says"
	afterNode     = "a node died: until every socket shows what the database says"
	afterRestart  = "a node was restarted: the longest that a page had no socket"
)

// bars are the most that each may take; 0 is told only.
var bars = map[string]time.Duration{
	afterKill: 250 * time.Millisecond, afterListen: 2 * time.Second, afterNode: 5 * time.Second, afterRestart: 5 * time.Second, afterFailover: 3 * time.Second,
}

// Figure is how long something took, each time.
type Figure struct {
	Name   string  `json:"name"`
	Times  int     `json:"times"`
	Median float64 `json:"median_ms"`
	Worst  float64 `json:"worst_ms"`
	Bar    float64 `json:"bar_ms,omitempty"` // 0: there is none
	Missed int     `json:"missed"`           // how often it took longer than the bar
}

// figures collects them, and when claims were granted.
type figures struct {
	granted atomic.Int64 // when the last claim was granted, by our clock
	ordered atomic.Int64 // when the last order was confirmed
	refused atomic.Int64 // when a client last got no answer, or "unavailable"

	mu    sync.Mutex
	times map[string][]time.Duration
}

func (f *figures) add(name string, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.times == nil {
		f.times = map[string][]time.Duration{}
	}
	f.times[name] = append(f.times[name], took)
}

// list is every figure that there is, by name.
func (f *figures) list() (list []Figure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ms := func(d time.Duration) float64 { return round(float64(d) / 1e6) }
	for name, times := range f.times {
		slices.Sort(times)
		bar := bars[name]
		if slices.Contains(ClusterFaultNames(), name) {
			bar = outageBar
		}
		g := Figure{Name: name, Times: len(times), Median: ms(times[len(times)/2]), Worst: ms(times[len(times)-1]), Bar: ms(bar)}
		for _, t := range times {
			if bar > 0 && t > bar {
				g.Missed++
			}
		}
		list = append(list, g)
	}
	names := append(slices.Clone(figureNames), ClusterFaultNames()...)
	slices.SortFunc(list, func(a, b Figure) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
	return list
}

var figureNames = []string{afterKill, afterKillAll, afterFailover, afterPromoted, afterListen, afterNode, afterRestart}

// firstGrant waits for the next claim that is granted, and notes how long it took from each of some moments.
func (r *run) firstGrant(ctx context.Context, since map[string]int64) {
	newest := int64(0)
	for _, at := range since {
		newest = max(newest, at)
	}
	for deadline := time.Now().Add(answerTime); time.Now().Before(deadline); {
		if at := r.figures.granted.Load(); at > newest {
			for name, from := range since {
				r.figures.add(name, time.Duration(at-from))
			}
			return
		}
		if seats.Sleep(ctx, time.Millisecond) != nil {
			return
		}
	}
}

// calm waits until every socket is right and everybody gets answers, so that what is measured next is measured alone. It
// tells whether that came to be.
func (r *run) calm(ctx context.Context) bool {
	if r.settings.Until != nil {
		return false // nothing is measured where a bug is
	}
	for deadline := time.Now().Add(calmTime); time.Now().Before(deadline); {
		if t, err := r.truth(ctx); err == nil && r.shown(&t) && r.history.now()-r.figures.refused.Load() > int64(500*time.Millisecond) {
			return true
		}
		if seats.Sleep(ctx, 100*time.Millisecond) != nil {
			return false
		}
	}
	return false
}

const calmTime = 15 * time.Second

// shown reports whether every socket shows the truth, or what came after it.
func (r *run) shown(t *truth) bool {
	for _, w := range r.watchers {
		if epoch, version, _ := w.now(); epoch != t.epoch || version < t.version {
			return false
		}
	}
	return true
}

// socketsRight notes how long it takes from a moment until every socket shows what the database says after it.
func (r *run) socketsRight(ctx context.Context, name string, since int64) {
	if r.awaitSockets(ctx, since) {
		r.figures.add(name, time.Duration(r.history.now()-since))
	}
}

// socketsBack waits for the same, and notes the longest time for which a page had no socket.
func (r *run) socketsBack(ctx context.Context, name string, since int64) {
	if !r.awaitSockets(ctx, since) {
		return
	}
	longest := time.Duration(0)
	for _, w := range r.watchers {
		w.mu.Lock()
		for _, g := range w.gaps {
			if g.at.UnixNano() > since {
				longest = max(longest, g.took)
			}
		}
		if !w.ended.IsZero() {
			longest = max(longest, time.Since(w.ended)) // it is not back yet
		}
		w.mu.Unlock()
	}
	r.figures.add(name, longest)
}

// awaitSockets waits until every socket shows what the database says, or for long enough. False if that cannot be told.
func (r *run) awaitSockets(ctx context.Context, since int64) bool {
	t, err := r.truth(ctx)
	for err == nil && !r.shown(&t) {
		if r.history.now()-since > int64(calmTime) || seats.Sleep(ctx, 2*time.Millisecond) != nil {
			break
		}
	}
	return err == nil && ctx.Err() == nil
}

// others is a time in which one node is away. Clients of the others must notice nothing.
type others struct {
	away int
	from int64
}

// disturbed notes that a request to a node failed. It must not have, if all that was wrong was that another one was away.
func (r *run) disturbed(node int, started int64, what string) {
	r.figures.refused.Store(r.history.now())
	if o := r.alone.Load(); o != nil && o.away != node && started > o.from {
		r.history.violated("nodes", "node %d was away, and a client of node %d noticed: %s", o.away, node, what)
	}
}

// judgeFigures holds the figures against their bars.
func (r *run) judgeFigures() {
	for _, f := range r.figures.list() {
		if f.Missed > 0 && r.settings.Bars {
			r.history.violated("recovery", "%s: %d of %d times longer than %.0f ms; the worst was %.0f ms", f.Name, f.Missed, f.Times, f.Bar, f.Worst)
		}
	}
}

package realtime

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/usherbox/usher/seats"
)

// house is everybody who watches one event, or one waiting room. A round tells all of them; then it rests. The hub's mu guards all but edition.
type house struct {
	sale     *seats.Sale // nil: it is a waiting room
	room     Room        // nil: it is an event
	roomID   int64
	edition  atomic.Pointer[edition]
	watchers []*watcher

	turning  bool          // a round is under way or rests
	again    bool          // something changed since it began
	called   []*watcher    // of the round under way
	cost     time.Duration // of the last round
	audit    *time.Timer   // set while changes await their audit
	auditDue bool
}

const (
	leastTick  = 100 * time.Millisecond // between two frames to one page; the first after a rest goes at once
	mostTick   = time.Second
	auditEvery = 30 * time.Second
	many       = 512 // watchers that are worth another processor
)

// pace finds the tick: so long that rounds take at most a third of the processors.
type pace struct {
	least time.Duration
	load  time.Duration // what the last rounds of all houses took, one processor's time
}

const share = 3

func (p *pace) tick() time.Duration {
	return min(max(p.load*share/time.Duration(runtime.GOMAXPROCS(0)), p.least), mostTick)
}

// wake starts a round, or has one follow the one under way. The caller holds h.mu.
func (h *Hub) wake(house *house) {
	if house.turning {
		house.again = true
		return
	}
	house.turning = true
	go h.round(house)
}

// round brings everybody to a new edition and then rests for what is left of a tick.
func (h *Hub) round(house *house) {
	began := time.Now()
	h.mu.Lock()
	house.again = false
	audited := house.auditDue
	house.called = append(house.called[:0], house.watchers...)
	h.mu.Unlock()

	now := house.next(audited)
	house.edition.Store(now)
	cost := each(house.called, (*watcher).tell)

	h.mu.Lock()
	defer h.mu.Unlock()
	clear(house.called) // who leaves must not stay in memory
	h.pace.load += cost - house.cost
	house.cost = cost
	h.planAudit(house, now)
	time.AfterFunc(max(h.pace.tick()-time.Since(began), 0), func() { h.rested(house) })
}

// next is the edition after the one that everybody has.
func (house *house) next(audited bool) *edition {
	before := house.edition.Load()
	if house.room != nil {
		return newNotice(house.room, before.version)
	}
	most := before.version
	if epoch, _ := house.sale.At(); before.epoch != epoch {
		most = none
	}
	return newEdition(house.sale, most, audited)
}

func (h *Hub) rested(house *house) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if house.again && len(house.watchers) > 0 {
		go h.round(house)
		return
	}
	h.pace.load -= house.cost
	house.cost, house.turning = 0, false
}

// planAudit has every change followed by an audit, some time later and not one by one. The caller holds h.mu.
func (h *Hub) planAudit(house *house, now *edition) {
	if now.audit != nil {
		house.auditDue = false
		return
	}
	if house.room != nil || house.audit != nil || len(house.watchers) == 0 {
		return
	}
	house.audit = time.AfterFunc(h.audits, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		house.audit = nil
		if len(house.watchers) > 0 {
			house.auditDue = true
			h.wake(house)
		}
	})
}

// forget lets go of what nobody watches any more. The caller holds h.mu.
func (h *Hub) forget(house *house) {
	if house.room != nil {
		delete(h.rooms, house.roomID)
		return
	}
	delete(h.houses, house.sale.Event.ID)
	if house.audit != nil {
		house.audit.Stop()
	}
}

// each calls do for all of them, on more than one processor if they are many, and returns the processors' time it took.
func each(all []*watcher, do func(*watcher)) time.Duration {
	parts := min(runtime.GOMAXPROCS(0), 1+len(all)/many)
	if parts == 1 {
		return one(all, do)
	}
	var busy atomic.Int64
	var done sync.WaitGroup
	for part := range parts {
		done.Go(func() { busy.Add(int64(one(all[part*len(all)/parts:(part+1)*len(all)/parts], do))) })
	}
	done.Wait()
	return time.Duration(busy.Load())
}

func one(all []*watcher, do func(*watcher)) time.Duration {
	return worked(func() {
		for _, w := range all {
			do(w)
		}
	})
}

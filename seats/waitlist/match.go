package waitlist

import (
	"slices"
	"time"

	"github.com/usherbox/usher/seats"
)

// waiter is an entry as a round reads it.
type waiter struct {
	id      int64
	rank    int64
	since   time.Time // since when it waits for these seats
	wanted  seats.Wanted
	passed  string     // as noted before
	had     int        // with it
	gathers *time.Time // until when seats are gathered for it, or were
}

// match is one walk down the list: what is offered to whom, and who is passed over. Plain Go over what was read.
type match struct {
	pool    *seats.Pool
	kept    map[int]bool // seats of the pool that are kept: only they are gathered
	resting map[int64]bool
	gathers bool      // the event is far enough away for gathering seats
	now     time.Time // of the database

	chosen   []chosen
	passes   []pass
	seen     int       // entries looked at
	served   int       // passes up to the last entry that is offered something
	rested   []waiter  // those that come after everybody else
	gathered []int     // seats kept for a group
	group    int64     // the group; 0 for none
	gatherTo time.Time // until when
	begins   bool      // the gathering begins now
}

// chosen is seats for an entry.
type chosen struct {
	waiter
	seats []int
}

// pass is an entry that is passed over.
type pass struct {
	id     int64
	since  time.Time // since when it waits
	reason string
	had    int
	known  bool // it was noted before
}

// mostTold is how many of the first entries are told why nothing fits even if no later entry is offered anything.
const mostTold = 200

// next looks at the next entry by rank; false if nothing is left to give.
func (m *match) next(w waiter) bool {
	if m.over() {
		return false
	}
	m.seen++
	if m.resting[w.id] {
		m.rested = append(m.rested, w)
		m.pass(w, PassedMissed, 0)
		return true
	}
	if seats := m.pool.Take(w.wanted); seats != nil {
		m.chosen = append(m.chosen, chosen{w, seats})
		m.served = len(m.passes)
		return true
	}
	m.gather(w)
	reason, had := m.why(w)
	m.pass(w, reason, had)
	return true
}

// over tells that nothing is left to give. The first of the list are told of what is gathered.
func (m *match) over() bool { return m.pool.Len() == 0 && (m.group == 0 || m.seen >= mostTold) }

// finish gives what is left to entries that let the same seats go by: better they than none.
func (m *match) finish() {
	for _, w := range m.rested {
		seats := m.pool.Take(w.wanted)
		if seats == nil {
			continue
		}
		at := slices.IndexFunc(m.passes, func(p pass) bool { return p.id == w.id })
		m.served = max(m.served, at+1)
		m.passes[at].known = !slices.ContainsFunc(m.chosen, w.before) // no later entry is asked first: it is not passed over after all
		m.chosen = append(m.chosen, chosen{w, seats})
	}
}

// before reports whether an entry that is offered seats waits behind this one.
func (w waiter) before(c chosen) bool { return w.rank < c.rank || w.rank == c.rank && w.id < c.id }

func (m *match) pass(w waiter, reason string, had int) {
	m.passes = append(m.passes, pass{w.id, w.since, reason, had, w.passed == reason && w.had >= had})
}

// why says what is missing for an entry, and how many seats there are where it would sit.
func (m *match) why(w waiter) (reason string, had int) {
	had = len(m.pool.Welcome(w.wanted))
	if m.group == w.id {
		had = len(m.gathered)
	}
	for _, idx := range m.gathered {
		if m.group != w.id && m.pool.Welcomes(w.wanted, idx) {
			return PassedGathered, had
		}
	}
	switch {
	case had == 0:
		return PassedNone, 0
	case had < w.wanted.Quantity:
		return PassedFew, had
	}
	return PassedApart, had
}

// gatherFor is how long seats are gathered for a group at most, once.
const gatherFor = time.Hour

// gather keeps what there is for a group, if it is the first one and its hour is not over.
func (m *match) gather(w waiter) {
	if !m.gathers || m.group != 0 || w.wanted.Quantity < 2 || w.gathers != nil && !w.gathers.After(m.now) {
		return
	}
	var some []int
	for _, idx := range m.pool.Welcome(w.wanted) {
		if m.kept[idx] && len(some) < w.wanted.Quantity {
			some = append(some, idx)
		}
	}
	if len(some) == 0 {
		return
	}
	m.group, m.gathered, m.begins, m.gatherTo = w.id, some, w.gathers == nil, m.now.Add(gatherFor)
	if w.gathers != nil {
		m.gatherTo = *w.gathers
	}
	m.pool.Remove(some)
}

// told are the entries that need a stored reason: all before the last one that is offered something, and
// the first of the list in any case.
func (m *match) told() (list []pass) {
	for i, p := range m.passes {
		if !p.known && (i < m.served || i < mostTold) {
			list = append(list, p)
		}
	}
	return list
}

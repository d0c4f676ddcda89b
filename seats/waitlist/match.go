package waitlist

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// waiter is an entry as a round reads it.
type waiter struct {
	id      int64
	rank    int64
	since   time.Time // when it began to wait for these seats
	wanted  Wanted
	passed  string     // the recorded reason for passing it over
	had     int        // and the recorded number of seats
	gathers *time.Time // end of gathering seats for it
}

// match is one walk down the list in memory: it chooses seats for entries, and notes the entries that are passed over.
type match struct {
	pool       *allocator
	waitlisted map[int]bool // seats of the pool that are reserved: only they are gathered
	resting    map[int64]bool
	gathers    bool      // the event is far enough away for gathering seats
	now        time.Time // of the database

	chosen   []chosen
	passes   []pass
	seen     int       // entries looked at
	served   int       // passes before the last entry with an offer
	rested   []waiter  // entries that come after all others
	gathered []int     // seats reserved for a group
	group    int64     // the group; 0 for none
	gatherTo time.Time // until when
	begins   bool      // the gathering begins now
}

// chosen is an entry with the seats to offer.
type chosen struct {
	waiter
	seats []int
}

// pass is an entry that is passed over.
type pass struct {
	id     int64
	since  time.Time // when it began to wait
	reason string
	had    int
	known  bool // recorded before
}

// mostTold is how many of the first entries learn why nothing fits even if no entry behind them gets an offer.
const mostTold = 200

// next handles the next entry by rank. It returns false if no seats are left.
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
	if seats := m.pool.take(w.wanted); seats != nil {
		m.chosen = append(m.chosen, chosen{w, seats})
		m.served = len(m.passes)
		return true
	}
	m.gather(w)
	reason, had := m.why(w)
	m.pass(w, reason, had)
	return true
}

// over reports that no seats are left. The first entries of the list still learn of seats that are gathered.
func (m *match) over() bool { return len(m.pool.has) == 0 && (m.group == 0 || m.seen >= mostTold) }

// finish gives the remaining seats to entries that missed an offer a moment before.
func (m *match) finish() {
	for _, w := range m.rested {
		seats := m.pool.take(w.wanted)
		if seats == nil {
			continue
		}
		at := slices.IndexFunc(m.passes, func(p pass) bool { return p.id == w.id })
		m.served = max(m.served, at+1)
		m.passes[at].known = !slices.ContainsFunc(m.chosen, w.before) // without an offer to an entry behind it, it is not passed over
		m.chosen = append(m.chosen, chosen{w, seats})
	}
}

// before reports whether the entry waits before a chosen one.
func (w waiter) before(c chosen) bool { return w.rank < c.rank || w.rank == c.rank && w.id < c.id }

func (m *match) pass(w waiter, reason string, had int) {
	m.passes = append(m.passes, pass{w.id, w.since, reason, had, w.passed == reason && w.had >= had})
}

// why returns the reason why no seats fit an entry, and how many acceptable seats there are.
func (m *match) why(w waiter) (reason string, had int) {
	had = len(m.pool.accepted(w.wanted))
	if m.group == w.id {
		had = len(m.gathered)
	}
	for _, idx := range m.gathered {
		if m.group != w.id && w.wanted.Accepts(m.pool.sale.Plan, idx) {
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

// gatherFor is how long seats are gathered for a group. Each group gets this time once.
const gatherFor = time.Hour

// gather reserves acceptable seats for a group, if it is the first one in the list and its hour is not over.
func (m *match) gather(w waiter) {
	if !m.gathers || m.group != 0 || w.wanted.Quantity < 2 || w.gathers != nil && !w.gathers.After(m.now) {
		return
	}
	var some []int
	for _, idx := range m.pool.accepted(w.wanted) {
		if m.waitlisted[idx] && !m.pool.sale.Grouped(idx) && len(some) < w.wanted.Quantity {
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
	m.pool.remove(some)
}

// told returns the passed-over entries to record: those before the last entry with an offer, and the first of the list in
// any case.
func (m *match) told() (list []pass) {
	for i, p := range m.passes {
		if !p.known && (i < m.served || i < mostTold) {
			list = append(list, p)
		}
	}
	return list
}

// give offers the available and reserved seats to waiting entries.
func (l *List) give(ctx context.Context, s *seats.Sale, st standing, found settled) (again bool, err error) {
	waitlisted, free := s.Waitlisted(), s.FreeSeats()
	if len(waitlisted)+len(free) == 0 {
		return false, nil
	}
	m := &match{
		pool: newAllocator(s, append(free, waitlisted...)), waitlisted: map[int]bool{}, resting: found.resting,
		gathers: st.starts.Sub(st.now) > 7*24*time.Hour, now: st.now,
	}
	for _, idx := range waitlisted {
		m.waitlisted[idx] = true
	}
	if err := l.walk(ctx, s.Event.ID, m); err != nil {
		return false, err
	}
	if err := l.notePasses(ctx, s.Event.ID, m); err != nil {
		return false, err
	}
	again, err = l.offer(ctx, s, st, m.chosen)
	if err != nil || again {
		return again, err
	}
	var over []int
	for _, idx := range m.pool.left() {
		if m.waitlisted[idx] {
			over = append(over, idx)
		}
	}
	if m.group != 0 {
		l.later(s.Event.Slug, m.gatherTo.Sub(st.now))
		if err := l.extendHold(ctx, s); err != nil {
			return false, err
		}
	}
	return false, l.letGo(ctx, s, over)
}

// chunk is how many entries are read at once.
const chunk = 4096

const waitersSQL = `
SELECT id, rank, waits_since, quantity, sections, categories, together, fewer, coalesce(passed, ''), coalesce(had, 0), gather_until
  FROM entry
 WHERE event_id = $1 AND state = 'waiting' AND (rank, id) > ($2, $3)
 ORDER BY rank, id
 LIMIT $4`

// walk goes down the list by rank until no seats are left.
func (l *List) walk(ctx context.Context, event int64, m *match) error {
	var after waiter
	for {
		rows, err := l.db.Query(ctx, waitersSQL, event, after.rank, after.id, chunk)
		if err != nil {
			return fmt.Errorf("waitlist: read the list: %w", err)
		}
		list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w waiter, err error) {
			return w, row.Scan(&w.id, &w.rank, &w.since, &w.wanted.Quantity, &w.wanted.Sections, &w.wanted.Categories, &w.wanted.Together, &w.wanted.Fewer, &w.passed, &w.had, &w.gathers)
		})
		if err != nil {
			return fmt.Errorf("waitlist: read the list: %w", err)
		}
		for _, w := range list {
			if !m.next(w) {
				break
			}
		}
		if m.over() || len(list) < chunk {
			m.finish()
			return nil
		}
		after = list[len(list)-1]
	}
}

// passed_at and passed_in keep their first values, which are before the first offer to an entry behind. An entry that was
// changed since the walk read it is not recorded.
const passSQL = `
WITH fresh AS (
    UPDATE entry n SET passed = p.reason, had = p.had, passed_at = coalesce(n.passed_at, clock_timestamp()), passed_in = coalesce(n.passed_in, pg_current_xact_id())
      FROM (SELECT * FROM unnest($2::bigint[], $3::text[], $4::integer[], $5::timestamptz[]) AS p(id, reason, had, since) ORDER BY id) p
     WHERE n.id = p.id AND n.state = 'waiting' AND n.waits_since = p.since
    RETURNING n.id, p.reason, p.had
)
INSERT INTO wait_step (event_id, entry_id, what, detail) SELECT $1, id, 'passed over', format('%s: %s', reason, had) FROM fresh`

const gatherSQL = `UPDATE entry SET gather_until = $2 WHERE id = $1 AND state = 'waiting' AND gather_until IS NULL`

// notePasses records the passed-over entries. It runs before any offer is made.
func (l *List) notePasses(ctx context.Context, event int64, m *match) error {
	var ids []int64
	var reasons []string
	var had []int32
	var since []time.Time
	for _, p := range m.told() {
		ids, reasons, had, since = append(ids, p.id), append(reasons, p.reason), append(had, int32(p.had)), append(since, p.since)
	}
	var errs []error
	if len(ids) > 0 {
		_, err := l.db.Exec(ctx, passSQL, event, ids, reasons, had, since)
		errs = append(errs, err)
	}
	if m.group != 0 && m.begins {
		_, err := l.db.Exec(ctx, gatherSQL, m.group, m.gatherTo)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("waitlist: record passed-over entries: %w", err)
	}
	return nil
}

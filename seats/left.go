package seats

import (
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A choice made by us takes available seats first. Seats of expired holds may be claimed by everybody, but their last
// holder may still come back for them: they are chosen only when nothing else fits, the longest expired first.

// The map at the version of the counts shows every available seat and every expired one, but not since when a seat is
// expired, and not the holds whose end was not announced yet. Those of all events are few, those of this one ever were
// many: OFFSET keeps the planner from reading the event's. Seats that somebody else took since still stand in such a hold.
const leftSQL = `
SELECT c.version, s.idx, s.expires_at
  FROM counter c
       LEFT JOIN LATERAL (
           SELECT s.idx, s.expires_at
             FROM (SELECT event_id, holder, seats FROM hold WHERE NOT lapsed AND expires_at <= statement_timestamp() OFFSET 0) overdue,
                  LATERAL (SELECT idx, holder, expires_at FROM seat_state WHERE event_id = $1 AND idx = ANY(overdue.seats) OFFSET 0) s
            WHERE overdue.event_id = $1 AND s.holder = overdue.holder
            UNION ALL
           SELECT idx, expires_at FROM seat_state WHERE event_id = $1 AND idx = ANY($2::integer[]) AND state = 2 /* lapsed */) s ON true
 WHERE c.event_id = $1`

// late is what the database says beside the map, for claims of a batch that found too few available seats.
type late struct {
	version int64             // of the event
	lapsed  []int32           // seats that are expired on the map
	ends    map[int]time.Time // when expired seats expired
	expired []int             // the same seats, the longest expired first
	meant   map[int]bool      // seats that one claim tries in the next batch
	short   map[scope]int     // the least number that was not to be had, and
	left    map[scope]int     // what was
	soon    map[scope]int     // the least number that was to be had only of seats meant for other claims
}

// ask makes the batch read what the map may lack. The map's lock is held.
func (b *batch) ask(m *seatMap) {
	if b.asks {
		return
	}
	b.asks = true
	b.late = late{lapsed: []int32{}, ends: map[int]time.Time{}, meant: map[int]bool{}, short: map[scope]int{}, left: map[scope]int{}, soon: map[scope]int{}}
	for idx, state := range m.states {
		if state == Lapsed {
			b.late.lapsed = append(b.late.lapsed, int32(idx))
		}
	}
}

// queueLeft reads it with the locks.
func (b *batch) queueLeft(q *pgx.Batch) {
	if !b.asks {
		return
	}
	l := &b.late
	q.Queue(leftSQL, b.sale.Event.ID, l.lapsed).Query(func(rows pgx.Rows) error {
		var idx *int
		var end *time.Time
		_, err := pgx.ForEachRow(rows, []any{&l.version, &idx, &end}, func() error {
			if idx != nil && end != nil {
				l.ends[*idx] = *end
				l.expired = append(l.expired, *idx)
			}
			return nil
		})
		slices.SortFunc(l.expired, func(a, b int) int {
			if by := l.ends[a].Compare(l.ends[b]); by != 0 {
				return by
			}
			return a - b
		})
		return err
	})
}

// chooseLate is for a claim for which choose found too few available seats. Either there are enough after all, and these
// are tried in the next batch, by this claim alone; or the refusal is the truth of this moment, provided that the batch
// before is committed.
func (b *batch) chooseLate(c *command) (Hold, error) {
	old := b.replaced(c)
	if has := b.has(c.holder) - len(old); has+c.choice.n > b.terms.limit {
		return Hold{}, overLimit(b.terms.limit, has)
	}
	l, at, n := &b.late, c.choice.scope, c.choice.n
	if least, tried := l.short[at]; tried && n >= least {
		return Hold{}, soldOut(l.left[at], n, len(old))
	}
	if least, tried := l.soon[at]; tried && n >= least {
		return Hold{}, errChooseAgain
	}
	m := &b.sale.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.version < l.version {
		b.behind = true
		return Hold{}, errChooseAgain
	}
	c.missed++
	if c.seats = b.bestLate(c.choice, func(idx int) bool { return !l.meant[idx] }); len(c.seats) == n {
		c.late = true
		for _, idx := range c.seats {
			l.meant[idx] = true
		}
		return Hold{}, errChooseAgain
	}
	c.seats = nil
	left := b.bestLate(c.choice, func(int) bool { return true })
	if len(left) == n {
		l.soon[at] = n
		return Hold{}, errChooseAgain
	}
	l.short[at], l.left[at] = n, len(left)
	return Hold{}, soldOut(len(left), n, len(old))
}

// bestLate picks seats at this point of the batch, of those for which may holds: available seats, and expired ones as far
// as those are too few, the longest expired first. If all of them are too few, it returns what there is. The map's lock is
// held, and the map is at the version of the counts.
func (b *batch) bestLate(c *choice, may func(idx int) bool) (seats []int) {
	m, t, coming := &b.sale.seats, b.sale.stretches, b.coming()
	available := func(idx int) bool {
		if _, ours := b.dirty[idx]; ours {
			return b.rows[idx].holder == (ID{}) && may(idx)
		}
		return m.states[idx] == Free && !coming(idx) && may(idx)
	}
	more := map[int32]int{} // beyond what the map shows
	for idx := range b.dirty {
		more[m.of[idx]]++
	}
	open := func(i int32) int { return int(m.open[i]) + more[i] }
	for _, i := range t.in(c.scope) {
		if len(seats) >= c.n {
			break
		}
		if open(i) == 0 {
			continue
		}
		for idx := t.all[i].first; idx < t.all[i].first+t.all[i].count && len(seats) < c.n; idx++ {
			if available(idx) {
				seats = append(seats, idx)
			}
		}
	}
	if len(seats) >= c.n {
		return b.sale.best(c, available, open)
	}
	for _, idx := range b.late.expired {
		if len(seats) == c.n {
			break
		}
		if b.sale.inScope(idx, c.scope) && !available(idx) && b.expired(idx, m.states[idx], coming) && may(idx) {
			seats = append(seats, idx)
		}
	}
	for idx, state := range m.states { // expired ones whose end was announced after the batch asked
		if len(seats) == c.n {
			break
		}
		if _, known := b.late.ends[idx]; state == Lapsed && !known && b.sale.inScope(idx, c.scope) && !available(idx) && b.expired(idx, state, coming) && may(idx) {
			seats = append(seats, idx)
		}
	}
	slices.Sort(seats)
	return seats
}

// expired reports whether anybody may take a seat whose hold had expired when the locks were taken.
func (b *batch) expired(idx int, shown State, coming func(int) bool) bool {
	if _, ours := b.dirty[idx]; ours {
		return b.mayTake(b.rows[idx], ID{})
	}
	switch shown {
	case Lapsed:
		return !coming(idx)
	case Held, Paying: // its end was not announced
		return !b.listed
	default:
		return false
	}
}

// inScope reports whether a seat is one of those that a choice may be made of.
func (s *Sale) inScope(idx int, at scope) bool {
	if idx >= len(s.Plan.Seats) {
		return false // the plan has grown, and the claim comes again
	}
	seat := &s.Plan.Seats[idx]
	return (at.section < 0 || seat.Section == at.section) && (at.category < 0 || seat.Category == at.category)
}

// soldOut refuses a claim for n seats where so many are left. held is how many seats it was to replace.
func soldOut(left, n, held int) *Refusal {
	switch {
	case held > 0:
		return &Refusal{Code: CodeSoldOut, Message: "There are no other seats like these. The seats you have are still held."}
	case left == 0:
		return &Refusal{Code: CodeSoldOut, Message: "Nothing is left here at this moment. Seats that are only held may come back; what you hold is still yours."}
	}
	return &Refusal{Code: CodeSoldOut, Message: fmt.Sprintf("Only %s left here, and you asked for %d. Ask for fewer; what you hold is still yours.", places(left), n)}
}

// countIn sums the counts of a scope. It is not known for an area that shares its category with other seats.
func (s *Sale) countIn(at scope, counts []int) (n int, known bool) {
	switch {
	case at.section < 0 && at.category < 0:
		return sum(counts), true
	case at.section < 0:
		return counts[at.category], true
	}
	category := s.stretches.only[at.section]
	if category < 0 || s.stretches.seats[category] != s.Plan.Sections[at.section].Count {
		return 0, false
	}
	return counts[category], true
}

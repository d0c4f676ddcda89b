package seats

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A map at the version of the counts shows every free seat, but for those of holds whose time is up and whose end
// was not announced yet: nobody need wait for the announcement. Those of all events are few, those of this one ever
// were many: OFFSET keeps the planner from reading the event's.
const leftSQL = `
SELECT version,
       ARRAY(SELECT unnest(seats)
               FROM (SELECT event_id, seats FROM hold WHERE NOT lapsed AND expires_at <= statement_timestamp() OFFSET 0) overdue
              WHERE event_id = $1)
  FROM counter
 WHERE event_id = $1`

// queueLeft asks the database, with the locks, for what the map may lack, if a claim found too little there.
func (b *batch) queueLeft(q *pgx.Batch) {
	if !b.asks {
		return
	}
	q.Queue(leftSQL, b.sale.Event.ID).QueryRow(func(r pgx.Row) error {
		var overdue []int
		err := r.Scan(&b.counted, &overdue)
		for _, idx := range overdue {
			b.overdue[idx] = true
		}
		return err
	})
}

// chooseLate is for a claim for which choose found too little: either there is enough after all, then these seats are
// tried in the next batch, or the refusal is the truth of this moment, provided that the batch before is committed.
func (b *batch) chooseLate(c *command) (Hold, error) {
	if h, live := b.live(c.holder); live && len(b.still(h))+c.choice.n > b.terms.limit {
		return Hold{}, overLimit(b.terms.limit)
	}
	if n, tried := b.short[c.choice.scope]; tried && c.choice.n >= n {
		return Hold{}, soldOut(b.left[c.choice.scope], c.choice.n)
	}
	m := &b.sale.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.version < b.counted {
		b.behind = true
		return Hold{}, errChooseAgain
	}
	free, open := b.openNow()
	if c.seats = b.sale.best(c.choice, free, open); c.seats != nil {
		c.missed++
		return Hold{}, errChooseAgain
	}
	left := c.choice.n - 1
	for ; left > 0 && b.sale.best(&choice{c.choice.scope, left}, free, open) == nil; left-- {
	}
	b.short[c.choice.scope], b.left[c.choice.scope] = c.choice.n, left
	return Hold{}, soldOut(left, c.choice.n)
}

// openNow is what anybody may claim at this point of the batch, and the most of it that each stretch may have. The
// map's lock is held, and the map is at the version of the counts.
func (b *batch) openNow() (free func(idx int) bool, open func(stretch int32) int) {
	m, coming := &b.sale.seats, b.coming()
	free = func(idx int) bool {
		if _, ours := b.dirty[idx]; ours {
			return b.mayTake(b.rows[idx], ID{})
		}
		return m.states[idx].Shown() == Free && !coming(idx) || b.overdue[idx] && !b.listed
	}
	more := map[int32]int{} // beyond what the map shows
	for idx := range b.overdue {
		more[m.of[idx]]++
	}
	for idx := range b.dirty {
		more[m.of[idx]]++
	}
	return free, func(i int32) int { return int(m.open[i]) + more[i] }
}

func soldOut(left, wanted int) *Refusal {
	if left == 0 {
		return &Refusal{Code: CodeSoldOut, Message: "Nothing is left here at this moment. Seats that are only held may come back; what you hold is still yours."}
	}
	return &Refusal{Code: CodeSoldOut, Message: fmt.Sprintf("Only %s left here, and you asked for %d. Ask for fewer; what you hold is still yours.", places(left), wanted)}
}

// categoryOf is the category whose count is that of a scope; -1 for an area that shares its category with other seats.
func (s *Sale) categoryOf(at scope) int {
	if at.section < 0 {
		return at.category
	}
	category := s.stretches.only[at.section]
	if category >= 0 && s.stretches.seats[category] == s.Plan.Sections[at.section].Count {
		return category
	}
	return -1
}

package seats

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// errChooseAgain sends a claim back into the lane: the seats chosen for it went to somebody else.
var errChooseAgain = errors.New("the seats chosen are gone")

// scope is where a choice may be made: in one area, or in one category. The other is -1.
type scope struct{ section, category int }

// choice is a claim that leaves it to us which seats.
type choice struct {
	scope
	n int
}

// choose picks seats for the choices of the batch from this node's map, each seat for one claim only. The map may be
// behind; the lock finds out. Where the map saw too little or was wrong, the database is asked before anybody is refused.
func (b *batch) choose() {
	m := &b.sale.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, c := range b.commands {
		if c.choice == nil {
			continue
		}
		if c.seats == nil && !c.again {
			c.seats = b.sale.Plan.best(c.choice, func(idx int) bool { return m.states[idx].Shown() == Free && !b.picked[idx] })
		}
		if c.seats == nil {
			b.openings[c.choice.scope] = nil
		}
		for _, idx := range c.seats {
			b.picked[idx] = true
		}
	}
}

const openingsSQL = `
SELECT s.idx
  FROM seat_state s JOIN seat USING (event_id, idx)
 WHERE s.event_id = $1 AND ($2::integer = -1 OR seat.section = $2) AND ($3::integer = -1 OR seat.category = $3)
   AND (s.holder IS NULL OR s.expires_at <= clock_timestamp())
 ORDER BY s.idx`

func (b *batch) readOpenings(at scope) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		b.openings[at], err = pgx.CollectRows(rows, pgx.RowTo[int])
		return err
	}
}

// chooseFromOpenings is for a claim for which the map saw too little: either the database has enough, then these seats
// are tried in the next batch, or the refusal is the truth of this moment.
func (b *batch) chooseFromOpenings(c *command) (Hold, error) {
	if h, live := b.live(c.holder); live && len(b.still(h))+c.choice.n > b.terms.limit {
		return Hold{}, overLimit(b.terms.limit)
	}
	open := make(map[int]bool)
	for _, idx := range b.openings[c.choice.scope] {
		if !b.picked[idx] {
			open[idx] = true
		}
	}
	c.seats = b.sale.Plan.best(c.choice, func(idx int) bool { return open[idx] })
	if c.seats == nil {
		left := 0
		for _, idx := range b.openings[c.choice.scope] {
			if r, known := b.rows[idx]; !known || r.open(b.now) {
				left++
			}
		}
		if left >= c.choice.n { // picked for others of this batch, who may not get them
			return Hold{}, errChooseAgain
		}
		return Hold{}, soldOut(left, c.choice.n)
	}
	for _, idx := range c.seats {
		b.picked[idx] = true
	}
	return Hold{}, errChooseAgain
}

func soldOut(left, wanted int) *Refusal {
	if left == 0 {
		return &Refusal{Code: CodeSoldOut, Message: "Nothing is left here at this moment. Seats that are only held may come back; what you hold is still yours."}
	}
	return &Refusal{Code: CodeSoldOut, Message: fmt.Sprintf("Only %s left here, and you asked for %d. Ask for fewer; what you hold is still yours.", places(left), wanted)}
}

// best picks n seats for which free holds: side by side and closest to where people look, else the closest ones.
// Wheelchair places are left to those who ask for them, unless nothing else is free. It returns nil if there are fewer than n.
func (p *Plan) best(c *choice, free func(int) bool) []int {
	var ordinary, all []int
	from, to := 0, len(p.Seats)
	if c.section >= 0 {
		from, to = p.Sections[c.section].First, p.Sections[c.section].First+p.Sections[c.section].Count
	}
	for idx := from; idx < to; idx++ {
		if c.category >= 0 && p.Seats[idx].Category != c.category || !free(idx) {
			continue
		}
		all = append(all, idx)
		if c.section >= 0 && len(all) == c.n {
			return all // places of an area are all alike
		}
		if p.Seats[idx].Flags&Accessible == 0 {
			ordinary = append(ordinary, idx)
		}
	}
	if len(ordinary) >= c.n {
		all = ordinary
	}
	if len(all) < c.n || c.section >= 0 {
		return nil
	}
	if together := p.together(all, c.n); together != nil {
		return together
	}
	focus := p.focus()
	slices.SortStableFunc(all, func(a, b int) int {
		return int(math.Copysign(1, p.distance(a, focus)-p.distance(b, focus)))
	})
	seats := slices.Clone(all[:c.n])
	slices.Sort(seats)
	return seats
}

// together finds the n seats side by side that lie closest to the focus; a window that would leave a single free seat
// alone costs as much as three seats' width.
func (p *Plan) together(free []int, n int) []int {
	focus, least := p.focus(), math.Inf(1)
	var found []int
	for i := 0; i+n <= len(free); i++ {
		window := free[i : i+n]
		if !p.sideBySide(window) {
			continue
		}
		cost := p.distance(window[0], focus) + p.distance(window[n-1], focus)
		if i > 0 && p.sideBySide(free[i-1:i+1]) && (i < 2 || !p.sideBySide(free[i-2:i])) {
			cost += 120
		}
		if j := i + n; j < len(free) && p.sideBySide(free[j-1:j+1]) && (j+1 >= len(free) || !p.sideBySide(free[j:j+2])) {
			cost += 120
		}
		if cost < least {
			least, found = cost, window
		}
	}
	return slices.Clone(found)
}

func (p *Plan) sideBySide(seats []int) bool {
	for i := 1; i < len(seats); i++ {
		a, b := &p.Seats[seats[i-1]], &p.Seats[seats[i]]
		if seats[i] != seats[i-1]+1 || a.Row != b.Row || a.Section != b.Section || a.Flags&AisleAfter != 0 {
			return false
		}
	}
	return true
}

// focus is where people look: as the plan says, else the stage, else the middle of the upper edge.
func (p *Plan) focus() Point {
	if p.Focus != nil {
		return *p.Focus
	}
	return Point{p.Width / 2, 0}
}

func (p *Plan) distance(idx int, to Point) float64 {
	return math.Hypot(p.Seats[idx].X-to.X, p.Seats[idx].Y-to.Y)
}

// nearestReach is how far along the section to look for seats in place of others.
const nearestReach = 300

// nearest finds, for each seat, the closest free one of the same category in its section.
func (s *Sale) nearest(seats []int) (near []int) {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	for _, lost := range seats {
		at := &s.Plan.Seats[lost]
		section := s.Plan.Sections[at.Section]
		found, least := -1, math.Inf(1)
		for idx := max(section.First, lost-nearestReach); idx < min(section.First+section.Count, lost+nearestReach); idx++ {
			if s.seats.states[idx].Shown() != Free || s.Plan.Seats[idx].Category != at.Category || contains(seats, idx) || contains(near, idx) {
				continue
			}
			if d := s.Plan.distance(idx, Point{at.X, at.Y}); d < least {
				found, least = idx, d
			}
		}
		if found >= 0 {
			near = append(near, found)
		}
	}
	return near
}

package seats

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// errChooseAgain sends a claim back into the lane: the seats chosen for it went to somebody else.
var errChooseAgain = errors.New("the seats chosen are gone")

// scope is where a choice may be made: in one area, or in one category. The other is -1; both are for all seats.
type scope struct{ section, category int }

// choice is a claim that leaves it to us which seats.
type choice struct {
	scope
	n int
}

// ofBest reports whether the claim asks for the best seats.
func (c *choice) ofBest() bool { return c != nil && c.section < 0 }

// choose picks seats for the choices of the batch from this node's map, each seat for one claim only; what others
// of the batch name, or the batch before changes, is left alone. The map may be behind; the lock finds out. It
// picks available seats only: where it shows too few, the database is asked, and then seats of expired holds are picked
// or the claim is refused: see left.go.
func (b *batch) choose() {
	if !slices.ContainsFunc(b.commands, func(c *command) bool { return c.choice != nil }) {
		return
	}
	picked := map[int]bool{} // chosen or named by claims of this batch
	for _, c := range b.commands {
		for _, idx := range c.seats {
			picked[idx] = true
		}
	}
	m := &b.sale.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	coming := b.coming()
	free := func(idx int) bool { return m.states[idx] == Free && !picked[idx] && !coming(idx) }
	open := func(i int32) int { return int(m.open[i]) }
	short := map[scope]int{} // more is picked all the time: what was not to be had will not be
	for _, c := range b.commands {
		if c.choice == nil || c.seats != nil {
			continue
		}
		if n, tried := short[c.choice.scope]; !tried || c.choice.n < n {
			c.seats = b.sale.best(c.choice, free, open)
		}
		if c.seats == nil {
			short[c.choice.scope] = c.choice.n
			b.ask(m)
		}
		for _, idx := range c.seats {
			picked[idx] = true
		}
	}
}

// coming tells of seats that the batch before takes and the map does not show yet. The map's lock is held.
//
// Seats that it frees are what the map says: the bell may bring them there before the batch knows that it was
// committed, and then they are free. Who was answered by that batch finds its version here, so nobody is refused
// what was given back.
func (b *batch) coming() func(idx int) bool {
	if b.before != nil {
		if written := b.before.version.Load(); written == 0 || b.sale.seats.version < written {
			by := b.before.batch
			return func(idx int) bool { _, changes := by.dirty[idx]; return changes && by.rows[idx].state.Shown() != Free }
		}
	}
	return func(int) bool { return false }
}

// best picks n seats for which free holds: side by side and nearest to where people look, else the nearest ones.
// Wheelchair places are left to those who ask for them, unless nothing else is free. Without a category, the best are
// those of the dearest category in which n are free side by side, else of the dearest with n free; areas come last. open is the most free
// seats a stretch may have. It returns nil if there are fewer than n.
func (s *Sale) best(c *choice, free func(idx int) bool, open func(stretch int32) int) []int {
	if c.section >= 0 { // places of an area are all alike
		return s.nearestOf(c, free, open)
	}
	ordinary := func(idx int) bool { return s.Plan.Seats[idx].Flags&Accessible == 0 && free(idx) }
	for _, may := range []func(int) bool{ordinary, free} {
		for _, find := range []func(*choice, func(int) bool, func(int32) int) []int{s.together, s.nearestOf} {
			for _, at := range s.ranked(c.scope) {
				if seats := find(&choice{at, c.n}, may, open); seats != nil {
					return seats
				}
			}
		}
		if c.category < 0 {
			if seats := s.nearestOf(c, may, open); seats != nil {
				return seats
			}
		}
	}
	return nil
}

// ranked lists the categories of a scope: those with seats in rows first, of these the dearest, and those of one price in
// the order of the plan.
func (s *Sale) ranked(at scope) []scope {
	if at.category >= 0 {
		return []scope{at}
	}
	list := make([]scope, len(s.Plan.Categories))
	for i := range list {
		list[i] = scope{-1, i}
	}
	slices.SortStableFunc(list, func(a, b scope) int {
		if inRows := s.stretches.inRows; inRows[a.category] != inRows[b.category] {
			return cmp.Compare(inRows[b.category], inRows[a.category])
		}
		return cmp.Compare(s.Plan.Categories[b.category].Price, s.Plan.Categories[a.category].Price)
	})
	return list
}

// loneSeat is what it costs a window to leave a single free seat beside it: as much as three seats' width.
const loneSeat = 120

// together finds the n seats side by side that lie nearest to where people look.
func (s *Sale) together(c *choice, free func(int) bool, open func(int32) int) (found []int) {
	t := s.stretches
	least, first := math.Inf(1), -1
	for _, i := range t.in(c.scope) {
		at := t.all[i]
		if 2*at.nearest >= least {
			break // no window of this one or of those behind it can be nearer
		}
		if at.count < c.n || open(i) < c.n {
			continue
		}
		run := 0
		for idx := at.first; idx < at.first+at.count; idx++ {
			if run++; !free(idx) {
				run = 0
			}
			if run < c.n {
				continue
			}
			from := idx - c.n + 1
			cost := t.away[from] + t.away[idx] + s.loneSeats(at, from, idx, free)
			if cost < least {
				least, first = cost, from
			}
		}
	}
	for i := range c.n {
		if first >= 0 {
			found = append(found, first+i)
		}
	}
	return found
}

// loneSeats is the price of the single free seats that taking from…to would leave.
func (s *Sale) loneSeats(at stretch, from, to int, free func(int) bool) (cost float64) {
	is := func(idx int) bool { return idx >= at.first && idx < at.first+at.count && free(idx) }
	if is(from-1) && !is(from-2) {
		cost += loneSeat
	}
	if is(to+1) && !is(to+2) {
		cost += loneSeat
	}
	return cost
}

// nearestOf finds the n seats nearest to where people look; in an area the first n places.
func (s *Sale) nearestOf(c *choice, free func(int) bool, open func(int32) int) (found []int) {
	t := s.stretches
	for _, i := range t.in(c.scope) {
		at := t.all[i]
		if len(found) == c.n && (c.section >= 0 || at.nearest >= t.away[found[c.n-1]]) {
			break
		}
		if open(i) == 0 {
			continue
		}
		for idx := at.first; idx < at.first+at.count; idx++ {
			if free(idx) && (len(found) < c.n || c.section < 0 && t.away[idx] < t.away[found[c.n-1]]) {
				found = append(found, idx)
				if c.section < 0 {
					slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(t.away[a], t.away[b]) })
				}
				found = found[:min(len(found), c.n)]
			}
		}
	}
	if len(found) < c.n {
		return nil
	}
	slices.Sort(found)
	return found
}

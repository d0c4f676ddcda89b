package rush

import (
	"cmp"
	"slices"
	"sort"
)

// judge tells from the books alone what was untrue: grants of one seat to two people at once (oversold), and refusals of
// what was free all the time from the request to the answer (lies). It is for the end, when all answers are in.
func (b *books) judge(h *house) (oversold int) {
	bySeat := b.bySeat(len(h.seats))
	for idx, grants := range bySeat {
		oversold += b.judgeSeat(h, int32(idx), grants)
	}
	b.judgeTaken(h, bySeat)
	b.judgeSoldOut(h)
	return oversold
}

// bySeat sorts the grants by seat and then by time.
func (b *books) bySeat(seats int) [][]*grant {
	all := make([][]*grant, seats)
	slices.SortStableFunc(b.grants, func(x, y *grant) int { return cmp.Compare(x.from, y.from) })
	for _, g := range b.grants {
		for _, idx := range g.seats {
			all[idx] = append(all[idx], g)
		}
	}
	return all
}

// judgeSeat counts grants of a seat that somebody else still had.
func (b *books) judgeSeat(h *house, idx int32, grants []*grant) (oversold int) {
	for i, g := range grants {
		for _, before := range grants[:i] {
			if before.who != g.who && before.earliest() > g.from {
				oversold++
				b.note("%s was sold twice: person %d has it until %s, person %d got it at %s",
					h.seats[idx].label, before.who, clockTime(before.earliest()), g.who, clockTime(g.from))
				break
			}
		}
	}
	return oversold
}

// judgeTaken looks for people who were told that a free seat is somebody else's. On an event with strangers a seat may be that
// of somebody the books do not know; where an answer was lost, for a while, one that was asked for.
func (b *books) judgeTaken(h *house, bySeat [][]*grant) {
	if h.strangers > 0 {
		return
	}
	for _, t := range b.taken {
		sent, received := t.sent+b.clock.least, t.received+b.clock.most
		had := slices.ContainsFunc(bySeat[t.seat], func(g *grant) bool {
			return g.who != t.who && g.from <= received && g.latest() >= sent
		})
		if !had && !b.mayHave(h, t.seat, sent, received) {
			b.lie("person %d was told that %s is taken, and it was free", t.who, h.seats[t.seat].label)
		}
	}
}

// judgeSoldOut looks for people who were refused although there was enough at each moment they might have been answered.
func (b *books) judgeSoldOut(h *house) {
	courses := map[scope]*course{}
	for _, s := range b.soldOut {
		c := courses[s.scope]
		if c == nil {
			c = b.course(h, s.scope)
			courses[s.scope] = c
		}
		most := c.most(s.sent+b.clock.least, s.received+b.clock.most)
		if left := c.capacity - most; left >= int(s.wanted) {
			b.lie("somebody asked for %d at %s and was told it is sold out, and at least %d were free", s.wanted, clockTime(s.received+b.clock.most), left)
		}
	}
}

// course is how many seats of a scope were taken over time.
type course struct {
	capacity int     // seats that were free before the crowd came
	at       []int64 // moments at which the number changed, ascending
	table    [][]int // table[k][i] is the largest number from change i on, over 2^k changes
}

// course adds up the grants of a scope, and what ghosts may have. Each counts for as long as it possibly lasted.
func (b *books) course(h *house, in scope) *course {
	type step struct {
		at int64
		by int
	}
	var steps []step
	for _, g := range b.grants {
		n := 0
		for _, idx := range g.seats {
			if in.has(&h.seats[idx]) && h.seats[idx].free {
				n++
			}
		}
		if n > 0 {
			steps = append(steps, step{g.from, n}, step{g.latest() + 1, -n})
		}
	}
	for i := range b.ghosts {
		g := &b.ghosts[i]
		if n := g.within(h, in); n > 0 {
			from, until := b.lasts(g)
			steps = append(steps, step{from, n}, step{until + 1, -n})
		}
	}
	slices.SortFunc(steps, func(x, y step) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.by, y.by)) })
	c := &course{table: make([][]int, 1)}
	for i := range h.seats {
		if in.has(&h.seats[i]) && h.seats[i].free {
			c.capacity++
		}
	}
	taken := 0
	for _, s := range steps {
		taken += s.by
		c.at, c.table[0] = append(c.at, s.at), append(c.table[0], taken)
	}
	for k := 1; 1<<k <= len(c.at); k++ {
		row := make([]int, len(c.at)-1<<k+1)
		for i := range row {
			row[i] = max(c.table[k-1][i], c.table[k-1][i+1<<(k-1)])
		}
		c.table = append(c.table, row)
	}
	return c
}

// most is the largest number of taken seats from a moment to another.
func (c *course) most(from, to int64) int {
	after := func(moment int64) int {
		return sort.Search(len(c.at), func(i int) bool { return c.at[i] > moment })
	}
	first, last := max(after(from)-1, 0), after(to) // what holds at from began with the change before
	if last <= first {
		return 0 // nothing was taken yet
	}
	k := 0
	for 1<<(k+1) <= last-first {
		k++
	}
	return max(c.table[k][first], c.table[k][last-1<<k])
}

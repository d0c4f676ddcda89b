package seats

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/text"
)

// errChooseAgain sends a claim back into the queue: the chosen seats went to another visitor.
var errChooseAgain = errors.New("the seats chosen are gone")

// Scope is where seats are chosen: in one section or in one category. The other is -1; both are -1 for all seats.
type Scope struct {
	Section, Category int
	not               string // categories to leave out, one character each; empty for most
}

// closed reports whether seats of a category are left out.
func (at Scope) closed(category int) bool {
	return at.not != "" && strings.ContainsRune(at.not, rune(category))
}

// closes reports whether every seat is left out.
func (at Scope) closes(s *Sale) bool {
	return at.not != "" && !slices.ContainsFunc(s.Plan.Seats, func(seat Seat) bool {
		return !at.closed(seat.Category) && (at.Section < 0 || seat.Section == at.Section) && (at.Category < 0 || seat.Category == at.Category)
	})
}

// choice is a claim that leaves the choice of seats to us.
type choice struct {
	Scope
	n        int
	unlocked map[int]bool   // reserved seats that codes of the visitor unlock; nil for none
	only     bool           // no other seats may be chosen
	full     map[int32]bool // shared rows at which the visitor has seats already, and may not have n more; nil for none
}

// plain reports whether what is found for a choice holds for all others of its scope.
func (c *choice) plain() bool { return c.unlocked == nil && c.full == nil && !c.only }

// may leaves out what a choice may not be made of.
func (s *Sale) may(c *choice, any func(idx int) bool) func(idx int) bool {
	if c.not == "" && c.full == nil && !c.only {
		return any
	}
	return func(idx int) bool {
		return (!c.only || c.unlocked[idx]) && !c.closed(s.Plan.Seats[idx].Category) && !c.full[s.runs.of[idx]] && any(idx)
	}
}

// choose picks seats for the choices of the batch from this node's map, each seat for one claim only; what others
// of the batch name, or the batch before changes, is left alone. The map may be behind; the lock finds out. It
// picks available seats only: where it shows too few, the database is asked, and then seats of expired holds are picked
// or the claim is refused: see claim.go.
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
	short := map[Scope]int{} // more is picked all the time: what was not to be had will not be
	for _, c := range b.commands {
		if c.choice == nil || c.seats != nil {
			continue
		}
		switch n, tried := short[c.choice.Scope]; {
		case c.choice.unlocked != nil:
			c.seats = b.sale.bestUnlocked(c.choice, free, func(idx int) bool { return m.states[idx] == Blocked && !picked[idx] && !coming(idx) })
		case !tried || !b.sale.runs.norFor(c.choice.n, n):
			c.seats = b.sale.best(c.choice, free, open)
		}
		if c.seats == nil {
			if c.choice.plain() {
				short[c.choice.Scope] = c.choice.n
			}
			b.ask(m)
		}
		for _, idx := range c.seats {
			picked[idx] = true
		}
	}
}

// coming tells of seats that the batch before takes and the map does not show yet. The map's lock is held.
//
// Seats that it frees are what the map says: a notification may bring them there before the batch knows that it was
// committed, and then they are free. Who was answered by that batch finds its version here, so no visitor is refused
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
// seats a run may have. It returns nil if there are fewer than n.
func (s *Sale) best(c *choice, free func(idx int) bool, open func(run int32) int) []int {
	free = s.may(c, free)
	if c.Section >= 0 { // places of an area are all alike
		return s.Closest(c.Scope, c.n, free, open)
	}
	ordinary := func(idx int) bool { return s.Plan.Seats[idx].Flags&Accessible == 0 && free(idx) }
	for _, may := range []func(int) bool{ordinary, free} {
		for _, find := range []func(Scope, int, func(int) bool, func(int32) int) []int{s.Adjacent, s.Closest} {
			for _, at := range s.ranked(c.Scope) {
				if seats := find(at, c.n, may, open); seats != nil {
					return seats
				}
			}
		}
		if c.Category < 0 {
			if seats := s.Closest(c.Scope, c.n, may, open); seats != nil {
				return seats
			}
		}
	}
	return nil
}

// BestOf picks the n best of some seats: side by side if there are such, and with rows that are sold whole only if they are too few without.
// It returns nil if there are fewer than n, or if those rows do not come to n with the other seats. Nothing is held.
func (s *Sale) BestOf(n int, among []int) []int {
	in := make(map[int]bool, len(among))
	for _, idx := range among {
		in[idx] = true
	}
	best := func(n int, may func(idx int) bool) []int {
		return s.best(&choice{Scope: Scope{Section: -1, Category: -1}, n: n}, may, func(run int32) int { return s.runs.all[run].count })
	}
	free := func(idx int) bool { return in[idx] }
	if seats := best(n, free); seats != nil || s.runs.whole == nil && s.runs.shared == nil {
		return seats
	}
	return s.withWholeRows(n, free, best)
}

// bestUnlocked picks reserved seats that a visitor's codes unlock, as far as there are enough, or else these and free ones.
func (s *Sale) bestUnlocked(c *choice, free, blocked func(idx int) bool) []int {
	reserved := func(idx int) bool { return c.unlocked[idx] && blocked(idx) }
	open := func(run int32) int { return s.runs.all[run].count }
	if seats := s.best(c, reserved, open); seats != nil {
		return seats
	}
	return s.best(c, func(idx int) bool { return free(idx) || reserved(idx) }, open)
}

// ranked lists the categories of a scope: those with seats in rows first, of these the dearest, and those of one price in
// the order of the plan.
func (s *Sale) ranked(at Scope) []Scope {
	if at.Category >= 0 {
		return []Scope{at}
	}
	list := make([]Scope, len(s.Plan.Categories))
	for i := range list {
		list[i] = Scope{Section: -1, Category: i}
	}
	slices.SortStableFunc(list, func(a, b Scope) int {
		if inRows := s.runs.inRows; inRows[a.Category] != inRows[b.Category] {
			return cmp.Compare(inRows[b.Category], inRows[a.Category])
		}
		return cmp.Compare(s.Plan.Categories[b.Category].Price, s.Plan.Categories[a.Category].Price)
	})
	return list
}

// orphanCost is what it costs a window to leave a single free seat beside it: as much as three seats' width.
const orphanCost = 120

// Adjacent finds the n adjacent seats of a scope that are nearest to the stage, of those for which free holds. open is the
// most such seats that a run may have. Nil if there are none.
func (s *Sale) Adjacent(in Scope, n int, free func(idx int) bool, open func(run int32) int) (found []int) {
	t := s.runs
	least, first := math.Inf(1), -1
	for _, i := range t.in(in) {
		at := t.all[i]
		if 2*at.nearest >= least {
			break // no window of this one or of those behind it can be nearer
		}
		if at.count < n || open(i) < n || !t.fits(i, n) {
			continue
		}
		run, rest := 0, t.restCost(i, n, free)
		for idx := at.first; idx < at.first+at.count; idx++ {
			if run++; !free(idx) {
				run = 0
			}
			if run < n {
				continue
			}
			from := idx - n + 1
			cost := t.away[from] + t.away[idx] + s.orphansCost(at, from, idx, free) + rest
			if cost < least {
				least, first = cost, from
			}
		}
	}
	for i := range n {
		if first >= 0 {
			found = append(found, first+i)
		}
	}
	return found
}

// orphansCost is the cost of the single free seats that taking from…to would leave.
func (s *Sale) orphansCost(at run, from, to int, free func(int) bool) (cost float64) {
	is := func(idx int) bool { return idx >= at.first && idx < at.first+at.count && free(idx) }
	if is(from-1) && !is(from-2) {
		cost += orphanCost
	}
	if is(to+1) && !is(to+2) {
		cost += orphanCost
	}
	return cost
}

// Closest finds the n seats of a scope that are nearest to the stage, adjacent or not; in an area the first n places. free
// and open are those of Adjacent. Rows that are sold whole or shared give none.
func (s *Sale) Closest(in Scope, n int, free func(idx int) bool, open func(run int32) int) (found []int) {
	t := s.runs
	for _, i := range t.in(in) {
		at := t.all[i]
		if len(found) == n && (in.Section >= 0 || at.nearest >= t.away[found[n-1]]) {
			break
		}
		if open(i) == 0 || t.isGrouped(i) {
			continue
		}
		for idx := at.first; idx < at.first+at.count; idx++ {
			if free(idx) && (len(found) < n || in.Section < 0 && t.away[idx] < t.away[found[n-1]]) {
				found = append(found, idx)
				if in.Section < 0 {
					slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(t.away[a], t.away[b]) })
				}
				found = found[:min(len(found), n)]
			}
		}
	}
	if len(found) < n {
		return nil
	}
	slices.Sort(found)
	return found
}

// refuseOrphans refuses a claim that would leave single free seats that cannot be sold to a pair, where the event forbids
// it and as many seats are free together elsewhere in the category. It looks at this node's map: the rule is a
// courtesy to the organizer, not a promise. It never stands in the way of the last seats.
func (s *Sale) refuseOrphans(c *command) *Conflict {
	if !s.Event.NoOrphanSeats || c.choice != nil {
		return nil
	}
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	free := func(idx int) bool { return m.states[idx].Shown() == Free }
	left := s.leftAlone(c.seats, free)
	if len(left) == 0 {
		return nil
	}
	category := s.Plan.Seats[c.seats[0]].Category
	available := func(idx int) bool { return m.states[idx] == Free }
	instead := s.Adjacent(Scope{Section: -1, Category: category}, len(c.seats), available, func(i int32) int { return int(m.open[i]) })
	if instead == nil || len(s.leftAlone(instead, free)) > 0 {
		return nil
	}
	return &Conflict{
		Code: CodeOrphan, Seats: c.seats, Nearest: instead,
		Message: text.Mark("Please don’t leave a single empty seat: %s. Choose %s instead, or the seats next to yours, too. Your other seats are still held."),
		Args:    []any{s.named(left), s.named(instead)},
	}
}

// leftAlone lists the free seats that would have no free seat beside them any more if these were taken.
func (s *Sale) leftAlone(taken []int, free func(int) bool) (left []int) {
	t := s.runs
	for _, idx := range taken {
		for _, side := range []int{idx - 1, idx + 1} {
			if side < 0 || side >= len(t.of) || t.of[side] != t.of[idx] || !free(side) || slices.Contains(taken, side) || slices.Contains(left, side) {
				continue
			}
			at := t.all[t.of[side]]
			beyond := 2*side - idx
			if beyond < at.first || beyond >= at.first+at.count || !free(beyond) || slices.Contains(taken, beyond) {
				left = append(left, side)
			}
		}
	}
	return left
}

// nearestReach is how far along the section to look for seats in place of others.
const nearestReach = 300

// Nearest finds, for each of some seats, the closest free one of the same category in its section, as far as there
// are any.
func (s *Sale) Nearest(seats []int) []int { return s.nearest(seats) }

// nearest finds, for each seat, the closest available one of the same category in its section; one of an expired hold only
// if there is no other.
func (s *Sale) nearest(seats []int) (near []int) {
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	for _, lost := range seats {
		at := &s.Plan.Seats[lost]
		section := &s.Plan.Sections[at.Section]
		first, end := max(section.First, lost-nearestReach), min(section.First+section.Count, lost+nearestReach)
		found, least, state := -1, math.Inf(1), Expired
		for i, is := range s.seats.states[first:end] {
			if is != Free && is != state { // neither free, nor expired before a free one is found
				continue
			}
			other := &s.Plan.Seats[first+i]
			x, y := other.X-at.X, other.Y-at.Y
			d := x*x + y*y
			if d >= least && is == state {
				continue
			}
			if idx := first + i; other.Category == at.Category && !s.runs.isGrouped(s.runs.of[idx]) && !slices.Contains(seats, idx) && !slices.Contains(near, idx) {
				found, least, state = idx, d, is
			}
		}
		if found >= 0 {
			near = append(near, found)
		}
	}
	return near
}

// run is seats side by side: a row between two aisles, all of one category. In an area, where no place is beside
// another, it is some places.
type run struct {
	first, count int
	nearest      float64 // of its seats to where people look
}

// areaRun is how many places of an area make a run.
const areaRun = 64

// runs are a plan's seats as parties look for them. They never change.
type runs struct {
	all        []run
	of         []int32   // run of each seat
	away       []float64 // of each seat from where people look
	inCategory [][]int32 // runs of a category, the nearest first
	inSection  [][]int32 // runs of a section, in the order of idx
	everywhere []int32   // all runs, the nearest first
	seats      []int     // how many, of each category
	inRows     []int     // of each category: 1 if it has seats in rows
	only       []int     // the category of all seats of a section; -1 if they have several
	whole      []bool    // of each run: it is a row that is sold whole; nil if there is none
	shared     []*Shared // of each run: how the row is shared; nil if there is none
}

func newRuns(p *Plan) *runs {
	t := &runs{
		of: make([]int32, len(p.Seats)), away: make([]float64, len(p.Seats)),
		inCategory: make([][]int32, len(p.Categories)), inSection: make([][]int32, len(p.Sections)), seats: make([]int, len(p.Categories)), inRows: make([]int, len(p.Categories)), only: make([]int, len(p.Sections)),
	}
	for i, section := range p.Sections {
		t.only[i] = p.Seats[section.First].Category
	}
	focus := p.focus()
	whole, shared := p.WholeRows(), p.SharedRows()
	together := func(row WholeRow) bool { return whole[row] || shared[row] != nil }
	for idx := range p.Seats {
		t.away[idx] = math.Hypot(p.Seats[idx].X-focus.X, p.Seats[idx].Y-focus.Y)
		if last := len(t.all) - 1; last >= 0 && p.beside(idx-1, idx, t.all[last].count, together) {
			t.all[last].count++
			t.all[last].nearest = min(t.all[last].nearest, t.away[idx])
		} else {
			t.all = append(t.all, run{idx, 1, t.away[idx]})
		}
		t.of[idx] = int32(len(t.all) - 1)
		seat := &p.Seats[idx]
		t.seats[seat.Category]++
		if !p.Sections[seat.Section].Area {
			t.inRows[seat.Category] = 1
		}
		if t.only[seat.Section] != seat.Category {
			t.only[seat.Section] = -1
		}
	}
	t.whole, t.shared = p.wholeRuns(t.all, whole), p.sharedRuns(t.all, shared)
	for i, s := range t.all {
		t.everywhere = append(t.everywhere, int32(i))
		seat := &p.Seats[s.first]
		t.inCategory[seat.Category] = append(t.inCategory[seat.Category], int32(i))
		t.inSection[seat.Section] = append(t.inSection[seat.Section], int32(i))
	}
	for _, list := range append(slices.Clone(t.inCategory), t.everywhere) {
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(t.all[a].nearest, t.all[b].nearest) })
	}
	return t
}

// beside reports whether a seat belongs to the run of the one before it, which has so many seats by now. An aisle parts no row that is sold
// or chosen together.
func (p *Plan) beside(before, idx, count int, together func(WholeRow) bool) bool {
	a, b := &p.Seats[before], &p.Seats[idx]
	if a.Section != b.Section || a.Category != b.Category {
		return false
	}
	if p.Sections[a.Section].Area {
		return count < areaRun
	}
	return a.Row == b.Row && (a.Flags&AisleAfter == 0 || together(WholeRow{a.Section, a.Row}))
}

// in lists the runs of a scope, the best first.
func (t *runs) in(at Scope) []int32 {
	if at.Section >= 0 {
		return t.inSection[at.Section]
	}
	if at.Category >= 0 {
		return t.inCategory[at.Category]
	}
	return t.everywhere
}

// focus is where people look: as the plan says, else the stage, else the middle of the upper edge.
func (p *Plan) focus() Point {
	if p.Focus != nil {
		return *p.Focus
	}
	return Point{p.Width / 2, 0}
}

// Focused is where people look.
func (p *Plan) Focused() Point { return p.focus() }

// Runs is how many runs of adjacent seats the plan has.
func (s *Sale) Runs() int { return len(s.runs.all) }

// RunOf returns the run of a seat.
func (s *Sale) RunOf(idx int) int32 { return s.runs.of[idx] }

// CategoryOf returns the category of all seats of a section, or -1 if they have several.
func (s *Sale) CategoryOf(section int) int { return s.runs.only[section] }

// Party is people who look for seats before they claim any.
type Party struct {
	Size       int
	Price      func(category int) (price int64, may bool) // what all would pay in a category, and whether they may sit there
	Together   bool
	Aisle      bool  // one of them on an aisle
	Accessible bool  // in wheelchair places
	Not        []int // seats that were proposed before
	Unlocked   []int // reserved seats that codes of theirs unlock
}

// Why a proposal is made.
const (
	ForValue  = "value"
	ForSight  = "closest"
	ForPrice  = "cheapest"
	ForChoice = "" // one more
)

// Proposal is seats that a party could claim. They are not held.
type Proposal struct {
	Seats []int
	Price int64 // of all
	Why   string
}

// mostProposals is how many are made at a time.
const mostProposals = 3

// Propose finds up to three different places for a party, as this node's map shows them now: the best for its price, the
// closest to the stage and the cheapest. Seats of expired holds are among them only if there is no other place. A claim decides who
// gets seats.
func (s *Sale) Propose(p Party) []Proposal {
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	shown := make(map[int]bool, len(p.Not))
	for _, idx := range p.Not {
		shown[idx] = true
	}
	unlocked := make(map[int]bool, len(p.Unlocked))
	for _, idx := range p.Unlocked {
		unlocked[idx] = true
	}
	reserved := func(idx int) bool { return unlocked[idx] && m.states[idx] == Blocked && !shown[idx] }
	free := func(idx int) bool { return m.states[idx] == Free && !shown[idx] || reserved(idx) }
	orExpired := func(idx int) bool { return m.states[idx] == Expired && !shown[idx] || free(idx) }
	all := func(i int32) int { return s.runs.all[i].count }
	open := func(i int32) int { return int(m.open[i]) }
	if len(p.Unlocked) > 0 {
		if list := s.propose(p, reserved, all); len(list) > 0 {
			return list
		}
		open = all
	}
	if list := s.propose(p, free, open); len(list) > 0 {
		return list
	}
	return s.propose(p, orExpired, all)
}

// propose is the same for seats for which free holds; open is the most of them that a run may have.
func (s *Sale) propose(p Party, available func(idx int) bool, open func(run int32) int) []Proposal {
	free := func(idx int) bool {
		return available(idx) && (s.Plan.Seats[idx].Flags&Accessible != 0) == p.Accessible
	}
	var found []window
	for c := range s.Plan.Categories {
		price, may := p.Price(c)
		if !may || s.runs.inRows[c] == 0 {
			continue
		}
		at := s.windows(c, p, free)
		if len(at) == 0 && !p.Together && !p.Aisle {
			if seats := s.Closest(Scope{Section: -1, Category: c}, p.Size, free, open); seats != nil {
				at = []window{{seats: seats, cost: s.runs.away[seats[0]] + s.runs.away[seats[len(seats)-1]]}}
			}
		}
		for _, w := range at {
			w.price = price
			found = append(found, w)
		}
	}
	return pick(found)
}

// window is seats that a party could have.
type window struct {
	seats []int
	cost  float64 // how far they are from the stage, and how many single seats they would leave
	price int64
}

// windows are the best adjacent seats of each run of a category.
func (s *Sale) windows(category int, p Party, free func(int) bool) (list []window) {
	t := s.runs
	for _, i := range t.inCategory[category] {
		at := t.all[i]
		if at.count < p.Size || !t.fits(i, p.Size) || s.Plan.Sections[s.Plan.Seats[at.first].Section].Area {
			continue
		}
		best, from, open, rest := 0.0, -1, 0, t.restCost(i, p.Size, free)
		for idx := at.first; idx < at.first+at.count; idx++ {
			if open++; !free(idx) {
				open = 0
			}
			first := idx - p.Size + 1
			if open < p.Size || p.Aisle && first != at.first && idx != at.first+at.count-1 {
				continue
			}
			if cost := t.away[first] + t.away[idx] + s.orphansCost(at, first, idx, free) + rest; from < 0 || cost < best {
				best, from = cost, first
			}
		}
		if from >= 0 {
			w := window{cost: best}
			for n := range p.Size {
				w.seats = append(w.seats, from+n)
			}
			list = append(list, w)
		}
	}
	return list
}

// pick chooses windows that differ: for their value, their sight and their price, and then the best of those left.
func pick(found []window) (list []Proposal) {
	if len(found) == 0 {
		return nil
	}
	near, far, low, high := found[0].cost, found[0].cost, found[0].price, found[0].price
	for _, w := range found {
		near, far, low, high = min(near, w.cost), max(far, w.cost), min(low, w.price), max(high, w.price)
	}
	value := func(w window) float64 { // 0 is as near and as cheap as any
		v := (w.cost - near) / max(far-near, 1)
		return v*v + float64(w.price-low)/float64(max(high-low, 1))
	}
	take := func(why string, compare func(a, b window) int) {
		if len(found) == 0 || len(list) == mostProposals {
			return
		}
		best := slices.MinFunc(found, compare)
		list = append(list, Proposal{best.seats, best.price, why})
		found = slices.DeleteFunc(found, func(w window) bool { return w.seats[0] == best.seats[0] })
	}
	closest := func(a, b window) int { return cmp.Compare(a.cost, b.cost) }
	if high > low {
		take(ForSight, closest)
		take(ForPrice, func(a, b window) int { return cmp.Or(cmp.Compare(a.price, b.price), closest(a, b)) })
		take(ForValue, func(a, b window) int { return cmp.Or(cmp.Compare(value(a), value(b)), closest(a, b)) })
		slices.Reverse(list) // the best value is chosen first
		if len(list) == mostProposals {
			list[1], list[2] = list[2], list[1]
		}
		return list
	}
	take(ForSight, closest)
	take(ForChoice, closest)
	take(ForChoice, closest)
	return list
}

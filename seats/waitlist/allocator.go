package waitlist

import (
	"maps"
	"slices"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// Wanted is what an entry asks for.
type Wanted struct {
	Quantity   int
	Sections   []int // positions in Plan.Sections
	Categories []int // positions in Plan.Categories; a seat is in one of either, or anywhere if both are empty
	Together   bool  // adjacent seats only
	Fewer      bool  // fewer seats will do
}

// Any reports whether any seat will do.
func (w Wanted) Any() bool { return len(w.Sections)+len(w.Categories) == 0 }

// Accepts reports whether a seat of the plan will do.
func (w Wanted) Accepts(p *seats.Plan, idx int) bool {
	return w.Any() || slices.Contains(w.Sections, p.Seats[idx].Section) || slices.Contains(w.Categories, p.Seats[idx].Category)
}

// name identifies a search for n seats.
func (w Wanted) name(n int) string {
	name := strconv.AppendInt(nil, int64(n), 10)
	name = strconv.AppendBool(name, w.Together)
	for _, list := range [][]int{w.Sections, w.Categories} {
		for _, i := range list {
			name = strconv.AppendInt(append(name, ','), int64(i), 10)
		}
		name = append(name, ';')
	}
	return string(name)
}

// allocator gives out seats one after another, each once. It takes seats of expired holds only when nothing else fits: their
// last holders may come back for them.
type allocator struct {
	sale    *seats.Sale
	has     map[int]bool
	expired map[int]bool
	open    []int32          // seats left in each run
	never   map[string]bool  // searches that failed: they fail again, as seats only go
	seen    map[string][]int // seats that an entry accepts, since the last one went
}

func newAllocator(s *seats.Sale, idxs []int) *allocator {
	p := &allocator{sale: s, has: make(map[int]bool, len(idxs)), expired: s.Expired(idxs), open: make([]int32, s.Runs()), never: map[string]bool{}, seen: map[string][]int{}}
	for _, idx := range idxs {
		if !p.has[idx] {
			p.has[idx] = true
			p.open[s.RunOf(idx)]++
		}
	}
	return p
}

// left lists the seats that are left, in the order of idx.
func (p *allocator) left() []int { return slices.Sorted(maps.Keys(p.has)) }

// take takes the best seats that fit; nil if there are none. It prefers adjacent seats.
func (p *allocator) take(w Wanted) []int {
	least := w.Quantity
	if w.Fewer {
		least = 1
	}
	for n := min(w.Quantity, len(p.has)); n >= least; n-- {
		if found := p.find(w, n); found != nil {
			p.remove(found)
			return found
		}
	}
	return nil
}

// remove takes seats out.
func (p *allocator) remove(seats []int) {
	for _, idx := range seats {
		if p.has[idx] {
			delete(p.has, idx)
			p.open[p.sale.RunOf(idx)]--
			clear(p.seen)
		}
	}
}

// accepted lists the seats left that will do, whether or not they are enough.
func (p *allocator) accepted(w Wanted) (seats []int) {
	name := w.name(0)
	if seats, seen := p.seen[name]; seen {
		return seats
	}
	for idx := range p.has {
		if w.Accepts(p.sale.Plan, idx) {
			seats = append(seats, idx)
		}
	}
	slices.Sort(seats)
	p.seen[name] = seats
	return seats
}

func (p *allocator) find(w Wanted, n int) []int {
	name := w.name(n)
	if p.never[name] {
		return nil
	}
	available := func(idx int) bool { return p.has[idx] && !p.expired[idx] }
	any := func(idx int) bool { return p.has[idx] }
	for _, may := range []func(int) bool{available, any} {
		for _, at := range p.scopes(w) {
			if found := p.in(at, n, w.Together, may); found != nil {
				return found
			}
		}
		if !w.Together { // some here, some there
			some := slices.DeleteFunc(slices.Clone(p.accepted(w)), func(idx int) bool { return !may(idx) || p.sale.Grouped(idx) })
			if len(some) >= n {
				return some[:n]
			}
		}
		if len(p.expired) == 0 {
			break
		}
	}
	p.never[name] = true
	return nil
}

// scopes lists where to look, in order.
func (p *allocator) scopes(w Wanted) (list []seats.Scope) {
	for _, section := range w.Sections {
		list = append(list, seats.Scope{Section: section, Category: -1})
	}
	for _, category := range w.Categories {
		list = append(list, seats.Scope{Section: -1, Category: category})
	}
	if len(list) == 0 {
		for category := range p.sale.Plan.Categories {
			list = append(list, seats.Scope{Section: -1, Category: category})
		}
	}
	return list
}

// in finds n seats of a scope, adjacent if possible. Places of one area count as adjacent.
func (p *allocator) in(at seats.Scope, n int, together bool, has func(int) bool) []int {
	open := func(run int32) int { return int(p.open[run]) }
	ordinary := func(idx int) bool { return p.sale.Plan.Seats[idx].Flags&seats.Accessible == 0 && has(idx) }
	for _, may := range []func(int) bool{ordinary, has} {
		if found := p.inArea(at, n, may, open); found != nil {
			return found
		}
		if at.Section >= 0 && p.sale.Plan.Sections[at.Section].Area {
			continue
		}
		found := p.sale.Adjacent(at, n, may, open)
		if found == nil && !together {
			found = p.sale.Closest(at, n, may, open)
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// inArea finds n places of one area of a scope.
func (p *allocator) inArea(at seats.Scope, n int, free func(int) bool, open func(int32) int) []int {
	for section := range p.sale.Plan.Sections {
		only := p.sale.CategoryOf(section)
		switch {
		case !p.sale.Plan.Sections[section].Area || at.Section >= 0 && at.Section != section:
			continue
		case at.Category >= 0 && only >= 0 && only != at.Category:
			continue
		}
		may := func(idx int) bool {
			return free(idx) && (at.Category < 0 || p.sale.Plan.Seats[idx].Category == at.Category)
		}
		if found := p.sale.Closest(seats.Scope{Section: section, Category: -1}, n, may, open); found != nil {
			return found
		}
	}
	return nil
}

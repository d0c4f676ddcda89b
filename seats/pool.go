package seats

import (
	"slices"
	"strconv"
)

// Wanted is what an entry of the wait list would take.
type Wanted struct {
	Quantity   int
	Sections   []int // positions in Plan.Sections, and
	Categories []int // in Plan.Categories: a seat has to be in one of either; both empty: any seat
	Together   bool  // side by side or not at all
	Fewer      bool  // one seat is better than none
}

// Any tells whether every seat is welcome.
func (w Wanted) Any() bool { return len(w.Sections)+len(w.Categories) == 0 }

// Accepts tells whether a seat of the plan is one of those that are welcome.
func (w Wanted) Accepts(p *Plan, idx int) bool {
	return w.Any() || slices.Contains(w.Sections, p.Seats[idx].Section) || slices.Contains(w.Categories, p.Seats[idx].Category)
}

// name tells wishes apart that n seats may fit or not.
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

// Pool is seats that are given out one after another, each once. It knows nothing of who has them, but that the last
// holders of some may come back for them: those are given out only when nothing else fits.
type Pool struct {
	sale    *Sale
	has     map[int]bool
	expired map[int]bool     // seats of expired holds, as this node last read
	open    []int32          // of each stretch
	never   map[string]bool  // what was not to be had: it will not be, as the pool only shrinks
	seen    map[string][]int // what is welcome to whom, since the pool shrank last
}

// NewPool returns a pool of these seats.
func (s *Sale) NewPool(seats []int) *Pool {
	p := &Pool{sale: s, has: make(map[int]bool, len(seats)), expired: map[int]bool{}, open: make([]int32, len(s.stretches.all)), never: map[string]bool{}, seen: map[string][]int{}}
	s.seats.mu.RLock()
	defer s.seats.mu.RUnlock()
	for _, idx := range seats {
		if !p.has[idx] {
			p.has[idx] = true
			if s.seats.states[idx] == Lapsed {
				p.expired[idx] = true
			}
			p.open[s.stretches.of[idx]]++
		}
	}
	return p
}

// Left lists what is left, in the order of idx.
func (p *Pool) Left() []int {
	left := make([]int, 0, len(p.has))
	for idx := range p.has {
		left = append(left, idx)
	}
	slices.Sort(left)
	return left
}

// Len is how many seats are left.
func (p *Pool) Len() int { return len(p.has) }

// Take takes the best seats that fit out of the pool; nil if there are none. Seats side by side come first, also
// for who would take others.
func (p *Pool) Take(w Wanted) []int {
	least := w.Quantity
	if w.Fewer {
		least = 1
	}
	for n := min(w.Quantity, len(p.has)); n >= least; n-- {
		if seats := p.find(w, n); seats != nil {
			p.Remove(seats)
			return seats
		}
	}
	return nil
}

// Remove takes seats out of the pool.
func (p *Pool) Remove(seats []int) {
	for _, idx := range seats {
		if p.has[idx] {
			delete(p.has, idx)
			p.open[p.sale.stretches.of[idx]]--
			clear(p.seen)
		}
	}
}

// Welcome lists the seats of the pool that are in one of the places somebody would sit, whether or not there are
// enough.
func (p *Pool) Welcome(w Wanted) (seats []int) {
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

func (p *Pool) find(w Wanted, n int) []int {
	name := w.name(n)
	if p.never[name] {
		return nil
	}
	available := func(idx int) bool { return p.has[idx] && !p.expired[idx] }
	any := func(idx int) bool { return p.has[idx] }
	for _, may := range []func(int) bool{available, any} {
		for _, at := range p.scopes(w) {
			if seats := p.in(at, n, w.Together, may); seats != nil {
				return seats
			}
		}
		if !w.Together { // some here, some there
			some := slices.DeleteFunc(slices.Clone(p.Welcome(w)), func(idx int) bool { return !may(idx) })
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

// scopes are where to look, one after another.
func (p *Pool) scopes(w Wanted) (list []scope) {
	for _, section := range w.Sections {
		list = append(list, scope{section: section, category: -1})
	}
	for _, category := range w.Categories {
		list = append(list, scope{section: -1, category: category})
	}
	if len(list) == 0 {
		for category := range p.sale.Plan.Categories {
			list = append(list, scope{section: -1, category: category})
		}
	}
	return list
}

// in finds n seats of a scope, side by side if there are such. In an area, where no place is beside another, all
// are together.
func (p *Pool) in(at scope, n int, together bool, has func(int) bool) []int {
	open := func(stretch int32) int { return int(p.open[stretch]) }
	ordinary := func(idx int) bool { return p.sale.Plan.Seats[idx].Flags&Accessible == 0 && has(idx) }
	for _, may := range []func(int) bool{ordinary, has} {
		if seats := p.inArea(at, n, may, open); seats != nil {
			return seats
		}
		if at.section >= 0 && p.sale.Plan.Sections[at.section].Area {
			continue
		}
		seats := p.sale.together(&choice{at, n}, may, open)
		if seats == nil && !together {
			seats = p.sale.nearestOf(&choice{at, n}, may, open)
		}
		if seats != nil {
			return seats
		}
	}
	return nil
}

// inArea finds n places of one area of a scope.
func (p *Pool) inArea(at scope, n int, free func(int) bool, open func(int32) int) []int {
	for section := range p.sale.Plan.Sections {
		only := p.sale.stretches.only[section]
		switch {
		case !p.sale.Plan.Sections[section].Area || at.section >= 0 && at.section != section:
			continue
		case at.category >= 0 && only >= 0 && only != at.category:
			continue
		}
		may := func(idx int) bool {
			return free(idx) && (at.category < 0 || p.sale.Plan.Seats[idx].Category == at.category)
		}
		if seats := p.sale.nearestOf(&choice{scope{section, -1}, n}, may, open); seats != nil {
			return seats
		}
	}
	return nil
}

// Welcomes tells whether a seat is in one of the places somebody would sit.
func (p *Pool) Welcomes(w Wanted, idx int) bool { return w.Accepts(p.sale.Plan, idx) }

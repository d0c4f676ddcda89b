package seats

import (
	"cmp"
	"slices"
)

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
// closest to the stage and the cheapest. A claim decides who gets seats.
func (s *Sale) Propose(p Party) []Proposal {
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	shown := make(map[int]bool, len(p.Not))
	for _, idx := range p.Not {
		shown[idx] = true
	}
	free := func(idx int) bool { return m.states[idx] == Free && !shown[idx] }
	if len(p.Unlocked) == 0 {
		return s.propose(p, free, func(i int32) int { return int(m.open[i]) })
	}
	unlocked := make(map[int]bool, len(p.Unlocked))
	for _, idx := range p.Unlocked {
		unlocked[idx] = true
	}
	reserved := func(idx int) bool { return unlocked[idx] && m.states[idx] == Blocked && !shown[idx] }
	all := func(i int32) int { return s.runs.all[i].count }
	if list := s.propose(p, reserved, all); len(list) > 0 {
		return list
	}
	return s.propose(p, func(idx int) bool { return free(idx) || reserved(idx) }, all)
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
		if at.count < p.Size || s.Plan.Sections[s.Plan.Seats[at.first].Section].Area {
			continue
		}
		best, from, open := 0.0, -1, 0
		for idx := at.first; idx < at.first+at.count; idx++ {
			if open++; !free(idx) {
				open = 0
			}
			first := idx - p.Size + 1
			if open < p.Size || p.Aisle && first != at.first && idx != at.first+at.count-1 {
				continue
			}
			if cost := t.away[first] + t.away[idx] + s.orphansCost(at, first, idx, free); from < 0 || cost < best {
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

package seats

import (
	"cmp"
	"math"
	"slices"
)

// stretch is seats side by side: a row between two aisles, all of one category. In an area, where no place is beside
// another, it is some places.
type stretch struct {
	first, count int
	nearest      float64 // of its seats to where people look
}

// areaStretch is how many places of an area make a stretch.
const areaStretch = 64

// stretches are a plan's seats as parties look for them. They never change.
type stretches struct {
	all        []stretch
	of         []int32   // stretch of each seat
	away       []float64 // of each seat from where people look
	inCategory [][]int32 // stretches of a category, the nearest first
	inSection  [][]int32 // stretches of a section, in the order of idx
	everywhere []int32   // all stretches, the nearest first
	seats      []int     // how many, of each category
	inRows     []int     // of each category: 1 if it has seats in rows
	only       []int     // the category of all seats of a section; -1 if they have several
}

func newStretches(p *Plan) *stretches {
	t := &stretches{
		of: make([]int32, len(p.Seats)), away: make([]float64, len(p.Seats)),
		inCategory: make([][]int32, len(p.Categories)), inSection: make([][]int32, len(p.Sections)), seats: make([]int, len(p.Categories)), inRows: make([]int, len(p.Categories)), only: make([]int, len(p.Sections)),
	}
	for i, section := range p.Sections {
		t.only[i] = p.Seats[section.First].Category
	}
	focus := p.focus()
	for idx := range p.Seats {
		t.away[idx] = math.Hypot(p.Seats[idx].X-focus.X, p.Seats[idx].Y-focus.Y)
		if last := len(t.all) - 1; last >= 0 && p.beside(idx-1, idx, t.all[last].count) {
			t.all[last].count++
			t.all[last].nearest = min(t.all[last].nearest, t.away[idx])
		} else {
			t.all = append(t.all, stretch{idx, 1, t.away[idx]})
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

// beside tells whether a seat belongs to the stretch of the one before it, which has so many seats by now.
func (p *Plan) beside(before, idx, count int) bool {
	a, b := &p.Seats[before], &p.Seats[idx]
	if a.Section != b.Section || a.Category != b.Category {
		return false
	}
	if p.Sections[a.Section].Area {
		return count < areaStretch
	}
	return a.Row == b.Row && a.Flags&AisleAfter == 0
}

// in lists the stretches of a scope, the best first.
func (t *stretches) in(at scope) []int32 {
	if at.section >= 0 {
		return t.inSection[at.section]
	}
	if at.category >= 0 {
		return t.inCategory[at.category]
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

package plan

import (
	"math"

	"github.com/usherbox/usher/seats"
)

// unstack moves what is drawn on top of something else: a balcony over the stalls, two tables in one place. On a map
// only the upper one could be reached. A section goes below the drawing, a table to the right of it.
func (d *draft) unstack() {
	step := typical(d.sections)
	if step == 0 {
		return
	}
	ground := floor{cell: step / 2, taken: map[[2]float64]bool{}}
	_, edge := d.bounds()
	for i := range d.sections {
		s := &d.sections[i]
		if s.area {
			continue
		}
		if i > 0 && ground.covers(s.rows) {
			low, high := box(s.rows)
			down := edge.Y + 4*step - low.Y
			d.moveSection(s, down)
			edge.Y = high.Y + down
			d.repaired("overlap", s.name, s.count(), "it is drawn on top of other sections, so it was moved below them.")
		}
		moved := 0
		for j := range s.rows {
			if r := &s.rows[j]; r.table && ground.covers(s.rows[j:j+1]) {
				low, high := box(s.rows[j : j+1])
				right := edge.X + 2*step - low.X
				d.moveTable(r, right)
				edge.X = high.X + right
				moved++
			}
			ground.take(s.rows[j])
		}
		if moved > 0 {
			d.repaired("overlap", s.name, moved, "tables drawn on top of others were moved to the right: %d.", moved)
		}
	}
}

func (s *draftSection) count() int {
	n := 0
	for _, r := range s.rows {
		n += len(r.seats)
	}
	return n
}

func (d *draft) moveSection(s *draftSection, down float64) {
	for i := range s.outline {
		s.outline[i].Y += down
	}
	for _, r := range s.rows {
		for i := range r.seats {
			r.seats[i].y += down
		}
		if r.top > 0 {
			shift(&d.shapes[r.top-1], 0, down)
		}
	}
}

func (d *draft) moveTable(r *draftRow, right float64) {
	for i := range r.seats {
		r.seats[i].x += right
	}
	if r.top > 0 {
		shift(&d.shapes[r.top-1], right, 0)
	}
}

func shift(s *seats.Shape, x, y float64) {
	s.Center.X, s.Center.Y = s.Center.X+x, s.Center.Y+y
	for i := range s.Points {
		s.Points[i].X, s.Points[i].Y = s.Points[i].X+x, s.Points[i].Y+y
	}
}

// floor remembers where seats stand, in cells half a seat wide.
type floor struct {
	cell  float64
	taken map[[2]float64]bool
}

func (f *floor) at(s draftSeat) [2]float64 {
	return [2]float64{math.Round(s.x / f.cell), math.Round(s.y / f.cell)}
}

func (f *floor) take(r draftRow) {
	for _, s := range r.seats {
		f.taken[f.at(s)] = true
	}
}

// covers asks whether more than half of the seats would stand on others.
func (f *floor) covers(rows []draftRow) bool {
	on, all := 0, 0
	for _, r := range rows {
		for _, s := range r.seats {
			all++
			at := f.at(s)
		around:
			for x := -1.0; x <= 1; x++ {
				for y := -1.0; y <= 1; y++ {
					if f.taken[[2]float64{at[0] + x, at[1] + y}] {
						on++
						break around
					}
				}
			}
		}
	}
	return 2*on > all
}

// box is the smallest rectangle around the seats of rows.
func box(rows []draftRow) (low, high seats.Point) {
	low, high = seats.Point{X: math.Inf(1), Y: math.Inf(1)}, seats.Point{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, r := range rows {
		for _, s := range r.seats {
			low = seats.Point{X: min(low.X, s.x), Y: min(low.Y, s.y)}
			high = seats.Point{X: max(high.X, s.x), Y: max(high.Y, s.y)}
		}
	}
	return low, high
}

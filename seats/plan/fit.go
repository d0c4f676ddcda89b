package plan

import (
	"math"
	"slices"

	"github.com/usherbox/usher/seats"
)

const (
	spacing = 20.0 // plan units between neighbouring seats, as the map expects it
	margin  = 40.0 // around the drawing
)

// typical is the distance between seats that follow each other in a row, the median; 0 if no row has two.
func typical(sections []draftSection) float64 {
	var steps []float64
	for _, s := range sections {
		if s.area {
			continue
		}
		for _, r := range s.rows {
			for i := 1; i < len(r.seats); i++ {
				if step := distance(r.seats[i-1], r.seats[i]); step > 0 {
					steps = append(steps, step)
				}
			}
		}
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

func distance(a, b draftSeat) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }

// scale makes neighbouring seats about 20 units apart; without rows the drawing becomes about 1,000 units large.
func (d *draft) scale() {
	by := 1.0
	if step := typical(d.sections); step > 0 {
		by = spacing / step
	} else if low, high := d.bounds(); high.X-low.X+high.Y-low.Y > 0 {
		by = 1000 / max(high.X-low.X, high.Y-low.Y)
	}
	d.points(func(p *seats.Point) { p.X, p.Y = p.X*by, p.Y*by })
	for i := range d.shapes {
		s := &d.shapes[i]
		s.RX, s.RY, s.Size = s.RX*by, s.RY*by, s.Size*by
	}
}

// aisles marks the seats after which the row goes on only beyond a gap.
func (d *draft) aisles() {
	for i := range d.sections {
		for _, r := range d.sections[i].rows {
			if r.table || d.sections[i].area {
				continue
			}
			gap := 1.6 * typical([]draftSection{{rows: []draftRow{r}}})
			for j := 1; j < len(r.seats); j++ {
				if distance(r.seats[j-1], r.seats[j]) > gap {
					r.seats[j-1].flags |= seats.AisleAfter
				}
			}
		}
	}
}

// place moves the drawing so that it begins at the margin, sets its size, and rounds to tenths, as fine as maps draw.
func (d *draft) place() {
	low, high := d.bounds()
	d.moved = seats.Point{X: margin - low.X, Y: margin - low.Y}
	d.points(func(p *seats.Point) { p.X, p.Y = tenth(p.X-low.X+margin), tenth(p.Y-low.Y+margin) })
	d.width = math.Ceil(high.X - low.X + 2*margin)
	d.height = math.Ceil(high.Y - low.Y + 2*margin)
	for i := range d.shapes {
		s := &d.shapes[i]
		s.RX, s.RY, s.Size, s.Rotation = tenth(s.RX), tenth(s.RY), tenth(s.Size), tenth(s.Rotation)
	}
}

func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// bounds is the smallest rectangle around everything that is drawn.
func (d *draft) bounds() (low, high seats.Point) {
	low, high = seats.Point{X: math.Inf(1), Y: math.Inf(1)}, seats.Point{X: math.Inf(-1), Y: math.Inf(-1)}
	reach := func(p seats.Point, by float64) {
		low = seats.Point{X: min(low.X, p.X-by), Y: min(low.Y, p.Y-by)}
		high = seats.Point{X: max(high.X, p.X+by), Y: max(high.Y, p.Y+by)}
	}
	d.each(func(_ *draftSection, _ *draftRow, s *draftSeat) { reach(seats.Point{X: s.x, Y: s.y}, 0) })
	for _, s := range d.sections {
		for _, p := range s.outline {
			reach(p, 0)
		}
	}
	for _, s := range d.shapes {
		for _, p := range s.Points {
			reach(p, 0)
		}
		switch s.Kind {
		case "ellipse":
			reach(s.Center, max(s.RX, s.RY))
		case "text":
			reach(s.Center, s.Size)
		}
	}
	return low, high
}

// points visits every point of the drawing.
func (d *draft) points(move func(*seats.Point)) {
	d.each(func(_ *draftSection, _ *draftRow, s *draftSeat) {
		p := seats.Point{X: s.x, Y: s.y}
		move(&p)
		s.x, s.y = p.X, p.Y
	})
	for i := range d.sections {
		for j := range d.sections[i].outline {
			move(&d.sections[i].outline[j])
		}
	}
	for i := range d.shapes {
		s := &d.shapes[i]
		for j := range s.Points {
			move(&s.Points[j])
		}
		if s.Kind == "ellipse" || s.Kind == "text" {
			move(&s.Center)
		}
	}
	if d.focus != nil {
		move(d.focus)
	}
}

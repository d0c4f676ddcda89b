package shop

import (
	"math"
	"slices"

	"github.com/usherbox/usher/seats"
)

// title is where and how large a section's name stands in the drawing.
type title struct {
	X, Y, Size float64
	Small      bool // phones leave it out
}

// titles finds room for the names of the sections; Size is 0 where there is none. None is larger
// than the usual one: it would look more important than its neighbours.
func (s Sale) titles() []title {
	scale := s.long()
	list := make([]title, len(s.Plan.Sections))
	var sizes []float64
	for i, section := range s.Plan.Sections {
		list[i] = room(section, scale)
		if at, ok := s.written(section.Name); ok && list[i].Size > 0 && inside(section.Outline, at) {
			list[i].X, list[i].Y = at.X, at.Y
		}
		if list[i].Size > 0 && !inside(section.Outline, seats.Point{X: list[i].X, Y: list[i].Y}) {
			list[i].X, list[i].Y = s.amidst(i, list[i].X, list[i].Y)
		}
		if list[i].Size > 0 {
			sizes = append(sizes, list[i].Size)
		}
	}
	slices.Sort(sizes)
	for i := range list {
		if list[i].Size > 0 {
			usual := sizes[len(sizes)/2]
			list[i].Size = min(math.Round(8*list[i].Size/usual)/8, 1) * usual // few sizes look calmer than many
			list[i].Small = list[i].Size < scale*0.02
		}
	}
	return list
}

// usualTitle is the size of most names, and whether phones leave all of them out.
func (s Sale) usualTitle(titles []title) (size string, small bool) {
	counts, small := map[string]int{}, true
	for _, t := range titles {
		if t.Size > 0 {
			at := s.size(t)
			if counts[at]++; counts[at] > counts[size] || counts[at] == counts[size] && at < size {
				size = at
			}
			small = small && t.Small
		}
	}
	return size, small && len(counts) > 0
}

// amidst is the seat of a section that is nearest to a point. The middle of a bent section lies outside of it.
func (s Sale) amidst(section int, x, y float64) (float64, float64) {
	at, least, toX, toY := s.Plan.Sections[section], math.Inf(1), x, y
	for idx := at.First; idx < min(at.First+at.Count, len(s.Plan.Seats)); idx++ {
		seat := &s.Plan.Seats[idx]
		if d := math.Hypot(seat.X-x, seat.Y-y); d < least {
			least, toX, toY = d, seat.X, seat.Y
		}
	}
	return toX, toY
}

// inside reports whether a point is in a polygon.
func inside(outline []seats.Point, at seats.Point) bool {
	in := false
	for i, a := range outline {
		b := outline[(i+1)%len(outline)]
		if (a.Y > at.Y) != (b.Y > at.Y) && at.X < a.X+(b.X-a.X)*(at.Y-a.Y)/(b.Y-a.Y) {
			in = !in
		}
	}
	return in
}

// room is the place for a name in the middle of its section.
func room(section seats.Section, scale float64) title {
	if len(section.Outline) < 3 {
		return title{}
	}
	low, high := section.Outline[0], section.Outline[0]
	for _, p := range section.Outline {
		low = seats.Point{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = seats.Point{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	letters := float64(len([]rune(section.Name)))
	size := min((high.X-low.X)*0.86/(letters*0.56), (high.Y-low.Y)*0.42, scale*0.026)
	if size < scale*0.011 {
		return title{}
	}
	x, y := centre(section.Outline)
	return title{X: x, Y: y, Size: size}
}

// written finds where the plan itself writes the name of a section.
func (s Sale) written(name string) (seats.Point, bool) {
	for _, shape := range s.Plan.Shapes {
		if shape.Kind == "text" && shape.Text == name {
			return shape.Center, true
		}
	}
	return seats.Point{}, false
}

// repeats reports whether a shape is the plan's own lettering of a section's name, which the title replaces.
func (s Sale) repeats(shape seats.Shape, titles []title) bool {
	section := s.Plan.SectionNamed(shape.Text)
	return shape.Kind == "text" && section >= 0 && titles[section].Size > 0
}

package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// The background of a drawing is all that is no seat: stages, walls, tables, words. It becomes shapes of the plan, as fine as one sees.

const (
	mostBackground = 2_000   // shapes of a background; the largest stay
	mostOutlined   = 20_000  // points of all of them
	mostRaw        = 100_000 // points of all of them before they are made straighter
)

// background adds to a draft what a drawing shows beside its seats. taken says of each row whether it is a seat or an area.
func (r *Records) background(d *draft, taken []bool) {
	is := func(row int) bool { return row != none && taken[row] }
	var drawn []seats.Shape
	for _, f := range r.forms {
		if !f.unseen && !is(f.row) && !is(f.in) && !is(f.of) {
			drawn = append(drawn, f.shapes...)
		}
	}
	size := func(s seats.Shape) float64 {
		if s.Kind == "text" {
			return math.Inf(1) // words are few, and say most
		}
		low, high := extent([]seats.Shape{s})
		return math.Hypot(high.X-low.X, high.Y-low.Y)
	}
	fine := typical(d.sections) / 50
	if low, high := d.bounds(all); fine == 0 && low.X < high.X {
		fine = max(high.X-low.X, high.Y-low.Y) / 2000
	}
	bySize := make([]int, len(drawn))
	for i := range bySize {
		bySize[i] = i
	}
	sizes := make([]float64, len(drawn))
	for i := range drawn {
		sizes[i] = size(drawn[i])
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	stays := make([]bool, len(drawn))
	shapes, points, raw, left := 0, 0, 0, 0
	for _, i := range bySize {
		s := &drawn[i]
		if sizes[i] < 2*fine { // a dot of the line of something else
			continue
		}
		if raw += len(s.Points); shapes < mostBackground && raw <= mostRaw {
			s.Points = straighter(s.Points, fine)
			if points += len(s.Points); points <= mostOutlined {
				stays[i] = true
				shapes++
				continue
			}
		}
		left++
	}
	for i := range drawn {
		if stays[i] && sketchable(&drawn[i]) {
			d.shapes = append(d.shapes, drawn[i])
		}
	}
	if left > 0 {
		d.warn(text.Say("The drawing beside the seats has more than a map can show. Its smallest parts were left out: %d.", left))
	}
	if r.pictures > 0 {
		d.warn(text.Say("The drawing has pictures, which a map cannot show. To draw over one, add it as a picture in the editor: %d.", r.pictures))
	}
}

// mostGrounds is how many polygons may be the outline of a section, and for how many sections they are looked for.
const mostGrounds = 500

// grounds makes polygons of the background outlines of sections: the smallest one that has all seats of a section inside, and no others.
func (d *draft) grounds() {
	type ground struct {
		at        int // in shapes
		size      float64
		low, high seats.Point
	}
	if len(d.sections) > mostGrounds {
		return
	}
	var list []ground
	for i, s := range d.shapes {
		if s.Kind == "polygon" && s.Role == "other" && s.Text == "" && len(list) < mostGrounds {
			low, high := extent(d.shapes[i : i+1])
			list = append(list, ground{i, surface(s.Points), low, high})
		}
	}
	slices.SortStableFunc(list, func(a, b ground) int { return cmp.Compare(a.size, b.size) })
	lows, highs := make([]seats.Point, len(d.sections)), make([]seats.Point, len(d.sections))
	for i := range d.sections {
		lows[i], highs[i] = box(d.sections[i].rows)
	}
	used := map[int]bool{}
	for i := range d.sections {
		for _, g := range list {
			covers := g.low.X <= lows[i].X && g.low.Y <= lows[i].Y && g.high.X >= highs[i].X && g.high.Y >= highs[i].Y
			if !covers || used[g.at] || len(d.sections[i].outline) > 0 || !d.sections[i].allOf(d.shapes[g.at].Points, true) {
				continue
			}
			others := false
			for j := range d.sections {
				apart := lows[j].X > g.high.X || highs[j].X < g.low.X || lows[j].Y > g.high.Y || highs[j].Y < g.low.Y
				others = others || j != i && !apart && !d.sections[j].allOf(d.shapes[g.at].Points, false)
			}
			if !others {
				d.sections[i].outline = d.shapes[g.at].Points
				used[g.at] = true
			}
			break // a larger one has those others, too
		}
	}
	at := -1
	d.shapes = slices.DeleteFunc(d.shapes, func(seats.Shape) bool { at++; return used[at] })
}

// allOf reports whether all seats of a section are inside of a polygon, or all outside.
func (s *draftSection) allOf(polygon []seats.Point, inside bool) bool {
	for _, r := range s.rows {
		for _, seat := range r.seats {
			if within(polygon, seat.x, seat.y) != inside {
				return false
			}
		}
	}
	return true
}

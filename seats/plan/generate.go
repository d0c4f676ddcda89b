package plan

import (
	"math"
	"slices"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// generator describes rows of seats, one behind the other: straight from an origin, or on arcs around a center.
//
// Angles are degrees, clockwise from the right as y points down. angle is the way from the first row to the last; people
// in the seats look the other way. Blocks are the pieces of a row from left to right as people in the seats see it,
// with an aisle between them: degrees from the middle on arcs, units from the middle in straight rows.
type generator struct {
	Rows       []string  `json:"rows"`
	Origin     *pair     `json:"origin,omitempty"` // the middle of the first straight row
	Center     *pair     `json:"center,omitempty"` // of arcs
	Radius     float64   `json:"radius,omitempty"` // of the first arc
	Angle      float64   `json:"angle"`
	Blocks     []pair    `json:"blocks"`               // [from, to] for each
	Spacing    float64   `json:"spacing,omitempty"`    // between seats; 20 if left out
	RowSpacing float64   `json:"rowSpacing,omitempty"` // between rows; 24 if left out
	First      int       `json:"first,omitempty"`      // number of the first seat; 1 if left out
	Step       int       `json:"step,omitempty"`       // to the next number; 1 if left out, 2 for odd or even numbers
	Reverse    bool      `json:"reverse,omitempty"`    // number from the right
	Categories []string  `json:"categories,omitempty"` // one a row, the last for all that follow
	Limit      int       `json:"limit,omitempty"`      // most seats in all; the last rows are shorter
	Marks      []marking `json:"marks,omitempty"`
}

// marking gives some seats flags.
type marking struct {
	Rows    []string `json:"rows,omitempty"`    // all if left out
	Numbers []string `json:"numbers,omitempty"` // these
	Ends    int      `json:"ends,omitempty"`    // and this many at both ends of the row
	Flags   []string `json:"flags"`
}

func (in *documentReader) generated(sec *documentSection, s *draftSection, path []any) error {
	for i := range sec.Generate {
		g := sec.Generate[i]
		at := under(path, "generate", i)
		if err := g.complete(at); err != nil {
			return err
		}
		if err := in.generate(&g, sec.Category, s, at); err != nil {
			return err
		}
	}
	if len(s.outline) == 0 {
		s.outline = sector(sec.Generate)
	}
	return in.tables(sec, s, path)
}

// complete sets the defaults, and refuses a generator that makes no rows.
func (g *generator) complete(path []any) error {
	if g.Spacing == 0 {
		g.Spacing = spacing
	}
	if g.RowSpacing == 0 {
		g.RowSpacing = 1.2 * spacing
	}
	if g.First == 0 {
		g.First = 1
	}
	if g.Step == 0 {
		g.Step = 1
	}
	numbers := []float64{g.Radius, g.Angle, g.Spacing, g.RowSpacing}
	for _, p := range append(g.Blocks[:len(g.Blocks):len(g.Blocks)], g.at()) {
		numbers = append(numbers, p[0], p[1])
	}
	switch {
	case (g.Origin == nil) == (g.Center == nil):
		return fail(path, "a generator has an origin for straight rows, or a center for arcs")
	case !finite(numbers...):
		return fail(path, tooFar)
	case g.Spacing < 1 || g.RowSpacing < 1:
		return fail(path, "seats and rows are at least 1 unit apart")
	case g.Center != nil && g.Radius < g.Spacing:
		return fail(path, "the radius of the first arc is at least the space between two seats")
	case g.First < 0 || g.Step < 0 || g.First > seats.MaxSeats || g.Step > seats.MaxSeats || g.Limit < 0:
		return fail(path, "first, step and limit are not negative, nor larger than a plan")
	case len(g.Rows) == 0 || len(g.Rows) > 1000 || len(g.Blocks) == 0 || len(g.Blocks) > 100:
		return fail(path, "a generator has 1 to 1000 rows and 1 to 100 blocks")
	case len(g.Marks) > 20 || slices.ContainsFunc(g.Marks, func(m marking) bool { return len(m.Rows) > 1000 || len(m.Numbers) > 200 }):
		return fail(path, "a generator has at most 20 marks, each with at most 1000 rows and 200 numbers")
	}
	return nil
}

func (g *generator) at() pair {
	if g.Center != nil {
		return *g.Center
	}
	if g.Origin != nil {
		return *g.Origin
	}
	return pair{}
}

func (in *documentReader) generate(g *generator, category string, s *draftSection, path []any) error {
	left := seats.MaxSeats
	if g.Limit > 0 {
		left = g.Limit
	}
	for i, name := range g.Rows {
		if len(g.Categories) > 0 {
			category = g.Categories[min(i, len(g.Categories)-1)]
		}
		number, err := in.category(category, path)
		if err != nil {
			return err
		}
		r := draftRow{label: name, path: path}
		for b, block := range g.Blocks {
			n, along := g.line(i, block)
			n = min(n, left)
			if err := in.room(n, path...); err != nil {
				return err
			}
			left -= n
			for k := range n {
				x, y := g.spot(i, along(k))
				r.seats = append(r.seats, draftSeat{category: number, x: x, y: y})
			}
			if n > 0 && b < len(g.Blocks)-1 {
				r.seats[len(r.seats)-1].flags |= seats.AisleAfter
			}
		}
		g.number(r.seats)
		if err := g.mark(&r, path); err != nil {
			return err
		}
		s.rows = append(s.rows, r)
	}
	return nil
}

// line is how many seats of a row fit into a block, and where along it each is: they are spread around its middle.
func (g *generator) line(row int, block pair) (int, func(int) float64) {
	step := g.Spacing
	if g.Center != nil {
		step = g.Spacing / (g.Radius + float64(row)*g.RowSpacing) * 180 / math.Pi
	}
	room := (block[1] - block[0]) / step
	if !(room >= 0) {
		return 0, nil
	}
	n := 1 + int(min(room+1e-9, seats.MaxSeats))
	first := (block[0]+block[1])/2 - step*float64(n-1)/2
	return n, func(k int) float64 { return first + step*float64(k) }
}

// spot is where a seat stands: in a row, so far along it.
func (g *generator) spot(row int, along float64) (x, y float64) {
	depth := float64(row) * g.RowSpacing
	if g.Center != nil {
		sin, cos := math.Sincos((g.Angle - along) * math.Pi / 180)
		r := g.Radius + depth
		return tenth(g.Center[0] + r*cos), tenth(g.Center[1] + r*sin)
	}
	sin, cos := math.Sincos(g.Angle * math.Pi / 180)
	return tenth(g.Origin[0] + depth*cos + along*sin), tenth(g.Origin[1] + depth*sin - along*cos)
}

func (g *generator) number(row []draftSeat) {
	for k := range row {
		n := k
		if g.Reverse {
			n = len(row) - 1 - k
		}
		row[k].number = strconv.Itoa(g.First + n*g.Step)
	}
}

func (g *generator) mark(r *draftRow, path []any) error {
	for m, mark := range g.Marks {
		flags, err := flagsNamed(mark.Flags, under(path, "marks", m, "flags"))
		if err != nil {
			return err
		}
		if len(mark.Rows) > 0 && !slices.Contains(mark.Rows, r.label) {
			continue
		}
		for k := range r.seats {
			if k < mark.Ends || k >= len(r.seats)-mark.Ends || slices.Contains(mark.Numbers, r.seats[k].number) {
				r.seats[k].flags |= flags
			}
		}
	}
	return nil
}

// top is the shape of a table; false if the file gives no position or no size.
func (t *documentTable) top() (seats.Shape, bool) {
	switch {
	case t.Center == nil:
		return seats.Shape{}, false
	case t.Size != nil && t.Size[0] > 0 && t.Size[1] > 0:
		return seats.Shape{Kind: "polygon", Role: "table", Points: tabletop(*t.Center, *t.Size, t.Rotation)}, true
	case t.Radius > 0:
		return seats.Shape{Kind: "ellipse", Role: "table", Center: seats.Point{X: t.Center[0], Y: t.Center[1]}, RX: t.Radius, RY: t.Radius}, true
	}
	return seats.Shape{}, false
}

// tabletop is a rectangular table, its first corner the one that is upper left before it is turned.
func tabletop(center, size pair, rotation float64) []seats.Point {
	points := rectangle(center[0]-size[0]/2, center[1]-size[1]/2, size[0], size[1])
	turnAround(points, seats.Point{X: center[0], Y: center[1]}, rotation)
	for i := range points {
		points[i] = seats.Point{X: tenth(points[i].X), Y: tenth(points[i].Y)}
	}
	return points
}

const reach = 0.6 * spacing // from the edge of a table to its chairs

// generate sets seats around the table, the first at the top, clockwise.
func (t *documentTable) generate(path []any) ([]documentSeat, error) {
	square := t.Size != nil && t.Size[0] > 0 && t.Size[1] > 0
	if t.Center == nil || !(t.Radius > 0 || square) || t.Count < 1 || t.Count > 1000 {
		return nil, fail(path, "a table without seats needs a center, a radius or a size, and a count of 1 to 1000 seats")
	}
	points := t.circle()
	if square {
		points = t.sides()
	}
	var list []documentSeat
	for i, p := range points {
		list = append(list, documentSeat{Number: strconv.Itoa(i + 1), X: tenth(p.X), Y: tenth(p.Y)})
	}
	return list, nil
}

func (t *documentTable) circle() []seats.Point {
	points := make([]seats.Point, t.Count)
	for i := range points {
		sin, cos := math.Sincos(2*math.Pi*float64(i)/float64(t.Count) - math.Pi/2)
		points[i] = seats.Point{X: t.Center[0] + (t.Radius+reach)*cos, Y: t.Center[1] + (t.Radius+reach)*sin}
	}
	return points
}

// sides sets seats along the four sides of a table, each where it has the most room.
func (t *documentTable) sides() []seats.Point {
	w, h := t.Size[0], t.Size[1]
	long, counts := [4]float64{w, h, w, h}, [4]int{}
	for range t.Count {
		best := 0
		for s := range counts {
			if long[s]/float64(counts[s]+1) > long[best]/float64(counts[best]+1)+1e-9 {
				best = s
			}
		}
		counts[best]++
	}
	var points []seats.Point
	for s, n := range counts {
		for i := range n {
			along := long[s] * ((float64(i)+0.5)/float64(n) - 0.5)
			points = append(points, [4]seats.Point{
				{X: t.Center[0] + along, Y: t.Center[1] - h/2 - reach},
				{X: t.Center[0] + w/2 + reach, Y: t.Center[1] + along},
				{X: t.Center[0] - along, Y: t.Center[1] + h/2 + reach},
				{X: t.Center[0] - w/2 - reach, Y: t.Center[1] - along},
			}[s])
		}
	}
	turnAround(points, seats.Point{X: t.Center[0], Y: t.Center[1]}, t.Rotation)
	return points
}

// pad is the room between seats and the outline.
const pad = 0.8 * spacing

// sector is the outline of generated rows: a rectangle around one straight block, a slice of a ring around arcs with
// one center. Nil for anything else; the hull of the seats serves there.
func sector(list []generator) []seats.Point {
	if len(list) == 1 && list[0].Origin != nil && len(list[0].Blocks) == 1 {
		return oblong(list[0])
	}
	if len(list) == 0 || list[0].Center == nil {
		return nil
	}
	inner, outer, left, right := math.Inf(1), 0.0, math.Inf(1), math.Inf(-1)
	for _, g := range list {
		if g.Center == nil || *g.Center != *list[0].Center || g.Angle != list[0].Angle || g.complete(nil) != nil {
			return nil
		}
		inner = min(inner, g.Radius)
		outer = max(outer, g.Radius+float64(len(g.Rows)-1)*g.RowSpacing)
		for _, b := range g.Blocks {
			left, right = min(left, b[0]), max(right, b[1])
		}
	}
	inner, outer = max(inner-pad, 1), outer+pad
	if right-left > 300 {
		return nil
	}
	return slice(*list[0].Center, list[0].Angle, inner, outer, left, right)
}

// oblong is the rectangle around straight rows.
func oblong(g generator) []seats.Point {
	if g.complete(nil) != nil {
		return nil
	}
	sin, cos := math.Sincos(g.Angle * math.Pi / 180)
	corner := func(depth, along float64) seats.Point {
		return seats.Point{X: tenth(g.Origin[0] + depth*cos + along*sin), Y: tenth(g.Origin[1] + depth*sin - along*cos)}
	}
	back := float64(len(g.Rows)-1)*g.RowSpacing + pad
	left, right := g.Blocks[0][0]-pad, g.Blocks[0][1]+pad
	return []seats.Point{corner(-pad, left), corner(back, left), corner(back, right), corner(-pad, right)}
}

// slice walks the outer arc from left to right and the inner arc back.
func slice(center pair, angle, inner, outer, left, right float64) []seats.Point {
	var outline []seats.Point
	arc := func(radius, from, to float64) {
		const steps = 24
		for i := range steps + 1 {
			sin, cos := math.Sincos((angle - from - (to-from)*float64(i)/steps) * math.Pi / 180)
			outline = append(outline, seats.Point{X: tenth(center[0] + radius*cos), Y: tenth(center[1] + radius*sin)})
		}
	}
	side := func(radius float64) float64 { return pad / radius * 180 / math.Pi }
	arc(outer, left-side(outer), right+side(outer))
	arc(inner, right+side(inner), left-side(inner))
	return outline
}

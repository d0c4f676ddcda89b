package plan

import (
	"math"
	"slices"
	"strings"

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
	} else if low, high := d.bounds(all); high.X-low.X+high.Y-low.Y > 0 {
		by = 1000 / max(high.X-low.X, high.Y-low.Y)
	}
	d.points(func(_ int, p *seats.Point) { p.X, p.Y = p.X*by, p.Y*by })
	for i := range d.shapes {
		s := &d.shapes[i]
		s.RX, s.RY, s.Size = s.RX*by, s.RY*by, s.Size*by
	}
	for i := range d.floors {
		at := &d.floors[i].At
		at.X, at.Y = tenth(at.X*by), tenth(at.Y*by)
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

// The size of a drawing that has nothing in it.
const blankWidth, blankHeight = 1000, 700

// place moves the drawing so that it begins at the margin, sets its size, and rounds to tenths, as fine as maps draw.
func (d *draft) place() {
	low, high := d.bounds(all)
	if low.X > high.X { // nothing is drawn yet
		d.width, d.height = blankWidth, blankHeight
		return
	}
	d.moved = seats.Point{X: margin - low.X, Y: margin - low.Y}
	d.points(func(_ int, p *seats.Point) { p.X, p.Y = tenth(p.X-low.X+margin), tenth(p.Y-low.Y+margin) })
	d.width = math.Ceil(high.X - low.X + 2*margin)
	d.height = math.Ceil(high.Y - low.Y + 2*margin)
	for i := range d.shapes {
		s := &d.shapes[i]
		s.RX, s.RY, s.Size, s.Rotation = tenth(s.RX), tenth(s.RY), tenth(s.Size), tenth(s.Rotation)
	}
}

func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// floorGap is how far floors are from each other in the drawing, in units.
const floorGap = 100

// part moves floors below those before them that they would cover, with all that is on them.
func (d *draft) part() {
	d.apart = make([]seats.Point, len(d.floors))
	var lows, highs []seats.Point
	for i := range d.floors {
		low, high := d.bounds(i)
		covers, bottom := false, math.Inf(-1)
		for j := range lows {
			covers = covers || low.X < highs[j].X && lows[j].X < high.X && low.Y < highs[j].Y && lows[j].Y < high.Y
			bottom = max(bottom, highs[j].Y)
		}
		if covers {
			d.apart[i].Y = math.Ceil(bottom + floorGap - low.Y)
			d.floors[i].At.Y += d.apart[i].Y
			d.points(func(floor int, p *seats.Point) {
				if floor == i {
					p.Y += d.apart[i].Y
				}
			})
			low.Y, high.Y = low.Y+d.apart[i].Y, high.Y+d.apart[i].Y
			if d.height > 0 {
				d.height = max(d.height, math.Ceil(high.Y+margin))
			}
		}
		lows, highs = append(lows, low), append(highs, high)
	}
}

// movedOf is how far a floor was moved in all.
func (d *draft) movedOf(floor int) seats.Point {
	by := d.moved
	if floor < len(d.apart) {
		by.X, by.Y = by.X+d.apart[floor].X, by.Y+d.apart[floor].Y
	}
	return by
}

// all floors.
const all = -1

// bounds is the smallest rectangle around everything that is drawn on a floor, or on all.
func (d *draft) bounds(floor int) (low, high seats.Point) {
	on := func(f int) bool { return floor == all || f == floor }
	low, high = seats.Point{X: math.Inf(1), Y: math.Inf(1)}, seats.Point{X: math.Inf(-1), Y: math.Inf(-1)}
	reach := func(p seats.Point, by float64) {
		low = seats.Point{X: min(low.X, p.X-by), Y: min(low.Y, p.Y-by)}
		high = seats.Point{X: max(high.X, p.X+by), Y: max(high.Y, p.Y+by)}
	}
	d.each(func(sec *draftSection, _ *draftRow, s *draftSeat) {
		if on(sec.floor) {
			reach(seats.Point{X: s.x, Y: s.y}, 0)
		}
	})
	for _, s := range d.sections {
		if !on(s.floor) {
			continue
		}
		for _, p := range s.outline {
			reach(p, 0)
		}
	}
	for _, s := range d.shapes {
		if !on(s.Floor) {
			continue
		}
		for _, p := range s.Points {
			reach(p, 0)
		}
		switch s.Kind {
		case "ellipse":
			reach(s.Center, max(s.RX, s.RY))
		case "text", "icon":
			reach(s.Center, s.Size)
		}
	}
	return low, high
}

// points visits every point of the drawing, with the floor it is on. The focus is on the first.
func (d *draft) points(move func(floor int, p *seats.Point)) {
	d.each(func(sec *draftSection, _ *draftRow, s *draftSeat) {
		p := seats.Point{X: s.x, Y: s.y}
		move(sec.floor, &p)
		s.x, s.y = p.X, p.Y
	})
	for i := range d.sections {
		for j := range d.sections[i].outline {
			move(d.sections[i].floor, &d.sections[i].outline[j])
		}
	}
	for i := range d.shapes {
		s := &d.shapes[i]
		for j := range s.Points {
			move(s.Floor, &s.Points[j])
		}
		if s.Kind == "ellipse" || s.Kind == "text" || s.Kind == "icon" {
			move(s.Floor, &s.Center)
		}
	}
	for i := range d.underlays {
		u := &d.underlays[i]
		p := seats.Point{X: u.X, Y: u.Y}
		move(max(0, slices.IndexFunc(d.floors, func(f seats.Floor) bool { return f.Name == u.Floor })), &p)
		u.X, u.Y = p.X, p.Y
	}
	if d.focus != nil {
		move(0, d.focus)
	}
}

// fill lays n places out inside a polygon, in level lines from top to bottom, each line as dense as the others.
func fill(polygon []seats.Point, n int) []seats.Point {
	if n <= 0 {
		return nil
	}
	low, high := polygon[0], polygon[0]
	for _, p := range polygon {
		low = seats.Point{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = seats.Point{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	if !(high.Y > low.Y) { // no line is between them
		return boxed(low, high, n)
	}
	lines := levels(polygon, low.Y, high.Y, n)
	total := 0.0
	for _, l := range lines {
		total += l.length()
	}
	if !(total > 0) {
		return boxed(low, high, n)
	}
	places := make([]seats.Point, 0, n)
	before := 0.0
	for _, l := range lines {
		before += l.length()
		upTo := int(math.Round(before / total * float64(n)))
		places = l.spread(places, upTo-len(places))
	}
	return places
}

// level is a line through the polygon: cuts[0] to cuts[1] is inside, cuts[2] to cuts[3] too, and so on.
type level struct {
	y    float64
	cuts []float64
}

// levels are as many lines as make places about as far from each other downwards as sideways.
func levels(polygon []seats.Point, top, bottom float64, n int) []level {
	height := bottom - top
	step := math.Sqrt(surface(polygon) / float64(n))
	most := min(float64(n), 2000)
	count := int(math.Max(1, math.Min(most, math.Round(height/step)))) // a sliver gives infinitely many: most
	lines := make([]level, count)
	for i := range lines {
		y := top + height*(float64(i)+0.5)/float64(count)
		lines[i] = level{y, crossings(polygon, y)}
	}
	return lines
}

func (l level) length() float64 {
	sum := 0.0
	for i := 0; i+1 < len(l.cuts); i += 2 {
		sum += l.cuts[i+1] - l.cuts[i]
	}
	return sum
}

// spread adds n places along the line, with equal steps and half a step at its ends.
func (l level) spread(places []seats.Point, n int) []seats.Point {
	step := l.length() / float64(n)
	for i, k, passed := 0, 0, 0.0; k < n && i+1 < len(l.cuts); {
		at := l.cuts[i] + step*(float64(k)+0.5) - passed
		if at > l.cuts[i+1] && i+3 < len(l.cuts) {
			passed += l.cuts[i+1] - l.cuts[i]
			i += 2
			continue
		}
		places = append(places, seats.Point{X: min(at, l.cuts[i+1]), Y: l.y})
		k++
	}
	return places
}

// surface is the size of a polygon's inside.
func surface(polygon []seats.Point) float64 {
	sum := 0.0
	for i, a := range polygon {
		b := polygon[(i+1)%len(polygon)]
		sum += a.X*b.Y - b.X*a.Y
	}
	return math.Abs(sum) / 2
}

// crossings are the x at which a level line enters and leaves the polygon, in order.
func crossings(polygon []seats.Point, y float64) []float64 {
	var cuts []float64
	for i, a := range polygon {
		b := polygon[(i+1)%len(polygon)]
		if (a.Y <= y) != (b.Y <= y) {
			cuts = append(cuts, a.X+(y-a.Y)/(b.Y-a.Y)*(b.X-a.X))
		}
	}
	slices.Sort(cuts)
	return cuts
}

// within reports whether a point is inside a polygon.
func within(polygon []seats.Point, x, y float64) bool {
	left := 0
	for _, cross := range crossings(polygon, y) {
		if cross < x {
			left++
		}
	}
	return left%2 == 1
}

// boxed lays n places out in a rectangle, for polygons with next to no inside.
func boxed(low, high seats.Point, n int) []seats.Point {
	columns := int(math.Ceil(math.Sqrt(float64(n))))
	lines := (n + columns - 1) / columns
	places := make([]seats.Point, n)
	for i := range places {
		places[i] = seats.Point{
			X: low.X + (high.X-low.X)*(float64(i%columns)+0.5)/float64(columns),
			Y: low.Y + (high.Y-low.Y)*(float64(i/columns)+0.5)/float64(lines),
		}
	}
	return places
}

// padded is the convex hull of points with room around it, its corners cut: the hull of a small octagon at each point.
func padded(points []seats.Point, by float64) []seats.Point {
	around := make([]seats.Point, 0, 8*len(points))
	for _, p := range hull(points) {
		for i := range 8 {
			sin, cos := math.Sincos((float64(i) + 0.5) * math.Pi / 4)
			around = append(around, seats.Point{X: p.X + by*cos, Y: p.Y + by*sin})
		}
	}
	return hull(around)
}

// hull is the smallest convex polygon around points.
func hull(points []seats.Point) []seats.Point {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b seats.Point) int {
		if a.X != b.X {
			return sign(a.X - b.X)
		}
		return sign(a.Y - b.Y)
	})
	sorted = slices.Compact(sorted)
	if len(sorted) < 3 {
		return sorted
	}
	lower := chain(sorted)
	slices.Reverse(sorted)
	upper := chain(sorted)
	return append(lower[:len(lower)-1], upper[:len(upper)-1]...)
}

// chain is the half of the hull that turns one way, from the first point to the last.
func chain(sorted []seats.Point) []seats.Point {
	var c []seats.Point
	for _, p := range sorted {
		for len(c) >= 2 && turn(c[len(c)-2], c[len(c)-1], p) <= 0 {
			c = c[:len(c)-1]
		}
		c = append(c, p)
	}
	return c
}

func turn(a, b, c seats.Point) float64 { return (b.X-a.X)*(c.Y-a.Y) - (b.Y-a.Y)*(c.X-a.X) }

func sign(v float64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// draw adds a shape, if it is one that can be drawn.
func (d *draft) draw(s seats.Shape, path []any) error {
	for _, p := range s.Points {
		if !near(p.X, p.Y) {
			return fail(path, tooFar)
		}
	}
	if !near(s.Center.X, s.Center.Y, s.RX, s.RY, s.Size, s.Rotation) {
		return fail(path, tooFar)
	}
	switch s.Kind {
	case "polygon":
		if len(s.Points) < 3 {
			return nil
		}
	case "line":
		if len(s.Points) < 2 {
			return nil
		}
	case "ellipse":
		if s.RX <= 0 || s.RY <= 0 {
			return nil
		}
	case "text":
		if s.Text = cleanName(s.Text, maxText); s.Text == "" || s.Size <= 0 {
			return nil
		}
	}
	d.shapes = append(d.shapes, s)
	return nil
}

// roleOf guesses the role of a shape from a word.
func roleOf(word string) string {
	word = strings.ToLower(word)
	for _, stage := range []string{"stage", "bühne", "scène", "escenario", "palco", "screen", "podium"} {
		if strings.Contains(word, stage) {
			return "stage"
		}
	}
	return "other"
}

func rectangle(x, y, width, height float64) []seats.Point {
	return []seats.Point{{X: x, Y: y}, {X: x + width, Y: y}, {X: x + width, Y: y + height}, {X: x, Y: y + height}}
}

// ovalCorners is how many corners an ellipse has as a polygon.
const ovalCorners = 48

// oval is an ellipse as a polygon, for outlines.
func oval(center seats.Point, rx, ry float64) []seats.Point {
	points := make([]seats.Point, ovalCorners)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / ovalCorners)
		points[i] = seats.Point{X: center.X + rx*cos, Y: center.Y + ry*sin}
	}
	return points
}

func middle(points []seats.Point) (m seats.Point) {
	for _, p := range points {
		m.X += p.X / float64(len(points))
		m.Y += p.Y / float64(len(points))
	}
	return m
}

// turnAround rotates points about a center by degrees, clockwise as y points down.
func turnAround(points []seats.Point, center seats.Point, degrees float64) {
	if degrees == 0 {
		return
	}
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	for i, p := range points {
		x, y := p.X-center.X, p.Y-center.Y
		points[i] = seats.Point{X: center.X + x*cos - y*sin, Y: center.Y + x*sin + y*cos}
	}
}

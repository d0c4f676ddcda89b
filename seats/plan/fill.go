package plan

import (
	"math"
	"slices"

	"github.com/usherbox/usher/seats"
)

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

package plan

import (
	"math"
	"slices"

	"github.com/usherbox/usher/seats"
)

// fill lays n places out inside a polygon, in lines from top left to bottom right, as even as it can.
func fill(polygon []seats.Point, n int) []seats.Point {
	if n <= 0 {
		return nil
	}
	low, high := polygon[0], polygon[0]
	for _, p := range polygon {
		low = seats.Point{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = seats.Point{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	// A sliver is treated as a thin box, so that the search below has an end.
	side := max(high.X-low.X, high.Y-low.Y, 1e-6)
	box := max(high.X-low.X, side/100) * max(high.Y-low.Y, side/100)
	tight, wide := math.Sqrt(box/float64(n))/20, 2*math.Sqrt(box/float64(n))
	var best []seats.Point
	for range 18 {
		step := (tight + wide) / 2
		if found := grid(polygon, low, high, step); len(found) >= n {
			best, tight = found, step
		} else {
			wide = step
		}
	}
	if best == nil {
		best = boxed(low, high, n)
	}
	chosen := make([]seats.Point, n)
	for i := range chosen {
		chosen[i] = best[i*len(best)/n]
	}
	return chosen
}

// grid is every place of a staggered grid that is inside the polygon, half a step from the box's edge.
func grid(polygon []seats.Point, low, high seats.Point, step float64) []seats.Point {
	var found []seats.Point
	odd := false
	for y := low.Y + step/2; y <= high.Y; y += step {
		cuts := crossings(polygon, y)
		shift := 0.0
		if odd = !odd; !odd {
			shift = step / 2
		}
		for i := 0; i+1 < len(cuts); i += 2 {
			first := math.Ceil((cuts[i]-low.X-shift)/step-0.5+1e-9) + 0.5
			for x := low.X + shift + first*step; x < cuts[i+1]; x += step {
				found = append(found, seats.Point{X: x, Y: y})
			}
		}
	}
	return found
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

package plan

import (
	"math"
	"slices"

	"github.com/usherbox/usher/seats"
)

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

package plan

import (
	"math"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// top is what a table is drawn as; false if the file does not say where it is or how large.
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

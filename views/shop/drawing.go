package shop

import (
	"math"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// Tenth writes a coordinate to a tenth of a plan unit, finer than anybody sees.
func Tenth(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func Points(outline []seats.Point) string {
	var b strings.Builder
	for i, p := range outline {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(Tenth(p.X) + "," + Tenth(p.Y))
	}
	return b.String()
}

// margin is kept free around the drawing, as a part of its longer side.
const margin = 0.02

// ViewBox is the part of the drawing that the map shows: all of it, or one floor.
func (s Sale) ViewBox() string {
	if s.Filter.Floor > 0 {
		return s.floorBox(s.Filter.Floor - 1)
	}
	edge := margin * max(s.Plan.Width, s.Plan.Height)
	return strings.Join([]string{Tenth(-edge), Tenth(-edge), Tenth(s.Plan.Width + 2*edge), Tenth(s.Plan.Height + 2*edge)}, " ")
}

// centre is the centre of a polygon's surface; of its corners, where it has no surface.
func centre(outline []seats.Point) (x, y float64) {
	var surface float64
	for i, p := range outline {
		q := outline[(i+1)%len(outline)]
		cross := p.X*q.Y - q.X*p.Y
		surface += cross
		x += (p.X + q.X) * cross
		y += (p.Y + q.Y) * cross
	}
	if math.Abs(surface) > 1e-9 {
		return x / (3 * surface), y / (3 * surface)
	}
	x, y = 0, 0
	for _, p := range outline {
		x += p.X / float64(len(outline))
		y += p.Y / float64(len(outline))
	}
	return x, y
}

// form tells flat drawings from high ones, so that phones give each the room it needs.
func (s Sale) form() string {
	low, high := seats.Point{}, seats.Point{X: s.Plan.Width, Y: s.Plan.Height}
	if s.Filter.Floor > 0 {
		low, high = s.extentOf(s.Filter.Floor - 1)
	}
	if high.Y-low.Y < 0.85*(high.X-low.X) {
		return "flat"
	}
	return "high"
}

func middle(shape seats.Shape) seats.Point {
	if len(shape.Points) > 2 {
		x, y := centre(shape.Points)
		return seats.Point{X: x, Y: y}
	}
	return shape.Center
}

func textSize(shape seats.Shape) float64 {
	if shape.Size > 0 {
		return shape.Size
	}
	return 14
}

func turned(shape seats.Shape) string { return turnedAt(shape.Rotation, shape.Center) }

func turnedAt(degrees float64, at seats.Point) string {
	return "rotate(" + Tenth(degrees) + " " + Tenth(at.X) + " " + Tenth(at.Y) + ")"
}

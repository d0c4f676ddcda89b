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
	return viewBox(seats.Point{}, seats.Point{X: s.Plan.Width, Y: s.Plan.Height}, margin)
}

// viewBox is a rectangle of the drawing with some of its longer side around it.
func viewBox(low, high seats.Point, around float64) string {
	edge := around * max(high.X-low.X, high.Y-low.Y)
	return strings.Join([]string{Tenth(low.X - edge), Tenth(low.Y - edge), Tenth(high.X - low.X + 2*edge), Tenth(high.Y - low.Y + 2*edge)}, " ")
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

// Objects are the signs of what is in a house and is not a seat, by the roles of icons in plans: paths in a box of 16 by 16.
var Objects = map[string]string{
	"entrance":  "M9.5 2.5H13v11H9.5M2.5 8H9M6.5 5.5L9 8l-2.5 2.5",
	"exit":      "M6.5 2.5H3v11h3.5M6 8h7M10.5 5.5L13 8l-2.5 2.5",
	"bar":       "M2.5 3h11L8 9zM8 9v4.5M5 13.5h6M11 3l2-1.5",
	"toilets":   "M4.5 3.2v0M4.5 6v4M3 6h3M4.5 10L3.5 13.5M4.5 10l1 3.5M11.5 3.2v0M11.5 5.5L9.7 10h3.6zM10.8 10v3.5M12.2 10v3.5M8 2v12",
	"lift":      "M3 2.5h10v11H3zM8 2.5v11M5.5 6.5v3M4.5 7.5l1-1 1 1M10.5 6.5v3M9.5 8.5l1 1 1-1",
	"stairs":    "M2.5 13.5h3v-3h3v-3h3v-3h2.5",
	"cloakroom": "M8 6.5V5.4c1.3-.3 1.6-1 1.6-1.5A1.6 1.6 0 0 0 6.4 4M8 6.5L2.5 11v1.5h11V11z",
}

// sign is the path of an icon.
func sign(s seats.Shape) string { return Objects[s.Role] }

// signBox is where its square begins.
func signBox(s seats.Shape) (x, y string) {
	return Tenth(s.Center.X - s.Size/2), Tenth(s.Center.Y - s.Size/2)
}

// inSquare puts the path of an icon into its square.
func inSquare(s seats.Shape) string {
	x, y := signBox(s)
	return "translate(" + x + " " + y + ") scale(" + strconv.FormatFloat(math.Round(s.Size*10)/160, 'f', 3, 64) + ")"
}

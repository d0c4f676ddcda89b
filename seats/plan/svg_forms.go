package plan

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// What the elements of a drawing look like, as shapes of a plan. Only forms and words are taken, never markup, styles or addresses:
// no script and no picture from elsewhere gets into a plan.

// matrix is where a drawing puts a point: x' = ax + cy + e, y' = bx + dy + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

func (m matrix) times(n matrix) matrix {
	return matrix{m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b, m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d, m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f}
}

func (m matrix) at(x, y float64) (float64, float64) { return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f }

// put is points where the matrix puts them, in memory of their own.
func (m matrix) put(points []seats.Point) []seats.Point {
	list := make([]seats.Point, len(points))
	for i, p := range points {
		list[i].X, list[i].Y = m.at(p.X, p.Y)
	}
	return list
}

// size is how many times larger things become.
func (m matrix) size() float64 { return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c)) }

// turn is by how many degrees things are turned, clockwise.
func (m matrix) turn() float64 { return math.Atan2(m.b, m.a) * 180 / math.Pi }

// even reports whether a circle stays a circle and nothing is mirrored.
func (m matrix) even() bool {
	small := 1e-6 * (math.Abs(m.a) + math.Abs(m.b) + 1e-9)
	return math.Abs(m.a-m.d) < small && math.Abs(m.b+m.c) < small
}

// count is how many points a shape has where the matrix puts it, and one for itself.
func (m matrix) count(s *seats.Shape) int {
	if s.Kind == "ellipse" && !m.even() {
		return 1 + ovalCorners
	}
	return 1 + len(s.Points)
}

// ovalOf is an ellipse as a polygon.
func ovalOf(s *seats.Shape) []seats.Point {
	points := oval(s.Center, s.RX, s.RY)
	turnAround(points, s.Center, s.Rotation)
	return points
}

// moved is a shape where the matrix puts it.
func (m matrix) moved(s seats.Shape) seats.Shape {
	if s.Kind == "ellipse" && !m.even() {
		return seats.Shape{Kind: "polygon", Role: s.Role, Points: m.put(ovalOf(&s))}
	}
	s.Points = m.put(s.Points)
	s.Center.X, s.Center.Y = m.at(s.Center.X, s.Center.Y)
	by := m.size()
	s.RX, s.RY, s.Size = s.RX*by, s.RY*by, s.Size*by
	if s.Kind != "polygon" && s.Kind != "line" {
		s.Rotation += m.turn()
	}
	return s
}

const mostOfPath = 5_000 // points of one path

// formsOf are the shapes of an element in its own units: none if it has no form.
func formsOf(element string, a map[string]string) []seats.Shape {
	n := func(name string) float64 { return firstNumber(a[name]) }
	switch element {
	case "circle":
		return []seats.Shape{{Kind: "ellipse", Center: seats.Point{X: n("cx"), Y: n("cy")}, RX: n("r"), RY: n("r")}}
	case "ellipse":
		return []seats.Shape{{Kind: "ellipse", Center: seats.Point{X: n("cx"), Y: n("cy")}, RX: n("rx"), RY: n("ry")}}
	case "rect":
		return []seats.Shape{{Kind: "polygon", Points: rectangle(n("x"), n("y"), n("width"), n("height"))}}
	case "line":
		return []seats.Shape{{Kind: "line", Points: []seats.Point{{X: n("x1"), Y: n("y1")}, {X: n("x2"), Y: n("y2")}}}}
	case "polygon", "polyline":
		kind := map[string]string{"polygon": "polygon", "polyline": "line"}[element]
		return []seats.Shape{{Kind: kind, Points: pairsOf(numbersIn(a["points"]))}}
	case "path":
		return traced(a["d"])
	}
	return nil
}

func firstNumber(s string) float64 {
	n, _ := strconv.ParseFloat(numberIn.FindString(s), 64)
	return n
}

func pairsOf(numbers []float64) (list []seats.Point) {
	for i := 0; i+1 < len(numbers) && len(list) < mostOfPath; i += 2 {
		list = append(list, seats.Point{X: numbers[i], Y: numbers[i+1]})
	}
	return list
}

var numberIn = regexp.MustCompile(`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`)

func numbersIn(s string) []float64 {
	var list []float64
	for _, text := range numberIn.FindAllString(s, 100_000) {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

var oneTransform = regexp.MustCompile(`(\w+)\s*\(([^)]*)\)`)

// transformed reads the attribute transform.
func transformed(s string) matrix {
	m := identity
	for _, t := range oneTransform.FindAllStringSubmatch(s, 50) {
		n := append(numbersIn(t[2]), 0, 0, 0)
		given := len(n) - 3
		sin, cos := math.Sincos(n[0] * math.Pi / 180)
		switch {
		case t[1] == "translate":
			m = m.times(matrix{1, 0, 0, 1, n[0], n[1]})
		case t[1] == "scale" && given == 1:
			m = m.times(matrix{a: n[0], d: n[0]})
		case t[1] == "scale":
			m = m.times(matrix{a: n[0], d: n[1]})
		case t[1] == "rotate":
			m = m.times(matrix{1, 0, 0, 1, n[1], n[2]}).times(matrix{a: cos, b: sin, c: -sin, d: cos}).times(matrix{1, 0, 0, 1, -n[1], -n[2]})
		case t[1] == "skewX":
			m = m.times(matrix{a: 1, c: sin / cos, d: 1})
		case t[1] == "skewY":
			m = m.times(matrix{a: 1, b: sin / cos, d: 1})
		case t[1] == "matrix" && given >= 6:
			m = m.times(matrix{n[0], n[1], n[2], n[3], n[4], n[5]})
		}
	}
	return m
}

// tracer follows the commands of a path. Curves become short straight lines.
type tracer struct {
	d      string
	i      int
	at     seats.Point
	begun  seats.Point
	points []seats.Point
	shapes []seats.Shape
	count  int
}

// traced is a path as shapes: a polygon of each closed part, a line of each open one. What follows a fault is left out, as browsers do.
func traced(d string) []seats.Shape {
	t := &tracer{d: d}
	command, last, control := byte(0), byte(0), seats.Point{}
	for t.count < mostOfPath {
		t.skip()
		if t.i >= len(t.d) {
			break
		}
		if c := t.d[t.i]; strings.IndexByte("MmLlHhVvCcSsQqTtAaZz", c) >= 0 {
			command = c
			t.i++
		} else if command == 0 || command == 'Z' || command == 'z' {
			break
		}
		var ok bool
		if control, ok = t.step(command, last, control); !ok {
			break
		}
		last = command
		switch command {
		case 'M':
			command = 'L' // what follows are lines
		case 'm':
			command = 'l'
		}
	}
	t.end(false)
	return t.shapes
}

// step does one command. control is the last point that a curve was drawn towards.
func (t *tracer) step(command, last byte, control seats.Point) (seats.Point, bool) {
	relative := command >= 'a'
	from := seats.Point{}
	if relative {
		from = t.at
	}
	n, ok := t.numbers(map[byte]int{'M': 2, 'L': 2, 'H': 1, 'V': 1, 'C': 6, 'S': 4, 'Q': 4, 'T': 2, 'A': 7, 'Z': 0}[command&^0x20], command&^0x20 == 'A')
	if !ok {
		return control, false
	}
	p := func(i int) seats.Point { return seats.Point{X: from.X + n[i], Y: from.Y + n[i+1]} }
	mirrored := func(after string) seats.Point {
		if strings.IndexByte(after, last&^0x20) >= 0 {
			return seats.Point{X: 2*t.at.X - control.X, Y: 2*t.at.Y - control.Y}
		}
		return t.at
	}
	switch command &^ 0x20 {
	case 'M':
		t.end(false)
		t.begun = p(0)
		t.to(t.begun)
	case 'L':
		t.to(p(0))
	case 'H':
		t.to(seats.Point{X: from.X + n[0], Y: t.at.Y})
	case 'V':
		t.to(seats.Point{X: t.at.X, Y: from.Y + n[0]})
	case 'C':
		control = p(2)
		t.curve(p(0), control, p(4))
	case 'S':
		first := mirrored("CS")
		control = p(0)
		t.curve(first, control, p(2))
	case 'Q':
		control = p(0)
		t.bent(control, p(2))
	case 'T':
		control = mirrored("QT")
		t.bent(control, p(0))
	case 'A':
		t.arc(n[0], n[1], n[2], n[3] != 0, n[4] != 0, p(5))
	case 'Z':
		t.end(true)
		t.at = t.begun
	}
	return control, true
}

func (t *tracer) skip() {
	for t.i < len(t.d) && strings.IndexByte(" \t\r\n,", t.d[t.i]) >= 0 {
		t.i++
	}
}

// numbers reads so many numbers. The fourth and fifth of an arc are one digit each, with nothing between them.
func (t *tracer) numbers(count int, arc bool) ([]float64, bool) {
	var list []float64
	for i := range count {
		t.skip()
		if arc && (i == 3 || i == 4) {
			if t.i >= len(t.d) || t.d[t.i] != '0' && t.d[t.i] != '1' {
				return nil, false
			}
			list = append(list, float64(t.d[t.i]-'0'))
			t.i++
			continue
		}
		at := numberIn.FindStringIndex(t.d[t.i:min(len(t.d), t.i+50)])
		if at == nil || at[0] != 0 {
			return nil, false
		}
		n, err := strconv.ParseFloat(t.d[t.i:t.i+at[1]], 64)
		if err != nil {
			return nil, false
		}
		list, t.i = append(list, n), t.i+at[1]
	}
	return list, true
}

func (t *tracer) to(p seats.Point) {
	if len(t.points) == 0 && p != t.begun {
		t.points = append(t.points, t.at) // a part that goes on where the last one was closed
	}
	t.points, t.at = append(t.points, p), p
	t.count++
}

// end ends a part of the path.
func (t *tracer) end(closed bool) {
	kind := "line"
	if closed || len(t.points) > 3 && t.points[0] == t.points[len(t.points)-1] {
		kind = "polygon"
	}
	if len(t.points) > 1 {
		t.shapes = append(t.shapes, seats.Shape{Kind: kind, Points: t.points})
	}
	t.points = nil
}

const curveSteps = 10

func (t *tracer) curve(a, b, end seats.Point) {
	from := t.at
	for i := 1; i <= curveSteps; i++ {
		u := float64(i) / curveSteps
		v := 1 - u
		f, g, h, k := v*v*v, 3*v*v*u, 3*v*u*u, u*u*u
		t.to(seats.Point{X: f*from.X + g*a.X + h*b.X + k*end.X, Y: f*from.Y + g*a.Y + h*b.Y + k*end.Y})
	}
	t.at = end
}

func (t *tracer) bent(by, end seats.Point) {
	third := func(a, b seats.Point) seats.Point { return seats.Point{X: a.X + (b.X-a.X)*2/3, Y: a.Y + (b.Y-a.Y)*2/3} }
	t.curve(third(t.at, by), third(end, by), end)
}

// arc is a part of an ellipse between two points, as SVG 2 computes it (appendix B.2.4).
func (t *tracer) arc(rx, ry, degrees float64, large, sweep bool, end seats.Point) {
	rx, ry = math.Abs(rx), math.Abs(ry)
	if from := t.at; rx > 0 && ry > 0 && from != end {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		dx, dy := (from.X-end.X)/2, (from.Y-end.Y)/2
		x, y := cos*dx+sin*dy, -sin*dx+cos*dy
		if over := x*x/(rx*rx) + y*y/(ry*ry); over > 1 {
			rx, ry = rx*math.Sqrt(over), ry*math.Sqrt(over)
		}
		k := math.Sqrt(max(0, (rx*rx*ry*ry-rx*rx*y*y-ry*ry*x*x)/(rx*rx*y*y+ry*ry*x*x)))
		if large == sweep {
			k = -k
		}
		cx, cy := k*rx*y/ry, -k*ry*x/rx
		begin := math.Atan2((y-cy)/ry, (x-cx)/rx)
		turn := math.Atan2((-y-cy)/ry, (-x-cx)/rx) - begin
		switch {
		case sweep && turn < 0:
			turn += 2 * math.Pi
		case !sweep && turn > 0:
			turn -= 2 * math.Pi
		}
		mx, my := cos*cx-sin*cy+(from.X+end.X)/2, sin*cx+cos*cy+(from.Y+end.Y)/2
		steps := int(math.Ceil(math.Abs(turn) / (math.Pi / 12)))
		for i := 1; i < steps; i++ {
			s, c := math.Sincos(begin + turn*float64(i)/float64(steps))
			t.to(seats.Point{X: mx + rx*c*cos - ry*s*sin, Y: my + rx*c*sin + ry*s*cos})
		}
	}
	t.to(end)
}

// extent is the rectangle around shapes; low is beyond high if there are none.
func extent(shapes []seats.Shape) (low, high seats.Point) {
	low, high = seats.Point{X: math.Inf(1), Y: math.Inf(1)}, seats.Point{X: math.Inf(-1), Y: math.Inf(-1)}
	for i := range shapes {
		s := &shapes[i]
		around := s.Points
		if s.Kind == "ellipse" {
			around = rectangle(s.Center.X-s.RX, s.Center.Y-s.RY, 2*s.RX, 2*s.RY)
			turnAround(around, s.Center, s.Rotation)
		}
		for _, p := range around {
			low, high = seats.Point{X: min(low.X, p.X), Y: min(low.Y, p.Y)}, seats.Point{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
		}
	}
	return low, high
}

// straighter leaves out points that are no farther than by from the line between those that stay.
func straighter(points []seats.Point, by float64) []seats.Point {
	if len(points) < 3 {
		return points
	}
	stays := make([]bool, len(points))
	stays[0], stays[len(points)-1] = true, true
	for open := [][2]int{{0, len(points) - 1}}; len(open) > 0; {
		part := open[len(open)-1]
		open = open[:len(open)-1]
		a, b := points[part[0]], points[part[1]]
		long, far, most := math.Hypot(b.X-a.X, b.Y-a.Y), 0.0, 0
		for i := part[0] + 1; i < part[1]; i++ {
			d := math.Hypot(points[i].X-a.X, points[i].Y-a.Y)
			if long > 0 {
				d = math.Abs(turn(a, b, points[i])) / long
			}
			if d > far {
				far, most = d, i
			}
		}
		if far > by {
			stays[most] = true
			open = append(open, [2]int{part[0], most}, [2]int{most, part[1]})
		}
	}
	i := -1
	return slices.DeleteFunc(slices.Clone(points), func(seats.Point) bool { i++; return !stays[i] })
}

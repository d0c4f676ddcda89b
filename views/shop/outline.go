package shop

import (
	"math"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// A drawing is as fine as this part of its longer side: a pixel where it is 500 wide. With few sections, which are
// large then, curves are smoother: bytes matter in large venues.
const (
	fineness = 1.0 / 500
	smooth   = 1.0 / 5000
	few      = 60
)

// fine is how far the drawing may be off.
func (s Sale) fine() float64 {
	if len(s.Plan.Sections) <= few {
		return s.long() * smooth
	}
	return s.long() * fineness
}

// step is the length the outlines and names of sections are written in: short numbers in large venues, where every byte
// counts two hundred times.
func (s Sale) step() float64 {
	return max(math.Floor(2*s.fine()), 0.1)
}

// scaled draws what is written in steps.
func (s Sale) scaled() string { return "scale(" + Tenth(s.step()) + ")" }

// placed puts the drawing of a section where its name stands, or would.
func (s Sale) placed(t title) string {
	x, y := s.origin(t)
	return "translate(" + strconv.Itoa(x) + " " + strconv.Itoa(y) + ")"
}

// origin is the point the drawing of a section is written from: its name's, in steps.
func (s Sale) origin(t title) (x, y int) {
	return int(math.Round(t.X / s.step())), int(math.Round(t.Y / s.step()))
}

// size is how large a name is, in steps.
func (s Sale) size(t title) string { return Tenth(t.Size / s.step()) }

// outline is the path around a section, without points too small to see. Curved sections have fifty points, of
// which a dozen can be seen; each is written as the way from the one before, the first from the origin.
func (s Sale) outline(section int, t title) string {
	points, step := simpler(s.Plan.Sections[section].Outline, s.fine()), s.step()
	var b []byte
	x, y := s.origin(t) // and then as written so far
	for i, p := range points {
		toX, toY := int(math.Round(p.X/step)), int(math.Round(p.Y/step))
		switch i {
		case 0:
			b = append(b, 'M')
		case 1:
			b = append(b, 'l')
		}
		b = steps(b, toX-x)
		b = steps(b, toY-y)
		x, y = toX, toY
	}
	return string(append(b, 'z'))
}

// hall is a small drawing of a floor of a plan: its sections and its stage as one path.
type hall struct {
	ID, Box, Path string
	low           seats.Point
	scale         float64 // of the plan
}

// hallWide is the longer side of such a drawing.
const hallWide = 200.0

// halls are drawings of the floors of a plan, of one if it has none.
func (s Sale) halls() []hall {
	list := make([]hall, s.storeys())
	for floor := range list {
		list[floor] = s.hall(floor)
		list[floor].ID = "hall"
		if floor > 0 {
			list[floor].ID += strconv.Itoa(floor)
		}
	}
	return list
}

func (s Sale) hall(floor int) hall {
	low, high := s.extentOf(floor)
	long := max(high.X-low.X, high.Y-low.Y)
	if long <= 0 {
		return hall{Box: "0 0 1 1"}
	}
	h := hall{scale: hallWide / long, low: low}
	h.Box = "0 0 " + Tenth((high.X-low.X)*h.scale) + " " + Tenth((high.Y-low.Y)*h.scale)
	var b []byte
	for _, figure := range s.figures(floor) {
		for i, p := range simpler(figure, long/hallWide) {
			b = append(b, "ML"[min(i, 1)])
			b = append(b, Tenth((p.X-low.X)*h.scale)+" "+Tenth((p.Y-low.Y)*h.scale)...)
		}
		b = append(b, 'z')
	}
	h.Path = string(b)
	return h
}

// at is where a seat is in the drawing.
func (h hall) at(seat seats.Seat) (x, y string) {
	return Tenth((seat.X - h.low.X) * h.scale), Tenth((seat.Y - h.low.Y) * h.scale)
}

// figures are the outlines of the sections on a floor, and its stages.
func (s Sale) figures(floor int) (list [][]seats.Point) {
	for _, section := range s.Plan.Sections {
		if section.Floor == floor && len(section.Outline) > 2 {
			list = append(list, section.Outline)
		}
	}
	for _, shape := range s.Plan.Shapes {
		if shape.Floor == floor && shape.Kind == "polygon" && shape.Role == "stage" && len(shape.Points) > 2 {
			list = append(list, shape.Points)
		}
	}
	return list
}

// onPlan reports whether a drawing of the plan shows where a ticket is: it has a seat, at a place.
func (s Sale) onPlan(idx int) bool {
	return s.Plan.Width > 0 && s.Plan.Height > 0 && s.Plan.Seats[idx].Row != "" && !s.Event.Online.On
}

// steps appends a whole number, with a space before it unless a sign or a letter stands between it and the last.
func steps(b []byte, n int) []byte {
	if last := len(b) - 1; n >= 0 && last >= 0 && b[last] != 'M' && b[last] != 'l' {
		b = append(b, ' ')
	}
	return strconv.AppendInt(b, int64(n), 10)
}

// simpler leaves out points of a closed outline that are no further than this from the line without them
// (Douglas and Peucker, once for each half).
func simpler(outline []seats.Point, tolerance float64) []seats.Point {
	if len(outline) < 5 {
		return outline
	}
	half := 0 // the point furthest from the first
	for i, p := range outline {
		if distance(p, outline[0]) > distance(outline[half], outline[0]) {
			half = i
		}
	}
	kept := thinned(outline[:half+1], tolerance)
	rest := thinned(append(append([]seats.Point{}, outline[half:]...), outline[0]), tolerance)
	if all := append(kept[:len(kept)-1:len(kept)-1], rest[:len(rest)-1]...); len(all) >= 3 {
		return all
	}
	return outline
}

func thinned(line []seats.Point, tolerance float64) []seats.Point {
	far, at := 0.0, 0
	for i := 1; i+1 < len(line); i++ {
		if d := offLine(line[i], line[0], line[len(line)-1]); d > far {
			far, at = d, i
		}
	}
	if far <= tolerance {
		return []seats.Point{line[0], line[len(line)-1]}
	}
	left := thinned(line[:at+1], tolerance)
	return append(left[:len(left)-1:len(left)-1], thinned(line[at:], tolerance)...)
}

func distance(p, q seats.Point) float64 { return math.Hypot(p.X-q.X, p.Y-q.Y) }

// offLine is how far a point is from the line through two others; from the first, if they are one.
func offLine(p, from, to seats.Point) float64 {
	length := distance(from, to)
	if length == 0 {
		return distance(p, from)
	}
	return math.Abs((to.X-from.X)*(from.Y-p.Y)-(from.X-p.X)*(to.Y-from.Y)) / length
}

package shop

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats"
)

// What a drawing of a view takes for granted, in metres.
const (
	metre       = 0.55 / 20 // a plan unit: seats of a row are 55 cm apart
	eyeLevel    = 1.2       // of a person who sits
	tierHeight  = 3.6       // from one tier to the next
	stageHeight = 1.0
	headRadius  = 0.12
	figure      = 1.75
	nearHeads   = 9.0 // how far in front heads are drawn
)

// The steepness of rows: how much higher a metre further back is. Tiers above the lowest are steeper.
var rakes = []float64{0.12, 0.45}

// The size of a drawing, and how far its picture is from the eye, in pixels: about 70 degrees wide, and wider where the stage is
// near.
const viewWidth, viewHeight, focalLength, nearLength = 616, 390, 440, 200

// vec is a point of the venue in metres; z is up.
type vec struct{ x, y, z float64 }

// eye is where a person on a seat looks from, and to.
type eye struct {
	at       vec
	focus    vec     // the middle of the stage
	width    float64 // of the stage
	distance float64 // to the edge of the stage
	tier     int     // how many sections are between, which are lower
	front    float64 // how far in front the first row of the section is
}

// eyeOf computes it from the plan.
func eyeOf(p *seats.Plan, idx int) (e eye) {
	seat := &p.Seats[idx]
	e.at = vec{seat.X * metre, seat.Y * metre, eyeLevel}
	focus := p.Focused()
	e.focus, e.width = vec{focus.X * metre, focus.Y * metre, stageHeight}, 12
	e.distance = math.Hypot(e.at.x-e.focus.x, e.at.y-e.focus.y)
	if stage := stageOf(p); stage != nil {
		low, high := stage[0], stage[0]
		for i, q := range stage {
			low, high = seats.Point{X: min(low.X, q.X), Y: min(low.Y, q.Y)}, seats.Point{X: max(high.X, q.X), Y: max(high.Y, q.Y)}
			e.distance = min(e.distance, toLine(seats.Point{X: seat.X, Y: seat.Y}, q, stage[(i+1)%len(stage)])*metre)
		}
		e.width = max(high.X-low.X, high.Y-low.Y) * metre
		e.focus.x, e.focus.y = (low.X+high.X)/2*metre, (low.Y+high.Y)/2*metre
	}
	own := p.Sections[seat.Section]
	nearest := math.Inf(1)
	for i := own.First; i < own.First+own.Count; i++ {
		nearest = min(nearest, math.Hypot(p.Seats[i].X*metre-e.focus.x, p.Seats[i].Y*metre-e.focus.y))
	}
	e.front = math.Hypot(e.at.x-e.focus.x, e.at.y-e.focus.y) - nearest
	for i, s := range p.Sections {
		if i != seat.Section && crosses(s.Outline, seats.Point{X: seat.X, Y: seat.Y}, seats.Point{X: e.focus.x / metre, Y: e.focus.y / metre}) {
			e.tier++
		}
	}
	e.at.z += float64(e.tier)*tierHeight + e.front*rakes[min(e.tier, len(rakes)-1)]
	return e
}

// stageOf is the outline of the stage; nil if the plan has none.
func stageOf(p *seats.Plan) []seats.Point {
	for _, s := range p.Shapes {
		if s.Role == "stage" && len(s.Points) > 2 {
			return s.Points
		}
	}
	return nil
}

// crosses reports whether the way from one point to another goes through a polygon that the first is not in.
func crosses(outline []seats.Point, from, to seats.Point) bool {
	side := func(a, b, c seats.Point) bool { return (b.X-a.X)*(c.Y-a.Y)-(b.Y-a.Y)*(c.X-a.X) > 0 }
	cuts := 0
	for i, a := range outline {
		b := outline[(i+1)%len(outline)]
		if side(from, to, a) != side(from, to, b) && side(a, b, from) != side(a, b, to) {
			cuts++
		}
	}
	return cuts >= 2
}

// toLine is how far a point is from the line between two others.
func toLine(p, a, b seats.Point) float64 {
	along := ((p.X-a.X)*(b.X-a.X) + (p.Y-a.Y)*(b.Y-a.Y)) / max((b.X-a.X)*(b.X-a.X)+(b.Y-a.Y)*(b.Y-a.Y), 1e-9)
	along = min(max(along, 0), 1)
	return math.Hypot(p.X-a.X-along*(b.X-a.X), p.Y-a.Y-along*(b.Y-a.Y))
}

// camera is an eye that looks at the stage.
type camera struct {
	eye
	dx, dy   float64 // the level direction to the stage
	sin, cos float64 // of the angle by which it looks down
	focal    float64
}

func (e eye) camera() camera {
	c := camera{eye: e}
	far := max(math.Hypot(e.focus.x-e.at.x, e.focus.y-e.at.y), 0.1)
	c.dx, c.dy = (e.focus.x-e.at.x)/far, (e.focus.y-e.at.y)/far
	c.focal = max(nearLength, min(focalLength, viewWidth*0.9*far/e.width))
	c.sin, c.cos = math.Sincos(math.Atan2(e.at.z-stageHeight-1, far))
	return c
}

// see is where a point is in the drawing; false if it is behind the eye.
func (c camera) see(v vec) (x, y, scale float64, ahead bool) {
	x0, y0, up := v.x-c.at.x, v.y-c.at.y, v.z-c.at.z
	forth, right := x0*c.dx+y0*c.dy, y0*c.dx-x0*c.dy
	depth, rise := forth*c.cos-up*c.sin, up*c.cos+forth*c.sin
	if depth < 0.3 {
		return 0, 0, 0, false
	}
	scale = c.focal / depth
	return viewWidth/2 + right*scale, viewHeight*0.46 - rise*scale, scale, true
}

// shape draws a polygon; nothing if a corner is behind the eye.
func (c camera) shape(b *strings.Builder, fill string, corners ...vec) {
	var points []string
	for _, v := range corners {
		x, y, _, ahead := c.see(v)
		if !ahead {
			return
		}
		points = append(points, fmt.Sprintf("%.0f,%.0f", x, y))
	}
	fmt.Fprintf(b, `<polygon fill="%s" points="%s"/>`, fill, strings.Join(points, " "))
}

// SeatView draws what is seen from a seat, as the plan tells: the stage or the field, people on it, the heads in front, and the
// parapet of a tier above.
func SeatView(p *seats.Plan, idx int) []byte {
	e := eyeOf(p, idx)
	c := e.camera()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"><rect width="%d" height="%d" fill="#14161b"/>`, viewWidth, viewHeight, viewWidth, viewHeight)
	if e.width > 40 {
		c.field(&b, p)
	} else {
		c.stage(&b)
	}
	c.heads(&b, p, idx)
	if e.tier > 0 {
		c.parapet(&b)
	}
	b.WriteString("</svg>")
	return []byte(b.String())
}

// stage draws an opening with a back wall, a floor, curtains and three people.
func (c camera) stage(b *strings.Builder) {
	half, depth, height := c.width/2, c.width*0.6, c.width*0.52
	// The stage faces its audience: the way from its middle to the eye, as far as its sides allow, and most look at it from the front.
	fx, fy := facing(c)
	at := func(side, back, up float64) vec {
		return vec{c.focus.x + side*fy - back*fx, c.focus.y - side*fx - back*fy, up}
	}
	edge := -depth / 2
	c.shape(b, "#22252d", at(-half*3, edge, 0), at(half*3, edge, 0), at(half*3, edge, height*2.2), at(-half*3, edge, height*2.2))
	c.shape(b, "#10343f", at(-half, depth/2, stageHeight), at(half, depth/2, stageHeight), at(half, depth/2, height), at(-half, depth/2, height))
	c.shape(b, "#0c2630", at(-half, edge, stageHeight), at(-half, depth/2, stageHeight), at(-half, depth/2, height), at(-half, edge, height))
	c.shape(b, "#0c2630", at(half, edge, stageHeight), at(half, depth/2, stageHeight), at(half, depth/2, height), at(half, edge, height))
	c.shape(b, "#c9a56b", at(-half, edge, stageHeight), at(half, edge, stageHeight), at(half, depth/2, stageHeight), at(-half, depth/2, stageHeight))
	if x, y, scale, ahead := c.see(at(half*0.2, depth/2, height*0.6)); ahead {
		fmt.Fprintf(b, `<circle cx="%.0f" cy="%.0f" r="%.1f" fill="#f0663f"/>`, x, y, c.width*0.09*scale)
	}
	for _, side := range []float64{-0.45, 0.05, 0.4} {
		c.person(b, at(half*side, 0, stageHeight))
	}
	for _, side := range []float64{-1, 1} {
		c.shape(b, "#8e2a2a", at(side*half, edge, stageHeight), at(side*half*0.84, edge, stageHeight), at(side*half*0.88, edge, height), at(side*half, edge, height))
	}
	c.shape(b, "#a33232", at(-half, edge, height*0.86), at(half, edge, height*0.86), at(half, edge, height), at(-half, edge, height))
	c.shape(b, "#4a3420", at(-half, edge, 0), at(half, edge, 0), at(half, edge, stageHeight), at(-half, edge, stageHeight))
}

// facing is the direction in which a stage looks: to the eye, and from the far sides not wholly.
func facing(c camera) (x, y float64) { return -c.dx, -c.dy }

// person draws a figure that stands.
func (c camera) person(b *strings.Builder, at vec) {
	x, foot, scale, ahead := c.see(at)
	_, head, _, above := c.see(vec{at.x, at.y, at.z + figure})
	if !ahead || !above {
		return
	}
	r := max(headRadius*scale, 0.6)
	fmt.Fprintf(b, `<path fill="#fbf3e2" d="M%.1f %.1fl%.1f %.1fh%.1fz"/><circle cx="%.1f" cy="%.1f" r="%.1f" fill="#fbf3e2"/>`, x, head+r, -r*2, foot-head-r, r*4, x, head, r)
}

// field draws the outline of a pitch, and what the plan draws on it.
func (c camera) field(b *strings.Builder, p *seats.Plan) {
	ground := func(points []seats.Point) (list []vec) {
		for _, q := range points {
			list = append(list, vec{q.X * metre, q.Y * metre, 0})
		}
		return list
	}
	c.shape(b, "#2f7d43", ground(stageOf(p))...)
	for _, s := range p.Shapes {
		for i := 1; s.Kind == "line" && i < len(s.Points); i++ {
			x1, y1, _, one := c.see(ground(s.Points)[i-1])
			if x2, y2, _, two := c.see(ground(s.Points)[i]); one && two {
				fmt.Fprintf(b, `<path stroke="#dfeee0" d="M%.0f %.0fL%.0f %.0f"/>`, x1, y1, x2, y2)
			}
		}
	}
	for _, at := range [][2]float64{{-8, -5}, {4, 6}, {10, -3}, {-15, 8}, {20, 4}} {
		c.person(b, vec{c.focus.x + at[0], c.focus.y + at[1], 0})
	}
}

// heads draws the people in front, the farthest first.
func (c camera) heads(b *strings.Builder, p *seats.Plan, idx int) {
	type head struct{ x, y, scale float64 }
	var list []head
	own := p.Sections[p.Seats[idx].Section]
	for i := own.First; i < own.First+own.Count; i++ {
		dx, dy := p.Seats[i].X*metre-c.at.x, p.Seats[i].Y*metre-c.at.y
		forth := dx*c.dx + dy*c.dy
		if forth < 0.7 || forth > nearHeads {
			continue
		}
		if x, y, scale, ahead := c.see(vec{c.at.x + dx, c.at.y + dy, c.at.z - forth*rakes[min(c.tier, len(rakes)-1)] - 0.14}); ahead && x > -60 && x < viewWidth+60 {
			list = append(list, head{x, y, scale})
		}
	}
	slices.SortFunc(list, func(a, b head) int { return int(math.Copysign(1, a.scale-b.scale)) })
	for i, h := range list[max(0, len(list)-90):] {
		r := headRadius * h.scale
		fill := []string{"#2b2e37", "#31353f"}[i%2]
		fmt.Fprintf(b, `<path fill="%s" d="M%.0f %.0fq%.0f %.0f %.0f 0z"/><circle cx="%.0f" cy="%.0f" r="%.1f" fill="%s"/>`, fill, h.x-2.2*r, h.y+3*r, 2.2*r, -3.6*r, 4.4*r, h.x, h.y, r, fill)
	}
}

// parapet draws the edge of a tier above, in front of its first row.
func (c camera) parapet(b *strings.Builder) {
	forth, floor := c.front+1, c.at.z-eyeLevel-c.front*rakes[1]
	at := func(side, up float64) vec {
		return vec{c.at.x + c.dx*forth - side*c.dy, c.at.y + c.dy*forth + side*c.dx, floor + up}
	}
	c.shape(b, "#1c1e25", at(-30, -1), at(30, -1), at(30, 0.75), at(-30, 0.75))
	c.shape(b, "#8a6a3a", at(-30, 0.7), at(30, 0.7), at(30, 0.75), at(-30, 0.75))
}

package plan

import (
	"math"

	"github.com/usherbox/usher/seats"
)

// pad is the room between seats and the outline.
const pad = 0.8 * spacing

// sector is the outline of generated rows: a rectangle around one straight block, a slice of a ring around arcs with
// one center. Nil for anything else; the hull of the seats serves there.
func sector(list []generator) []seats.Point {
	if len(list) == 1 && list[0].Origin != nil && len(list[0].Blocks) == 1 {
		return oblong(list[0])
	}
	if len(list) == 0 || list[0].Center == nil {
		return nil
	}
	inner, outer, left, right := math.Inf(1), 0.0, math.Inf(1), math.Inf(-1)
	for _, g := range list {
		if g.Center == nil || *g.Center != *list[0].Center || g.Angle != list[0].Angle || g.complete(nil) != nil {
			return nil
		}
		inner = min(inner, g.Radius)
		outer = max(outer, g.Radius+float64(len(g.Rows)-1)*g.RowSpacing)
		for _, b := range g.Blocks {
			left, right = min(left, b[0]), max(right, b[1])
		}
	}
	inner, outer = max(inner-pad, 1), outer+pad
	if right-left > 300 {
		return nil
	}
	return slice(*list[0].Center, list[0].Angle, inner, outer, left, right)
}

// oblong is the rectangle around straight rows.
func oblong(g generator) []seats.Point {
	if g.complete(nil) != nil {
		return nil
	}
	sin, cos := math.Sincos(g.Angle * math.Pi / 180)
	corner := func(depth, along float64) seats.Point {
		return seats.Point{X: tenth(g.Origin[0] + depth*cos + along*sin), Y: tenth(g.Origin[1] + depth*sin - along*cos)}
	}
	back := float64(len(g.Rows)-1)*g.RowSpacing + pad
	left, right := g.Blocks[0][0]-pad, g.Blocks[0][1]+pad
	return []seats.Point{corner(-pad, left), corner(back, left), corner(back, right), corner(-pad, right)}
}

// slice walks the outer arc from left to right and the inner arc back.
func slice(center pair, angle, inner, outer, left, right float64) []seats.Point {
	var outline []seats.Point
	arc := func(radius, from, to float64) {
		const steps = 24
		for i := range steps + 1 {
			sin, cos := math.Sincos((angle - from - (to-from)*float64(i)/steps) * math.Pi / 180)
			outline = append(outline, seats.Point{X: tenth(center[0] + radius*cos), Y: tenth(center[1] + radius*sin)})
		}
	}
	side := func(radius float64) float64 { return pad / radius * 180 / math.Pi }
	arc(outer, left-side(outer), right+side(outer))
	arc(inner, right+side(inner), left-side(inner))
	return outline
}

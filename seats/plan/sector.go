package plan

import (
	"math"

	"github.com/usherbox/usher/seats"
)

// sector is the outline of rows on arcs around one center: a slice of a ring. Nil if the generators have more than
// one center, or straight rows; the hull of the seats serves those.
func sector(list []generator) []seats.Point {
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
	const pad = 0.8 * spacing
	inner, outer = max(inner-pad, 1), outer+pad
	if right-left > 300 {
		return nil
	}
	return slice(*list[0].Center, list[0].Angle, inner, outer, left, right, pad)
}

// slice walks the outer arc from left to right and the inner arc back. pad is the room beside the seats, in units.
func slice(center pair, angle, inner, outer, left, right, pad float64) []seats.Point {
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

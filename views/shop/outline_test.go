package shop

import (
	"math"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

func circle(points int, radius float64) (outline []seats.Point) {
	for i := range points {
		turn := 2 * math.Pi * float64(i) / float64(points)
		outline = append(outline, seats.Point{X: 500 + radius*math.Cos(turn), Y: 500 + radius*math.Sin(turn)})
	}
	return outline
}

func TestASimplerOutlineIsNowhereFurtherOffThanAllowed(t *testing.T) {
	t.Parallel()
	for _, tolerance := range []float64{0.3, 1, 5} {
		outline := circle(200, 400)
		kept := simpler(outline, tolerance)
		if len(kept) >= len(outline) || len(kept) < 8 {
			t.Errorf("with %v of 200 points %d are kept", tolerance, len(kept))
		}
		for _, p := range outline {
			least := math.Inf(1)
			for i, from := range kept {
				least = min(least, offLine(p, from, kept[(i+1)%len(kept)]))
			}
			if least > tolerance+1e-9 {
				t.Errorf("a point is %v off, allowed are %v", least, tolerance)
			}
		}
	}
}

func TestAnOutlineIsWrittenAsThePathBack(t *testing.T) {
	t.Parallel()
	s := Sale{Plan: &seats.Plan{Width: 400, Height: 300, Sections: []seats.Section{{Outline: []seats.Point{{X: 10, Y: 20}, {X: 110.54, Y: 20}, {X: 110.54, Y: 80}, {X: -5, Y: 80}}}}}}
	if got, want := s.outline(0, title{}), "M100 200l1005 0 0 600-1155 0z"; got != want {
		t.Errorf("the path is %q, want %q", got, want)
	}
	for _, few := range [][]seats.Point{nil, {{X: 1, Y: 1}}, {{X: 1, Y: 1}, {X: 1, Y: 1}, {X: 1, Y: 1}, {X: 1, Y: 1}, {X: 1, Y: 1}, {X: 1, Y: 1}}} {
		s.Plan.Sections[0].Outline = few
		if got := s.outline(0, title{X: 7, Y: 3}); strings.Contains(got, "NaN") || !strings.HasSuffix(got, "z") {
			t.Errorf("%v becomes %q", few, got)
		}
	}
}

package shop

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/plan"
)

func TestView_IsADrawingOfWhatThePlanSays(t *testing.T) {
	t.Parallel()
	p := theatre(t).Plan
	seat := func(label string) int {
		for idx := range p.Seats {
			if p.Label(idx) == label {
				return idx
			}
		}
		t.Fatalf("there is no %s", label)
		return 0
	}
	front, rear, circle := eyeOf(p, seat("Stalls/A/14")), eyeOf(p, seat("Stalls/Q/18")), eyeOf(p, seat("Circle/F/20"))
	if front.distance > 4 || rear.distance < front.distance+8 || circle.distance < rear.distance {
		t.Errorf("the stage is %.1f m from row A, %.1f m from row Q, %.1f m from the circle", front.distance, rear.distance, circle.distance)
	}
	if front.tier != 0 || rear.tier != 0 || circle.tier != 1 {
		t.Errorf("tiers %d, %d, %d", front.tier, rear.tier, circle.tier)
	}
	if rear.at.z <= front.at.z || circle.at.z < rear.at.z+2 {
		t.Errorf("eyes are at %.1f, %.1f and %.1f m", front.at.z, rear.at.z, circle.at.z)
	}
	if a, b := SeatView(p, seat("Stalls/A/14")), SeatView(p, seat("Circle/F/20")); string(a) == string(b) || strings.Contains(string(a), "NaN") {
		t.Error("the views from row A and from the circle are the same")
	}
	for _, name := range []string{"theatre", "club", "stadium"} {
		p, _ := plan.Named(name)
		for idx := 0; idx < len(p.Seats); idx += 1 + len(p.Seats)/50 {
			svg := SeatView(p, idx)
			if err := xml.Unmarshal(svg, &struct{ XMLName xml.Name }{}); err != nil || len(svg) > 30_000 || strings.Contains(string(svg), "NaN") {
				t.Fatalf("%s, %s: %d bytes, %v", name, p.Label(idx), len(svg), err)
			}
		}
	}
}

func TestTiers_GroupTheSectionsOfAStadium(t *testing.T) {
	t.Parallel()
	p, _ := plan.Named("stadium")
	s := theatre(t)
	if got := s.tiers(); len(got) != 1 || got[0].title != "" {
		t.Errorf("the theatre has %v", got)
	}
	s.Plan = p
	var titles []string
	all := 0
	for _, tier := range s.tiers() {
		titles = append(titles, tier.title)
		all += len(tier.sections)
	}
	if got := strings.Join(titles, " "); got != "101–138 201–246 301–350" || all != len(p.Sections) {
		t.Errorf("%d of %d sections are in %s", all, len(p.Sections), got)
	}
}

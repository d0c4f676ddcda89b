package plan

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

func TestSeatsio_AreasAndBackgroundOfZonesAreBothInThePlan(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/charts/seatsio-festival.json")
	if err != nil {
		t.Fatal(err)
	}
	o := opened(t, data)
	var sections, shapes, said []string
	for _, s := range o.Plan.Sections {
		sections = append(sections, fmt.Sprintf("%s area=%t %d", s.Name, s.Area, s.Count))
		low, high := extent([]seats.Shape{{Points: s.Outline}})
		for i := s.First; i < s.First+s.Count; i++ {
			if p := o.Plan.Seats[i]; p.X < low.X || p.X > high.X || p.Y < low.Y || p.Y > high.Y {
				t.Errorf("%s is outside of its section", o.Plan.Label(i))
			}
		}
	}
	for _, s := range o.Plan.Shapes {
		shapes = append(shapes, strings.TrimSpace(s.Kind+" "+s.Role+" "+s.Text))
	}
	for _, w := range o.Warnings {
		said = append(said, w.String())
	}
	if got, want := strings.Join(sections, ", "), "Stand area=false 2, Camp Tents area=true 6, Pit area=true 30, Ring area=true 12, Slope area=true 20"; got != want {
		t.Errorf("the sections are %s, want %s", got, want)
	}
	slices.Sort(shapes)
	want := []string{
		"ellipse other", "line other", "polygon other", "polygon other", "polygon other", "polygon other", // the ring, the wall, the mixer, the ground, the camp, the backstage
		"polygon stage", "text label Backstage", "text label Hill", "text label Main stage", "text label Mixer",
	}
	slices.Sort(want)
	if !slices.Equal(shapes, want) {
		t.Errorf("the background is %q, want %q", shapes, want)
	}
	for _, want := range []string{"The picture behind the chart is not in the file. To draw over it, add it as a picture in the editor.", "Section “Backstage” has no seats; it is drawn, and nothing in it is for sale."} {
		if !slices.Contains(said, want) {
			t.Errorf("no word of %q in %q", want, said)
		}
	}
}

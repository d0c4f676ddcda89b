package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
)

// told is a section as text: each seat's label, category and flags.
func told(p *seats.Plan, name string) string {
	var words []string
	for i, s := range p.Seats {
		if p.Sections[s.Section].Name == name {
			words = append(words, strings.Join(append([]string{p.Label(i), p.Categories[s.Category].Key}, s.Flags.Names()...), " "))
		}
	}
	return strings.Join(words, "; ")
}

func TestAChartIsReadWithCategoriesAndFlags(t *testing.T) {
	t.Parallel()
	p := read(t, smallSeatsio).Plan
	for name, want := range map[string]string{
		"East":     "East/A/1 far accessible; East/A/2 1 companion",
		"Seats":    "Seats/A/1 1 restricted-view; Seats/A/2 1",
		"Tables":   "Tables/T1/1 1; Tables/T1/2 1",
		"Booths":   "Booths/B1/1 1",
		"East Pit": "East Pit/1 far; East Pit/2 far; East Pit/3 far",
	} {
		if got := told(p, name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if i := p.SectionNamed("Lawn"); i < 0 || !p.Sections[i].Area || p.Sections[i].Count != 20 {
		t.Error("the lawn is not an area of 20")
	}
}

func TestGeneratorsMakeTheRowsTheyDescribe(t *testing.T) {
	t.Parallel()
	p := read(t, smallOwn).Plan
	arcs := told(p, "Arcs")
	first := fmt.Sprintf("Arcs/A/%d A", 101+2*(strings.Count(arcs, "Arcs/A/")-1)) // numbered from the right
	if !strings.HasPrefix(arcs, first) || strings.Count(arcs, "aisle-after") != 2 {
		t.Errorf("rows %s", arcs)
	}
	if !strings.HasSuffix(arcs, "Arcs/B/101 B restricted-view") || !strings.Contains(arcs, "Arcs/B/105 B restricted-view") {
		t.Errorf("marks are missing in %s", arcs)
	}
	if got := told(p, "Rows"); got != "Rows/A/1 A accessible aisle-after; Rows/A/2 B companion" {
		t.Errorf("seats beside a generator: %s", got)
	}
	if got := told(p, "Tables"); got != "Tables/T1/1 A; Tables/T1/2 A; Tables/T1/3 A; Tables/T1/4 A" {
		t.Errorf("table: %s", got)
	}
}

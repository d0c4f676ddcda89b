package plan

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

func TestShippedPlansHaveTheirSeats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seats, sections int
		categories      string
	}{
		"club":       {398, 4, "A=300 B=68 C=30"},
		"conference": {200, 1, "F=200"},
		"stadium":    {50_000, 134, "A=7744 B=17236 C=12752 D=3576 E=8692"},
		"theatre":    {988, 4, "A=148 B=259 C=365 D=204 W=12"},
	} {
		p, ok := Named(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		if err := Check(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		counts := make([]int, len(p.Categories))
		for _, s := range p.Seats {
			counts[s.Category]++
		}
		var words []string
		for i, n := range counts {
			words = append(words, fmt.Sprintf("%s=%d", p.Categories[i].Key, n))
		}
		if got := strings.Join(words, " "); len(p.Seats) != c.seats || len(p.Sections) != c.sections || got != c.categories {
			t.Errorf("%s: %d seats in %d sections, %s", name, len(p.Seats), len(p.Sections), got)
		}
	}
	if got := strings.Join(Names(), " "); got != "club conference stadium theatre" {
		t.Errorf("names %s", got)
	}
	if _, ok := Named("palace"); ok {
		t.Error("there is a palace")
	}
}

func TestAShippedPlanIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		one, _ := Named(name)
		two, _ := Named(name)
		if !reflect.DeepEqual(one, two) {
			t.Errorf("%s differs from itself", name)
		}
	}
}

func TestNoTwoSeatsOfAShippedPlanTouch(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		p, _ := Named(name)
		if name == "club" || name == "conference" { // people who stand may touch
			continue
		}
		if a, b := closest(p, 15); a >= 0 {
			t.Errorf("%s: %s and %s are closer than 15 units", name, p.Label(a), p.Label(b))
		}
	}
}

// closest finds two seats nearer than so much, by cells of that size; -1 if there are none.
func closest(p *seats.Plan, near float64) (int, int) {
	cells := map[[2]int][]int{}
	for i, s := range p.Seats {
		x, y := int(s.X/near), int(s.Y/near)
		for dx := -1; dx <= 1; dx++ {
			for dy := -1; dy <= 1; dy++ {
				for _, j := range cells[[2]int{x + dx, y + dy}] {
					if math.Hypot(s.X-p.Seats[j].X, s.Y-p.Seats[j].Y) < near {
						return j, i
					}
				}
			}
		}
		cells[[2]int{x, y}] = append(cells[[2]int{x, y}], i)
	}
	return -1, -1
}

func TestEveryCompanionSitsBesideAWheelchairPlace(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		p, _ := Named(name)
		places, companions := 0, 0
		for i, s := range p.Seats {
			if s.Flags&seats.Accessible != 0 {
				places++
			}
			if s.Flags&seats.Companion == 0 {
				continue
			}
			companions++
			beside := false
			for _, j := range []int{i - 1, i + 1} {
				if j >= 0 && j < len(p.Seats) && p.Seats[j].Row == s.Row && p.Seats[j].Flags&seats.Accessible != 0 {
					beside = true
				}
			}
			if !beside {
				t.Errorf("%s: %s is beside no wheelchair place", name, p.Label(i))
			}
		}
		if places != companions || (name != "conference") != (places > 0) {
			t.Errorf("%s: %d wheelchair places, %d companions", name, places, companions)
		}
	}
}

func TestTheatreRowsAreLetteredWithoutIAndO(t *testing.T) {
	t.Parallel()
	p, _ := Named("theatre")
	for i, s := range p.Seats {
		if s.Row == "I" || s.Row == "O" {
			t.Fatalf("there is %s", p.Label(i))
		}
	}
}

func TestNamedIn_SpeaksTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, said := range saidInPlans {
		known[said] = true
	}
	letters := regexp.MustCompile(`\pL\pL`)
	for _, name := range Names() {
		p, _ := Named(name)
		said := []string{p.Name}
		for _, c := range p.Categories {
			said = append(said, c.Name)
		}
		for _, s := range p.Sections {
			said = append(said, s.Name)
		}
		for _, s := range p.Shapes {
			said = append(said, s.Text)
		}
		for _, s := range said {
			if letters.MatchString(s) && !known[s] {
				t.Errorf("%s says %q, which translators do not know", name, s)
			}
		}
		for _, l := range text.Languages() {
			p, _ := NamedIn(text.With(t.Context(), l.Tag), name)
			if err := Check(p); err != nil {
				t.Errorf("%s in %s: %v", name, l.Tag, err)
			}
		}
	}
	if p, _ := NamedIn(text.With(t.Context(), "de"), "theatre"); p.Name != "Theater" || p.Sections[0].Name != "Parkett" || p.Categories[0].Name != "Parkett, vorne" {
		t.Errorf("in German: %s, %s, %s", p.Name, p.Sections[0].Name, p.Categories[0].Name)
	}
	if p, _ := NamedIn(t.Context(), "theatre"); p.Sections[0].Name != "Stalls" {
		t.Errorf("without a language: %s", p.Sections[0].Name)
	}
}

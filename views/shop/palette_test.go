package shop

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
)

// priced is a sale with categories of these colours; "" is none.
func priced(colours ...string) (s Sale) {
	s.Plan = &seats.Plan{}
	for _, c := range colours {
		s.Plan.Categories = append(s.Plan.Categories, seats.Category{Color: c})
	}
	return s
}

func TestPalette_ThePlansColoursAreShownWithContrast(t *testing.T) {
	t.Parallel()
	s := priced("#7a1f3d", "#b8562f", "#2f6f73", "#ffff00")
	for _, dark := range []bool{false, true} {
		for i, c := range shadesOf(s.Plan) {
			shown := c[map[bool]int{true: 1}[dark]]
			for _, ground := range pages.Grounds[dark] {
				if got := pages.Contrast(shown, ground); got < pages.ControlContrast {
					t.Errorf("dark %v: colour %d is %s, which has %.2f on %s", dark, i, shown, got, ground)
				}
			}
		}
	}
	if rules := paletteOf(s.Plan).rules; !strings.HasPrefix(rules, ":root{--p0:#7a1f3d;--p1:#b8562f;") || !strings.Contains(rules, "dark") {
		t.Errorf("the rules are %s", rules)
	}
}

func TestPalette_TheMapHasItsOwnColoursWhereThoseOfThePlanCannotBeToldApart(t *testing.T) {
	t.Parallel()
	for _, s := range []Sale{priced("#7a1f3d", ""), priced("#7a1f3d", "no colour"), priced("#7a1f3d", "#7a1f3e"), priced("#fefefe", "#ffffff")} {
		if rules := paletteOf(s.Plan).rules; rules != "" {
			t.Errorf("%v: %s", s.Plan.Categories, rules)
		}
	}
}

func TestPalette_NinePricesAreToldApart(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Sale{
		"without colours": priced(make([]string, 9)...),
		"with colours":    priced("#7a1f3d", "#b8562f", "#2f6f73", "#46618f", "#6b6f1d", "#111111", "#b01fb0", "#1fa02f", "#e0a020"),
	} {
		looks := map[string]int{}
		for c := range s.Plan.Categories {
			looks[s.hue(c)]++
		}
		if len(looks) != 9 {
			t.Errorf("%s: nine prices have %d looks: %v", name, len(looks), looks)
		}
	}
	red, green := priced("#c03a2b", "#5f7a1f"), priced("#c03a2b", "#1f209e")
	if red.hue(1) == "c1" || green.hue(1) != "c1" {
		t.Errorf("green beside red is %q, and blue %q: only people who see both have no need of a pattern", red.hue(1), green.hue(1))
	}
	if many := priced(make([]string, 12)...); many.hue(9) == many.hue(0) {
		t.Errorf("the tenth price looks like the first: %s", many.hue(9))
	}
}

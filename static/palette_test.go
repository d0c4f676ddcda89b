package static

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// palette is the colours of one theme by their names in the style sheet, "--" left out.
type palette map[string]colour

type colour struct{ r, g, b float64 } // linear light, 0 to 1

var declared = regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6})`)

// themes reads the colours from the style sheet. The dark theme replaces what it names.
func themes(t *testing.T) map[string]palette {
	t.Helper()
	source, err := os.ReadFile("css/app.css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`:root \{[^}]*\}`).FindAllString(string(source), -1)
	if len(blocks) != 2 {
		t.Fatalf("the style sheet has %d blocks of colours, want light and dark", len(blocks))
	}
	light, dark := palette{}, palette{}
	for i, block := range blocks {
		for _, m := range declared.FindAllStringSubmatch(block, -1) {
			c := parse(t, m[2])
			if i == 0 {
				light[m[1]] = c
			}
			dark[m[1]] = c
		}
	}
	return map[string]palette{"light": light, "dark": dark}
}

func parse(t *testing.T, hex string) colour {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(v uint64) float64 {
		c := float64(v&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return colour{linear(n >> 16), linear(n >> 8), linear(n)}
}

func (c colour) luminance() float64 { return 0.2126*c.r + 0.7152*c.g + 0.0722*c.b }

// contrast is WCAG's ratio, 1 to 21.
func contrast(a, b colour) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// pairs are what stands on what. Sold seats and hairlines are left out: they ask for nothing and tell nothing alone.
var pairs = []struct {
	least  float64
	fronts string
	backs  string
}{
	{4.5, "text muted", "bg panel raised"},
	{4.5, "accent alarm", "bg panel raised"},
	{4.5, "text", "wash"},
	{4.5, "on-press", "press"},
	{4.5, "on-accent", "accent"},
	{4.5, "on-mine", "mine"},
	{3, "p0 p1 p2 p3 p4 p5 p6 p7 p8 mine held alarm edge", "bg panel"},
	{3, "edge", "bg panel raised"},
	{3, "focus", "bg panel raised wash"},
}

// faint lists the pairs of a palette with too little contrast.
func faint(p palette) (found []string) {
	for _, pair := range pairs {
		for _, front := range strings.Fields(pair.fronts) {
			for _, back := range strings.Fields(pair.backs) {
				a, okA := p[front]
				b, okB := p[back]
				if !okA || !okB {
					found = append(found, fmt.Sprintf("there is no --%s or no --%s", front, back))
				} else if c := contrast(a, b); c < pair.least {
					found = append(found, fmt.Sprintf("--%s on --%s has %.2f, needs %.1f", front, back, c, pair.least))
				}
			}
		}
	}
	return found
}

func TestTextAndShapesHaveEnoughContrastInLightAndDark(t *testing.T) {
	t.Parallel()
	for name, p := range themes(t) {
		for _, problem := range faint(p) {
			t.Errorf("%s: %s", name, problem)
		}
		p["muted"] = p["raised"]
		if len(faint(p)) == 0 {
			t.Errorf("%s: grey on grey is not noticed", name)
		}
	}
}

// visions are Machado, Oliveira and Fernandes (2009) at full severity, on linear light.
var visions = map[string][9]float64{
	"everybody":    {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

func (c colour) seen(m [9]float64) colour {
	within := func(v float64) float64 { return min(max(v, 0), 1) }
	return colour{
		within(m[0]*c.r + m[1]*c.g + m[2]*c.b), within(m[3]*c.r + m[4]*c.g + m[5]*c.b), within(m[6]*c.r + m[7]*c.g + m[8]*c.b),
	}
}

// lab is CIE L*a*b* under D65.
func (c colour) lab() (l, a, b float64) {
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (v*24389/27 + 16) / 116
	}
	x := f((0.4124564*c.r + 0.3575761*c.g + 0.1804375*c.b) / 0.95047)
	y := f(c.luminance())
	z := f((0.0193339*c.r + 0.1191920*c.g + 0.9503041*c.b) / 1.08883)
	return 116*y - 16, 500 * (x - y), 200 * (y - z)
}

// apart is the CIE 1976 difference of two colours; 2.3 is just noticeable side by side.
func apart(c, d colour) float64 {
	l1, a1, b1 := c.lab()
	l2, a2, b2 := d.lab()
	return math.Sqrt((l1-l2)*(l1-l2) + (a1-a2)*(a1-a2) + (b1-b2)*(b1-b2))
}

const leastApart = 15 // six times what is just noticeable: dots stand apart, not side by side

// alike lists the price colours that some people could take for each other. Those from the sixth on have a pattern, too, so
// that only people with usual sight have to tell them apart by colour.
func alike(p palette) (found []string, least float64) {
	least = math.Inf(1)
	for who, m := range visions {
		for i := range 9 {
			for j := range i {
				if i >= 5 && who != "everybody" {
					continue
				}
				d := apart(p[fmt.Sprint("p", i)].seen(m), p[fmt.Sprint("p", j)].seen(m))
				least = min(least, d)
				if d < leastApart {
					found = append(found, fmt.Sprintf("with %s --p%d and --p%d are %.1f apart, want %d", who, j, i, d, leastApart))
				}
			}
		}
	}
	return found, least
}

func TestColours_OfPricesDifferForEveryKindOfSight(t *testing.T) {
	t.Parallel()
	for name, p := range themes(t) {
		found, least := alike(p)
		t.Logf("%s: the two most alike are %.1f apart", name, least)
		for _, problem := range found {
			t.Errorf("%s: %s", name, problem)
		}
		p["p0"], p["p1"] = parse(t, "#c03a2b"), parse(t, "#5f7a1f") // red and green of the same weight
		if found, _ := alike(p); len(found) == 0 {
			t.Errorf("%s: red beside green is not noticed", name)
		}
	}
}

// marks are the colours of the states of a seat beside the prices: mine, mine until my time ran out, held, not for sale,
// sold. Shapes tell all of them apart, too.
var marks = []string{"mine", "alarm", "held", "edge", "sold"}

// mixed lists the states that some people could take for each other, or for a price, by their colour.
func mixed(p palette) (found []string, least float64) {
	least = math.Inf(1)
	others := slices.Clone(marks)
	for i := range 5 {
		others = append(others, fmt.Sprint("p", i))
	}
	for who, m := range visions {
		for i, mark := range marks {
			for _, other := range others[i+1:] {
				d := apart(p[mark].seen(m), p[other].seen(m))
				least = min(least, d)
				if d < leastApart {
					found = append(found, fmt.Sprintf("with %s --%s and --%s are %.1f apart, want %d", who, mark, other, d, leastApart))
				}
			}
		}
	}
	return found, least
}

func TestColours_OfStatesDifferForEveryKindOfSight(t *testing.T) {
	t.Parallel()
	for name, p := range themes(t) {
		found, least := mixed(p)
		t.Logf("%s: the two most alike are %.1f apart", name, least)
		for _, problem := range found {
			t.Errorf("%s: %s", name, problem)
		}
		for mark, other := range map[string]string{"held": "p4", "alarm": "mine", "edge": "held"} {
			planted := maps.Clone(p)
			planted[mark] = p[other]
			if found, _ := mixed(planted); len(found) == 0 {
				t.Errorf("%s: %s in the colour of %s is not noticed", name, mark, other)
			}
		}
	}
}

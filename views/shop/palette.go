package shop

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/static"
)

// hues is how many price colours the style sheet has. Categories beyond them repeat colours, and have a pattern of their own.
const hues = 9

// The patterns of seats: none, a ring inside, and a bar. Two categories with colours that some people could take for each other
// have different ones.
const (
	plainSeat = iota
	ringedSeat
	barredSeat
)

// defaultPatterns are those of the colours of the style sheet: the first five differ for every kind of sight.
var defaultPatterns = [hues]int{5: ringedSeat, 6: ringedSeat, 7: ringedSeat, 8: ringedSeat}

// Hue is the class that gives something its category's colour, of those of the style sheet.
func Hue(category int) string { return "c" + strconv.Itoa(category%hues) }

// hue is the same on the pages of the sale, where a category may have a pattern, too.
func (s Sale) hue(category int) string {
	if p := s.pattern(category); p != plainSeat {
		return Hue(category) + " m" + strconv.Itoa(p)
	}
	return Hue(category)
}

func (s Sale) pattern(category int) int {
	if category >= hues {
		return barredSeat
	}
	if p := paletteOf(s.Plan); p.patterns != nil {
		return p.patterns[category]
	}
	return defaultPatterns[category]
}

// SaleRules are the rules that a page of the sale has besides the style sheets of all: those of rows and held seats, of ticket
// types and codes, where there are any, and the colours of the plan. section is -1 on the page of the whole event.
func (s Sale) SaleRules(section int) (rules string) {
	if !s.later(section) {
		rules = static.Style(lateStyle)
	}
	if s.hasPhases() || len(s.kinds()) > 1 {
		rules += static.Style("types.css")
	}
	if s.Codes.Asks || len(s.Codes.Entered) > 0 {
		rules += static.Style("codes.css")
	}
	if s.Filter.Floor > 0 {
		rules += static.Style("floors.css")
	}
	return rules + paletteOf(s.Plan).rules
}

// palette is how pages show the colours of a plan.
type palette struct {
	patterns []int // by category; nil: the plan has no colours that can be told apart
	rules    string
}

// palettes are those that were made, by the colours of their plans.
var palettes sync.Map

func paletteOf(p *seats.Plan) palette {
	var key strings.Builder
	for _, c := range p.Categories {
		key.WriteString(c.Color + " ")
	}
	made, ok := palettes.Load(key.String())
	if !ok {
		made, _ = palettes.LoadOrStore(key.String(), newPalette(p))
	}
	return made.(palette)
}

func newPalette(p *seats.Plan) palette {
	shades := shadesOf(p)
	if shades == nil {
		return palette{}
	}
	made := palette{patterns: patterns(shades)}
	light, dark := "", ""
	for i, shade := range shades {
		at := strconv.Itoa(i)
		light += "--p" + at + ":" + shade[0].String() + ";"
		dark += "--p" + at + ":" + shade[1].String() + ";"
		if made.patterns[i] != defaultPatterns[i] {
			light += "--m" + at + ":" + strconv.Itoa(made.patterns[i]) + ";"
		}
	}
	made.rules = ":root{" + light + "}@media (prefers-color-scheme:dark){:root{" + dark + "}}"
	return made
}

// shadesOf are the colours that a plan gives its categories, on light and on dark pages, corrected to have the contrast. Nil if
// it leaves one out, or if two are alike: then the map has its own.
func shadesOf(p *seats.Plan) (shades [][2]pages.Colour) {
	for _, c := range p.Categories[:min(len(p.Categories), hues)] {
		asked, ok := pages.ParseColour(c.Color)
		if !ok {
			return nil
		}
		shades = append(shades, [2]pages.Colour{pages.Readable(asked, false), pages.Readable(asked, true)})
	}
	for i := range shades {
		for j := range i {
			if alike(shades[i], shades[j], visions[:1]) {
				return nil
			}
		}
	}
	return shades
}

// patterns gives each colour the first pattern that no colour has which some people could take for it.
func patterns(shades [][2]pages.Colour) []int {
	list := make([]int, len(shades))
	for i := range shades {
		for j := 0; j < i; j++ {
			if list[j] == list[i] && list[i] < barredSeat && alike(shades[i], shades[j], visions) {
				list[i]++
				j = -1 // look through all again
			}
		}
	}
	return list
}

// leastApart is how far two colours have to be from each other to be told apart: six times what is just noticeable side by side.
const leastApart = 15

// visions are those of everybody and of people with protanopia, deuteranopia and tritanopia: Machado, Oliveira and Fernandes
// (2009) at full severity, on linear light.
var visions = [][9]float64{
	{1, 0, 0, 0, 1, 0, 0, 0, 1},
	{0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	{0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	{1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// alike reports whether some of these people could take one colour for another, on light or on dark pages.
func alike(a, b [2]pages.Colour, who [][9]float64) bool {
	for _, m := range who {
		for theme := range a {
			if apart(lab(a[theme], m), lab(b[theme], m)) < leastApart {
				return true
			}
		}
	}
	return false
}

// apart is the CIE 1976 difference of two colours.
func apart(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// lab is a colour in CIE L*a*b* under D65, as people see it.
func lab(c pages.Colour, m [9]float64) [3]float64 {
	linear := func(v uint8) float64 {
		if f := float64(v) / 255; f > 0.04045 {
			return math.Pow((f+0.055)/1.055, 2.4)
		}
		return float64(v) / 255 / 12.92
	}
	r, g, b := linear(c.R), linear(c.G), linear(c.B)
	seen := func(i int) float64 { return min(max(m[i]*r+m[i+1]*g+m[i+2]*b, 0), 1) }
	r, g, b = seen(0), seen(3), seen(6)
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (v*24389/27 + 16) / 116
	}
	x := f((0.4124564*r + 0.3575761*g + 0.1804375*b) / 0.95047)
	y := f(0.2126*r + 0.7152*g + 0.0722*b)
	z := f((0.0193339*r + 0.1191920*g + 0.9503041*b) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

package pages

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Colour is a colour of sRGB.
type Colour struct{ R, G, B uint8 }

// ParseColour reads a colour as forms and CSS write it: #1b3a8c or #18c.
func ParseColour(text string) (c Colour, ok bool) {
	digits, hash := strings.CutPrefix(strings.TrimSpace(text), "#")
	if len(digits) == 3 {
		digits = strings.Repeat(digits[:1], 2) + strings.Repeat(digits[1:2], 2) + strings.Repeat(digits[2:], 2)
	}
	n, err := strconv.ParseUint(digits, 16, 24)
	if !hash || err != nil || len(digits) != 6 {
		return c, false
	}
	return Colour{uint8(n >> 16), uint8(n >> 8), uint8(n)}, true
}

func (c Colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// luminance is the relative luminance of WCAG 2: 0 is black, 1 is white.
func (c Colour) luminance() float64 {
	linear := func(channel uint8) float64 {
		v := float64(channel) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// Contrast is the contrast ratio of WCAG 2 between two colours: 1 to 21.
func Contrast(a, b Colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// The least contrast that WCAG 2.2 demands.
const (
	TextContrast    = 4.5 // 1.4.3, of text
	ControlContrast = 3.0 // 1.4.11, of the edge of a button
)

// Grounds are the colours that text and buttons stand on, of light and of dark pages: --bg, --panel, --raised and --wash.
var Grounds = map[bool][]Colour{
	false: {{0xfb, 0xfa, 0xf7}, {0xff, 0xff, 0xff}, {0xf3, 0xf1, 0xec}, {0xff, 0xf4, 0xe0}},
	true:  {{0x0c, 0x0e, 0x14}, {0x14, 0x18, 0x23}, {0x1c, 0x21, 0x30}, {0x2a, 0x24, 0x15}},
}

var black, white = Colour{}, Colour{255, 255, 255}

// Shade is a colour of a team as a page shows it.
type Shade struct {
	Asked, Shown Colour
	On           Colour  // of text upon it
	Was, Is      float64 // the least contrast with the grounds, of Asked and of Shown
	Need         float64
}

// Corrected reports whether the page shows another colour than was asked for.
func (s Shade) Corrected() bool { return s.Asked != s.Shown }

// Readable is a colour as seats and other parts of a drawing have it: darker on light pages, or lighter on dark ones, if it had
// too little contrast.
func Readable(c Colour, dark bool) Colour { return shade(c, dark, ControlContrast).Shown }

// shade makes a colour darker on light pages and lighter on dark ones, until it has the contrast. Its hue stays.
func shade(asked Colour, dark bool, need float64) Shade {
	s := Shade{Asked: asked, Shown: asked, Was: least(asked, dark), Need: need}
	for step := 1; least(s.Shown, dark) < need && step <= 255; step++ {
		if dark {
			s.Shown = toward(asked, white, step)
		} else {
			s.Shown = toward(asked, black, step)
		}
	}
	s.Is = least(s.Shown, dark)
	if s.On = white; Contrast(black, s.Shown) > Contrast(white, s.Shown) {
		s.On = black
	}
	return s
}

// least is the least contrast of a colour with what it may stand on.
func least(c Colour, dark bool) float64 {
	ratio := math.Inf(1)
	for _, ground := range Grounds[dark] {
		ratio = min(ratio, Contrast(c, ground))
	}
	return ratio
}

// toward is a colour that is so many 255ths of the way to another.
func toward(from, to Colour, step int) Colour {
	mix := func(a, b uint8) uint8 { return uint8((int(a)*(255-step) + int(b)*step) / 255) }
	return Colour{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B)}
}

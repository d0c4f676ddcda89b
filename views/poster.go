package views

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/a-h/templ"
)

// posterColours are a ground, a second ground, and three colours on them, dark enough for white words at the foot.
var posterColours = [][5]string{
	{"#0f2f3a", "#07191f", "#f05a35", "#f6efe0", "#2c6f78"},
	{"#2b1745", "#160b26", "#f4b942", "#e8e0f5", "#7a4fb0"},
	{"#3a1420", "#1f0a11", "#e8c9a0", "#f3715b", "#7d2b45"},
	{"#12331f", "#091b10", "#f2d35b", "#e9f2e4", "#2f7a4a"},
	{"#14264a", "#0a1428", "#7fd1e8", "#f7e7c6", "#d95d76"},
	{"#3b2a14", "#1f160a", "#ef8354", "#f5ead6", "#8a6a34"},
}

// Poster is a drawing for an event without a picture, of about half a kilobyte. One seed always gives the same drawing. It fills
// the box that it is in, and says nothing to screen readers.
func Poster(seed string) templ.Component { return templ.Raw(posterSVG(seed)) }

func posterSVG(seed string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(seed)) // a hash takes everything
	dice := rand.New(rand.NewPCG(sum.Sum64(), 1))
	c := posterColours[dice.IntN(len(posterColours))]
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="poster" viewBox="0 0 160 90" preserveAspectRatio="xMidYMid slice" aria-hidden="true"><path fill="%s" d="M0 0h160v90H0z"/>`, c[0])
	draw := []func(*strings.Builder, *rand.Rand, [5]string){posterSun, posterArches, posterBeams, posterDiscs}
	draw[dice.IntN(len(draw))](&b, dice, c)
	b.WriteString(`</svg>`)
	return b.String()
}

// posterSun is a disc over water.
func posterSun(b *strings.Builder, dice *rand.Rand, c [5]string) {
	x, r := 60+dice.IntN(60), 18+dice.IntN(12)
	fmt.Fprintf(b, `<circle fill="%s" cx="%d" cy="54" r="%d"/><path fill="%s" d="M0 56h160v34H0z"/>`, c[2], x, r, c[1])
	for i := range 6 {
		w := r*2 - i*4 - dice.IntN(6)
		fmt.Fprintf(b, `<path fill="%s" opacity=".%d" d="M%d %dh%dv1h-%dz"/>`, c[2], 6-i, x-w/2+dice.IntN(7)-3, 59+i*4, w, w)
	}
	fmt.Fprintf(b, `<circle fill="%s" cx="%d" cy="%d" r="2"/>`, c[3], 12+dice.IntN(40), 10+dice.IntN(16))
}

// posterArches are arches in a row.
func posterArches(b *strings.Builder, dice *rand.Rand, c [5]string) {
	n := 4 + dice.IntN(3)
	w := 160 / n
	for i := range n {
		h := 24 + dice.IntN(40)
		fmt.Fprintf(b, `<path fill="%s" d="M%d 90V%da%d %d 0 0 1 %d 0v%dz"/>`, c[2+dice.IntN(3)], i*w+2, 90-h, w/2-2, w/2-2, (w/2-2)*2, h)
	}
	fmt.Fprintf(b, `<path fill="%s" opacity=".7" d="M0 66h160v24H0z"/>`, c[1])
}

// posterBeams are beams of light from above.
func posterBeams(b *strings.Builder, dice *rand.Rand, c [5]string) {
	for i := range 4 {
		from, to := 20+i*36+dice.IntN(16), dice.IntN(160)
		fmt.Fprintf(b, `<path fill="%s" opacity=".%d" d="M%d 0L%d 90h%dz"/>`, c[2+i%3], 4+dice.IntN(4), from, to-14, 28+dice.IntN(20))
	}
	fmt.Fprintf(b, `<ellipse fill="%s" cx="80" cy="90" rx="110" ry="18"/>`, c[1])
}

// posterDiscs are discs of which some cover others.
func posterDiscs(b *strings.Builder, dice *rand.Rand, c [5]string) {
	for i := range 5 {
		fmt.Fprintf(b, `<circle fill="%s" opacity=".%d" cx="%d" cy="%d" r="%d"/>`, c[2+i%3], 6+dice.IntN(4), dice.IntN(160), dice.IntN(80), 8+dice.IntN(26))
	}
	fmt.Fprintf(b, `<path fill="%s" opacity=".6" d="M0 70h160v20H0z"/>`, c[1])
}

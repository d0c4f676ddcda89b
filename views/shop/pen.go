package shop

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/bidi"
	"rsc.io/qr"

	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/static"
)

const millimetre = 72 / 25.4 // in points

var paperFont = sync.OnceValue(func() []byte { return static.Print("dejavu-sans.ttf") })

// pen writes on paper. The font has the alphabets of Europe, Hebrew and Arabic; it shows a box for each character of another
// script, such as a name may have.
type pen struct{ doc *fpdf.Fpdf }

func newPen(doc *fpdf.Fpdf) *pen {
	doc.AddUTF8FontFromBytes("sans", "", paperFont())
	doc.SetFont("sans", "", 10)
	return &pen{doc}
}

func (p *pen) width(r rune) float64 { return p.doc.GetStringWidth(string(r)) }

// write sets a text in lines of a width, at most so many; y is the base of the first. It returns the base of what comes
// after the last.
func (p *pen) write(x, y, size, width float64, most int, text string) float64 {
	p.doc.SetFontSize(size)
	height := size / millimetre * 1.3
	for _, line := range p.lines([]rune(printable(text)), width, most) {
		p.doc.Text(x, y, seen(line))
		y += height
	}
	return y
}

// lines breaks a text at spaces, and where there is none, anywhere.
func (p *pen) lines(text []rune, width float64, most int) (lines []string) {
	for len(text) > 0 && len(lines) < most {
		used, end, space := 0.0, 0, 0
		for end < len(text) && (end == 0 || used+p.width(text[end]) <= width) {
			used += p.width(text[end])
			end++
			if end < len(text) && text[end] == ' ' {
				space = end
			}
		}
		if end < len(text) && space > 0 {
			end = space
		}
		lines = append(lines, strings.TrimSpace(string(text[:end])))
		text = text[end:]
	}
	if len(text) > 0 && len(lines) > 0 {
		lines[len(lines)-1] += " …"
	}
	return lines
}

// printable replaces characters beyond the first plane of Unicode, which fpdf cannot write, and joins Arabic letters.
func printable(text string) string {
	return joined(strings.Map(func(r rune) rune {
		if r > 0xffff {
			return unicode.ReplacementChar
		}
		return r
	}, text))
}

// printed are the scripts that the font has, by ISO 15924.
var printed = []string{"Arab", "Armn", "Cyrl", "Geor", "Grek", "Hebr", "Latn"}

// onPaper is the context of what is printed: that of its reader, or English if the font does not have their script.
func onPaper(ctx context.Context) context.Context {
	if script, _ := language.Make(text.Tag(ctx)).Script(); !slices.Contains(printed, script.String()) {
		return text.With(ctx, text.Source)
	}
	return ctx
}

// seen is a text in the order in which it is seen from the left: some scripts are written from the right.
func seen(text string) string {
	var paragraph bidi.Paragraph
	if _, err := paragraph.SetString(text); err != nil {
		return text
	}
	order, err := paragraph.Order()
	if err != nil {
		return text
	}
	var b strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String()
}

// code draws a QR code of a size, with its quiet zone in it.
func (p *pen) code(x, y, size float64, text string) {
	const quiet = 4
	c, err := qr.Encode(text, qr.M)
	if err != nil {
		return // it is in the order's page, too
	}
	dot := size / float64(c.Size+2*quiet)
	p.doc.SetFillColor(0, 0, 0)
	for row := range c.Size {
		for from := 0; from < c.Size; from++ {
			to := from
			for to < c.Size && c.Black(to, row) {
				to++
			}
			if to > from {
				p.doc.Rect(x+float64(from+quiet)*dot, y+float64(row+quiet)*dot, float64(to-from)*dot, dot, "F")
				from = to
			}
		}
	}
}

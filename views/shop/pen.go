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
	"github.com/usherbox/usher/views"
)

const millimetre = 72 / 25.4 // in points

var paperFont = sync.OnceValue(func() []byte { return static.Print("dejavu-sans.ttf") })

// pen writes on paper. The font has the alphabets of Europe, Hebrew and Arabic; it shows a box for each character of another
// script, such as a name may have.
type pen struct {
	doc   *fpdf.Fpdf
	faces map[string]bool // that the document has, besides sans
	right bool            // lines of a box begin at the right
	mid   bool            // lines of a box stand in its middle
	dry   bool            // nothing is written: it is only measured
}

func newPen(doc *fpdf.Fpdf) *pen {
	doc.AddUTF8FontFromBytes("sans", "", paperFont())
	doc.SetFont("sans", "", 10)
	return &pen{doc: doc, faces: map[string]bool{}}
}

// The faces of tickets, which have Latin letters alone; "sans" stands in for the rest.
const (
	titleFace = "bricolage-grotesque.ttf"
	textFace  = "instrument-sans.ttf"
)

// use takes a face for a text, if it has all of its letters.
func (p *pen) use(face, text string) {
	if !views.Prints(face, text) {
		p.doc.SetFont("sans", "", 10)
		return
	}
	if !p.faces[face] {
		p.doc.AddUTF8FontFromBytes(face, "", static.Print(face))
		p.faces[face] = true
	}
	p.doc.SetFont(face, "", 10)
}

// box is a part of a paper, in millimetres.
type box struct{ x, y, w, h float64 }

// fit writes a text into a box, in the largest of two sizes and those between in which it is there as a whole, and no word is
// broken. What does not fit in the smallest one is cut. It returns where the text ends.
func (p *pen) fit(b box, face string, large, small float64, text string) (bottom float64) {
	if text = strings.TrimSpace(text); text == "" {
		return b.y
	}
	runes := []rune(printable(text))
	p.use(face, string(runes))
	for size := large; ; size = max(size-0.5, small) {
		p.doc.SetFontSize(size)
		leading := 1.24 * size / millimetre
		lines, whole := p.broken(runes, b.w, max(1, int(b.h/leading+0.01)))
		if size > small && (!whole || p.longestWord(runes) > b.w) {
			continue
		}
		for i, line := range lines {
			p.line(b, b.y+(float64(i)+0.8)*leading, line)
		}
		return b.y + float64(len(lines))*leading
	}
}

// line writes one line at its side of a box; y is its base.
func (p *pen) line(b box, y float64, line string) {
	if p.dry {
		return
	}
	x := b.x
	switch rest := b.w - p.span(line); {
	case p.mid:
		x += rest / 2
	case p.right:
		x += rest
	}
	p.doc.Text(x, y, seen(line))
}

// centre is fit for lines in the middle of their box.
func (p *pen) centre(b box, face string, large, small float64, text string) float64 {
	p.mid = true
	defer func() { p.mid = false }()
	return p.fit(b, face, large, small, text)
}

// span is how wide a text is, in the font and the size of the moment.
func (p *pen) span(text string) (width float64) {
	for _, r := range text {
		width += p.width(r)
	}
	return width
}

func (p *pen) longestWord(text []rune) (width float64) {
	for _, word := range strings.Fields(string(text)) {
		width = max(width, p.span(word))
	}
	return width
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

// lines breaks a text at spaces, and where there is none, anywhere. It has so many lines at most.
func (p *pen) lines(text []rune, width float64, most int) []string {
	lines, _ := p.broken(text, width, most)
	return lines
}

// broken is lines, and reports whether they have the whole text.
func (p *pen) broken(text []rune, width float64, most int) (lines []string, whole bool) {
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
		text = []rune(strings.TrimLeft(string(text[end:]), " "))
	}
	if len(text) == 0 || len(lines) == 0 {
		return lines, true
	}
	last := []rune(lines[len(lines)-1] + " …")
	for len(last) > 2 && p.span(string(last)) > width {
		last = append(last[:len(last)-3], ' ', '…')
	}
	lines[len(lines)-1] = string(last)
	return lines, false
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

// scripts are those that the font has, by ISO 15924.
var scripts = []string{"Arab", "Armn", "Cyrl", "Geor", "Grek", "Hebr", "Latn"}

// onPaper is the context of what is printed: that of its reader, or English if the font does not have their script.
func onPaper(ctx context.Context) context.Context {
	if script, _ := language.Make(text.Tag(ctx)).Script(); !slices.Contains(scripts, script.String()) {
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
	runs, right := make([]string, order.NumRuns()), make([]bool, order.NumRuns())
	for i := range runs {
		run := order.Run(i)
		runs[i], right[i] = run.String(), run.Direction() == bidi.RightToLeft
		if right[i] {
			runs[i] = bidi.ReverseString(runs[i])
		}
	}
	if order.Direction() == bidi.RightToLeft {
		slices.Reverse(runs)
		return strings.Join(runs, "")
	}
	for from := 0; from < len(runs); from++ { // words from the right with the numbers between them, in words from the left
		to := from
		for right[from] && to+2 < len(runs) && right[to+2] && !strings.ContainsFunc(runs[to+1], unicode.IsLetter) {
			to += 2
		}
		slices.Reverse(runs[from : to+1])
		from = to
	}
	return strings.Join(runs, "")
}

// code draws a QR code of a size, with its quiet zone in it.
func (p *pen) code(x, y, size float64, text string) {
	const quiet = 4
	c, err := qr.Encode(text, qr.M)
	if err != nil {
		return // it is in the order's page, too
	}
	if p.dry {
		return
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

package shop

import (
	"strings"
	"sync"
	"unicode"

	"github.com/go-pdf/fpdf"
	"golang.org/x/text/unicode/bidi"
	"rsc.io/qr"

	"github.com/usherbox/usher/static"
)

const millimetre = 72 / 25.4 // in points

var paperFont = sync.OnceValue(func() []byte { return static.Print("dejavu-sans.ttf") })

// bitmaps are the characters that the font does not have, 16 rows high.
var bitmaps = sync.OnceValue(func() map[rune][]byte {
	all := static.Print("unifont.bin")
	found := make(map[rune][]byte, 52_000)
	for len(all) > 3 {
		n := int(all[2])
		found[rune(all[0])<<8|rune(all[1])] = all[3 : 3+n]
		all = all[3+n:]
	}
	return found
})

// missing stands for characters beyond both fonts: a box.
var missing = []byte{0, 0, 0x7e, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x7e, 0, 0}

// pen writes on paper, whatever the script.
type pen struct{ doc *fpdf.Fpdf }

func newPen(doc *fpdf.Fpdf) *pen {
	doc.AddUTF8FontFromBytes("sans", "", paperFont())
	doc.SetFont("sans", "", 10)
	return &pen{doc}
}

// bitmap is how a character is drawn that the font does not have; nil if it has it.
func bitmap(r rune) []byte {
	if b, ok := bitmaps()[r]; ok {
		return b
	}
	if r > 0xffff || unicode.Is(unicode.Co, r) {
		return missing
	}
	return nil
}

func (p *pen) width(r rune, size float64) float64 {
	if b := bitmap(r); b != nil {
		return size / millimetre * float64(len(b)) / 32
	}
	return p.doc.GetStringWidth(string(r))
}

// write sets a text in lines of a width, at most so many; y is the base of the first. It returns the base of what comes
// after the last.
func (p *pen) write(x, y, size, width float64, most int, text string) float64 {
	p.doc.SetFontSize(size)
	height := size / millimetre * 1.3
	for _, line := range p.lines([]rune(text), size, width, most) {
		p.line(x, y, size, line)
		y += height
	}
	return y
}

// lines breaks a text at spaces, and where there is none, anywhere.
func (p *pen) lines(text []rune, size, width float64, most int) (lines []string) {
	for len(text) > 0 && len(lines) < most {
		used, end, space := 0.0, 0, 0
		for end < len(text) && (end == 0 || used+p.width(text[end], size) <= width) {
			used += p.width(text[end], size)
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

// line draws one line, in the order in which it is seen.
func (p *pen) line(x, y, size float64, text string) {
	var known strings.Builder
	flush := func() {
		if known.Len() > 0 {
			p.doc.Text(x, y, known.String())
			x += p.doc.GetStringWidth(known.String())
			known.Reset()
		}
	}
	for _, r := range seen(text) {
		b := bitmap(r)
		if b == nil {
			known.WriteRune(r)
			continue
		}
		flush()
		p.dots(x, y, size, b)
		x += p.width(r, size)
	}
	flush()
}

// dots draws a bitmap, each run of dots as one bar.
func (p *pen) dots(x, y, size float64, b []byte) {
	dot := size / millimetre / 16
	columns := len(b) / 2
	top := y - 14*dot
	for row := range 16 {
		for from := 0; from < columns; from++ {
			at := func(c int) bool { return c < columns && b[(row*columns+c)/8]&(0x80>>((row*columns+c)%8)) != 0 }
			to := from
			for at(to) {
				to++
			}
			if to > from {
				p.doc.Rect(x+float64(from)*dot, top+float64(row)*dot, float64(to-from)*dot, dot, "F")
				from = to
			}
		}
	}
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

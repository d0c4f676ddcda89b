package shop

import (
	"context"

	"rsc.io/qr"

	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/pdf"
)

const millimetre = 72 / 25.4 // in points

// The faces of papers. Where a text has letters that they lack, the fonts of its script stand in.
const (
	titleFace = "bricolage-grotesque.ttf"
	textFace  = "instrument-sans.ttf"
	plainFace = pdf.Sans
)

// pen writes on paper.
type pen struct {
	doc   *pdf.Document
	rtl   bool // the reader reads from the right
	right bool // lines of a box begin at the right
	mid   bool // lines of a box stand in its middle
	dry   bool // nothing is written: it is only measured
}

// newPen is one for the language of a reader.
func newPen(ctx context.Context, doc *pdf.Document) *pen {
	rtl := text.Direction(ctx) == "rtl"
	return &pen{doc: doc, rtl: rtl, right: rtl}
}

// box is a part of a paper, in millimetres.
type box struct{ x, y, w, h float64 }

// fit writes a text into a box, in the largest of two sizes and those between in which it is there as a whole, and no word is
// broken. What does not fit in the smallest one is cut. It returns where the text ends.
func (p *pen) fit(b box, face string, large, small float64, words string) (bottom float64) {
	shaped := p.doc.Shape(face, words, p.rtl)
	for size := large; ; size = max(size-0.5, small) {
		leading := 1.24 * size / millimetre
		width, most := b.w*millimetre/size, max(1, int(b.h/leading+0.01))
		if size > small && !shaped.Fits(width, most) {
			continue
		}
		lines, _ := shaped.Lines(width, most)
		for i, line := range lines {
			p.line(b, b.y+(float64(i)+0.8)*leading, size, line)
		}
		return b.y + float64(len(lines))*leading
	}
}

// line writes one line at its side of a box; y is its base.
func (p *pen) line(b box, y, size float64, line pdf.Line) {
	if p.dry {
		return
	}
	x := b.x
	switch rest := b.w - line.Width()*size/millimetre; {
	case p.mid:
		x += rest / 2
	case p.right:
		x += rest
	}
	p.doc.Write(x, y, size, line)
}

// centre is fit for lines in the middle of their box.
func (p *pen) centre(b box, face string, large, small float64, words string) float64 {
	p.mid = true
	defer func() { p.mid = false }()
	return p.fit(b, face, large, small, words)
}

// span is how wide a text is in one line, in millimetres.
func (p *pen) span(face string, size float64, words string) float64 {
	return p.doc.Shape(face, words, p.rtl).Width() * size / millimetre
}

// write sets a text in lines of a width, at most so many; y is the base of the first. It returns the base of what comes
// after the last.
func (p *pen) write(x, y, size, width float64, most int, words string) float64 {
	lines, _ := p.doc.Shape(plainFace, words, p.rtl).Lines(width*millimetre/size, most)
	for _, line := range lines {
		p.line(box{x, y, width, 0}, y, size, line)
		y += size / millimetre * 1.3
	}
	return y
}

// code draws a QR code of a size, with its quiet zone in it.
func (p *pen) code(x, y, size float64, content string) {
	const quiet = 4
	c, err := qr.Encode(content, qr.M)
	if err != nil {
		return // it is in the order's page, too
	}
	if p.dry {
		return
	}
	dot := size / float64(c.Size+2*quiet)
	p.doc.Colour = pdf.Colour{}
	for row := range c.Size {
		for from := 0; from < c.Size; from++ {
			to := from
			for to < c.Size && c.Black(to, row) {
				to++
			}
			if to > from {
				p.doc.Rectangle(x+float64(from+quiet)*dot, y+float64(row+quiet)*dot, float64(to-from)*dot, dot, 0).Fill()
				from = to
			}
		}
	}
}

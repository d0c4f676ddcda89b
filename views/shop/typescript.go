package shop

import (
	"strings"
	"time"

	"github.com/usherbox/usher/views/pdf"
)

// Typescript is a text as a PDF, line by line on as many pages as it takes. What a line is indented by is kept.
func Typescript(title, text string, at time.Time) []byte {
	const size, height, bottom = 9, 4.2, 280.0
	doc := pdf.New(title, "en", at)
	pen := pen{doc: doc}
	doc.Page(pdf.A4Width, pdf.A4Height)
	y := pen.write(paperLeft, paperTop+8, 14, paperWidth, 3, title) + 4
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		indent := 1.5 * float64(min(len(line)-len(strings.TrimLeft(line, " ")), 40))
		lines, _ := doc.Shape(plainFace, line, false).Lines((paperWidth-indent)*millimetre/size, 200)
		for _, part := range lines {
			if y > bottom {
				doc.Page(pdf.A4Width, pdf.A4Height)
				y = paperTop + 8
			}
			doc.Write(paperLeft+indent, y, size, part)
			y += height
		}
	}
	return doc.Output()
}

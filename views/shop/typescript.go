package shop

import (
	"bytes"
	"fmt"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// Typescript is a text as a PDF, line by line on as many pages as it takes. What a line is indented by is kept.
func Typescript(title, text string) ([]byte, error) {
	const size, height, bottom = 9, 4.2, 280.0
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetTitle(title, true)
	doc.SetLang("en")
	doc.SetAutoPageBreak(false, 0)
	pen := newPen(doc)
	doc.AddPage()
	y := pen.write(paperLeft, paperTop+8, 14, paperWidth, 3, title) + 4
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		words := strings.TrimLeft(line, " ")
		indent := 1.5 * float64(min(len(line)-len(words), 40))
		for _, part := range pen.lines([]rune(printable(words)), paperWidth-indent, 200) {
			if y > bottom {
				doc.AddPage()
				y = paperTop + 8
			}
			doc.SetFontSize(size)
			doc.Text(paperLeft+indent, y, seen(part))
			y += height
		}
	}
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, fmt.Errorf("views: print a text: %w", err)
	}
	return b.Bytes(), nil
}

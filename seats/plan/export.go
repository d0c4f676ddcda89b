package plan

import (
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/usherbox/usher/seats"
)

// WriteCSV writes a line for each seat: section, row, number, category, x, y, id, flags. Places of an area have no row.
func WriteCSV(w io.Writer, p *seats.Plan) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"section", "row", "number", "category", "x", "y", "id", "flags"}}
	for i := range p.Seats {
		s := &p.Seats[i]
		lines = append(lines, []string{
			Harmless(p.Sections[s.Section].Name), Harmless(s.Row), Harmless(s.Number), Harmless(p.Categories[s.Category].Name), decimal(s.X), decimal(s.Y), Harmless(s.ID), strings.Join(s.Flags.Names(), " "),
		})
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("plan: write: %w", err)
	}
	return nil
}

// inside is what a spreadsheet that separates cells by it would take for a cell with a formula.
var inside = regexp.MustCompile(`([;\t|\r\n]["\s;|]*)([=+\-@%＝＋－＠])`)

// Harmless keeps a spreadsheet from taking a text, or a part of it behind another separator, for a formula: what begins like
// one gets an apostrophe, which spreadsheets do not show at the beginning of a cell.
func Harmless(text string) string {
	text = inside.ReplaceAllString(text, "$1'$2")
	bare := strings.TrimLeftFunc(text, unicode.IsSpace)
	if text != bare && strings.ContainsAny(text[:1], "\t\r\n") {
		return "'" + text
	}
	if first, _ := utf8.DecodeRuneInString(bare); strings.ContainsRune("=+-@|%＝＋－＠", first) {
		return "'" + text
	}
	return text
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// colorOf is the colour of a category: its own, else one that is told from its neighbours.
func colorOf(p *seats.Plan, category int) string {
	spare := [...]string{"#2a8afc", "#742c05", "#da762c", "#1f209e", "#826488"}
	return cmp.Or(p.Categories[category].Color, spare[category%len(spare)])
}

// WriteSVG writes the plan as a drawing: a group for each section and row, a circle with its number for each seat.
func WriteSVG(w io.Writer, p *seats.Plan) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" font-family="sans-serif" text-anchor="middle" dominant-baseline="central">`+"\n<title>%s</title>\n", decimal(p.Width), decimal(p.Height), escaped(p.Name))
	for _, s := range p.Shapes {
		drawn(&b, s)
	}
	for i := range p.Sections {
		drawnSection(&b, p, &p.Sections[i])
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// drawnSection draws an outline, and a group for each row. Places without seats are not drawn.
func drawnSection(b *strings.Builder, p *seats.Plan, s *seats.Section) {
	fmt.Fprintf(b, "<g id=\"%s\" class=\"section\">\n<polygon class=\"outline\" points=\"%s\" fill=\"none\" stroke=\"#999\"/>\n", escaped(s.Name), pointList(s.Outline))
	for idx := s.First; idx < s.First+s.Count && !s.Area; idx++ {
		seat := &p.Seats[idx]
		if idx == s.First || seat.Row != p.Seats[idx-1].Row {
			if idx > s.First {
				b.WriteString("</g>\n")
			}
			fmt.Fprintf(b, "<g id=\"%s\" class=\"row\">\n", escaped(s.Name+"/"+seat.Row))
		}
		fmt.Fprintf(b, `<g><circle id="%s" class="seat" data-section="%s" data-row="%s" data-number="%s" data-category="%s" cx="%s" cy="%s" r="8" fill="%s"/><text x="%[6]s" y="%[7]s" font-size="8" fill="#fff">%[4]s</text></g>`+"\n",
			escaped(seat.ID), escaped(s.Name), escaped(seat.Row), escaped(seat.Number), escaped(p.Categories[seat.Category].Name), decimal(seat.X), decimal(seat.Y), colorOf(p, seat.Category))
	}
	if !s.Area {
		b.WriteString("</g>\n")
	}
	b.WriteString("</g>\n")
}

func drawn(b *strings.Builder, s seats.Shape) {
	turn := fmt.Sprintf(` transform="rotate(%s %s %s)"`, decimal(s.Rotation), decimal(s.Center.X), decimal(s.Center.Y))
	switch s.Kind {
	case "polygon":
		fmt.Fprintf(b, "<polygon class=\"%s\" points=\"%s\" fill=\"#eee\" stroke=\"#999\"/>\n", s.Role, pointList(s.Points))
	case "line":
		fmt.Fprintf(b, "<polyline class=\"%s\" points=\"%s\" fill=\"none\" stroke=\"#666\"/>\n", s.Role, pointList(s.Points))
	case "ellipse":
		fmt.Fprintf(b, "<ellipse class=\"%s\" cx=\"%s\" cy=\"%s\" rx=\"%s\" ry=\"%s\" fill=\"#eee\" stroke=\"#999\"%s/>\n", s.Role, decimal(s.Center.X), decimal(s.Center.Y), decimal(s.RX), decimal(s.RY), turn)
	}
	if s.Kind == "icon" { // of its word: what has a form would be read as a seat
		s.Kind, s.Text, s.Size = "text", s.Role, s.Size/2
	}
	if s.Kind == "text" {
		fmt.Fprintf(b, "<text class=\"%s\" x=\"%s\" y=\"%s\" font-size=\"%s\" fill=\"#333\"%s>%s</text>\n", s.Role, decimal(s.Center.X), decimal(s.Center.Y), decimal(s.Size), turn, escaped(s.Text))
	}
}

func pointList(points []seats.Point) string {
	var list []string
	for _, p := range points {
		list = append(list, decimal(p.X)+","+decimal(p.Y))
	}
	return strings.Join(list, " ")
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // to memory
	return b.String()
}

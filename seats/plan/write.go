package plan

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/usherbox/usher/seats"
)

// Write writes a plan in the open format, every seat by itself. Reading it back gives the same plan.
func Write(w io.Writer, p *seats.Plan) error {
	if err := Check(p); err != nil {
		return fmt.Errorf("plan: write: %w", err)
	}
	doc := header(p)
	for i := range p.Sections {
		doc.Sections = append(doc.Sections, writtenSection(p, &p.Sections[i]))
	}
	for _, s := range p.Shapes {
		doc.Shapes = append(doc.Shapes, writtenShape(s))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("plan: write: %w", err)
	}
	return nil
}

func writtenSection(p *seats.Plan, s *seats.Section) documentSection {
	sec := documentSection{Name: s.Name, Outline: pairs(s.Outline)}
	if s.Area {
		sec.Area = &documentArea{Capacity: s.Count}
	}
	for idx := s.First; idx < s.First+s.Count; idx++ {
		seat, written := &p.Seats[idx], written(p, idx)
		if s.Area {
			sec.Area.Places = append(sec.Area.Places, written)
			continue
		}
		if n := len(sec.Rows); n == 0 || sec.Rows[n-1].Row != seat.Row {
			sec.Rows = append(sec.Rows, documentRow{Row: seat.Row})
		}
		row := &sec.Rows[len(sec.Rows)-1]
		row.Seats = append(row.Seats, written)
	}
	return sec
}

// header is a document with all of a plan but its sections and shapes.
func header(p *seats.Plan) document {
	doc := document{Format: FormatOwn, Name: p.Name, Width: p.Width, Height: p.Height}
	if p.Focus != nil {
		doc.Focus = &pair{p.Focus.X, p.Focus.Y}
	}
	for _, c := range p.Categories {
		doc.Categories = append(doc.Categories, documentCategory(c))
	}
	return doc
}

func written(p *seats.Plan, idx int) documentSeat {
	s := &p.Seats[idx]
	return documentSeat{s.ID, s.Number, s.X, s.Y, p.Categories[s.Category].Key, s.Flags.Names()}
}

func writtenShape(s seats.Shape) documentShape {
	shape := documentShape{s.Kind, s.Role, pairs(s.Points), nil, s.RX, s.RY, s.Rotation, s.Text, s.Size}
	if s.Center != (seats.Point{}) {
		shape.Center = &pair{s.Center.X, s.Center.Y}
	}
	return shape
}

func pairs(points []seats.Point) []pair {
	var list []pair
	for _, p := range points {
		list = append(list, pair{p.X, p.Y})
	}
	return list
}

package plan

import (
	"fmt"
	"math"

	"github.com/usherbox/usher/seats"
)

// build makes the plan of a repaired draft.
func (d *draft) build() *seats.Plan {
	if d.imported {
		d.scale()
		d.aisles()
		d.warn("The file does not say what seats cost. An event of this plan is free of charge until its prices are set.")
	}
	for i := range d.sections {
		if s := &d.sections[i]; len(s.outline) == 0 {
			s.outline, s.drawn = around(s), true
		}
	}
	if d.width == 0 && d.height == 0 {
		d.place()
	}
	p := &seats.Plan{Name: d.name, Width: d.width, Height: d.height, Categories: d.categories, Shapes: d.shapes, Focus: d.focus}
	p.Seats = make([]seats.Seat, 0, d.seats)
	for i := range d.sections {
		s := &d.sections[i]
		first := len(p.Seats)
		for j := range s.rows {
			for k := range s.rows[j].seats {
				p.Seats = append(p.Seats, s.rows[j].seats[k].seat(i, s.rows[j].label))
			}
		}
		p.Sections = append(p.Sections, seats.Section{Name: s.name, Area: s.area, First: first, Count: len(p.Seats) - first, Outline: s.outline})
	}
	return p
}

func (s *draftSeat) seat(section int, row string) seats.Seat {
	return seats.Seat{ID: s.ids[0], Section: section, Category: s.category, Row: row, Number: s.number, X: s.x, Y: s.y, Flags: s.flags}
}

// around is the outline of a section that came without one.
func around(s *draftSection) []seats.Point {
	var all []seats.Point
	for _, r := range s.rows {
		for _, seat := range r.seats {
			all = append(all, seats.Point{X: seat.x, Y: seat.y})
		}
	}
	return padded(all, spacing)
}

// overlaps warns of seats that lie on each other: on the map only one of them can be reached by a finger.
func overlaps(p *seats.Plan) []string {
	type cell struct{ x, y int }
	const touching = 4 // units; a seat is drawn about 16 wide
	var warnings []string
	for _, s := range p.Sections {
		if s.Area {
			continue
		}
		cells, on, example := map[cell]int{}, 0, ""
		for i := s.First; i < s.First+s.Count; i++ {
			at := cell{int(math.Round(p.Seats[i].X / touching)), int(math.Round(p.Seats[i].Y / touching))}
			if other, ok := cells[at]; ok {
				if on++; on == 1 {
					example = fmt.Sprintf("%s on %s", p.Label(i), p.Label(other))
				}
				continue
			}
			cells[at] = i
		}
		if on > 0 {
			warnings = append(warnings, fmt.Sprintf("Seats of section %q drawn on top of others: %d (%s). They are easier to find in the list than on the map.", s.Name, on, example))
		}
	}
	return warnings
}

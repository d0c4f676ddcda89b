package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// filed is where the sections and rows of a draft are while its seats are put into them.
type filed struct {
	sections map[string]int
	rows     map[seats.WholeRow]int
}

// section is the section of a name: the first one, or, if there is none yet, the one at next.
func (f *filed) section(name string, next int) int {
	i, known := f.sections[name]
	if !known {
		i = next
		f.sections[name] = i
	}
	return i
}

// area files an area as the section at i, with its only row, unless a section before it has the name.
func (f *filed) area(name string, i int) {
	if f.section(name, i) == i {
		f.rows[seats.WholeRow{Section: i}] = 0
	}
}

// put adds a seat to its section and row. A section without rows is an area if other sections have rows.
func (d *draft) put(c *record, category int, rowsNamed bool, at filed) {
	i := at.section(c.section, len(d.sections))
	if i == len(d.sections) {
		d.sections = append(d.sections, draftSection{name: c.section, area: rowsNamed && c.row == ""})
	}
	s := &d.sections[i]
	s.area = s.area && c.row == ""
	row := seats.WholeRow{Section: i, Row: c.row}
	j, known := at.rows[row]
	if !known {
		j = len(s.rows)
		at.rows[row] = j
		s.rows = append(s.rows, draftRow{label: c.row, path: []any{c.line}})
	}
	s.rows[j].seats = append(s.rows[j].seats, draftSeat{ids: []string{c.id}, number: c.number, category: category, x: c.x, y: c.y, flags: flagsIn(c.flags)})
}

// flagsIn finds the flags of a seat in the words of other programs.
func flagsIn(text string) (flags seats.Flags) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ,;|", r) }) {
		switch word {
		case "accessible", "wheelchair", "true", "yes", "1":
			flags |= seats.Accessible
		case "companion":
			flags |= seats.Companion
		case "restricted-view", "restricted", "obstructed":
			flags |= seats.RestrictedView
		case "aisle-after":
			flags |= seats.AisleAfter
		}
	}
	return flags
}

// lineUp sorts the seats of each row from left to right or from top to bottom, and numbers them if they have no numbers.
func (d *draft) lineUp(number bool) {
	for i := range d.sections {
		for j := range d.sections[i].rows {
			row := d.sections[i].rows[j].seats
			low, high := box(d.sections[i].rows[j : j+1])
			slices.SortStableFunc(row, func(a, b draftSeat) int {
				if high.X-low.X >= high.Y-low.Y {
					return cmp.Compare(a.x, b.x)
				}
				return cmp.Compare(a.y, b.y)
			})
			for k := range row {
				if number {
					row[k].number = strconv.Itoa(k + 1)
				}
			}
		}
	}
}

// lay gives seats places where the file has none: rows behind each other, sections below each other.
func (d *draft) lay() {
	y := 0.0
	for i := range d.sections {
		for j := range d.sections[i].rows {
			for k := range d.sections[i].rows[j].seats {
				s := &d.sections[i].rows[j].seats[k]
				s.x, s.y = spacing*float64(k), y
			}
			y += 1.2 * spacing
		}
		y += 3 * spacing
	}
	d.warn(text.Say("The file does not say where the seats are, so rows were laid out behind each other."))
}

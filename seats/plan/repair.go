package plan

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/usherbox/usher/seats"
)

// repair makes a draft obey the rules of Check as far as names, ids and labels go, and notes what it did. In a draft
// that obeys them already it changes nothing.
func (d *draft) repair() error {
	d.dropEmpty()
	if d.seats = d.count(); d.seats == 0 {
		return errNoSeats
	}
	d.cleanNames()
	if d.imported {
		d.unstack()
	}
	d.splitSections()
	d.nameSections()
	d.identify()
	if d.imported {
		d.dropCategories()
	}
	return nil
}

func (d *draft) count() int {
	n := 0
	for _, s := range d.sections {
		for _, r := range s.rows {
			n += len(r.seats)
		}
	}
	return n
}

// dropEmpty takes out rows and sections without seats; the outline of such a section stays in the drawing.
func (d *draft) dropEmpty() {
	sections, empty := d.sections[:0], 0
	for _, s := range d.sections {
		rows := s.rows[:0]
		for _, r := range s.rows {
			if len(r.seats) > 0 {
				rows = append(rows, r)
			} else {
				empty++
			}
		}
		s.rows = rows
		if len(rows) > 0 {
			sections = append(sections, s)
			continue
		}
		d.warn("Section %q has no seats; it is drawn, and nothing in it is for sale.", s.name)
		if len(s.outline) > 2 {
			d.shapes = append(d.shapes, seats.Shape{Kind: "polygon", Role: "other", Points: s.outline})
		}
	}
	d.sections = sections
	if empty > 0 {
		d.warn("Rows without seats were left out: %d.", empty)
	}
}

// cleanNames gives everything a name that can stand in a label.
func (d *draft) cleanNames() {
	var cleaned []string
	name := func(old, spare string, most int) string {
		now := cleanName(old, most)
		if now == "" {
			now = spare
		}
		if now != old {
			cleaned = append(cleaned, fmt.Sprintf("%q is now %q", old, now))
		}
		return now
	}
	d.name = name(d.name, "Seating plan", maxName)
	for i := range d.categories {
		c := &d.categories[i]
		c.Name = name(c.Name, "Category "+strconv.Itoa(i+1), maxName)
		c.Key = name(c.Key, strconv.Itoa(i+1), maxName)
	}
	for i := range d.sections {
		s := &d.sections[i]
		s.name = name(s.name, "Section "+strconv.Itoa(i+1), maxName)
		for j := range s.rows {
			r := &s.rows[j]
			if !s.area {
				r.label = name(r.label, strconv.Itoa(j+1), maxLabel)
			}
			for k := range r.seats {
				r.seats[k].number = name(r.seats[k].number, strconv.Itoa(k+1), maxLabel)
			}
		}
	}
	if n := len(cleaned); n > 0 {
		d.repaired("name", "", n, "names that were empty, too long or not fit for a label were changed: %s.", some(cleaned))
	}
}

// cleanName is a name without what would break a label or a page: slashes, control characters, space around it.
func cleanName(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '-'
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if runes := []rune(s); len(runes) > most {
		s = strings.TrimSpace(string(runes[:most]))
	}
	return s
}

// some lists a few of many things.
func some(list []string) string {
	const few = 3
	if len(list) <= few {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:few], ", ") + fmt.Sprintf(" and %d more", len(list)-few)
}

// nameSections gives sections of the same name different ones.
func (d *draft) nameSections() {
	taken := map[string]bool{}
	for _, s := range d.sections {
		taken[s.name] = true
	}
	times := map[string]int{}
	for i := range d.sections {
		s := &d.sections[i]
		old := s.name
		if times[old]++; times[old] == 1 {
			continue
		}
		s.name = fresh(old, taken, times)
		d.repaired("duplicate-section", old, 1, "another section has this name too; the later one is %q.", s.name)
	}
}

// dropCategories takes out the categories no seat has, so that nobody is offered what does not exist.
func (d *draft) dropCategories() {
	used := make([]bool, len(d.categories))
	d.each(func(_ *draftSection, _ *draftRow, s *draftSeat) { used[s.category] = true })
	place := make([]int, len(d.categories))
	kept := make([]seats.Category, 0, len(d.categories))
	for i, c := range d.categories {
		place[i] = len(kept)
		if used[i] {
			kept = append(kept, c)
			continue
		}
		d.warn("Category %q has no seats and was left out.", c.Name)
	}
	d.categories = kept
	d.each(func(_ *draftSection, _ *draftRow, s *draftSeat) { s.category = place[s.category] })
}

// each visits the seats in the order of their idx.
func (d *draft) each(visit func(*draftSection, *draftRow, *draftSeat)) {
	for i := range d.sections {
		for j := range d.sections[i].rows {
			row := &d.sections[i].rows[j]
			for k := range row.seats {
				visit(&d.sections[i], row, &row.seats[k])
			}
		}
	}
}

package plan

import (
	"cmp"
	"fmt"

	"github.com/usherbox/usher/seats"
)

// How rows are sold together: whole, or shared by parties.

// documentShared is how many seats each party has at a row or table.
type documentShared struct {
	Least  int  `json:"least,omitempty"` // left out: 1
	Most   int  `json:"most,omitempty"`  // left out: all
	NoRest bool `json:"noRest,omitempty"`
}

// shared notes how many seats each party has at a row; a largest party that is left out stays 0 until the pieces of the row are together.
func (in *documentReader) shared(r *draftRow, s *documentShared, path []any) {
	if s == nil {
		return
	}
	r.shared = &seats.Shared{Least: cmp.Or(s.Least, 1), Most: s.Most, NoRest: s.NoRest}
	switch {
	case r.whole:
		in.wrong.add(fail(under(path, "shared"), "a row or table is sold whole or shared, not both"))
	case !r.oneCategory():
		in.wrong.add(fail(under(path, "shared"), "a row or table that is shared has one category for all its seats; %q has several", r.label))
	}
}

// parties refuses those that do not fit their row, which may be drawn in several pieces.
func (in *documentReader) parties(s *draftSection) {
	counts := map[string]int{}
	for _, r := range s.rows {
		counts[r.label] += len(r.seats)
	}
	for _, r := range s.rows {
		if r.shared == nil || !r.oneCategory() || r.whole { // that is said
			continue
		}
		all := counts[r.label]
		if whole := filled(*r.shared, all); !sharable(whole, all) {
			in.wrong.add(fail(under(r.path[:len(r.path)-1], "shared"), sizes, whole.Least, whole.Most, all))
		}
	}
}

const sizes = "a party has %d to %d seats of %d: the first number is 1 or more, the second at least as many, and both fit the row"

// filled is how a row of so many seats is shared: a largest party that is left out has all of them.
func filled(s seats.Shared, count int) seats.Shared {
	s.Most = cmp.Or(s.Most, count)
	return s
}

func sharable(s seats.Shared, count int) bool {
	return count > 1 && s.Least >= 1 && s.Least <= s.Most && s.Most <= count
}

func writtenShared(s *seats.Shared) *documentShared {
	if s == nil {
		return nil
	}
	return &documentShared{s.Least, s.Most, s.NoRest}
}

// drawnRow is what counts of a row for how it is sold.
type drawnRow struct {
	count, category int
	several         bool // categories
}

// together reports whether the seats of a row can be sold together: several seats of one category.
func (r drawnRow) together() bool { return r.count > 1 && !r.several }

// drawnRows are the rows of a plan, but for those of areas.
func drawnRows(p *seats.Plan) map[seats.WholeRow]drawnRow {
	rows := map[seats.WholeRow]drawnRow{}
	for i := range p.Seats {
		s := &p.Seats[i]
		if p.Sections[s.Section].Area {
			continue
		}
		at := seats.WholeRow{Section: s.Section, Row: s.Row}
		r, known := rows[at]
		rows[at] = drawnRow{r.count + 1, s.Category, r.several || known && r.category != s.Category}
	}
	return rows
}

// checkTogether holds that what is sold whole or shared is a row of several seats of one category, one or the other, with parties
// that fit.
func checkTogether(p *seats.Plan) error {
	if len(p.Whole) == 0 && len(p.Shared) == 0 {
		return nil
	}
	rows, known := drawnRows(p), make(map[seats.WholeRow]bool, len(p.Whole)+len(p.Shared))
	for _, w := range p.Whole {
		if known[w] || !rows[w].together() {
			return fmt.Errorf("row %q of section %d cannot be sold whole: that is a row of at least 2 seats, all of one category", w.Row, w.Section)
		}
		known[w] = true
	}
	for _, r := range p.Shared {
		w := seats.WholeRow{Section: r.Section, Row: r.Row}
		if known[w] || !rows[w].together() {
			return fmt.Errorf("row %q of section %d cannot be shared: that is a row of at least 2 seats, all of one category, which is not sold whole", r.Row, r.Section)
		}
		known[w] = true
		if count := rows[w].count; !sharable(r.Shared, count) {
			return fmt.Errorf("row %q of section %d: "+sizes, r.Row, r.Section, r.Least, r.Most, count)
		}
	}
	return nil
}

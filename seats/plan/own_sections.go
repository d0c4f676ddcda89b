package plan

import (
	"slices"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// documentReader turns the sections of a document into those of a draft.
type documentReader struct {
	*draft
	keys map[string]int
}

func (in *documentReader) section(sec *documentSection, path []any) error {
	s := draftSection{name: sec.Name, outline: points(sec.Outline)}
	if len(s.outline) > 0 && len(s.outline) < 3 {
		return fail(under(path, "outline"), "an outline has at least 3 points")
	}
	if !drawable(s.outline) {
		return fail(under(path, "outline"), tooFar)
	}
	var err error
	switch {
	case sec.Area != nil && (len(sec.Rows) > 0 || len(sec.Tables) > 0 || len(sec.Generate) > 0):
		return fail(path, "a section is an area or has rows, not both")
	case sec.Area != nil:
		s.area = true
		err = in.area(sec, &s, under(path, "area"))
	case len(sec.Rows) > 0 || hasSeats(sec.Tables): // seats that are given count; generators tell how they came about
		err = in.rows(sec, &s, path)
	default:
		err = in.generated(sec, &s, path)
	}
	if err != nil {
		return err
	}
	in.sections = append(in.sections, s)
	return nil
}

func hasSeats(tables []documentTable) bool {
	return slices.ContainsFunc(tables, func(t documentTable) bool { return len(t.Seats) > 0 })
}

func (in *documentReader) rows(sec *documentSection, s *draftSection, path []any) error {
	for i, r := range sec.Rows {
		row, err := in.row(r.Row, r.Seats, sec.Category, under(path, "rows", i))
		if err != nil {
			return err
		}
		s.rows = append(s.rows, row)
	}
	return in.tables(sec, s, path)
}

func (in *documentReader) row(name string, list []documentSeat, category string, path []any) (draftRow, error) {
	r := draftRow{label: name, path: under(path, "seats")}
	if err := in.room(len(list), r.path...); err != nil {
		return r, err
	}
	for i := range list {
		s, err := in.seat(&list[i], category, under(r.path, i))
		if err != nil {
			return r, err
		}
		r.seats = append(r.seats, s)
	}
	return r, nil
}

func (in *documentReader) seat(seat *documentSeat, category string, path []any) (draftSeat, error) {
	s := draftSeat{ids: []string{seat.ID}, number: seat.Number, x: seat.X, y: seat.Y}
	if !finite(s.x, s.y) {
		return s, fail(path, tooFar)
	}
	if seat.Category != "" {
		category = seat.Category
	}
	var err error
	if s.category, err = in.category(category, path); err != nil {
		return s, err
	}
	s.flags, err = flagsNamed(seat.Flags, under(path, "flags"))
	return s, err
}

func (in *documentReader) category(key string, path []any) (int, error) {
	if i, ok := in.keys[key]; ok {
		return i, nil
	}
	if key == "" {
		return 0, fail(path, "this has no category, and neither has its section")
	}
	return 0, fail(under(path, "category"), "category %q is not among the categories of the plan", key)
}

// flagsNamed reads the words of flags.
func flagsNamed(words []string, path []any) (seats.Flags, error) {
	var flags seats.Flags
	for i, word := range words {
		at := slices.Index(allFlags.Names(), word)
		if at < 0 {
			return 0, fail(under(path, i), "%q is no flag; there are %q", word, allFlags.Names())
		}
		flags |= 1 << at
	}
	return flags, nil
}

func (in *documentReader) area(sec *documentSection, s *draftSection, path []any) error {
	a := sec.Area
	if a.Capacity < 1 {
		return fail(under(path, "capacity"), "an area has a capacity of at least 1")
	}
	if len(a.Places) > 0 {
		if len(a.Places) != a.Capacity {
			return fail(path, "the capacity is %d, and %d places are given", a.Capacity, len(a.Places))
		}
		r, err := in.row("", a.Places, sec.Category, path)
		s.rows = []draftRow{r}
		return err
	}
	if len(s.outline) == 0 {
		return fail(path, "an area needs an outline, or its places")
	}
	category, err := in.category(sec.Category, path[:len(path)-1])
	if err != nil {
		return err
	}
	if err := in.room(a.Capacity, under(path, "capacity")...); err != nil {
		return err
	}
	r := draftRow{path: path}
	for i, p := range fill(s.outline, a.Capacity) {
		r.seats = append(r.seats, draftSeat{number: strconv.Itoa(i + 1), category: category, x: tenth(p.X), y: tenth(p.Y)})
	}
	s.rows = []draftRow{r}
	return nil
}

// tables adds a row for each table, and draws the tables that say where they are.
func (in *documentReader) tables(sec *documentSection, s *draftSection, path []any) error {
	for i, t := range sec.Tables {
		at := under(path, "tables", i)
		if len(t.Seats) == 0 {
			made, err := t.generate(at)
			if err != nil {
				return err
			}
			t.Seats = made
		}
		r, err := in.row(t.Table, t.Seats, sec.Category, at)
		if err != nil {
			return err
		}
		r.table = true
		if top, ok := t.top(); ok {
			if err := checkShape(top); err != nil {
				return fail(at, "%s", err)
			}
			in.shapes = append(in.shapes, top)
			r.top = len(in.shapes)
		}
		s.rows = append(s.rows, r)
	}
	return nil
}

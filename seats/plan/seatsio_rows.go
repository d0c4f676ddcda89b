package plan

import (
	"encoding/json"

	"github.com/usherbox/usher/seats"
)

func (in *seatsioReader) section(sec *seatsioSection, at point, path []any) error {
	name, err := label(sec.Label, under(path, "label")...)
	if err != nil {
		return err
	}
	category, err := in.category(sec.CategoryKey, -1, path)
	if err != nil {
		return err
	}
	s := draftSection{name: name}
	for i, p := range sec.Points {
		if !near(p.X, p.Y) {
			return fail(under(path, "points", i), tooFar)
		}
		s.outline = append(s.outline, seats.Point{X: at.X + p.X, Y: at.Y + p.Y})
	}
	if len(s.outline) < 3 {
		s.outline = nil
	}
	inside := point{at.X + sec.TopLeft.X, at.Y + sec.TopLeft.Y}
	inner := under(path, "subChart")
	if s.rows, err = in.inside(&sec.SubChart, inside, category, inner); err != nil {
		return err
	}
	if len(s.rows) > 0 || len(sec.SubChart.Areas) == 0 {
		in.sections = append(in.sections, s)
	}
	return in.decoration(&sec.SubChart, inside, name, category, inner)
}

// inside reads what is for sale in a section: its rows, tables and booths.
func (in *seatsioReader) inside(f *seatsioPart, at point, category int, path []any) ([]draftRow, error) {
	var rows []draftRow
	groups := []struct {
		key  string
		rows []seatsioRow
	}{{"rows", f.Rows}, {"tables", f.Tables}}
	for _, g := range groups {
		for i := range g.rows {
			r, err := in.row(&g.rows[i], g.key == "tables", at, category, under(path, g.key, i))
			if err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	}
	for i := range f.Booths {
		r, err := in.booth(&f.Booths[i], at, category, under(path, "booths", i))
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// loose reads rows, tables and booths that stand in no section. Rows may still name one.
func (in *seatsioReader) loose(f *seatsioPart, at point, path []any) error {
	named := map[string]int{}
	add := func(section string, r draftRow) {
		i, ok := named[section]
		if !ok {
			i = len(in.sections)
			named[section] = i
			in.sections = append(in.sections, draftSection{name: section})
		}
		in.sections[i].rows = append(in.sections[i].rows, r)
	}
	for i := range f.Rows {
		r, err := in.row(&f.Rows[i], false, at, -1, under(path, "rows", i))
		if err != nil {
			return err
		}
		section := f.Rows[i].SectionLabel
		if section == "" {
			section = "Seats"
		}
		add(section, r)
	}
	for i := range f.Tables {
		r, err := in.row(&f.Tables[i], true, at, -1, under(path, "tables", i))
		if err != nil {
			return err
		}
		add("Tables", r)
	}
	for i := range f.Booths {
		r, err := in.booth(&f.Booths[i], at, -1, under(path, "booths", i))
		if err != nil {
			return err
		}
		add("Booths", r)
	}
	return nil
}

func (in *seatsioReader) row(row *seatsioRow, table bool, at point, category int, path []any) (draftRow, error) {
	r := draftRow{table: table, path: under(path, "seats")}
	var err error
	if r.label, err = label(row.Label, under(path, "label")...); err != nil {
		return r, err
	}
	if category, err = in.category(row.CategoryKey, category, path); err != nil {
		return r, err
	}
	if err := in.room(len(row.Seats), r.path...); err != nil {
		return r, err
	}
	r.seats = make([]draftSeat, 0, len(row.Seats))
	for i := range row.Seats {
		s, err := in.seat(&row.Seats[i], at, category, under(r.path, i))
		if err != nil {
			return r, err
		}
		r.seats = append(r.seats, s)
	}
	if table {
		before := len(in.shapes)
		if err := in.tabletop(row, at, path); err != nil {
			return r, err
		}
		if len(in.shapes) > before {
			r.top = len(in.shapes)
		}
	}
	return r, nil
}

func (in *seatsioReader) seat(seat *seatsioSeat, at point, category int, path []any) (s draftSeat, err error) {
	var id string
	if id, err = label(seat.UUID, under(path, "uuid")...); err != nil {
		return s, err
	}
	if s.number, err = label(seat.Label, under(path, "label")...); err != nil {
		return s, err
	}
	s.ids = []string{id}
	if s.category, err = in.category(seat.CategoryKey, category, path); err != nil {
		return s, err
	}
	if s.category < 0 {
		return s, fail(path, "the seat has no category, and neither has its row or its section; give it one in the chart")
	}
	if seat.X == nil || seat.Y == nil {
		return s, fail(path, "the seat has no position")
	}
	s.x, s.y = at.X+*seat.X, at.Y+*seat.Y
	if !near(s.x, s.y) {
		return s, fail(path, tooFar)
	}
	s.flags = flagIf(seat.Accessible, seats.Accessible) | flagIf(seat.CompanionSeat, seats.Companion) |
		flagIf(seat.RestrictedView, seats.RestrictedView)
	return s, nil
}

// category is the position of a key, or what holds where there is none.
func (in *seatsioReader) category(raw json.RawMessage, without int, path []any) (int, error) {
	key, err := label(raw, under(path, "categoryKey")...)
	if err != nil || key == "" {
		return without, err
	}
	if i, ok := in.categories[key]; ok {
		return i, nil
	}
	return 0, fail(under(path, "categoryKey"), "category %q is not among the categories of the chart", key)
}

func flagIf(is bool, flag seats.Flags) seats.Flags {
	if is {
		return flag
	}
	return 0
}

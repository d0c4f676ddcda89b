package plan

import (
	"encoding/json"
	"strconv"

	"github.com/usherbox/usher/seats"
)

// The parts of a pretix seating plan that Usher knows. Positions are relative: to the plan, the zone, the row.
type (
	pretixPlan struct {
		Name       string           `json:"name"`
		Categories []pretixCategory `json:"categories"`
		Zones      []pretixZone     `json:"zones"`
	}
	pretixCategory struct {
		Name  string `json:"name"`
		Color string `json:"color"`
	}
	pretixZone struct {
		Name     json.RawMessage `json:"name"`
		Position point           `json:"position"`
		Rows     []pretixRow     `json:"rows"`
		Areas    []pretixArea    `json:"areas"`
	}
	pretixRow struct {
		Number   json.RawMessage `json:"row_number"`
		Label    json.RawMessage `json:"row_label"`
		Position point           `json:"position"`
		Seats    []pretixSeat    `json:"seats"`
	}
	pretixSeat struct {
		UUID     json.RawMessage `json:"uuid"`
		GUID     json.RawMessage `json:"seat_guid"`
		Number   json.RawMessage `json:"seat_number"`
		Category string          `json:"category"`
		Position *point          `json:"position"`
	}
	point struct {
		X float64 `json:"x"`
		Y float64 `json:"y"`
	}
)

func readPretix(data []byte) (*draft, error) {
	var file pretixPlan
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	d := &draft{name: file.Name, imported: true, idNames: [2]string{"uuid", "seat_guid"}}
	place := map[string]int{}
	for i, c := range file.Categories {
		if _, twice := place[c.Name]; twice {
			return nil, fail([]any{"categories", i, "name"}, "two categories are called %q", c.Name)
		}
		place[c.Name] = i
		d.categories = append(d.categories, seats.Category{Key: letters(i), Name: c.Name, Color: hexColor(c.Color)})
	}
	for i, zone := range file.Zones {
		if err := d.pretixZone(zone, place, []any{"zones", i}); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *draft) pretixZone(zone pretixZone, categories map[string]int, path []any) error {
	name, err := label(zone.Name, under(path, "name")...)
	if err != nil {
		return err
	}
	s := draftSection{name: name}
	for i, row := range zone.Rows {
		at := under(path, "rows", i)
		r, err := d.pretixRow(row, zone.Position, categories, at)
		if err != nil {
			return err
		}
		s.rows = append(s.rows, r)
	}
	for i, a := range zone.Areas {
		if err := d.pretixArea(a, zone.Position, under(path, "areas", i)); err != nil {
			return err
		}
	}
	if len(s.rows) > 0 { // a zone of areas only is a picture, and those are drawn already
		d.sections = append(d.sections, s)
	}
	return nil
}

func (d *draft) pretixRow(row pretixRow, zone point, categories map[string]int, path []any) (draftRow, error) {
	r := draftRow{path: under(path, "seats")}
	var err error
	if r.label, err = label(row.Number, under(path, "row_number")...); err != nil {
		return r, err
	}
	if r.label == "" {
		if r.label, err = label(row.Label, under(path, "row_label")...); err != nil {
			return r, err
		}
	}
	if err := d.room(len(row.Seats), r.path...); err != nil {
		return r, err
	}
	r.seats = make([]draftSeat, 0, len(row.Seats))
	for i, seat := range row.Seats {
		s, err := seat.draft(categories, under(r.path, i))
		if err != nil {
			return r, err
		}
		s.x += zone.X + row.Position.X
		s.y += zone.Y + row.Position.Y
		if !near(s.x, s.y) {
			return r, fail(under(r.path, i, "position"), tooFar)
		}
		r.seats = append(r.seats, s)
	}
	return r, nil
}

func (p *pretixSeat) draft(categories map[string]int, path []any) (s draftSeat, err error) {
	var ids [2]string
	if ids[0], err = label(p.UUID, under(path, "uuid")...); err != nil {
		return s, err
	}
	if ids[1], err = label(p.GUID, under(path, "seat_guid")...); err != nil {
		return s, err
	}
	if s.number, err = label(p.Number, under(path, "seat_number")...); err != nil {
		return s, err
	}
	s.ids = ids[:]
	var known bool
	if s.category, known = categories[p.Category]; !known {
		return s, fail(under(path, "category"), "the seat is in category %q, and the plan has no such category", p.Category)
	}
	if p.Position == nil {
		return s, fail(path, "the seat has no position")
	}
	s.x, s.y = p.Position.X, p.Position.Y
	return s, nil
}

// letters counts as spreadsheets do: A…Z, AA, AB…
func letters(n int) string {
	if n < 26 {
		return string(rune('A' + n))
	}
	return letters(n/26-1) + letters(n%26)
}

// hexColor keeps a colour if it is #rrggbb, and drops what only some browsers understand.
func hexColor(s string) string {
	if len(s) != 7 || s[0] != '#' {
		return ""
	}
	if _, err := strconv.ParseUint(s[1:], 16, 32); err != nil {
		return ""
	}
	return s
}

package plan

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
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
			d.wrong.add(fail([]any{"categories", i, "name"}, "two categories are called %q", c.Name))
			continue
		}
		place[c.Name] = len(d.categories)
		d.categories = append(d.categories, seats.Category{Key: letters(i), Name: c.Name, Color: hexColor(c.Color)})
	}
	for i, zone := range file.Zones {
		if err := d.pretixZone(zone, place, []any{"zones", i}); err != nil {
			d.wrong.add(err)
		}
	}
	colors := 0
	for _, zone := range file.Zones {
		for _, a := range zone.Areas {
			colors += countIf(a.Color != "")
		}
	}
	if colors > 0 {
		d.warn(text.Say("Colours of areas were left out: %d. Usher paints what is drawn by what it is, so that it can be read in the light and in the dark.", colors))
	}
	return d, d.wrong.all()
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
			d.wrong.add(err)
			continue
		}
		s.rows = append(s.rows, r)
	}
	ground := d.pretixGround(&zone, &s)
	for i, a := range zone.Areas {
		if i == ground {
			continue
		}
		if err := d.pretixArea(a, zone.Position, under(path, "areas", i)); err != nil {
			d.wrong.add(err)
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
			d.wrong.add(err)
			continue
		}
		s.x += zone.X + row.Position.X
		s.y += zone.Y + row.Position.Y
		if !near(s.x, s.y) {
			d.wrong.add(fail(under(r.path, i, "position"), tooFar))
			continue
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

// hexColor keeps a colour if it is #rrggbb, and drops any other notation.
func hexColor(s string) string {
	if len(s) != 7 || s[0] != '#' {
		return ""
	}
	if _, err := strconv.ParseUint(s[1:], 16, 32); err != nil {
		return ""
	}
	return s
}

// pretixArea is something drawn in a zone. It holds no seats.
type pretixArea struct {
	Shape    string  `json:"shape"`
	Rotation float64 `json:"rotation"`
	Position point   `json:"position"`
	Color    string  `json:"color"`
	Text     *struct {
		Text     json.RawMessage `json:"text"`
		Position point           `json:"position"`
		Size     float64         `json:"size"`
	} `json:"text"`
	Polygon *struct {
		Points []point `json:"points"`
	} `json:"polygon"`
	Rectangle *struct {
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
	} `json:"rectangle"`
	Circle *struct {
		Radius float64 `json:"radius"`
	} `json:"circle"`
	Ellipse *struct {
		Radius point `json:"radius"`
	} `json:"ellipse"`
}

// pretixGround makes the background of a zone the outline of its section: the first polygon or rectangle without a text that has
// all seats of the zone inside. It returns its position among the areas; -1 if there is none.
func (d *draft) pretixGround(zone *pretixZone, s *draftSection) int {
	for i, a := range zone.Areas {
		words := ""
		if a.Text != nil {
			words, _ = label(a.Text.Text) // pretixArea says what is wrong with it
		}
		if len(s.rows) == 0 || words != "" || a.Shape != "polygon" && a.Shape != "rectangle" {
			continue
		}
		form := d.pretixForm(a, point{zone.Position.X + a.Position.X, zone.Position.Y + a.Position.Y}, nil).Points
		if len(form) < 3 || slices.ContainsFunc(form, func(p seats.Point) bool { return !near(p.X, p.Y) }) {
			continue
		}
		if !slices.ContainsFunc(s.rows, func(r draftRow) bool {
			return slices.ContainsFunc(r.seats, func(seat draftSeat) bool { return !within(form, seat.x, seat.y) })
		}) {
			s.outline = form
			return i
		}
	}
	return -1
}

// pretixArea draws an area as a shape, and its text on it.
func (d *draft) pretixArea(a pretixArea, zone point, path []any) error {
	at := point{zone.X + a.Position.X, zone.Y + a.Position.Y}
	text := ""
	if a.Text != nil {
		var err error
		if text, err = label(a.Text.Text, under(path, "text", "text")...); err != nil {
			return err
		}
	}
	if s := d.pretixForm(a, at, path); s.Kind != "" {
		s.Role = roleOf(text)
		if err := d.draw(s, path); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	size := a.Text.Size
	if size <= 0 {
		size = 16
	}
	return d.draw(seats.Shape{
		Kind: "text", Role: "label", Text: text, Size: size,
		Center: seats.Point{X: at.X + a.Text.Position.X, Y: at.Y + a.Text.Position.Y},
	}, path)
}

// pretixForm is the shape of an area; none for a text or an unknown shape.
func (d *draft) pretixForm(a pretixArea, at point, path []any) (s seats.Shape) {
	switch {
	case a.Shape == "rectangle" && a.Rectangle != nil:
		s = seats.Shape{Kind: "polygon", Points: rectangle(at.X, at.Y, a.Rectangle.Width, a.Rectangle.Height)}
		turnAround(s.Points, middle(s.Points), a.Rotation)
	case a.Shape == "polygon" && a.Polygon != nil && len(a.Polygon.Points) > 2:
		s = seats.Shape{Kind: "polygon"}
		for _, p := range a.Polygon.Points {
			s.Points = append(s.Points, seats.Point{X: at.X + p.X, Y: at.Y + p.Y})
		}
		turnAround(s.Points, seats.Point{X: at.X, Y: at.Y}, a.Rotation)
	case a.Shape == "circle" && a.Circle != nil:
		s = seats.Shape{Kind: "ellipse", Center: seats.Point(at), RX: a.Circle.Radius, RY: a.Circle.Radius}
	case a.Shape == "ellipse" && a.Ellipse != nil:
		s = seats.Shape{Kind: "ellipse", Center: seats.Point(at), RX: a.Ellipse.Radius.X, RY: a.Ellipse.Radius.Y, Rotation: a.Rotation}
	case a.Shape == "text":
	default:
		d.warn(text.Say("Area %s has a shape Usher does not know (“%.40s”) and is not drawn.", spell(path), a.Shape))
	}
	return s
}

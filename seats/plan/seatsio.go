package plan

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// The parts of a seats.io chart that Usher knows. A chart has one floor, or several.
type (
	seatsioChart struct {
		Name       string `json:"name"`
		Categories struct {
			List []seatsioCategory `json:"list"`
		} `json:"categories"`
		Zones struct {
			List []struct {
				FocalPoint *point `json:"focalPoint"`
			} `json:"list"`
		} `json:"zones"`
		SubChart       *seatsioPart  `json:"subChart"`
		SubChartFloors []seatsioPart `json:"subChartFloors"`
	}
	seatsioCategory struct {
		Key   json.RawMessage `json:"key"`
		Label string          `json:"label"`
		Color string          `json:"color"`
	}
	seatsioPart struct {
		Height     float64          `json:"height"`
		Rows       []seatsioRow     `json:"rows"`
		Tables     []seatsioRow     `json:"tables"`
		Booths     []seatsioObject  `json:"booths"`
		Areas      []seatsioObject  `json:"generalAdmissionAreas"`
		Shapes     []seatsioObject  `json:"shapes"`
		Texts      []seatsioObject  `json:"texts"`
		Sections   []seatsioSection `json:"sections"`
		FocalPoint *point           `json:"focalPoint"`
		Floor      string           `json:"floorName"`
		FloorName  string           `json:"floorDisplayName"`
		Icons      []struct{}       `json:"icons"`
		Images     []struct{}       `json:"imageObjects"`
		Background *struct{}        `json:"backgroundImage"`
	}
	seatsioSection struct {
		Label       json.RawMessage `json:"label"`
		CategoryKey json.RawMessage `json:"categoryKey"`
		Points      []point         `json:"points"`
		TopLeft     point           `json:"topLeft"`
		SubChart    seatsioPart     `json:"subChart"`
	}
	seatsioRow struct { // or a table
		Label         json.RawMessage `json:"label"`
		SectionLabel  string          `json:"sectionLabel"`
		CategoryKey   json.RawMessage `json:"categoryKey"`
		Seats         []seatsioSeat   `json:"seats"`
		Center        *point          `json:"center"`
		Radius        float64         `json:"radius"`
		Type          string          `json:"type"`
		Width         float64         `json:"width"`
		Height        float64         `json:"height"`
		RotationAngle float64         `json:"rotationAngle"`
		BookAsAWhole  bool            `json:"bookAsAWhole"`
	}
	seatsioSeat struct {
		UUID           json.RawMessage `json:"uuid"`
		Label          json.RawMessage `json:"label"`
		CategoryKey    json.RawMessage `json:"categoryKey"`
		X              *float64        `json:"x"`
		Y              *float64        `json:"y"`
		Accessible     bool            `json:"accessible"`
		CompanionSeat  bool            `json:"companionSeat"`
		RestrictedView bool            `json:"restrictedView"`
	}
)

// seatsioReader is the state that all levels of a chart share.
type seatsioReader struct {
	*draft
	categories map[string]int
	whole      int // areas that are sold as a whole there
	icons      int
}

func readSeatsio(data []byte) (*draft, error) {
	var file seatsioChart
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	in := &seatsioReader{
		categories: map[string]int{},
		draft:      &draft{name: file.Name, imported: true, idNames: [2]string{"uuid", "label"}},
	}
	in.prices(file.Categories.List)
	if file.SubChart != nil {
		in.floor(file.SubChart, point{}, []any{"subChart"})
	}
	in.floors(file.SubChartFloors)
	in.leftOut(&file)
	return in.draft, in.wrong.all()
}

// leftOut warns of parts of the chart that the plan lacks.
func (in *seatsioReader) leftOut(file *seatsioChart) {
	if in.focus == nil && len(file.Zones.List) > 0 {
		in.warn(text.Say("The chart has points to look at for its zones (%d); Usher has one for a whole plan, and took none.", len(file.Zones.List)))
	}
	if in.whole > 0 {
		in.warn(text.Say("Areas sold as a whole in the chart: %d. Here each of their places is for sale by itself.", in.whole))
	}
	if in.icons > 0 {
		in.warn(text.Say("Icons and images were left out: %d.", in.icons))
	}
}

func (in *seatsioReader) prices(list []seatsioCategory) {
	for i, c := range list {
		path := []any{"categories", "list", i, "key"}
		key, err := label(c.Key, path...)
		if _, twice := in.categories[key]; err == nil && (twice || key == "") {
			err = fail(path, "the key %q belongs to another category, too, or is empty", key)
		}
		if err != nil {
			in.wrong.add(err)
			continue
		}
		in.categories[key] = len(in.draft.categories)
		in.draft.categories = append(in.draft.categories, seats.Category{Key: key, Name: c.Label, Color: hexColor(c.Color)})
	}
}

// floors draws floors below each other, each under its name: in the chart they may cover the same ground.
func (in *seatsioReader) floors(floors []seatsioPart) {
	var at point
	for i := range floors {
		f := &floors[i]
		path := []any{"subChartFloors", i}
		name := cmp.Or(f.FloorName, f.Floor)
		in.climb(name, len(floors))
		sections, shapes := len(in.sections), len(in.shapes)
		size := math.Max(f.Height/20, 14)
		if err := in.draw(seats.Shape{Kind: "text", Role: "label", Text: name, Size: size, Center: seats.Point{X: at.X, Y: at.Y}}, path); err != nil {
			in.wrong.add(err)
		}
		at.Y += 2 * size
		in.floor(f, at, path)
		if on := len(in.draft.floors) - 1; on > 0 {
			in.draft.floors[on].At = seats.Point{X: at.X, Y: at.Y - 2*size}
			for j := sections; j < len(in.sections); j++ {
				in.sections[j].floor = on
			}
			for j := shapes; j < len(in.shapes); j++ {
				in.shapes[j].Floor = on
			}
		}
		if !near(f.Height) {
			in.wrong.add(fail(under(path, "height"), tooFar))
			continue
		}
		at.Y += math.Max(f.Height, 0) + 3*size
	}
}

// climb begins a floor of the plan: what is read from now on is on it. One floor alone is none.
func (in *seatsioReader) climb(name string, of int) {
	if of < 2 || of > maxFloors {
		return
	}
	name = cmp.Or(cleanName(name, maxName-10), strconv.Itoa(len(in.draft.floors)+1))
	for slices.ContainsFunc(in.draft.floors, func(f seats.Floor) bool { return f.Name == name }) {
		name += "’"
	}
	in.draft.floors = append(in.draft.floors, seats.Floor{Name: name})
}

// floor reads sections, and makes sections of the seats outside of any.
func (in *seatsioReader) floor(f *seatsioPart, at point, path []any) {
	if f.FocalPoint != nil && in.focus == nil {
		if in.focus = (&seats.Point{X: at.X + f.FocalPoint.X, Y: at.Y + f.FocalPoint.Y}); !near(f.FocalPoint.X, f.FocalPoint.Y) {
			in.wrong.add(fail(under(path, "focalPoint"), tooFar))
		}
	}
	for i := range f.Sections {
		if err := in.section(&f.Sections[i], at, under(path, "sections", i)); err != nil {
			in.wrong.add(err)
		}
	}
	in.loose(f, at, path)
	if f.Background != nil {
		in.warn(text.Say("The picture behind the chart is not in the file. To draw over it, add it as a picture in the editor."))
	}
	in.decoration(f, at, "", -1, path)
}

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
	s.rows = in.inside(&sec.SubChart, inside, category, inner)
	if len(s.rows) > 0 || len(sec.SubChart.Areas) == 0 {
		in.sections = append(in.sections, s)
	} else if err := in.draw(seats.Shape{Kind: "polygon", Role: "other", Points: s.outline}, path); err != nil { // the ground of its areas
		return err
	}
	in.decoration(&sec.SubChart, inside, name, category, inner)
	return nil
}

// inside reads the rows, tables and booths of a section.
func (in *seatsioReader) inside(f *seatsioPart, at point, category int, path []any) []draftRow {
	var rows []draftRow
	groups := []struct {
		key  string
		rows []seatsioRow
	}{{"rows", f.Rows}, {"tables", f.Tables}}
	for _, g := range groups {
		for i := range g.rows {
			r, err := in.row(&g.rows[i], g.key == "tables", at, category, under(path, g.key, i))
			if err != nil {
				in.wrong.add(err)
				continue
			}
			rows = append(rows, r)
		}
	}
	for i := range f.Booths {
		r, err := in.booth(&f.Booths[i], at, category, under(path, "booths", i))
		if err != nil {
			in.wrong.add(err)
			continue
		}
		rows = append(rows, r)
	}
	return rows
}

// loose reads rows, tables and booths that stand in no section. Rows may still name one.
func (in *seatsioReader) loose(f *seatsioPart, at point, path []any) {
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
			in.wrong.add(err)
			continue
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
			in.wrong.add(err)
			continue
		}
		add("Tables", r)
	}
	for i := range f.Booths {
		r, err := in.booth(&f.Booths[i], at, -1, under(path, "booths", i))
		if err != nil {
			in.wrong.add(err)
			continue
		}
		add("Booths", r)
	}
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
			in.wrong.add(err)
			continue
		}
		r.seats = append(r.seats, s)
	}
	if r.whole = row.BookAsAWhole; r.whole && !r.oneCategory() {
		r.whole = false
		in.warn(text.Say("“%s” is sold as a whole in the chart and has seats of several categories. Here each of its seats is for sale by itself.", r.label))
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

// category is the position of a key, or without if there is no key.
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

// seatsioObject is a booth, an area, a shape or a text: something with a label and a form.
type seatsioObject struct {
	UUID          json.RawMessage `json:"uuid"`
	Label         json.RawMessage `json:"label"`
	Text          json.RawMessage `json:"text"`
	CategoryKey   json.RawMessage `json:"categoryKey"`
	Capacity      *int            `json:"capacity"`
	BookAsAWhole  bool            `json:"bookAsAWhole"`
	Type          string          `json:"type"`
	SmartType     string          `json:"smartType"`
	Center        *point          `json:"center"`
	X             *float64        `json:"x"`
	Y             *float64        `json:"y"`
	Points        []point         `json:"points"`
	Width         float64         `json:"width"`
	Height        float64         `json:"height"`
	Radius        float64         `json:"radius"`
	Radius1       float64         `json:"radius1"`
	Radius2       float64         `json:"radius2"`
	RotationAngle float64         `json:"rotationAngle"`
	TextSize      float64         `json:"textSize"`
	LabelSize     float64         `json:"labelSize"`
}

// form is the polygon of an object, or the ellipse it is; ok is false if it has neither.
func (o *seatsioObject) form(at point) (polygon []seats.Point, round *seats.Shape, ok bool) {
	center := o.center(at)
	if len(o.Points) > 0 {
		for _, p := range o.Points {
			polygon = append(polygon, seats.Point{X: at.X + p.X, Y: at.Y + p.Y})
		}
		turnAround(polygon, middle(polygon), o.RotationAngle)
		return polygon, nil, len(polygon) > 2
	}
	if center == nil {
		return nil, nil, false
	}
	rx, ry := o.Radius1, o.Radius2
	if rx == 0 {
		rx = o.Radius
	}
	if ry == 0 {
		ry = rx
	}
	switch {
	case rx > 0:
		polygon = oval(*center, rx, ry)
		round = &seats.Shape{Kind: "ellipse", Center: *center, RX: rx, RY: ry, Rotation: o.RotationAngle}
	case o.Width > 0 && o.Height > 0:
		polygon = rectangle(center.X-o.Width/2, center.Y-o.Height/2, o.Width, o.Height)
	default:
		return nil, nil, false
	}
	turnAround(polygon, *center, o.RotationAngle)
	return polygon, round, true
}

func (o *seatsioObject) center(at point) *seats.Point {
	switch {
	case o.Center != nil:
		return &seats.Point{X: at.X + o.Center.X, Y: at.Y + o.Center.Y}
	case o.X != nil && o.Y != nil:
		return &seats.Point{X: at.X + *o.X, Y: at.Y + *o.Y}
	}
	return nil
}

// booth is one place, drawn as large as it is.
func (in *seatsioReader) booth(o *seatsioObject, at point, category int, path []any) (draftRow, error) {
	r := draftRow{table: true, path: path}
	name, err := label(o.Label, under(path, "label")...)
	if err != nil {
		return r, err
	}
	id, err := label(o.UUID, under(path, "uuid")...)
	if err != nil {
		return r, err
	}
	if category, err = in.category(o.CategoryKey, category, path); err != nil {
		return r, err
	}
	polygon, _, ok := o.form(at)
	center := o.center(at)
	if center == nil && ok {
		m := middle(polygon)
		center = &m
	}
	switch {
	case category < 0:
		return r, fail(path, "the booth has no category; give it one in the chart")
	case center == nil:
		return r, fail(path, "the booth has no position")
	case !near(center.X, center.Y):
		return r, fail(path, tooFar)
	}
	if ok {
		if err := in.draw(seats.Shape{Kind: "polygon", Role: "table", Points: polygon}, path); err != nil {
			return r, err
		}
	}
	r.label = name
	r.seats = []draftSeat{{ids: []string{id}, number: "1", category: category, x: center.X, y: center.Y}}
	return r, in.room(1, path...)
}

// area is a section of places without labels, laid out inside its form.
func (in *seatsioReader) area(o *seatsioObject, at point, section string, category int, path []any) error {
	name, err := label(o.Label, under(path, "label")...)
	if err != nil {
		return err
	}
	if section != "" {
		name = strings.TrimSpace(section + " " + name)
	}
	id, err := label(o.UUID, under(path, "uuid")...)
	if err != nil {
		return err
	}
	if category, err = in.category(o.CategoryKey, category, path); err != nil {
		return err
	}
	polygon, _, ok := o.form(at)
	switch {
	case category < 0:
		return fail(path, "the area has no category; give it one in the chart")
	case o.Capacity == nil || *o.Capacity < 1:
		return fail(under(path, "capacity"), "the area needs a capacity of at least 1")
	case !ok:
		return fail(path, "the area has no form Usher knows: a polygon, a rectangle or a circle")
	}
	if slices.ContainsFunc(polygon, func(p seats.Point) bool { return !near(p.X, p.Y) }) {
		return fail(path, tooFar)
	}
	if err := in.room(*o.Capacity, under(path, "capacity")...); err != nil {
		return err
	}
	in.whole += countIf(o.BookAsAWhole)
	row := draftRow{path: path}
	for i, p := range fill(polygon, *o.Capacity) {
		s := draftSeat{number: strconv.Itoa(i + 1), category: category, x: p.X, y: p.Y}
		if id != "" {
			s.ids = []string{id + "/" + s.number}
		}
		row.seats = append(row.seats, s)
	}
	in.sections = append(in.sections, draftSection{name: name, area: true, outline: polygon, rows: []draftRow{row}})
	return nil
}

func countIf(is bool) int {
	if is {
		return 1
	}
	return 0
}

// decoration reads the areas of a floor or section, and draws its shapes and texts.
func (in *seatsioReader) decoration(f *seatsioPart, at point, section string, category int, path []any) {
	for i := range f.Areas {
		if err := in.area(&f.Areas[i], at, section, category, under(path, "generalAdmissionAreas", i)); err != nil {
			in.wrong.add(err)
		}
	}
	for i := range f.Shapes {
		if err := in.shape(&f.Shapes[i], at, under(path, "shapes", i)); err != nil {
			in.wrong.add(err)
		}
	}
	for i := range f.Texts {
		if err := in.text(&f.Texts[i], at, under(path, "texts", i)); err != nil {
			in.wrong.add(err)
		}
	}
	in.icons += len(f.Icons) + len(f.Images)
}

func (in *seatsioReader) shape(o *seatsioObject, at point, path []any) error {
	words, err := label(o.Label, under(path, "label")...)
	if err != nil {
		return err
	}
	role := roleOf(o.SmartType)
	if role == "other" {
		role = roleOf(words)
	}
	polygon, round, ok := o.form(at)
	line := (o.Type == "line" || o.Type == "polyline") && len(polygon) > 1
	s := seats.Shape{Kind: "polygon", Role: role, Points: polygon}
	switch {
	case !ok && !line:
		in.warn(text.Say("Shape %s has a form Usher does not know (“%.40s”) and is not drawn.", spell(path), o.Type))
		return nil
	case round != nil:
		s = *round
		s.Role = role
	case line:
		s.Kind = "line"
	}
	if err := in.draw(s, path); err != nil || words == "" {
		return err
	}
	size := o.LabelSize
	if size <= 0 {
		size = 16
	}
	return in.draw(seats.Shape{Kind: "text", Role: "label", Text: words, Size: size, Center: middle(polygon)}, path)
}

func (in *seatsioReader) text(o *seatsioObject, at point, path []any) error {
	words, err := label(o.Text, under(path, "text")...)
	if err != nil {
		return err
	}
	if words == "" {
		if words, err = label(o.Label, under(path, "label")...); err != nil {
			return err
		}
	}
	center := o.center(at)
	if center == nil {
		in.warn(text.Say("Text %s has no position and is not drawn.", spell(path)))
		return nil
	}
	size := o.TextSize
	if size <= 0 {
		size = 16
	}
	return in.draw(seats.Shape{Kind: "text", Role: "label", Text: words, Size: size, Center: *center, Rotation: o.RotationAngle}, path)
}

// tabletop draws the table its seats stand around.
func (in *seatsioReader) tabletop(t *seatsioRow, at point, path []any) error {
	if t.Center == nil {
		return nil
	}
	center := seats.Point{X: at.X + t.Center.X, Y: at.Y + t.Center.Y}
	if t.Width > 0 && t.Height > 0 {
		points := rectangle(center.X-t.Width/2, center.Y-t.Height/2, t.Width, t.Height)
		turnAround(points, center, t.RotationAngle)
		return in.draw(seats.Shape{Kind: "polygon", Role: "table", Points: points}, path)
	}
	return in.draw(seats.Shape{Kind: "ellipse", Role: "table", Center: center, RX: t.Radius, RY: t.Radius}, path)
}

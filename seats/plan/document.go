package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// document is a file in the open format, docs/plan-format.md. The plans Usher ships are documents too.
type document struct {
	Format     string             `json:"format"`
	Name       string             `json:"name"`
	Width      float64            `json:"width,omitempty"`
	Height     float64            `json:"height,omitempty"`
	Focus      *pair              `json:"focus,omitempty"`
	Categories []documentCategory `json:"categories"`
	Floors     []documentFloor    `json:"floors,omitempty"`
	Sections   []documentSection  `json:"sections"`
	Shapes     []documentShape    `json:"shapes,omitempty"`
	Underlays  []documentUnderlay `json:"underlays,omitempty"`
}

type documentCategory struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Color string `json:"color,omitempty"`
	Price int64  `json:"price"`
}

// documentFloor is a storey. What is on it stands in the drawing, where at is the floor's own origin.
type documentFloor struct {
	Name string `json:"name"`
	At   *pair  `json:"at,omitempty"` // left out: 0, 0
}

// documentSection has rows, tables or an area; or generators that make its rows.
type documentSection struct {
	Name     string          `json:"name"`
	Floor    string          `json:"floor,omitempty"` // left out: the first
	Outline  []pair          `json:"outline,omitempty"`
	Category string          `json:"category,omitempty"` // of every seat that does not say
	Area     *documentArea   `json:"area,omitempty"`
	Generate []generator     `json:"generate,omitempty"`
	Rows     []documentRow   `json:"rows,omitempty"`
	Tables   []documentTable `json:"tables,omitempty"`
}

// documentArea is room for people without a seat of their own.
type documentArea struct {
	Capacity int            `json:"capacity"`
	Places   []documentSeat `json:"places,omitempty"` // if they are given, there are capacity of them
}

type documentRow struct {
	Row    string          `json:"row"`
	Whole  bool            `json:"whole,omitempty"`  // all of its seats are sold together, or none
	Shared *documentShared `json:"shared,omitempty"` // each party has a least and a most number of its seats
	Seats  []documentSeat  `json:"seats"`
}

// documentTable is a row with its seats around a table.
type documentTable struct {
	Table    string          `json:"table"`
	Whole    bool            `json:"whole,omitempty"`  // as of a row
	Shared   *documentShared `json:"shared,omitempty"` // as of a row
	Center   *pair           `json:"center,omitempty"`
	Radius   float64         `json:"radius,omitempty"`   // of a round one
	Size     *pair           `json:"size,omitempty"`     // of a rectangular one: width and height
	Rotation float64         `json:"rotation,omitempty"` // of that, degrees clockwise
	Count    int             `json:"count,omitempty"`    // of seats to make, if none are given
	Seats    []documentSeat  `json:"seats,omitempty"`
}

type documentSeat struct {
	ID       string   `json:"id,omitempty"`
	Number   string   `json:"number"`
	X        float64  `json:"x"`
	Y        float64  `json:"y"`
	Category string   `json:"category,omitempty"`
	Flags    []string `json:"flags,omitempty"`
}

type documentShape struct {
	Kind     string  `json:"kind"`
	Role     string  `json:"role"`
	Floor    string  `json:"floor,omitempty"`
	Points   []pair  `json:"points,omitempty"`
	Center   *pair   `json:"center,omitempty"`
	RX       float64 `json:"rx,omitempty"`
	RY       float64 `json:"ry,omitempty"`
	Rotation float64 `json:"rotation,omitempty"`
	Text     string  `json:"text,omitempty"`
	Size     float64 `json:"size,omitempty"`
}

// documentUnderlay is a picture that the plan is traced from, where it lies under the plan in the editor.
type documentUnderlay struct {
	Picture string  `json:"picture"` // of the plan, by its hash
	Floor   string  `json:"floor,omitempty"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Width   float64 `json:"width"`
	Opacity float64 `json:"opacity"`
}

// pair is a point, written as [x, y].
type pair [2]float64

// UnmarshalJSON refuses a list that is not two numbers, which Go would fill up or cut.
func (p *pair) UnmarshalJSON(data []byte) error {
	const longest = 1000 // bytes; two numbers are shorter
	var numbers []float64
	if len(data) > longest || json.Unmarshal(data, &numbers) != nil || len(numbers) != 2 {
		return &badValue{bytes.Clone(data[:min(len(data), longest)]), "a point as [x, y]"}
	}
	*p = pair(numbers)
	return nil
}

func readOwn(data []byte) (*draft, error) {
	var doc document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, unknownField(data, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &Error{Line: lineAt(data, dec.InputOffset()), Reason: "something follows the end of the plan"}
	}
	return doc.draft()
}

// unknownField finds the line of a key the format does not have. An unknown key is refused: it may be a
// misspelled flag of a wheelchair place.
func unknownField(data []byte, err error) error {
	_, quoted, found := strings.Cut(err.Error(), "unknown field ")
	if !found {
		return err
	}
	line := 0
	if at := bytes.Index(data, []byte(quoted)); at >= 0 {
		line = lineAt(data, int64(at))
	}
	return &Error{Line: line, Reason: "the format has no key " + quoted + " in this place"}
}

// draft is the document with everything made that its generators describe.
func (doc *document) draft() (*draft, error) {
	d := &draft{doc: doc, name: doc.Name, width: doc.Width, height: doc.Height, idNames: [2]string{"id", "id"}}
	if doc.Focus != nil {
		d.focus = &seats.Point{X: doc.Focus[0], Y: doc.Focus[1]}
	}
	in := &documentReader{draft: d, keys: map[string]int{}}
	for i, c := range doc.Categories {
		path := []any{"categories", i, "key"}
		if _, twice := in.keys[c.Key]; twice || c.Key == "" {
			in.wrong.add(fail(path, "the key %q belongs to another category, too, or is empty", c.Key))
			continue
		}
		in.keys[c.Key] = i
		d.categories = append(d.categories, seats.Category(c))
	}
	if err := in.storeys(); err != nil {
		return nil, err
	}
	for i := range doc.Sections {
		if err := in.section(&doc.Sections[i], []any{"sections", i}); err != nil {
			in.wrong.add(err)
		}
	}
	for i, s := range doc.Shapes {
		shape := s.shape()
		if err := checkShape(shape); err != nil {
			in.wrong.add(fail([]any{"shapes", i}, "%s", err))
			continue
		}
		var err error
		if shape.Floor, err = in.floor(s.Floor, []any{"shapes", i}); err != nil {
			in.wrong.add(err)
		}
		d.shapes = append(d.shapes, shape)
	}
	if len(doc.Underlays) > maxUnderlays {
		return nil, fail([]any{"underlays"}, "the plan has %d pictures to trace; it has at most %d", len(doc.Underlays), maxUnderlays)
	}
	d.underlays = slices.Clone(doc.Underlays)
	for i := range d.underlays {
		u := &d.underlays[i]
		if err := u.check(); err != nil {
			in.wrong.add(fail([]any{"underlays", i}, "%s", err))
			continue
		}
		at, err := in.floor(u.Floor, []any{"underlays", i})
		if err != nil {
			in.wrong.add(err)
		}
		if len(d.floors) > 0 {
			u.Floor = d.floors[at].Name
		}
	}
	if err := in.wrong.all(); err != nil {
		return nil, err
	}
	return d, nil
}

var pictureName = regexp.MustCompile(`^[0-9a-f]{32}$`)

func (u *documentUnderlay) check() error {
	switch {
	case !pictureName.MatchString(u.Picture):
		return errors.New("a picture is named by the 32 digits that its upload was answered with")
	case !finite(u.X, u.Y):
		return errors.New(tooFar)
	case !(u.Width > 0 && u.Width <= maxSide):
		return fmt.Errorf("a picture is %g units wide; its width is more than 0 and at most %d", u.Width, int(maxSide))
	case !(u.Opacity >= 0 && u.Opacity <= 1):
		return fmt.Errorf("the opacity of a picture is %g; it is 0 to 1", u.Opacity)
	}
	return nil
}

func (s *documentShape) shape() seats.Shape {
	shape := seats.Shape{Kind: s.Kind, Role: s.Role, Points: points(s.Points), RX: s.RX, RY: s.RY, Rotation: s.Rotation, Text: s.Text, Size: s.Size}
	if s.Center != nil {
		shape.Center = seats.Point{X: s.Center[0], Y: s.Center[1]}
	}
	return shape
}

func points(pairs []pair) []seats.Point {
	var list []seats.Point
	for _, p := range pairs {
		list = append(list, seats.Point{X: p[0], Y: p[1]})
	}
	return list
}

// documentReader turns the sections of a document into those of a draft.
type documentReader struct {
	*draft
	keys map[string]int
}

// storeys reads the floors. Their names are those that sections and shapes say.
func (in *documentReader) storeys() error {
	for i, f := range in.doc.Floors {
		at := seats.Point{}
		if f.At != nil {
			at = seats.Point{X: f.At[0], Y: f.At[1]}
		}
		if in.floorNamed(f.Name) >= 0 {
			return fail([]any{"floors", i}, "two floors are called %q", f.Name)
		}
		in.draft.floors = append(in.draft.floors, seats.Floor{Name: f.Name, At: at})
	}
	return nil
}

func (in *documentReader) floorNamed(name string) int {
	return slices.IndexFunc(in.draft.floors, func(f seats.Floor) bool { return f.Name == name })
}

// floor is the position of a floor; the first one if a thing does not say.
func (in *documentReader) floor(name string, path []any) (int, error) {
	if name == "" {
		return 0, nil
	}
	at := in.floorNamed(name)
	if at < 0 {
		return 0, fail(under(path, "floor"), "floor %q is not among the floors of the plan", name)
	}
	return at, nil
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
	if s.floor, err = in.floor(sec.Floor, path); err != nil {
		return err
	}
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
	in.parties(&s)
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
		in.whole(&row, r.Whole, under(path, "rows", i))
		in.shared(&row, r.Shared, under(path, "rows", i))
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
			in.wrong.add(err)
			continue
		}
		r.seats = append(r.seats, s)
	}
	return r, nil
}

// whole notes that a row is sold whole.
func (in *documentReader) whole(r *draftRow, is bool, path []any) {
	if r.whole = is; is && !r.oneCategory() {
		in.wrong.add(fail(under(path, "whole"), "a row or table that is sold whole has one category for all its seats; %q has several", r.label))
	}
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
			return 0, fail(under(path, i), "%q is no flag; there are %s", word, strings.Join(allFlags.Names(), ", "))
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
		in.whole(&r, t.Whole, at)
		in.shared(&r, t.Shared, at)
		if top, ok := t.top(); ok {
			if err := checkShape(top); err != nil {
				return fail(at, "%s", err)
			}
			top.Floor = s.floor
			in.shapes = append(in.shapes, top)
			r.top = len(in.shapes)
		}
		s.rows = append(s.rows, r)
	}
	return nil
}

// Write writes a plan in the open format, every seat by itself. Reading it back gives the same plan.
func Write(w io.Writer, p *seats.Plan) error {
	if err := Check(p); err != nil {
		return fmt.Errorf("plan: write: %w", err)
	}
	doc := header(p)
	whole, shared := p.WholeRows(), p.SharedRows()
	for i := range p.Sections {
		sec := writtenSection(p, i, whole, shared)
		sec.Floor = floorOf(p, p.Sections[i].Floor)
		doc.Sections = append(doc.Sections, sec)
	}
	for _, s := range p.Shapes {
		doc.Shapes = append(doc.Shapes, writtenShape(p, s))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("plan: write: %w", err)
	}
	return nil
}

func writtenSection(p *seats.Plan, at int, whole map[seats.WholeRow]bool, shared map[seats.WholeRow]*seats.Shared) documentSection {
	s := &p.Sections[at]
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
			row := seats.WholeRow{Section: at, Row: seat.Row}
			sec.Rows = append(sec.Rows, documentRow{Row: seat.Row, Whole: whole[row], Shared: writtenShared(shared[row])})
		}
		row := &sec.Rows[len(sec.Rows)-1]
		row.Seats = append(row.Seats, written)
	}
	return sec
}

// header is a document with all of a plan but its sections and shapes.
func header(p *seats.Plan) document {
	doc := document{Format: FormatOwn, Name: p.Name, Width: p.Width, Height: p.Height, Sections: []documentSection{}}
	if p.Focus != nil {
		doc.Focus = &pair{p.Focus.X, p.Focus.Y}
	}
	for _, c := range p.Categories {
		doc.Categories = append(doc.Categories, documentCategory(c))
	}
	for _, f := range p.Floors {
		floor := documentFloor{Name: f.Name}
		if f.At != (seats.Point{}) {
			floor.At = &pair{f.At.X, f.At.Y}
		}
		doc.Floors = append(doc.Floors, floor)
	}
	return doc
}

func written(p *seats.Plan, idx int) documentSeat {
	s := &p.Seats[idx]
	return documentSeat{s.ID, s.Number, s.X, s.Y, p.Categories[s.Category].Key, s.Flags.Names()}
}

// floorOf is the name of a floor as documents have it.
func floorOf(p *seats.Plan, floor int) string {
	if len(p.Floors) == 0 {
		return ""
	}
	return p.Floors[floor].Name
}

func writtenShape(p *seats.Plan, s seats.Shape) documentShape {
	shape := documentShape{s.Kind, s.Role, floorOf(p, s.Floor), pairs(s.Points), nil, s.RX, s.RY, s.Rotation, s.Text, s.Size}
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

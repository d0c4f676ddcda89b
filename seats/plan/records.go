package plan

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// Words of Records.Kind.
const (
	KindCSV  = "CSV"
	KindSVG  = "SVG"
	KindJSON = "JSON"
)

// Records are the possible seats of a table, a drawing or a JSON file of a format that is not known: a row of texts for each, under columns. The organizer says
// which column means what.
type Records struct {
	Kind    string
	Columns []string
	Rows    [][]string

	forms    []form // of a drawing: what its parts look like
	pictures int    // images in a drawing, which a map does not show
}

const (
	mostRecords = 200_000
	mostColumns = 60
	mostCells   = 4_000_000 // texts of a table: each costs 16 bytes beside its own
	mostInLine  = 4_000     // separators in a line of a file, also inside of texts
	mostOfLine  = 1 << 20   // bytes of a line
)

// Survey reads a table, a drawing or a JSON file of a format that is not known. The error is an *Error if the fault in the file is known.
func Survey(data []byte) (*Records, error) {
	if len(data) > MaxBytes {
		return nil, &Error{Reason: fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch trimmed := bytes.TrimSpace(data); {
	case len(trimmed) == 0:
		return nil, &Error{Line: 1, Reason: "the file is empty"}
	case trimmed[0] == '<':
		return surveySVG(data)
	case trimmed[0] == '{' || trimmed[0] == '[':
		data, err := examine(data)
		if err != nil {
			return nil, err
		}
		return surveyJSON(data)
	default:
		return surveyCSV(data)
	}
}

// IsRecords reports whether a file is a table, a drawing or a JSON file of a format that is not known, so that the organizer has to
// map its columns.
func IsRecords(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimSpace(data)
	return len(trimmed) > 0 && (trimmed[0] != '{' && trimmed[0] != '[' || isTree(data))
}

// Take reads a file of any kind. Of a table, a drawing or a JSON file of a format that is not known, the columns mean what their
// names say, but for those in columns: section, row, number, category, price, x, y, id, flags or capacity, with the column that is
// it, or only, with what is a seat.
func Take(data []byte, name string, columns map[string]string) (*Result, error) {
	if !IsRecords(data) {
		return Read(bytes.NewReader(data))
	}
	records, err := Survey(data)
	if err != nil {
		return nil, err
	}
	m := records.Guess(name)
	for what, column := range columns {
		to := map[string]*string{"section": &m.Section, "row": &m.Row, "number": &m.Number, "category": &m.Category, "price": &m.Price, "x": &m.X, "y": &m.Y, "id": &m.ID, "flags": &m.Flags, "capacity": &m.Capacity, "name": &m.Name}[what]
		switch {
		case what == "only":
			m.Only, m.Value, _ = strings.Cut(column, "=")
		case to == nil:
			return nil, &Error{Reason: fmt.Sprintf("a column is no %q; it may be section, row, number, category, price, x, y, id, flags, capacity or only", what)}
		case what != "name" && column != "" && !slices.Contains(records.Columns, column):
			return nil, &Error{Reason: fmt.Sprintf("the file has no column %q; it has %s", column, strings.Join(records.Columns, ", "))}
		default:
			*to = column
		}
	}
	opened, err := records.Open(m)
	if err != nil {
		return nil, err
	}
	return opened.Result, nil
}

// surveyCSV reads a table. Its first line names the columns, separated by commas, semicolons or tabs.
func surveyCSV(data []byte) (*Records, error) {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	in := csv.NewReader(bytes.NewReader(data))
	in.FieldsPerRecord, in.LazyQuotes, in.TrimLeadingSpace = -1, true, true
	for _, comma := range ",;\t" {
		if strings.Count(string(first), string(comma)) > strings.Count(string(first), string(in.Comma)) {
			in.Comma = comma
		}
	}
	for line := range bytes.Lines(data) {
		if len(line) > mostOfLine || bytes.Count(line, []byte{byte(in.Comma)}) > mostInLine {
			return nil, errTable
		}
	}
	head, err := in.Read()
	if err != nil {
		return nil, tableError(err)
	}
	if len(head) > mostColumns {
		return nil, errTable
	}
	r := &Records{Kind: KindCSV}
	in.ReuseRecord = true
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, tableError(err)
		}
		if len(r.Rows)+1 >= mostRecords || (len(r.Rows)+1)*len(head) > mostCells {
			return nil, errTable
		}
		r.Rows = append(r.Rows, slices.Clone(row[:min(len(row), len(head))]))
	}
	if len(r.Rows) == 0 || len(head) < 2 {
		return nil, &Error{Line: 1, Reason: "a table has a line with the names of its columns, two at least, and a line for each seat"}
	}
	for i, name := range head {
		name = strings.ToValidUTF8(strings.TrimSpace(name), "")
		if name == "" || slices.Contains(r.Columns, name) {
			name = fmt.Sprintf("column %d", i+1)
		}
		r.Columns = append(r.Columns, name)
	}
	for i, row := range r.Rows {
		for len(row) < len(r.Columns) {
			row = append(row, "")
		}
		for j := range row {
			row[j] = strings.ToValidUTF8(strings.TrimSpace(row[j]), "")
		}
		r.Rows[i] = row[:len(r.Columns)]
	}
	return r, nil
}

var errTable = &Error{Reason: fmt.Sprintf("a table has at most %d columns, %d lines and %d cells", mostColumns, mostRecords, mostCells)}

func tableError(err error) error {
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		return &Error{Line: syntax.Line, Reason: "this is no table: " + syntax.Err.Error()}
	}
	return &Error{Reason: err.Error()}
}

// Sample are the first records that a mapping takes for seats or areas, at most so many; of those that it takes for none, the first.
func (r *Records) Sample(m Mapping, most int) (rows [][]string) {
	list, err := r.chosen(m)
	if err != nil {
		return r.Rows[:min(len(r.Rows), most)]
	}
	for _, c := range list[:min(len(list), most)] {
		rows = append(rows, r.Rows[c.at])
	}
	return rows
}

// Values are the different texts of a column and how often each stands, at most so many of them, the most frequent first.
func (r *Records) Values(column string, most int) []Value {
	return r.values(column, most, func(text string) []string { return []string{text} })
}

func (r *Records) values(column string, most int, parts func(text string) []string) []Value {
	at := slices.Index(r.Columns, column)
	if at < 0 {
		return nil
	}
	counts := map[string]int{}
	for _, row := range r.Rows {
		for _, part := range parts(row[at]) {
			counts[part]++
		}
	}
	list := make([]Value, 0, len(counts))
	for text, n := range counts {
		list = append(list, Value{text, n})
	}
	slices.SortFunc(list, func(a, b Value) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Text, b.Text)
	})
	return list[:min(len(list), most)]
}

// Value is a text and how often it stands.
type Value struct {
	Text  string
	Count int
}

// Mapping says which column of records means what; an empty name: no column does.
type Mapping struct {
	Name                                            string // of the plan
	Section, Row, Number, Category, X, Y, ID, Flags string
	Capacity                                        string // of areas: how many places each has
	Price                                           string // what a seat costs, in the currency of its event
	Only, Value                                     string // only records with this value in that column are seats; * stands for any characters
}

// guesses are names that columns have in many tables and drawings.
var guesses = map[string][]string{
	"section":  {"data-section", "section", "block", "area", "sector", "zone", "bereich", "layer", "group"},
	"row":      {"data-row", "row", "row_number", "reihe", "line", "id 2"},
	"number":   {"data-number", "data-seat", "number", "seat", "seat_number", "seat number", "platz", "sitz", "sitzplatz", "no", "nr", "text", "title", "id 3"},
	"category": {"data-category", "category", "price", "price category", "pricecategory", "kategorie", "preiskategorie", "preisgruppe", "preis", "fill"},
	"price":    {"data-price", "price", "preis", "prix", "prezzo", "precio", "prijs", "amount"},
	"x":        {"x", "posx", "pos_x", "left", "cx"}, "y": {"y", "posy", "pos_y", "top", "cy"},
	"capacity": {"data-capacity", "capacity", "data-places", "kapazität"},
	"id":       {"id", "uuid", "guid", "seat_guid", "external_id"}, "flags": {"flags", "flag", "accessible", "remarks"},
}

// Guess proposes a mapping by the names of the columns. Of drawings it proposes what is called a seat by class, id or data, else the
// most frequent element; of JSON with several lists, the longest one.
func (r *Records) Guess(name string) Mapping {
	m := Mapping{
		Price: r.guessPrice(), Name: name, Section: r.guess("section"), Row: r.guess("row"), Number: r.guess("number"),
		X: r.guess("x"), Y: r.guess("y"), ID: r.guess("id"), Flags: r.guess("flags"), Capacity: r.guess("capacity"),
	}
	m.Category = r.guess("category", m.Price)
	if m.Capacity != "" && slices.ContainsFunc(r.Rows, func(row []string) bool { return r.isSeat(row, &m) }) {
		m.Capacity = "" // it is that of the section of each seat
	}
	switch {
	case r.Kind == KindSVG:
		m.Only, m.Value = r.guessSeats()
	case r.Kind == KindJSON && slices.Contains(r.Columns, listColumn):
		m.Only, m.Value = listColumn, r.Values(listColumn, 1)[0].Text
	}
	return m
}

// isSeat reports whether a record with a capacity has a row, or a number that is its own, and so is no area.
func (r *Records) isSeat(row []string, m *Mapping) bool {
	has := func(column string) bool {
		at := slices.Index(r.Columns, column)
		return at >= 0 && row[at] != ""
	}
	return has(m.Capacity) && (has(m.Row) || has(m.Number) && r.Kind != KindSVG)
}

// seatNames are words for a seat in drawings.
var seatNames = []string{"seat", "chair", "sitz", "platz", "siege", "siège", "place", "asiento", "butaca", "posto", "poltrona", "stoel"}

func (r *Records) guessSeats() (column, value string) {
	classes, ids := r.Classes(20), r.Values("id 1", 20)
	for _, name := range seatNames {
		for _, class := range classes {
			if strings.HasPrefix(strings.ToLower(class.Text), name) {
				return "class", class.Text
			}
		}
		if column := "data-" + name; slices.Contains(r.Columns, column) {
			return column, "*"
		}
		for _, v := range ids {
			if strings.EqualFold(strings.TrimRight(v.Text, "s0123456789"), name) && v.Count > 1 {
				return "id 1", v.Text
			}
		}
	}
	if list := r.Values("element", 1); len(list) > 0 {
		return "element", list[0].Text
	}
	return "element", "circle"
}

// Classes are the classes of the things of a drawing and how often each stands, the most frequent first.
func (r *Records) Classes(most int) []Value {
	return r.values("class", most, strings.Fields)
}

// guess is the first column with one of the usual names of something, but for one that is something else.
func (r *Records) guess(what string, but ...string) string {
	for _, name := range guesses[what] {
		for i, c := range r.Columns {
			if !slices.Contains(but, c) && (strings.EqualFold(c, name) || r.Kind == KindJSON && same(c, name, what)) && (what == "row" || slices.ContainsFunc(r.Rows, func(row []string) bool { return row[i] != "" })) {
				return c
			}
		}
	}
	return ""
}

// record is one thing that is a seat.
type record struct {
	section, row, number, category, id, flags string
	x, y                                      float64
	placed                                    bool
	line                                      int    // of the file, or its place in the drawing
	at                                        int    // in Records.Rows
	capacity                                  int    // of an area; 0 of a seat
	price                                     *int64 // hundredths; nil if the file says none
}

// Open makes a plan of records. Errors are *Error: no seat, or one that is nowhere.
func (r *Records) Open(m Mapping) (*Opened, error) {
	list, err := r.chosen(m)
	if err != nil {
		return nil, err
	}
	d := &draft{name: m.Name, imported: true, idNames: [2]string{m.ID, m.ID}}
	n := 0
	for _, c := range list {
		n += max(1, c.capacity)
	}
	if err := d.room(n); err != nil {
		return nil, &Error{Reason: err.(*errAt).reason}
	}
	if m.Row == "" {
		nameRows(list)
	}
	places := d.priced(list, m.Price != "")
	taken, grounds := make([]bool, len(r.Rows)), r.groundsOf(list)
	at := filed{sections: map[string]int{}, rows: map[seats.WholeRow]int{}}
	for i := range list {
		if len(d.sections) > maxSections {
			return nil, &Error{Reason: fmt.Sprintf("the plan has %d sections, more than %d", len(d.sections), maxSections)}
		}
		taken[list[i].at] = true
		if list[i].capacity > 0 {
			d.area(&list[i], places[i], grounds[list[i].at])
			at.area(list[i].section, len(d.sections)-1)
			continue
		}
		d.put(&list[i], places[i], m.Row != "", at)
	}
	if m.Number == "" || r.Kind == KindSVG {
		d.lineUp(m.Number == "")
	}
	if slices.ContainsFunc(list, func(c record) bool { return !c.placed }) {
		d.lay()
	}
	r.background(d, taken)
	d.grounds()
	result, err := d.finish(r.Kind)
	if err != nil {
		return nil, &Error{Reason: err.Error()}
	}
	return d.open(result)
}

// chosen are the records that the mapping takes for seats, and those that are areas.
func (r *Records) chosen(m Mapping) (list []record, err error) {
	column := map[string]int{}
	for i, c := range r.Columns {
		column[c] = i + 1
	}
	if m.Only != "" && column[m.Only] == 0 {
		return nil, &Error{Reason: fmt.Sprintf("the file has no column %q; it has %s", m.Only, strings.Join(r.Columns, ", "))}
	}
	get := func(row []string, name string) string {
		if at := column[name]; at > 0 {
			return row[at-1]
		}
		return ""
	}
	var wrong faults
	for i, row := range r.Rows {
		capacity := strings.TrimLeft(get(row, m.Capacity), "0") // a seat may say 0
		if capacity == "" && m.Only != "" && !matches(get(row, m.Only), m.Value, m.Only == "class") {
			continue
		}
		c := record{section: cmp.Or(get(row, m.Section), "Seats"), row: get(row, m.Row), number: get(row, m.Number), category: get(row, m.Category), id: get(row, m.ID), flags: get(row, m.Flags), line: i + 2, at: i}
		if capacity != "" {
			var bad error
			if c.capacity, bad = strconv.Atoi(capacity); bad != nil || c.capacity < 1 || c.capacity > seats.MaxSeats {
				wrong.add(&Error{Line: c.line, Reason: fmt.Sprintf("an area has %q places; that is a whole number from 1 to %d", capacity, seats.MaxSeats)})
				continue
			}
			c.section = cmp.Or(c.number, get(row, "title"), get(row, "text"), get(row, "label"), get(row, m.Section), c.id, "Area")
		}
		if asked := get(row, m.Price); asked != "" {
			cost, known := price(asked)
			if !known {
				wrong.add(&Error{Line: c.line, Reason: fmt.Sprintf("%q is no price such as 25.00", asked)})
				continue
			}
			c.price = &cost
		}
		x, y := get(row, m.X), get(row, m.Y)
		if c.placed = m.X != "" && m.Y != ""; c.placed {
			var errX, errY error
			c.x, errX = coordinate(x)
			c.y, errY = coordinate(y)
			if errX != nil || errY != nil || !near(c.x, c.y) {
				wrong.add(&Error{Line: c.line, Reason: fmt.Sprintf("%q and %q are no place in a drawing; choose the columns with the places of the seats", x, y)})
				continue
			}
		}
		list = append(list, c)
	}
	if err := wrong.all(); err != nil {
		return nil, explain(nil, err)
	}
	list = r.outer(list)
	if len(list) == 0 {
		return nil, &Error{Reason: "nothing in the file is marked as a seat; choose what the seats are"}
	}
	return list, nil
}

// matches reports whether a text is what was asked for, where * stands for any characters. Of classes, one of them is enough.
func matches(have, want string, classes bool) bool {
	if classes && slices.ContainsFunc(strings.Fields(have), func(one string) bool { return matches(one, want, false) }) {
		return true
	}
	parts := strings.Split(want, "*")
	if len(parts) == 1 {
		return have == want
	}
	rest, ok := strings.CutPrefix(have, parts[0])
	if !ok || have == "" {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// outer leaves out the parts of groups that are seats themselves.
func (r *Records) outer(list []record) []record {
	if len(r.forms) == 0 {
		return list
	}
	is := make([]bool, len(r.Rows))
	for _, c := range list {
		is[c.at] = true
	}
	part := make([]bool, len(r.Rows))
	for _, f := range r.forms {
		part[max(0, f.row)] = part[max(0, f.row)] || f.row != none && f.in != none && is[f.in]
	}
	return slices.DeleteFunc(list, func(c record) bool { return part[c.at] })
}

// groundsOf are the polygons of the things of a drawing that are areas, by their rows.
func (r *Records) groundsOf(list []record) map[int][]seats.Point {
	is, grounds := make([]bool, len(r.Rows)), map[int][]seats.Point{}
	for _, c := range list {
		is[c.at] = c.capacity > 0
	}
	for _, f := range r.forms {
		for _, at := range []int{f.row, f.in} {
			if at == none || !is[at] || grounds[at] != nil {
				continue
			}
			for _, s := range f.shapes {
				switch s.Kind {
				case "polygon":
					grounds[at] = slices.Clone(s.Points)
				case "ellipse":
					grounds[at] = ovalOf(&s)
				}
			}
		}
	}
	return grounds
}

// area adds an area with as many places as a record says, on its own ground, or around the place where it is.
func (d *draft) area(c *record, category int, ground []seats.Point) {
	s := draftSection{name: c.section, area: true, outline: ground, rows: []draftRow{{path: []any{c.line}}}}
	side := spacing * math.Ceil(math.Sqrt(float64(c.capacity)))
	places := boxed(seats.Point{X: c.x - side/2, Y: c.y - side/2}, seats.Point{X: c.x + side/2, Y: c.y + side/2}, c.capacity)
	if len(ground) > 0 {
		places = fill(ground, c.capacity)
	}
	for i, p := range places {
		s.rows[0].seats = append(s.rows[0].seats, draftSeat{ids: []string{""}, number: strconv.Itoa(i + 1), category: category, x: p.X, y: p.Y})
	}
	d.sections = append(d.sections, s)
}

func coordinate(text string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), ",", "."), 64)
}

// nameRows makes rows where the file names none: seats at about the same height, from the top to the bottom of a section.
func nameRows(list []record) {
	bySection := map[string][]*record{}
	for i := range list {
		bySection[list[i].section] = append(bySection[list[i].section], &list[i])
	}
	for _, all := range bySection {
		slices.SortStableFunc(all, func(a, b *record) int { return cmp.Compare(a.y, b.y) })
		gap := nearestGap(all) * 0.6
		row, last := 0, math.Inf(-1)
		for _, c := range all {
			if c.y-last > gap {
				row++
			}
			c.row, last = strconv.Itoa(row), c.y
		}
	}
}

// nearestGap is the usual distance from a seat to the nearest other one; of many seats some are asked.
func nearestGap(all []*record) float64 {
	var gaps []float64
	for i := 0; i < len(all); i += 1 + len(all)/200 {
		least := math.Inf(1)
		for j, other := range all {
			if d := math.Hypot(all[i].x-other.x, all[i].y-other.y); j != i && d > 0 {
				least = min(least, d)
			}
		}
		gaps = append(gaps, least)
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/usherbox/usher/seats"
)

// Opened is a plan as the editor needs it.
type Opened struct {
	*Result
	Document []byte   // the plan in the open format, complete: every seat with its id and place, tables and generators kept
	Pictures []string // that it is traced from, by their hashes
}

// Open reads a plan of any format as Read does, and writes it as a complete document. The plan it returns is that of the
// document. A document that was opened before is the same again.
func Open(r io.Reader) (*Opened, error) {
	result, d, err := readDraft(r)
	if err != nil {
		return nil, err
	}
	return d.open(result)
}

func (d *draft) open(result *Result) (*Opened, error) {
	document, err := compact(d.complete(result.Plan))
	if err != nil {
		return nil, err
	}
	again, err := Read(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("plan: open: what was read cannot be written: %w", err)
	}
	if len(again.Repairs) > 0 {
		return nil, fmt.Errorf("plan: open: what was read had to be repaired again: %s", again.Repairs[0])
	}
	result.Plan = again.Plan
	opened := &Opened{Result: result, Document: document}
	for _, u := range d.underlays {
		opened.Pictures = append(opened.Pictures, u.Picture)
	}
	return opened, nil
}

// Document is a plan that was drawn elsewhere as a complete document.
func Document(p *seats.Plan) ([]byte, error) {
	var file bytes.Buffer
	if err := Write(&file, p); err != nil {
		return nil, err
	}
	opened, err := Open(&file)
	if err != nil {
		return nil, err
	}
	return opened.Document, nil
}

// Indented is a document as people read it.
func Indented(document []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, document, "", " ") != nil {
		return document
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func compact(doc document) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("plan: write: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// complete is the document of a draft from which p was built.
func (d *draft) complete(p *seats.Plan) document {
	doc := header(p)
	tops := map[int]bool{} // shapes that are the tops of tables
	for i := range d.sections {
		doc.Sections = append(doc.Sections, d.completeSection(&d.sections[i], p, i, tops))
	}
	for i, s := range p.Shapes {
		if !tops[i] {
			doc.Shapes = append(doc.Shapes, writtenShape(p, s))
		}
	}
	doc.Underlays = d.underlays
	return doc
}

func (d *draft) completeSection(s *draftSection, p *seats.Plan, at int, tops map[int]bool) documentSection {
	sec := documentSection{Name: s.name, Floor: floorOf(p, s.floor), Category: d.mostly(s, p, at)}
	if !s.drawn {
		sec.Outline = pairs(p.Sections[at].Outline)
	}
	idx, tables := p.Sections[at].First, tablesFrom(s)
	for j := range s.rows {
		r := &s.rows[j]
		list := make([]documentSeat, len(r.seats))
		for k := range list {
			list[k] = written(p, idx)
			idx++
			if list[k].Category == sec.Category {
				list[k].Category = ""
			}
		}
		switch {
		case s.area:
			sec.Area = &documentArea{Capacity: len(list), Places: list}
		case j >= tables:
			sec.Tables = append(sec.Tables, d.completeTable(s, r, list, p, tops))
		default:
			sec.Rows = append(sec.Rows, documentRow{Row: r.label, Whole: r.whole, Shared: writtenShared(r.shared), Seats: list})
		}
	}
	if own := d.section(s.name); own != nil {
		sec.Generate = shifted(own.Generate, d.movedOf(s.floor))
	}
	return sec
}

// section is the section of this name in the file; nil if the file is of another format, or was repaired.
func (d *draft) section(name string) *documentSection {
	if d.doc == nil || len(d.repairs) > 0 {
		return nil
	}
	for i := range d.doc.Sections {
		if d.doc.Sections[i].Name == name {
			return &d.doc.Sections[i]
		}
	}
	return nil
}

// mostly is the category of a section: the one its file says, else that of most of its seats.
func (d *draft) mostly(s *draftSection, p *seats.Plan, at int) string {
	if own := d.section(s.name); own != nil && own.Category != "" {
		return own.Category
	}
	counts, most := make([]int, len(p.Categories)), 0
	for idx := p.Sections[at].First; idx < p.Sections[at].First+p.Sections[at].Count; idx++ {
		category := p.Seats[idx].Category
		if counts[category]++; counts[category] > counts[most] {
			most = category
		}
	}
	return p.Categories[most].Key
}

// tablesFrom is the first of the rows at the end that are tables: a document lists them behind all other rows.
func tablesFrom(s *draftSection) int {
	from := len(s.rows)
	for from > 0 && s.rows[from-1].table {
		from--
	}
	return from
}

// completeTable is a table with its top: that of the file, else the drawn one if it is a circle or a rectangle.
func (d *draft) completeTable(s *draftSection, r *draftRow, list []documentSeat, p *seats.Plan, tops map[int]bool) documentTable {
	t := documentTable{Table: r.label, Whole: r.whole, Shared: writtenShared(r.shared), Seats: list}
	if r.top == 0 {
		return t
	}
	if own := d.section(s.name); own != nil {
		for _, o := range own.Tables {
			if o.Table == r.label && o.Center != nil {
				tops[r.top-1] = true
				by := d.movedOf(s.floor)
				o.Center, o.Count, o.Seats = &pair{tenth(o.Center[0] + by.X), tenth(o.Center[1] + by.Y)}, 0, list
				return o
			}
		}
	}
	top := p.Shapes[r.top-1]
	switch {
	case top.Role != "table":
		return t
	case top.Kind == "ellipse" && top.RX == top.RY:
		t.Center, t.Radius = &pair{top.Center.X, top.Center.Y}, top.RX
	case top.Kind == "polygon" && len(top.Points) == 4:
		center, size, rotation := middle(top.Points), pair{far(top.Points[0], top.Points[1]), far(top.Points[1], top.Points[2])}, 0.0
		rotation = tenth(math.Atan2(top.Points[1].Y-top.Points[0].Y, top.Points[1].X-top.Points[0].X) * 180 / math.Pi)
		made := tabletop(pair{tenth(center.X), tenth(center.Y)}, pair{tenth(size[0]), tenth(size[1])}, rotation)
		for i := range made {
			if far(made[i], top.Points[i]) > 0.3 {
				return t
			}
		}
		t.Center, t.Size, t.Rotation = &pair{tenth(center.X), tenth(center.Y)}, &pair{tenth(size[0]), tenth(size[1])}, rotation
	default:
		return t
	}
	tops[r.top-1] = true
	return t
}

func far(a, b seats.Point) float64 { return math.Hypot(a.X-b.X, a.Y-b.Y) }

// shifted are generators that make the same rows somewhere else.
func shifted(list []generator, by seats.Point) []generator {
	var moved []generator
	for _, g := range list {
		if g.Origin != nil {
			g.Origin = &pair{tenth(g.Origin[0] + by.X), tenth(g.Origin[1] + by.Y)}
		}
		if g.Center != nil {
			g.Center = &pair{tenth(g.Center[0] + by.X), tenth(g.Center[1] + by.Y)}
		}
		moved = append(moved, g)
	}
	return moved
}

// Renamed is a document with another name. The error is for people if the name is none.
func Renamed(data []byte, name string) ([]byte, error) {
	if err := checkName("the plan", name, maxName); err != nil {
		return nil, &Error{Reason: err.Error()}
	}
	return changed(data, func(doc *document) { doc.Name = name })
}

// Untraced is a document without the pictures that its plan was traced from: they are those of one plan.
func Untraced(data []byte) ([]byte, error) {
	return changed(data, func(doc *document) { doc.Underlays = nil })
}

func changed(data []byte, change func(*document)) ([]byte, error) {
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("plan: change a document: %w", err)
	}
	change(&doc)
	return compact(doc)
}

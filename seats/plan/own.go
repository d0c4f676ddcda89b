package plan

import (
	"bytes"
	"encoding/json"
	"io"
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
	Sections   []documentSection  `json:"sections"`
	Shapes     []documentShape    `json:"shapes,omitempty"`
}

type documentCategory struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Color string `json:"color,omitempty"`
	Price int64  `json:"price"`
}

// documentSection has rows, tables or an area; or generators that make its rows.
type documentSection struct {
	Name     string          `json:"name"`
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
	Row   string         `json:"row"`
	Seats []documentSeat `json:"seats"`
}

// documentTable is a row whose seats stand around a table.
type documentTable struct {
	Table    string         `json:"table"`
	Center   *pair          `json:"center,omitempty"`
	Radius   float64        `json:"radius,omitempty"`   // of a round one
	Size     *pair          `json:"size,omitempty"`     // of a rectangular one: width and height
	Rotation float64        `json:"rotation,omitempty"` // of that, degrees clockwise
	Count    int            `json:"count,omitempty"`    // of seats to make, if none are given
	Seats    []documentSeat `json:"seats,omitempty"`
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
	Points   []pair  `json:"points,omitempty"`
	Center   *pair   `json:"center,omitempty"`
	RX       float64 `json:"rx,omitempty"`
	RY       float64 `json:"ry,omitempty"`
	Rotation float64 `json:"rotation,omitempty"`
	Text     string  `json:"text,omitempty"`
	Size     float64 `json:"size,omitempty"`
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

// unknownField finds the line of a key the format does not have. A word nobody reads may be a wheelchair place that
// was spelled wrong, so it is refused.
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
			return nil, fail(path, "the key %q stands at another category too, or is empty", c.Key)
		}
		in.keys[c.Key] = i
		d.categories = append(d.categories, seats.Category(c))
	}
	for i := range doc.Sections {
		if err := in.section(&doc.Sections[i], []any{"sections", i}); err != nil {
			return nil, err
		}
	}
	for i, s := range doc.Shapes {
		shape := s.shape()
		if err := checkShape(shape); err != nil {
			return nil, fail([]any{"shapes", i}, "%s", err)
		}
		d.shapes = append(d.shapes, shape)
	}
	return d, nil
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

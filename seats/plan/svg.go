package plan

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// matrix is where a drawing puts a point: x' = ax + cy + e, y' = bx + dy + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

func (m matrix) times(n matrix) matrix {
	return matrix{m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b, m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d, m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f}
}

func (m matrix) at(x, y float64) (float64, float64) { return m.a*x + m.c*y + m.e, m.b*x + m.d*y + m.f }

// knot is an element that is open while a drawing is read.
type knot struct {
	name   string
	to     matrix
	things []int     // places in found of the things directly inside of a group
	texts  []svgText // directly inside of a group
	words  strings.Builder
	at     [2]float64
	size   float64
}

type svgText struct {
	words string
	at    [2]float64
	size  float64
}

// svgReader finds the things of a drawing that may be seats.
type svgReader struct {
	open  []*knot
	found []map[string]string
	texts []svgText
}

func surveySVG(data []byte) (*Records, error) {
	in := &svgReader{}
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Strict, dec.Entity = true, xml.HTMLEntity
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &Error{Line: lineAt(data, dec.InputOffset()), Reason: "this is no drawing: " + err.Error()}
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(in.open) == 0 && t.Name.Local != "svg" {
				return nil, &Error{Line: 1, Reason: "this is no SVG drawing; it begins with <" + t.Name.Local + ">"}
			}
			in.start(t)
		case xml.EndElement:
			in.end()
		case xml.CharData:
			if n := len(in.open); n > 0 {
				in.open[n-1].words.Write(t)
			}
		}
		if len(in.found) > mostRecords || len(in.open) > 1000 {
			return nil, &Error{Reason: fmt.Sprintf("a drawing has at most %d things", mostRecords)}
		}
	}
	if len(in.found) == 0 {
		return nil, &Error{Line: 1, Reason: "the drawing has no circles, rectangles or other forms that could be seats"}
	}
	return in.records(), nil
}

func (in *svgReader) start(e xml.StartElement) {
	attributes := map[string]string{}
	for _, a := range e.Attr {
		attributes[a.Name.Local] = strings.ToValidUTF8(a.Value, "")
	}
	k := &knot{name: e.Name.Local, to: identity}
	if n := len(in.open); n > 0 {
		k.to = in.open[n-1].to
	}
	k.to = k.to.times(transformed(attributes["transform"]))
	x, y, seat := center(e.Name.Local, attributes)
	k.at[0], k.at[1] = k.to.at(x, y)
	k.size = 12
	if s, err := coordinate(strings.TrimSuffix(cmp.Or(attributes["font-size"], style(attributes["style"], "font-size")), "px")); err == nil {
		k.size = s
	}
	if seat && !in.within("defs", "symbol", "clipPath", "mask", "pattern", "marker") {
		thing := map[string]string{"element": e.Name.Local, "x": short(k.at[0]), "y": short(k.at[1])}
		for name, value := range attributes {
			if name == "id" || name == "class" || strings.HasPrefix(name, "data-") {
				thing[name] = strings.TrimSpace(value)
			}
		}
		thing["fill"] = cmp.Or(style(attributes["style"], "fill"), attributes["fill"])
		in.groups(thing)
		if n := len(in.open); n > 0 {
			in.open[n-1].things = append(in.open[n-1].things, len(in.found))
		}
		in.found = append(in.found, thing)
		k.things = []int{len(in.found) - 1}
	}
	if k.name == "g" {
		k.words.WriteString("\x00" + cmp.Or(attributes["label"], attributes["data-name"], attributes["id"])) // its name, for what is inside
	}
	in.open = append(in.open, k)
}

// groups notes the names of the groups that a thing is in: the outermost and the nearest.
func (in *svgReader) groups(thing map[string]string) {
	for _, k := range in.open {
		name, isGroup := strings.CutPrefix(strings.TrimSpace(k.words.String()), "\x00")
		if name, _, _ = strings.Cut(name, "\n"); !isGroup || strings.TrimSpace(name) == "" {
			continue
		}
		if name = strings.TrimSpace(name); thing["layer"] == "" {
			thing["layer"] = name
		}
		thing["group"] = name
	}
}

func (in *svgReader) within(names ...string) bool {
	return slices.ContainsFunc(in.open, func(k *knot) bool { return slices.Contains(names, k.name) })
}

func (in *svgReader) end() {
	k := in.open[len(in.open)-1]
	in.open = in.open[:len(in.open)-1]
	words := strings.Join(strings.Fields(strings.ToValidUTF8(k.words.String(), "")), " ")
	switch k.name {
	case "title":
		if n := len(in.open); n > 0 && len(in.open[n-1].things) == 1 {
			in.found[in.open[n-1].things[0]]["title"] = words
		}
	case "tspan":
		if n := len(in.open); n > 0 {
			in.open[n-1].words.WriteString(" " + words)
		}
	case "text":
		t := svgText{words, k.at, k.size * math.Hypot(k.to.a, k.to.b)}
		in.texts = append(in.texts, t)
		if n := len(in.open); n > 0 {
			in.open[n-1].texts = append(in.open[n-1].texts, t)
		}
	case "g":
		if len(k.things) == 1 && len(k.texts) == 1 { // a seat with its number
			in.found[k.things[0]]["text"] = k.texts[0].words
			in.texts = in.texts[:len(in.texts)-1]
		}
	}
}

// records are the things under columns; ids that are made of the same number of parts get a column for each part.
func (in *svgReader) records() *Records {
	r := &Records{Kind: KindSVG}
	parts := 0
	for _, thing := range in.found {
		if n := len(idParts(thing["id"])); n > 1 && n < 6 {
			parts = max(parts, n)
		}
	}
	has := map[string]bool{}
	for _, thing := range in.found {
		for i, p := range idParts(thing["id"]) {
			if i < parts {
				thing[fmt.Sprintf("id %d", i+1)] = p
			}
		}
		for name, value := range thing {
			has[name] = has[name] || value != ""
		}
	}
	for name := range has {
		if has[name] {
			r.Columns = append(r.Columns, name)
		}
	}
	slices.Sort(r.Columns)
	r.Columns = r.Columns[:min(len(r.Columns), mostColumns)]
	for _, thing := range in.found {
		row := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			row[i] = thing[c]
		}
		r.Rows = append(r.Rows, row)
	}
	for _, t := range in.texts {
		if words := cleanName(t.words, maxText); words != "" && near(t.at[0], t.at[1]) && t.size > 0 {
			r.shapes = append(r.shapes, seats.Shape{Kind: "text", Role: "label", Center: seats.Point{X: t.at[0], Y: t.at[1]}, Text: words, Size: t.size})
		}
	}
	return r
}

func idParts(id string) []string {
	return strings.FieldsFunc(id, func(r rune) bool { return strings.ContainsRune("-_./: ", r) })
}

func short(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

func style(css, property string) string {
	for _, one := range strings.Split(css, ";") {
		if name, value, ok := strings.Cut(one, ":"); ok && strings.TrimSpace(name) == property {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

var numberIn = regexp.MustCompile(`-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`)

func numbersIn(s string) []float64 {
	var list []float64
	for _, text := range numberIn.FindAllString(s, 100_000) {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// center is the middle of a form, and whether it may be a seat.
func center(element string, a map[string]string) (x, y float64, seat bool) {
	n := func(name string) float64 {
		list := numbersIn(a[name])
		if len(list) == 0 {
			return 0
		}
		return list[0]
	}
	switch element {
	case "circle", "ellipse":
		return n("cx"), n("cy"), true
	case "rect", "image":
		return n("x") + n("width")/2, n("y") + n("height")/2, true
	case "use":
		return n("x"), n("y"), true
	case "path":
		if list := numbersIn(a["d"]); len(list) > 1 {
			return list[0], list[1], true
		}
	case "polygon":
		list := numbersIn(a["points"])
		for i := 0; i+1 < len(list); i += 2 {
			x, y = x+list[i]*2/float64(len(list)), y+list[i+1]*2/float64(len(list))
		}
		return x, y, len(list) > 5
	case "text", "tspan":
		return n("x"), n("y"), false
	}
	return 0, 0, false
}

var oneTransform = regexp.MustCompile(`(\w+)\s*\(([^)]*)\)`)

// transformed reads the attribute transform.
func transformed(s string) matrix {
	m := identity
	for _, t := range oneTransform.FindAllStringSubmatch(s, 50) {
		n := append(numbersIn(t[2]), 0, 0, 0)
		given := len(n) - 3
		sin, cos := math.Sincos(n[0] * math.Pi / 180)
		switch {
		case t[1] == "translate":
			m = m.times(matrix{1, 0, 0, 1, n[0], n[1]})
		case t[1] == "scale" && given == 1:
			m = m.times(matrix{a: n[0], d: n[0]})
		case t[1] == "scale":
			m = m.times(matrix{a: n[0], d: n[1]})
		case t[1] == "rotate":
			m = m.times(matrix{1, 0, 0, 1, n[1], n[2]}).times(matrix{a: cos, b: sin, c: -sin, d: cos}).times(matrix{1, 0, 0, 1, -n[1], -n[2]})
		case t[1] == "skewX":
			m = m.times(matrix{a: 1, c: sin / cos, d: 1})
		case t[1] == "skewY":
			m = m.times(matrix{a: 1, b: sin / cos, d: 1})
		case t[1] == "matrix" && given >= 6:
			m = m.times(matrix{n[0], n[1], n[2], n[3], n[4], n[5]})
		}
	}
	return m
}

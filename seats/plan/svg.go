package plan

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats"
)

// A drawing has things that may be seats: forms, uses of a form, and groups of a few forms that have a name. Which of them are seats
// says the mapping; what is none of them is the background of the plan.

// form is what a part of a drawing looks like.
type form struct {
	shapes []seats.Shape
	points int  // of its shapes, and one for each of them
	row    int  // of the thing in Records.Rows; -1 if it can be no seat
	in     int  // row of the named group that it is a part of; -1 if there is none
	of     int  // row of the thing that this text stands on; -1 if there is none
	unseen bool // where it stands: it is only used elsewhere
}

// none is no row.
const none = -1

// knot is an element that is open while a drawing is read.
type knot struct {
	name         string
	attr         map[string]string
	style        map[string]string // what those inside inherit
	to           matrix
	row          int               // the thing that it is; none
	data         map[string]string // what is inside has, too: attributes of it and of the groups around it
	layer, group string            // names of the outermost and the nearest group, itself among them
	unseen       bool              // it is in what is drawn where it is used only
	never        bool              // it is in what is never drawn
	hidden       bool              // it is not seen, or is inside of what is not
	things       []int             // rows of those directly inside of a group
	first        int               // place of the first form inside, if there is one
	forms        []int             // places of all forms inside, as long as they are few
	texts        []int             // places of the texts directly inside of a group
	many         bool              // too many forms are inside for a seat
	named        bool              // a thing that is a group is inside
	title        string
	words        *strings.Builder // of a title or a text, with those of the parts of a text; nil of others
}

const (
	mostInSeat   = 10         // forms of a group that is a seat
	mostInUse    = 200        // forms of what is used again
	mostUsed     = 2_000      // points of what is used again, and its shapes
	mostMoved    = 20_000_000 // points of all that is drawn, also of what is drawn again
	mostSketched = 1_000_000  // points of all forms that are remembered
	mostWords    = 300        // bytes of an attribute that is read as words
	mostSaid     = 4_000      // bytes of a text or a title
	mostData     = 30         // attributes of groups that what is inside has, too
	mostOwn      = 100        // attributes of an element
)

// svgReader finds the things of a drawing that may be seats, and its background.
type svgReader struct {
	open     []*knot
	found    []map[string]string
	forms    []form
	uses     map[string][2]int // the forms of what has an id: the first, and the one behind the last
	sketched int
	moved    int         // points so far
	cells    int         // texts of all things
	pictures int         // images that are seen
	ground   seats.Point // how large the drawing is; zero if it does not say
}

func surveySVG(data []byte) (*Records, error) {
	in := &svgReader{uses: map[string][2]int{}}
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
				in.open[n-1].say(t)
			}
		}
		if in.moved > mostMoved {
			return nil, &Error{Line: lineAt(data, dec.InputOffset()), Reason: fmt.Sprintf("the forms of a drawing have at most %d points, counted again where a form is used again", mostMoved)}
		}
		if len(in.found) > mostRecords || len(in.open) > 1000 || in.cells > mostCells {
			return nil, &Error{Reason: fmt.Sprintf("a drawing has at most %d things", mostRecords)}
		}
	}
	if len(in.found) == 0 {
		return nil, &Error{Line: 1, Reason: "the drawing has no circles, rectangles or other forms that could be seats"}
	}
	in.lettered()
	return in.records(), nil
}

// inherited are the properties that what is inside of an element has, too.
var inherited = []string{"font-size", "text-anchor", "dominant-baseline", "fill", "visibility"}

func (in *svgReader) start(e xml.StartElement) {
	k := &knot{name: e.Name.Local, attr: map[string]string{}, to: identity, row: none, first: len(in.forms)}
	for _, a := range e.Attr[:min(len(e.Attr), mostOwn)] {
		value := a.Value
		if !slices.Contains([]string{"d", "points", "style", "transform"}, a.Name.Local) {
			value = brief(value)
		}
		k.attr[a.Name.Local] = strings.TrimSpace(strings.ToValidUTF8(value, ""))
	}
	var above map[string]string
	if n := len(in.open); n > 0 {
		up := in.open[n-1]
		k.to, above, k.data, k.layer, k.group = up.to, up.style, up.data, up.layer, up.group
		k.unseen = up.unseen || up.name == "defs" || up.name == "symbol"
		k.never = up.never || slices.Contains([]string{"clipPath", "mask", "pattern", "marker"}, up.name)
	}
	switch n := len(in.open); {
	case k.name == "title" || k.name == "text":
		k.words = &strings.Builder{}
	case k.name == "tspan" && n > 0:
		k.words = in.open[n-1].words
		k.say([]byte{' '})
	}
	k.names()
	is := func(property string) string { return brief(cmp.Or(style(k.attr["style"], property), k.attr[property])) }
	k.style = above
	own := false
	for _, property := range inherited {
		if value := is(property); value != "" && value != above[property] {
			if !own {
				k.style, own = copied(above), true
			}
			k.style[property] = value
		}
	}
	k.hidden = is("display") == "none" || is("opacity") == "0" || k.style["visibility"] == "hidden" || len(in.open) > 0 && in.open[len(in.open)-1].hidden
	k.to = k.to.times(transformed(k.attr["transform"]))
	switch {
	case k.name == "svg" && len(in.open) == 0:
		in.ground = groundOf(k.attr)
	case k.name == "svg":
		k.to = k.to.times(matrix{1, 0, 0, 1, firstNumber(k.attr["x"]), firstNumber(k.attr["y"])})
	}
	if k.name == "image" && !k.hidden && !k.unseen && !k.never {
		in.pictures++
	}
	in.drawn(k)
	in.open = append(in.open, k)
}

// names adds what an element is called, and its data, to what things inside of it have.
func (k *knot) names() {
	if name := cmp.Or(k.attr["label"], k.attr["data-name"], k.attr["id"]); k.name == "g" && name != "" {
		k.layer, k.group = cmp.Or(k.layer, name), name
	}
	own := false
	for _, name := range slices.Sorted(maps.Keys(k.attr)) {
		if strings.HasPrefix(name, "data-") && name != "data-name" && name != "data-capacity" && len(k.data) < mostData {
			if !own {
				k.data, own = copied(k.data), true
			}
			k.data[name] = k.attr[name]
		}
	}
}

// brief is the beginning of a text: many things may have it, and each is compared with others.
func brief(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), mostWords)], "")
}

// say adds to the words of an element.
func (k *knot) say(words []byte) {
	if k.words != nil {
		k.words.Write(words[:min(len(words), mostSaid-k.words.Len())])
	}
}

func copied(m map[string]string) map[string]string {
	c := make(map[string]string, len(m)+1)
	maps.Copy(c, m)
	return c
}

func groundOf(a map[string]string) seats.Point {
	if box := numbersIn(a["viewBox"]); len(box) == 4 {
		return seats.Point{X: box[2], Y: box[3]}
	}
	return seats.Point{X: firstNumber(a["width"]), Y: firstNumber(a["height"])}
}

// drawn notes what an element looks like, and that it may be a seat.
func (in *svgReader) drawn(k *knot) {
	if k.never {
		return
	}
	by, shapes := k.to, formsOf(k.name, k.attr)
	if k.name == "use" {
		by, shapes = k.to.times(matrix{1, 0, 0, 1, firstNumber(k.attr["x"]), firstNumber(k.attr["y"])}), in.used(strings.TrimPrefix(k.attr["href"], "#"))
	}
	for i := range shapes {
		s := &shapes[i]
		if in.moved += by.count(s); in.moved > mostMoved {
			return // the file is refused
		}
		if k.name != "use" && k.style["fill"] == "none" && s.Kind == "polygon" {
			s.Kind, s.Points = "line", append(s.Points, s.Points[:min(1, len(s.Points))]...)
		}
		*s = by.moved(*s)
	}
	shapes = slices.DeleteFunc(shapes, func(s seats.Shape) bool { return !sketchable(&s) })
	seat := slices.Contains([]string{"circle", "ellipse", "rect", "image", "use", "path", "polygon"}, k.name)
	if !seat && len(shapes) == 0 {
		return
	}
	f := form{row: none, in: none, of: none}
	f.shapes, f.points = in.sketch(k, shapes)
	switch {
	case k.unseen:
		f.unseen = true
	case seat && k.middle(shapes):
		f.row = in.thing(k, shapes)
	}
	if f.row == none && len(f.shapes) == 0 {
		return
	}
	k.forms = append(k.forms, len(in.forms))
	in.forms = append(in.forms, f)
}

// used are the shapes of what has an id, in memory of their own; none if they are too many to be used again.
func (in *svgReader) used(id string) (shapes []seats.Shape) {
	at := in.uses[id]
	points := 0
	for _, f := range in.forms[at[0]:at[1]] {
		points += f.points
	}
	if points > mostUsed {
		return nil
	}
	for _, f := range in.forms[at[0]:at[1]] {
		shapes = append(shapes, f.shapes...)
	}
	return shapes
}

// sketchable reports whether a shape can be drawn.
func sketchable(s *seats.Shape) bool {
	for _, p := range s.Points {
		if !near(p.X, p.Y) {
			return false
		}
	}
	least := map[string]int{"polygon": 3, "line": 2}[s.Kind]
	return near(s.Center.X, s.Center.Y, s.RX, s.RY, s.Rotation) && len(s.Points) >= least && (s.Kind != "ellipse" || s.RX > 0 && s.RY > 0)
}

// sketch is what is remembered of the shapes of an element, and how many points that is: nothing of the ground of the page, of what is
// not seen, and beyond the limit.
func (in *svgReader) sketch(k *knot, shapes []seats.Shape) ([]seats.Shape, int) {
	low, high := extent(shapes)
	page := k.name == "rect" && in.ground.X > 0 && high.X-low.X >= 0.98*in.ground.X && high.Y-low.Y >= 0.98*in.ground.Y
	if page || k.hidden || in.sketched > mostSketched {
		return nil, 0
	}
	role, points := k.role(in.open), 0
	for i := range shapes {
		shapes[i].Role = role
		points += 1 + len(shapes[i].Points)
	}
	in.sketched += points
	return shapes, points
}

// role is what a part of the background is, by the words that it or the group around it is named with.
func (k *knot) role(open []*knot) string {
	for _, at := range append([]*knot{k}, last(open)...) {
		words := strings.ToLower(strings.Join([]string{at.attr["id"], at.attr["class"], at.attr["label"], at.attr["data-name"]}, " "))
		if role := roleOf(words); role != "other" {
			return role
		}
		for _, name := range []string{"wall", "wand", "mauer"} {
			if strings.Contains(words, name) {
				return "wall"
			}
		}
		for _, name := range []string{"table", "tisch", "mesa", "tavol"} {
			if strings.Contains(words, name) {
				return "table"
			}
		}
	}
	return "other"
}

// last are the nearest groups, the nearest first.
func last(open []*knot) (list []*knot) {
	for i := len(open) - 1; i >= 0 && len(list) < 3; i-- {
		list = append(list, open[i])
	}
	return list
}

// middle reports whether an element is somewhere, so that it can be a seat.
func (k *knot) middle(shapes []seats.Shape) bool {
	return len(shapes) > 0 || k.name == "use" || k.name == "image" || k.name == "circle" || k.name == "ellipse" || k.name == "rect"
}

// thing notes that an element may be a seat: where it is, and all that it is called. It returns its row.
func (in *svgReader) thing(k *knot, shapes []seats.Shape) int {
	x, y := firstNumber(k.attr["x"]), firstNumber(k.attr["y"])
	if k.name == "circle" || k.name == "ellipse" {
		x, y = firstNumber(k.attr["cx"]), firstNumber(k.attr["cy"])
	} else {
		x, y = x+firstNumber(k.attr["width"])/2, y+firstNumber(k.attr["height"])/2
	}
	x, y = k.to.at(x, y)
	if low, high := extent(shapes); low.X <= high.X {
		x, y = (low.X+high.X)/2, (low.Y+high.Y)/2
	}
	thing := map[string]string{"element": k.name, "x": short(x), "y": short(y), "fill": k.style["fill"]}
	for name, value := range k.attr {
		if name == "id" || name == "class" || name == "label" || name == "aria-label" || name == "href" && k.name == "use" || strings.HasPrefix(name, "data-") {
			thing[name] = value
		}
	}
	for name, value := range k.data {
		thing[name] = cmp.Or(thing[name], value)
	}
	if n := len(in.open); n > 0 {
		thing["layer"], thing["group"] = in.open[n-1].layer, in.open[n-1].group
	}
	k.row = len(in.found)
	if n := len(in.open); n > 0 && k.name != "g" {
		in.open[n-1].things = append(in.open[n-1].things, k.row)
	}
	in.found, in.cells = append(in.found, thing), in.cells+len(thing)
	return k.row
}

func (in *svgReader) end() {
	k := in.open[len(in.open)-1]
	in.open = in.open[:len(in.open)-1]
	words := ""
	if k.name == "title" || k.name == "text" {
		words = strings.Join(strings.Fields(strings.ToValidUTF8(k.words.String(), "")), " ")
	}
	switch k.name {
	case "title":
		if n := len(in.open); n > 0 {
			in.open[n-1].title = words
		}
	case "text":
		in.text(k, words)
	case "g":
		in.group(k)
	}
	if k.row != none && k.title != "" {
		in.found[k.row]["title"] = k.title
	}
	if id := k.attr["id"]; id != "" && !k.many && len(k.forms) > 0 {
		in.uses[id] = [2]int{k.first, len(in.forms)}
	}
	if n := len(in.open); n > 0 {
		up := in.open[n-1]
		up.many = up.many || k.many || len(up.forms)+len(k.forms) > mostInUse
		up.named = up.named || k.named || k.name == "g" && k.row != none
		if !up.many {
			up.forms = append(up.forms, k.forms...)
		}
	}
}

// text notes a text, where it is written.
func (in *svgReader) text(k *knot, words string) {
	if k.unseen || k.never || k.hidden || in.sketched > mostSketched {
		return
	}
	size := 12.0
	if s, err := coordinate(strings.TrimSuffix(k.style["font-size"], "px")); err == nil {
		size = s
	}
	x, y := firstNumber(k.attr["x"]), firstNumber(k.attr["y"])
	half := 0.28 * size * float64(len([]rune(words)))
	x += map[string]float64{"": half, "start": half, "end": -half}[k.style["text-anchor"]]
	if at := k.style["dominant-baseline"]; at != "central" && at != "middle" {
		y -= 0.35 * size
	}
	s := k.to.moved(seats.Shape{Kind: "text", Role: "label", Center: seats.Point{X: x, Y: y}, Text: cleanName(words, maxText), Size: size})
	if s.Text == "" || !near(s.Center.X, s.Center.Y, s.Size) || s.Size <= 0 {
		return
	}
	at := len(in.forms)
	in.forms = append(in.forms, form{shapes: []seats.Shape{s}, points: 1, row: none, in: none, of: none})
	in.sketched++
	k.forms = append(k.forms, at)
	if n := len(in.open); n > 0 {
		in.open[n-1].texts = append(in.open[n-1].texts, at)
	}
}

// group notes a group that may be a seat: it has a name, a class or data, a few forms, and no such group inside. In any group the
// only text is that of the only thing.
func (in *svgReader) group(k *knot) {
	if len(k.things) == 1 && len(k.texts) == 1 {
		in.forms[k.texts[0]].of = k.things[0]
		in.found[k.things[0]]["text"] = in.forms[k.texts[0]].shapes[0].Text
	}
	if len(k.things) == 1 && k.title != "" {
		in.found[k.things[0]]["title"] = k.title
	}
	named := k.attr["id"] != "" || k.attr["class"] != "" || slices.ContainsFunc(slices.Collect(maps.Keys(k.attr)), func(name string) bool { return strings.HasPrefix(name, "data-") })
	if !named || k.many || k.named || len(k.forms) == 0 || len(k.forms) > mostInSeat || k.unseen {
		return
	}
	var shapes []seats.Shape
	text := ""
	for _, at := range k.forms {
		for _, s := range in.forms[at].shapes {
			if s.Kind == "text" {
				text = cmp.Or(text, s.Text)
				continue
			}
			shapes = append(shapes, s)
		}
	}
	if len(shapes) == 0 {
		return
	}
	row := in.thing(k, shapes)
	in.found[row]["text"] = text
	in.found[row]["fill"] = cmp.Or(in.found[row]["fill"], in.found[max(0, row-1)]["fill"])
	for _, at := range k.forms {
		in.forms[at].in = row
	}
}

// lettered finds the numbers of seats that stand on them and are no part of a group with them: short texts on small forms.
func (in *svgReader) lettered() {
	type cell struct{ x, y int }
	type spot struct {
		row       int
		low, high seats.Point
	}
	var sizes []float64
	for _, f := range in.forms {
		if low, high := extent(f.shapes); f.row != none && low.X < high.X {
			sizes = append(sizes, max(high.X-low.X, high.Y-low.Y))
		}
	}
	if len(sizes) == 0 {
		return
	}
	slices.Sort(sizes)
	side := 2 * sizes[len(sizes)/2]
	at := func(p seats.Point) cell { return cell{int(math.Floor(p.X / side)), int(math.Floor(p.Y / side))} }
	cells := map[cell][]spot{}
	for _, f := range in.forms {
		low, high := extent(f.shapes)
		if f.row != none && low.X <= high.X && max(high.X-low.X, high.Y-low.Y) <= side && in.found[f.row]["text"] == "" {
			c := at(seats.Point{X: (low.X + high.X) / 2, Y: (low.Y + high.Y) / 2})
			if len(cells[c]) < 100 {
				cells[c] = append(cells[c], spot{f.row, low, high})
			}
		}
	}
	for i := range in.forms {
		t := &in.forms[i]
		if len(t.shapes) != 1 || t.shapes[0].Kind != "text" || t.of != none || len([]rune(t.shapes[0].Text)) > 6 {
			continue
		}
		p, c := t.shapes[0].Center, at(t.shapes[0].Center)
		for dx := -1; dx <= 1 && t.of == none; dx++ {
			for dy := -1; dy <= 1 && t.of == none; dy++ {
				for _, s := range cells[cell{c.x + dx, c.y + dy}] {
					if p.X >= s.low.X && p.X <= s.high.X && p.Y >= s.low.Y && p.Y <= s.high.Y && in.found[s.row]["text"] == "" {
						t.of = s.row
						in.found[s.row]["text"] = t.shapes[0].Text
						break
					}
				}
			}
		}
	}
}

// records are the things under columns; ids that are made of the same number of parts get a column for each part.
func (in *svgReader) records() *Records {
	r := &Records{Kind: KindSVG, forms: in.forms, pictures: in.pictures}
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

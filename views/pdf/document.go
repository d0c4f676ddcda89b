package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/shaping"
)

// Producer names the program in the files that it writes.
const Producer = "Usher"

// Document is a PDF that is written. It is not for concurrent use. The same calls write the same bytes.
type Document struct {
	Title    string
	Language string // a tag of BCP 47; letters have the forms that it has
	At       time.Time
	Metadata []byte // XMP; none: the file has none
	Profile  []byte // an ICC profile of the colors; none: they are those of the device

	Colour Colour // of letters and areas
	Pen    Pen    // of lines

	pages     []*page
	images    []*Image
	fonts     []*embedded
	segmenter shaping.Segmenter
	shaper    shaping.HarfbuzzShaper
	faces     faces
}

// Colour is one of the screen, each part from 0 to 255.
type Colour struct{ R, G, B uint8 }

// Pen is how lines are drawn. Lengths are in millimetres; a dash is a line and a gap.
type Pen struct {
	Colour Colour
	Width  float64
	Dash   [2]float64
}

type page struct {
	width, height float64
	content       bytes.Buffer
	images        map[int]bool // by their place in the document
}

// New begins a document without pages. Its time is that of its creation.
func New(title, language string, at time.Time) *Document {
	return &Document{Title: title, Language: language, At: at, faces: faces{known: map[string]*font.Face{}, names: map[*font.Face]string{}}, Pen: Pen{Width: 0.2}}
}

// Page begins a page.
func (d *Document) Page(width, height float64) {
	d.pages = append(d.pages, &page{width: width, height: height})
}

// A4 in millimetres.
const (
	A4Width  = 210.0
	A4Height = 297.0
)

const mm = 72 / 25.4 // in points

// out writes operators to the page. Lengths in millimetres are to be points by then.
func (d *Document) out(format string, values ...any) {
	fmt.Fprintf(&d.pages[len(d.pages)-1].content, format+"\n", values...)
}

// number is a length as short as it may be.
type number float64

func (n number) String() string {
	text := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", float64(n)), "0"), ".")
	if text == "-0" || text == "" {
		return "0"
	}
	return text
}

func (d *Document) at(x, y float64) string {
	return number(x*mm).String() + " " + number((d.pages[len(d.pages)-1].height-y)*mm).String()
}

func (c Colour) String() string {
	return number(float64(c.R)/255).String() + " " + number(float64(c.G)/255).String() + " " + number(float64(c.B)/255).String()
}

// Point is a place on a page.
type Point struct{ X, Y float64 }

// Path is a figure that is filled, drawn around or cut out.
type Path struct {
	d   *Document
	ops strings.Builder
}

// Polygon is a path around points.
func (d *Document) Polygon(points []Point) *Path {
	p := &Path{d: d}
	for i, q := range points {
		p.ops.WriteString(d.at(q.X, q.Y) + map[bool]string{true: " m ", false: " l "}[i == 0])
	}
	p.ops.WriteString("h")
	return p
}

// Rectangle is a path around a box, with round corners if they have a radius.
func (d *Document) Rectangle(x, y, width, height, radius float64) *Path {
	p := &Path{d: d}
	if radius == 0 {
		return d.Polygon([]Point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}})
	}
	const circle = 0.5523 // how far the control points of a quarter of a circle are from its ends
	r, c := radius, radius*(1-circle)
	right, bottom := x+width, y+height
	fmt.Fprintf(&p.ops, "%s m %s l ", d.at(x+r, y), d.at(right-r, y))
	fmt.Fprintf(&p.ops, "%s %s %s c %s l ", d.at(right-c, y), d.at(right, y+c), d.at(right, y+r), d.at(right, bottom-r))
	fmt.Fprintf(&p.ops, "%s %s %s c %s l ", d.at(right, bottom-c), d.at(right-c, bottom), d.at(right-r, bottom), d.at(x+r, bottom))
	fmt.Fprintf(&p.ops, "%s %s %s c %s l ", d.at(x+c, bottom), d.at(x, bottom-c), d.at(x, bottom-r), d.at(x, y+r))
	fmt.Fprintf(&p.ops, "%s %s %s c h", d.at(x, y+c), d.at(x+c, y), d.at(x+r, y))
	return p
}

// Circle is a path around a point.
func (d *Document) Circle(x, y, radius float64) *Path {
	return d.Rectangle(x-radius, y-radius, 2*radius, 2*radius, radius)
}

// Fill fills the figure.
func (p *Path) Fill() { p.d.out("%s rg %s f", p.d.Colour, p.ops.String()) }

// Draw draws its edge.
func (p *Path) Draw() { p.d.out("%s%s S", p.d.pen(), p.ops.String()) }

// FillAndDraw fills it and draws its edge.
func (p *Path) FillAndDraw() { p.d.out("%s rg %s%s B", p.d.Colour, p.d.pen(), p.ops.String()) }

// Clip calls draw, of which only what is within the figure is seen.
func (p *Path) Clip(draw func()) {
	p.d.out("q %s W n", p.ops.String())
	draw()
	p.d.out("Q")
}

// Line draws a line.
func (d *Document) Line(x1, y1, x2, y2 float64) {
	d.out("%s%s m %s l S", d.pen(), d.at(x1, y1), d.at(x2, y2))
}

func (d *Document) pen() string {
	dash := "[] 0 d"
	if d.Pen.Dash[0] > 0 {
		dash = fmt.Sprintf("[%s %s] 0 d", number(d.Pen.Dash[0]*mm), number(d.Pen.Dash[1]*mm))
	}
	return fmt.Sprintf("%s RG %s w %s ", d.Pen.Colour, number(d.Pen.Width*mm), dash)
}

// Write puts a line on the page; x is its left end and y its base. Its size is in points.
func (d *Document) Write(x, y, size float64, line Line) {
	d.out("BT %s rg", d.Colour)
	for _, r := range line {
		d.writeRun(x, y, size, r)
		x += toEm(r.Advance) * size / mm
	}
	d.out("ET")
}

// writeRun writes glyphs of one face. A cluster of several glyphs says what it stands for as a whole, since its glyphs may be in
// another order than its letters.
func (d *Document) writeRun(x, y, size float64, r run) {
	e, place := d.embed(r.Face)
	w := writer{d: d, e: e, x: x, y: y, size: size}
	d.out("/F%d %s Tf", place, number(size))
	for i := 0; i < len(r.Glyphs); {
		cluster := r.Glyphs[i:min(i+max(1, r.Glyphs[i].GlyphsCount()), len(r.Glyphs))]
		words := string(r.stands(cluster[0]))
		if len(cluster) > 1 {
			w.flush()
			d.out("/Span <</ActualText <FEFF%s>>> BDC", hexText(words))
		}
		for _, g := range cluster {
			w.glyph(g, words)
			words = "\u200b" // readers that know nothing of clusters read the first glyph as all of it
		}
		if len(cluster) > 1 {
			w.flush()
			d.out("EMC")
		}
		i += len(cluster)
	}
	w.flush()
}

// writer writes glyphs one behind another, those that stand on the line in one operator.
type writer struct {
	d          *Document
	e          *embedded
	x, y, size float64 // of the next glyph

	from  float64 // where the pending ones begin
	items strings.Builder
}

func (w *writer) glyph(g shaping.Glyph, text string) {
	n := w.e.number(g.GlyphID, text)
	next := w.x + toEm(g.Advance)*w.size/mm
	if g.XOffset != 0 || g.YOffset != 0 {
		w.flush()
		w.d.out("1 0 0 1 %s Tm <%04X> Tj", w.d.at(w.x+toEm(g.XOffset)*w.size/mm, w.y-toEm(g.YOffset)*w.size/mm), n)
		w.x = next
		return
	}
	if w.items.Len() == 0 {
		w.from = w.x
	}
	fmt.Fprintf(&w.items, "<%04X>", n)
	if kern := float64(w.e.width(g.GlyphID)) - 1000*toEm(g.Advance); math.Abs(kern) > 0.01 {
		w.items.WriteString(number(kern).String())
	}
	w.x = next
}

// flush writes the pending glyphs.
func (w *writer) flush() {
	if w.items.Len() > 0 {
		w.d.out("1 0 0 1 %s Tm [%s] TJ", w.d.at(w.from, w.y), strings.ReplaceAll(w.items.String(), "><", ""))
		w.items.Reset()
	}
}

// embed is the font of a face in the document, and its place there.
func (d *Document) embed(face *font.Face) (*embedded, int) {
	for i, e := range d.fonts {
		if e.face == face {
			return e, i
		}
	}
	d.fonts = append(d.fonts, &embedded{face: face, name: d.faces.names[face], numbers: map[letter]int{}})
	return d.fonts[len(d.fonts)-1], len(d.fonts) - 1
}

func deflated(content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(content) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

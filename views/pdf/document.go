package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-text/typesetting/di"
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
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(float64(n), 'f', 3, 64), "0"), ".")
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
		p.ops.WriteString(d.at(x, y+height) + " " + number(width*mm).String() + " " + number(height*mm).String() + " re")
		return p
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

// writeRun writes glyphs of one face, one behind another. Glyphs have their offsets in their outlines, so that all stand on the line:
// readers take a glyph off the line for another word.
func (d *Document) writeRun(x, y, size float64, r run) {
	e, place := d.embed(r.Face)
	d.out("/F%d %s Tf 1 0 0 1 %s Tm", place, number(size), d.at(x, y))
	if r.bold { // with an edge of their colour
		d.out("2 Tr %s RG %s w [] 0 d", d.Colour, number(size*0.03))
	} else {
		d.out("0 Tr")
	}
	var items strings.Builder
	for i := 0; i < len(r.Glyphs); {
		cluster := r.Glyphs[i:min(i+max(1, r.Glyphs[i].GlyphsCount()), len(r.Glyphs))]
		i += len(cluster)
		words := r.stands(cluster[0])
		parts := meanings(words, len(cluster), r.Direction == di.DirectionRTL)
		// Glyphs of a cluster from the left may be in another order than its letters.
		actual := len(cluster) > 1 && r.Direction == di.DirectionLTR
		if actual {
			fmt.Fprintf(&items, "] TJ /Span <</ActualText <FEFF%s>>> BDC [", hexText(string(words)))
		}
		for j, text := range parts {
			if j >= len(cluster) {
				fmt.Fprintf(&items, "<%04X>", e.number(letter{text: text}))
				continue
			}
			g := cluster[j]
			l := letter{glyph: g.GlyphID, x: e.units(g.XOffset), y: e.units(g.YOffset), text: text}
			if g.Advance != 0 {
				l.width = e.width(g.GlyphID)
			}
			fmt.Fprintf(&items, "<%04X>", e.number(l))
			if kern := float64(l.width) - 1000*toEm(g.Advance); math.Abs(kern) > 0.01 {
				items.WriteString(number(kern).String())
			}
		}
		if actual {
			items.WriteString("] TJ EMC [")
		}
	}
	d.out("[%s] TJ", strings.ReplaceAll(items.String(), "><", ""))
}

// meanings is what each glyph of a cluster stands for, from the left. Readers turn what is written from the right, glyph by glyph: so
// the last letter comes first there, and a glyph of several letters is followed by empty ones.
func meanings(letters []rune, glyphs int, rtl bool) []string {
	list := make([]string, glyphs, max(glyphs, len(letters)))
	for i := range list {
		list[i] = "\u200b" // it stands for nothing of its own
	}
	if !rtl {
		list[0] = string(letters)
		return list
	}
	for i := range letters {
		if text := string(letters[len(letters)-1-i]); i < glyphs {
			list[i] = text
		} else {
			list = append(list, text)
		}
	}
	return list
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

// deflaters are compressors to use again: each has a megabyte of tables, and a document of tickets needs six.
var deflaters = sync.Pool{New: func() any { return zlib.NewWriter(nil) }}

func deflated(content []byte) []byte {
	var b bytes.Buffer
	w, _ := deflaters.Get().(*zlib.Writer) // nothing else is put there
	defer deflaters.Put(w)
	w.Reset(&b)
	_, _ = w.Write(content) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

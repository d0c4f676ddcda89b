package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"golang.org/x/image/math/fixed"
)

// letter is a glyph, moved from its place by x and y in units of its font, its width in thousandths of an em, and what it stands
// for. So each number of a document's font has one meaning. Glyph 0 of no width is an empty one.
type letter struct {
	glyph font.GID
	x, y  int
	width int
	text  string
}

// embedded is what a document uses of a font: a TrueType font of its own, with letters numbered as they came, from 1 on.
type embedded struct {
	face    *font.Face
	name    string
	letters []letter
	numbers map[letter]int
}

// number is that of a letter in the document.
func (e *embedded) number(l letter) int {
	if e.numbers[l] == 0 {
		e.letters = append(e.letters, l)
		e.numbers[l] = len(e.letters)
	}
	return e.numbers[l]
}

// units is a length in units of the font.
func (e *embedded) units(v fixed.Int26_6) int {
	return int(math.Round(toEm(v) * float64(e.face.Upem())))
}

// width is that of a glyph on its own, in thousandths of an em.
func (e *embedded) width(glyph font.GID) int {
	return int(math.Round(float64(e.face.HorizontalAdvance(glyph)) * 1000 / float64(e.face.Upem())))
}

// widths is the table of the widths in the document (ISO 32000-1, 9.7.4.3).
func (e *embedded) widths() string {
	var b strings.Builder
	for _, l := range e.letters {
		fmt.Fprintf(&b, "%d ", l.width)
	}
	return "[1 [" + strings.TrimSpace(b.String()) + "]]"
}

// meaning maps numbers to text (ISO 32000-1, 9.10.3).
func (e *embedded) meaning() []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	const most = 100 // in one block
	number := 0
	for part := range slices.Chunk(e.letters, most) {
		fmt.Fprintf(&b, "%d beginbfchar\n", len(part))
		for _, l := range part {
			number++
			fmt.Fprintf(&b, "<%04X> <%s>\n", number, hexText(l.text))
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return b.Bytes()
}

// hexText is a text as UTF-16.
func hexText(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String()
}

// program is the font as TrueType, with the tables that a PDF needs. Outlines are taken from what the face draws, so that fonts with
// CFF outlines are embedded in the same way. It has no hints: paper has more dots than they are for. box is around all of its glyphs.
func (e *embedded) program() (content []byte, box bounds) {
	var glyf, loca, hmtx []byte
	points, contours := 0, 0
	for i := range len(e.letters) + 1 {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
		var l letter
		if i > 0 {
			l = e.letters[i-1]
		}
		var shape outline
		if data, ok := e.face.GlyphDataOutline(l.glyph); ok && (l.width > 0 || l.glyph > 0) {
			shape = outlineOf(data.Segments, l.x, l.y)
		}
		content := shape.encode()
		glyf = append(glyf, content...)
		glyf = append(glyf, make([]byte, -len(content)&3)...)
		box.join(shape.bounds())
		points, contours = max(points, shape.points()), max(contours, len(shape))
		hmtx = binary.BigEndian.AppendUint16(hmtx, uint16(l.width*int(e.face.Upem())/1000))
		hmtx = binary.BigEndian.AppendUint16(hmtx, uint16(shape.bounds().left))
	}
	loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
	extents, _ := e.face.FontHExtents()
	tables := []table{
		{"glyf", glyf},
		{"head", numbers(uint32(0x10000), uint32(0x10000), uint32(0), uint32(0x5f0f3cf5), uint16(0), e.face.Upem(), uint64(0), uint64(0),
			box.left, box.bottom, box.right, box.top, uint16(0), uint16(8), int16(2), int16(1), int16(0))},
		{"hhea", numbers(uint32(0x10000), int16(extents.Ascender), int16(extents.Descender), int16(extents.LineGap), uint16(0xffff), int16(0), int16(0), box.right,
			int16(1), int16(0), int16(0), uint64(0), int16(0), uint16(len(e.letters)+1))},
		{"hmtx", hmtx},
		{"loca", loca},
		{"maxp", numbers(uint32(0x10000), uint16(len(e.letters)+1), uint16(points), uint16(contours), uint16(0), uint16(0), uint16(1), uint16(0), uint16(0), uint16(0),
			uint16(0), uint16(0), uint16(0), uint16(0), uint16(0))},
	}
	return fontFile(tables), box
}

// numbers are values as OpenType writes them.
func numbers(values ...any) []byte {
	var b []byte
	for _, v := range values {
		var err error
		if b, err = binary.Append(b, binary.BigEndian, v); err != nil {
			panic("pdf: " + err.Error()) // all of them have a size
		}
	}
	return b
}

type table struct {
	tag     string
	content []byte
}

// fontFile puts tables, sorted by tag, into a font.
func fontFile(tables []table) []byte {
	log := int(math.Log2(float64(len(tables))))
	file := numbers(uint32(0x10000), uint16(len(tables)), uint16(16<<log), uint16(log), uint16(16*len(tables)-16<<log))
	at, head := len(file)+16*len(tables), 0
	var body []byte
	for _, t := range tables {
		if t.tag == "head" {
			head = at + len(body)
		}
		file = append(file, t.tag...)
		file = append(file, numbers(checksum(t.content), uint32(at+len(body)), uint32(len(t.content)))...)
		body = append(body, t.content...)
		body = append(body, make([]byte, -len(t.content)&3)...)
	}
	file = append(file, body...)
	binary.BigEndian.PutUint32(file[head+8:], 0xb1b0afba-checksum(file))
	return file
}

func checksum(content []byte) (sum uint32) {
	for part := range slices.Chunk(content, 4) {
		var word [4]byte
		copy(word[:], part)
		sum += binary.BigEndian.Uint32(word[:])
	}
	return sum
}

// outline is the contours of a glyph, in units of its font.
type outline [][]point

type point struct {
	x, y int16
	on   bool // the curve goes through it
}

type bounds struct{ left, bottom, right, top int16 }

func (b *bounds) join(other bounds) {
	b.left, b.bottom, b.right, b.top = min(b.left, other.left), min(b.bottom, other.bottom), max(b.right, other.right), max(b.top, other.top)
}

func (o outline) bounds() (b bounds) {
	first := true
	for _, contour := range o {
		for _, p := range contour {
			if first {
				b, first = bounds{p.x, p.y, p.x, p.y}, false
			}
			b.join(bounds{p.x, p.y, p.x, p.y})
		}
	}
	return b
}

func (o outline) points() (n int) {
	for _, contour := range o {
		n += len(contour)
	}
	return n
}

// outlineOf is a glyph that is moved from its place.
func outlineOf(segments []opentype.Segment, x, y int) (o outline) {
	var contour []point
	var at opentype.SegmentPoint
	add := func(p opentype.SegmentPoint, on bool) {
		contour = append(contour, point{int16(math.Round(float64(p.X)) + float64(x)), int16(math.Round(float64(p.Y)) + float64(y)), on})
	}
	end := func() {
		if n := len(contour); n > 1 && contour[0] == contour[n-1] {
			contour = contour[:n-1] // a contour is closed anyway
		}
		if len(contour) > 2 {
			o = append(o, contour)
		}
		contour = nil
	}
	for _, s := range segments {
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			end()
			add(s.Args[0], true)
		case opentype.SegmentOpLineTo:
			add(s.Args[0], true)
		case opentype.SegmentOpQuadTo:
			add(s.Args[0], false)
			add(s.Args[1], true)
		case opentype.SegmentOpCubeTo:
			for _, q := range quadratic(at, s.Args[0], s.Args[1], s.Args[2]) {
				add(q[0], false)
				add(q[1], true)
			}
		}
		at = s.ArgsSlice()[len(s.ArgsSlice())-1]
	}
	end()
	return o
}

// quadratic is a cubic curve as quadratic ones, each with its control point and its end. None is farther from it than half a thousandth
// of an em (Sederberg: the distance of the middle one is √3/36 of the third difference, and falls with the cube of their count).
func quadratic(p0, p1, p2, p3 opentype.SegmentPoint) (list [][2]opentype.SegmentPoint) {
	const tolerance = 0.5
	third := math.Hypot(float64(p3.X-3*p2.X+3*p1.X-p0.X), float64(p3.Y-3*p2.Y+3*p1.Y-p0.Y))
	n := max(1, int(math.Ceil(math.Cbrt(third*math.Sqrt(3)/36/tolerance))))
	blend := func(t float32, a, b opentype.SegmentPoint) opentype.SegmentPoint {
		return opentype.SegmentPoint{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)}
	}
	for ; n > 0; n-- { // cut off the first part of n that are left
		t := 1 / float32(n)
		a, b, c := blend(t, p0, p1), blend(t, p1, p2), blend(t, p2, p3)
		d, e := blend(t, a, b), blend(t, b, c)
		middle := blend(t, d, e)
		control := opentype.SegmentPoint{X: (3*(a.X+d.X) - p0.X - middle.X) / 4, Y: (3*(a.Y+d.Y) - p0.Y - middle.Y) / 4}
		list = append(list, [2]opentype.SegmentPoint{control, middle})
		p0, p1, p2 = middle, e, c
	}
	return list
}

// encode writes a glyph as the table glyf has it.
func (o outline) encode() []byte {
	if len(o) == 0 {
		return nil
	}
	b := o.bounds()
	content := numbers(int16(len(o)), b.left, b.bottom, b.right, b.top)
	last := -1
	for _, contour := range o {
		last += len(contour)
		content = append(content, numbers(uint16(last))...)
	}
	content = append(content, 0, 0) // no instructions
	var flags, xs, ys []byte
	var at point
	for _, contour := range o {
		for _, p := range contour {
			flag := byte(0)
			if p.on {
				flag = 1
			}
			xs, flag = coordinate(xs, flag, int(p.x)-int(at.x), 0x02, 0x10)
			ys, flag = coordinate(ys, flag, int(p.y)-int(at.y), 0x04, 0x20)
			flags, at = append(flags, flag), p
		}
	}
	return slices.Concat(content, flags, xs, ys)
}

// coordinate writes a difference in one byte or two, or in none, and says so in the flags.
func coordinate(to []byte, flags byte, difference int, short, same byte) ([]byte, byte) {
	switch {
	case difference == 0:
		return to, flags | same
	case difference > 0 && difference < 256:
		return append(to, byte(difference)), flags | short | same
	case difference < 0 && difference > -256:
		return append(to, byte(-difference)), flags | short
	}
	return append(to, numbers(int16(difference))...), flags
}

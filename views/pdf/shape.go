package pdf

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
)

// em is how many units of the shaper an em has.
const em = 1000

func fromEm(v float64) fixed.Int26_6 { return fixed.Int26_6(v * em * 64) }
func toEm(v fixed.Int26_6) float64   { return float64(v) / 64 / em }

const ellipsis = "…"

// Text is a paragraph that is shaped. Its lines may be of any size.
type Text struct {
	runes     []rune
	runs      []shaping.Output // in the order of the text
	direction di.Direction     // of the paragraph
	more      shaping.Output   // an ellipsis
	bold      *font.Face       // that others stand in for; nil if it is not bold
}

// Line is a line of a Text.
type Line []run // from the left

// run is glyphs of one face and direction.
type run struct {
	shaping.Output
	text []rune // of the whole paragraph
	bold bool   // the face stands in for a bold one
}

// Shape shapes a text in a face. Its direction is that of its first letter; rtl says that lines around it begin at the right.
func (d *Document) Shape(face, text string, rtl bool) *Text {
	text = clean(text)
	t := &Text{direction: directionOf(text, rtl)}
	if t.direction == di.DirectionRTL {
		text = codes.ReplaceAllString(text, fromRight+fromLeft+"$0"+fromLeft+fromRight)
	}
	t.runes = []rune(text)
	if len(t.runes) == 0 {
		return t
	}
	d.faces.want(face, t.runes)
	if face == bold {
		t.bold = d.faces.face(face)
	}
	t.runs = d.shape(t.runes, t.direction)
	t.more = d.shape([]rune(ellipsis), t.direction)[0]
	t.more.Direction = t.direction
	return t
}

func (d *Document) shape(text []rune, direction di.Direction) (runs []shaping.Output) {
	in := shaping.Input{Text: text, RunEnd: len(text), Direction: direction, Size: fixed.I(em), Language: language.NewLanguage(d.Language)}
	for _, part := range d.segmenter.Split(in, &d.faces) {
		runs = append(runs, d.shaper.Shape(part))
	}
	return runs
}

// codes are dates and numbers with hyphens. Among words from the right their parts would change places, and they would be other ones.
var codes = regexp.MustCompile(`[0-9A-Za-z]*[0-9][0-9A-Za-z]*(?:[-/][0-9A-Za-z]+)+`)

// What stands between two of these marks is read from the left, or from the right.
const fromLeft, fromRight = "\u200e", "\u200f"

// clean makes a text one line, and takes signs out of it that turn the order of others.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		case unicode.IsControl(r), r == 0x2028, r == 0x2029:
			return ' '
		}
		return r
	}, text))
}

// directionOf is that of a paragraph: where lines begin at the right it is that, unless no letter of it is written so.
func directionOf(text string, rtl bool) di.Direction {
	letters := false
	for _, r := range text {
		switch p, _ := bidi.LookupRune(r); p.Class() {
		case bidi.L:
			letters = true
		case bidi.R, bidi.AL:
			if rtl || !letters {
				return di.DirectionRTL
			}
			return di.DirectionLTR
		}
	}
	if rtl && !letters {
		return di.DirectionRTL
	}
	return di.DirectionLTR
}

// Width is how long the text is as one line, in em.
func (t *Text) Width() (width float64) {
	for _, run := range t.runs {
		width += toEm(run.Advance)
	}
	return width
}

// Fits reports whether lines of a width, in em, have the whole text without breaking a word. There are most of them.
func (t *Text) Fits(width float64, most int) bool {
	lines, whole := t.wrap(width, most, shaping.Never)
	return whole && !slices.ContainsFunc(lines, func(l Line) bool { return l.Width() > width+1e-6 })
}

// Lines are the first lines of the text, in a width in em, and whether they have the whole of it; if not, the last one ends with an
// ellipsis. A word is broken only if it is wider than a line.
func (t *Text) Lines(width float64, most int) (lines []Line, whole bool) {
	return t.wrap(width, most, shaping.WhenNecessary)
}

func (t *Text) wrap(width float64, most int, policy shaping.LineBreakPolicy) (lines []Line, whole bool) {
	if len(t.runes) == 0 || most <= 0 {
		return nil, len(t.runes) == 0
	}
	runs := slices.Clone(t.runs)
	for i := range runs { // the wrapper changes them
		runs[i].Glyphs = slices.Clone(runs[i].Glyphs)
	}
	var wrapper shaping.LineWrapper
	config := shaping.WrapConfig{Direction: t.direction, TruncateAfterLines: most, Truncator: t.more, BreakPolicy: policy}
	wrapped, left := wrapper.WrapParagraphF(config, fromEm(width), t.runes, shaping.NewSliceIterator(runs))
	for i, runs := range wrapped {
		var line Line
		for _, r := range runs {
			line = append(line, run{r, t.runes, t.bold != nil && r.Face != t.bold})
		}
		if left > 0 && i == len(wrapped)-1 {
			line[len(line)-1] = run{t.more, []rune(ellipsis), t.bold != nil && t.more.Face != t.bold}
		}
		line.trim()
		line.order(t.direction)
		lines = append(lines, line)
	}
	return lines, left == 0
}

// Width is how long the line is, in em.
func (l Line) Width() (width float64) {
	for _, r := range l {
		width += toEm(r.Advance)
	}
	return width
}

// stands is what a glyph stands for, together with the others of its cluster.
func (r run) stands(g shaping.Glyph) []rune {
	return r.text[g.TextIndex() : g.TextIndex()+g.RunesCount()]
}

func (r run) words() string {
	return string(r.text[r.Runes.Offset : r.Runes.Offset+r.Runes.Count])
}

// trim takes the room of spaces at the end of the line.
func (l Line) trim() {
	last := &l[len(l)-1]
	end := last.Runes.Offset + last.Runes.Count
	for i := range last.Glyphs {
		if g := &last.Glyphs[i]; strings.TrimSpace(string(last.text[g.TextIndex():end])) == "" {
			g.Advance = 0
		}
	}
	last.RecomputeAdvance()
}

// order sorts the runs as they are seen from the left (UAX #9, L2). The shaper tells directions and no levels: numbers between words
// from the right belong to them.
func (l Line) order(paragraph di.Direction) {
	levels, highest := make([]int, len(l)), 0
	right := func(i int) bool { return i >= 0 && i < len(l) && l[i].Direction == di.DirectionRTL }
	for i := range l {
		switch {
		case right(i):
			levels[i] = 1
		case paragraph == di.DirectionRTL, right(i-1) && right(i+1) && !strings.ContainsFunc(l[i].words(), unicode.IsLetter):
			levels[i] = 2
		}
		highest = max(highest, levels[i])
	}
	for level := highest; level > 0; level-- {
		for from := 0; from < len(levels); from++ {
			to := from
			for to < len(levels) && levels[to] >= level {
				to++
			}
			slices.Reverse(l[from:to])
			slices.Reverse(levels[from:to])
			from = to
		}
	}
}

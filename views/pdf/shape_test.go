package pdf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/go-text/typesetting/font/opentype"
)

func testDocument() *Document {
	return New("", "en", time.Unix(2e9, 0))
}

// glyphs are those of a text, from the left, without the marks of nothing.
func glyphs(t *testing.T, d *Document, words string) (list []uint32) {
	t.Helper()
	lines, whole := d.Shape(Sans, words, false).Lines(100, 1)
	if len(lines) != 1 || !whole {
		t.Fatalf("%q has %d lines", words, len(lines))
	}
	for _, r := range lines[0] {
		for _, g := range r.Glyphs {
			if g.GlyphID == 0 {
				t.Errorf("%q has a box", words)
			}
			list = append(list, uint32(g.GlyphID))
		}
	}
	return list
}

func TestShape_JoinsArabicLetters(t *testing.T) {
	t.Parallel()
	d := testDocument()
	word := glyphs(t, d, "بيت")
	var alone []uint32
	for _, letter := range "بيت" {
		alone = append(alone, glyphs(t, d, string(letter))...)
	}
	for _, g := range word[:1] {
		if slices.Contains(alone, g) {
			t.Errorf("the word has glyph %d of a letter that stands alone: %v of %v", g, word, alone)
		}
	}
	if joined, apart := glyphs(t, d, "لا"), glyphs(t, d, "ل\u200cا"); slices.Equal(joined, apart) {
		t.Errorf("lam and alef are %v, joined or not", joined)
	}
}

func TestShape_MakesConjunctsOfDevanagari(t *testing.T) {
	t.Parallel()
	d := testDocument()
	if got := glyphs(t, d, "क्ष"); len(got) != 1 {
		t.Errorf("three signs of one letter are %d glyphs", len(got))
	}
	// The vowel that is written behind its letter stands before it.
	letter, both := glyphs(t, d, "क"), glyphs(t, d, "कि")
	if len(both) != 2 || both[1] != letter[0] {
		t.Errorf("the letter is %v, and with its vowel %v", letter, both)
	}
}

func TestLines_AreInTheOrderOfTheEye(t *testing.T) {
	t.Parallel()
	d := testDocument()
	for text, want := range map[string]string{
		"abc 12 def": "abc 12 def", "אבג": "גבא", "אבג 18 דה 2033": "2033 הד 18 גבא", "אבג abc 5": "abc 5 גבא",
		"Order 5 אבג 18 דה end": "Order 5 הד 18 גבא end", "a אב b גד": "a בא b דג", "\u202eabc": "abc",
	} {
		lines, _ := d.Shape(Sans, text, false).Lines(100, 1)
		if got := seen(lines[0]); got != want {
			t.Errorf("%q is seen as %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"رقم 2030-000017": "2030-000017 مقر", "رقم 2030-05-02, 7QK-2ZX": "7QK-2ZX ,2030-05-02 مقر"} {
		lines, _ := d.Shape(Sans, text, true).Lines(100, 1)
		if got := strings.NewReplacer(fromLeft, "", fromRight, "").Replace(seen(lines[0])); got != want {
			t.Errorf("%q is seen as %q, want %q: it is another number", text, got, want)
		}
	}
	lines, _ := d.Shape(Sans, "abc דה", true).Lines(100, 1)
	if got := seen(lines[0]); got != "הד abc" {
		t.Errorf("a text of both directions begins at the left among lines that begin at the right: %q", got)
	}
}

// seen is what a line has from the left.
func seen(line Line) string {
	var b strings.Builder
	for _, r := range line {
		for _, g := range r.Glyphs {
			b.WriteString(string(r.stands(g)))
		}
	}
	return b.String()
}

func TestLines_BreakAtSpacesAndBetweenLettersThatHaveNone(t *testing.T) {
	t.Parallel()
	d := testDocument()
	read := func(words string, width float64, most int) (list []string, whole bool) {
		lines, whole := d.Shape(Sans, words, false).Lines(width, most)
		for _, line := range lines {
			list = append(list, strings.TrimSpace(seen(line)))
			if line.Width() > width+1e-6 {
				t.Errorf("%q is %.2f em wide, of %g", seen(line), line.Width(), width)
			}
		}
		return list, whole
	}
	if got, whole := read("one two three", 5, 9); !whole || !slices.Equal(got, []string{"one two", "three"}) {
		t.Errorf("words are %q", got)
	}
	if got, whole := read("李小龍李小龍李小龍", 4.2, 9); !whole || len(got) != 3 {
		t.Errorf("letters without spaces are %q", got)
	}
	if got, whole := read("one two three four", 5, 1); whole || len(got) != 1 || !strings.HasSuffix(got[0], "…") {
		t.Errorf("what does not fit is %q", got)
	}
	if got, whole := read(strings.Repeat("W", 30), 5, 20); !whole || len(got) < 4 {
		t.Errorf("a long word is %q", got)
	}
	text := d.Shape(Sans, "two "+strings.Repeat("W", 30), false)
	if text.Fits(5, 20) || !text.Fits(60, 1) {
		t.Error("it fits with a word broken, or not at all")
	}
	if lines, whole := d.Shape(Sans, " \t\u202e", false).Lines(5, 1); len(lines) != 0 || !whole {
		t.Errorf("nothing is %d lines", len(lines))
	}
}

// A pair of fonts that have nearly the same letters would split a name.
func TestShape_KeepsAWordInOneFace(t *testing.T) {
	t.Parallel()
	d := testDocument()
	for _, words := range []string{"Zoë Østergård", "Юлия Чайковская", "Nguyễn Thị Hồng", "Ωραία"} {
		lines, _ := d.Shape(bold, words, false).Lines(100, 1)
		for _, r := range lines[0] {
			if r.Face != lines[0][0].Face {
				t.Errorf("%s is in several faces", words)
			}
		}
	}
}

func TestFonts_EachIsReadAndHasItsScript(t *testing.T) {
	t.Parallel()
	d := testDocument()
	for script, letters := range map[string]string{
		"Latin": "AZazßéø", "Greek": "ΑΩαω", "Cyrillic": "АЯая", "Arabic": "ابيپچ،؟", "Armenian": "Աա", "Bengali": "অআক", "Devanagari": "अआकक्ष", "Ethiopic": "ሀለ", "Georgian": "აბ",
		"Gujarati": "અક", "Gurmukhi": "ਅਕ", "Hebrew": "אבת", "Kannada": "ಅಕ", "Khmer": "កខ", "Lao": "ກຂ", "Malayalam": "അക", "Myanmar": "ကခ", "Sinhala": "අක", "Tamil": "அக",
		"Telugu": "అక", "Thai": "กข", "kana": "あア", "Han": "山龙龍髙﨑", "Hangul": "가한글똑힣", "signs": "€£¥₹₽•·…–—“”„«»→★☆♪№©®™",
	} {
		for _, r := range letters {
			lines, _ := d.Shape(Sans, string(r), false).Lines(100, 1)
			if g := lines[0][0].Glyphs[0]; g.GlyphID == 0 {
				t.Errorf("%s: no font has %c (%U)", script, r, r)
			}
		}
	}
}

// An outline as TrueType has no cubic curves. They are drawn so near that no reader sees the difference.
func TestQuadratic_IsWithinHalfAUnit(t *testing.T) {
	t.Parallel()
	d := testDocument()
	face := d.faces.face(common)
	gid, _ := face.NominalGlyph('あ')
	data, _ := face.GlyphDataOutline(gid)
	if n := outlineOf(data.Segments, 0, 0).points(); n == 0 || n > 400 {
		t.Errorf("a letter has %d points", n)
	}
	p := [4][2]float64{{0, 0}, {0, 552}, {448, 1000}, {1000, 1000}} // a quarter of a circle around 1000, 0
	for _, q := range quadratic(at(p[0]), at(p[1]), at(p[2]), at(p[3])) {
		x, y := float64(q[1].X), float64(q[1].Y)
		if r := (1000-x)*(1000-x) + y*y; r < 999*999 || r > 1001*1001 {
			t.Errorf("%g, %g is not on the circle", x, y)
		}
	}
}

func at(p [2]float64) (q opentype.SegmentPoint) {
	return opentype.SegmentPoint{X: float32(p[0]), Y: float32(p[1])}
}

func TestFonts_HaveEveryLetterOfTheCatalogues(t *testing.T) {
	t.Parallel()
	d := testDocument()
	list, _ := filepath.Glob("../../seats/text/po/*.po")
	if len(list) == 0 {
		t.Fatal("there is no catalogue")
	}
	for _, name := range list {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[rune]bool{}
		for _, r := range string(content) {
			if seen[r] || !unicode.IsPrint(r) {
				continue
			}
			seen[r] = true
			if !has(d.faces.ResolveFace(r), r) {
				t.Errorf("%s: no font has %c (%U)", filepath.Base(name), r, r)
			}
		}
	}
}

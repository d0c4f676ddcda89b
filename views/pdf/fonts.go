package pdf

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"

	"github.com/usherbox/usher/static"
)

// Sans is the face that has Latin, Greek and Cyrillic letters. Others stand in for it where a text needs them.
const Sans = "noto-sans.ttf"

// bold is a face that is bold. Others that stand in for it are drawn heavier than they are.
const bold = "bricolage-grotesque.ttf"

// common are the letters of Chinese, Japanese and Korean that are in use, and many signs.
const common = "noto-sans-cjk.otf"

// scripts has the face of each script that Sans does not have.
var scripts = map[language.Script]string{
	language.Arabic: "noto-sans-arabic.ttf", language.Armenian: "noto-sans-armenian.ttf", language.Bengali: "noto-sans-bengali.ttf",
	language.Devanagari: "noto-sans-devanagari.ttf", language.Ethiopic: "noto-sans-ethiopic.ttf", language.Georgian: "noto-sans-georgian.ttf",
	language.Gujarati: "noto-sans-gujarati.ttf", language.Gurmukhi: "noto-sans-gurmukhi.ttf", language.Hebrew: "noto-sans-hebrew.ttf",
	language.Kannada: "noto-sans-kannada.ttf", language.Khmer: "noto-sans-khmer.ttf", language.Lao: "noto-sans-lao.ttf",
	language.Malayalam: "noto-sans-malayalam.ttf", language.Myanmar: "noto-sans-myanmar.ttf", language.Sinhala: "noto-sans-sinhala.ttf",
	language.Tamil: "noto-sans-tamil.ttf", language.Telugu: "noto-sans-telugu.ttf", language.Thai: "noto-sans-thai.ttf",
	language.Han: common, language.Hiragana: common, language.Katakana: common, language.Hangul: common, language.Bopomofo: common,
}

// parsed are the fonts that were used so far. Each is read once.
var parsed sync.Map // name to *font.Font

func parse(name string) *font.Font {
	if known, ok := parsed.Load(name); ok {
		f, _ := known.(*font.Font) // nothing else is stored
		return f
	}
	face, err := font.ParseTTF(bytes.NewReader(static.Print(name)))
	if err != nil {
		panic("pdf: read font " + name + ": " + err.Error()) // embedded files are what they are, and a test reads them
	}
	parsed.Store(name, face.Font)
	return face.Font
}

// faces chooses the face of each letter of a text. It belongs to one document, since its faces are not for concurrent use.
type faces struct {
	known  map[string]*font.Face
	names  map[*font.Face]string
	script language.Script // of the letters that are asked for next
	wanted string          // the face of the text
}

func (f *faces) face(name string) *font.Face {
	if f.known[name] == nil {
		f.known[name] = font.NewFace(parse(name))
		f.names[f.known[name]] = name
	}
	return f.known[name]
}

// want sets the face of a text: the given one, or Sans if it lacks a letter of the text that Sans may have. So a word is in one
// face.
func (f *faces) want(face string, text []rune) {
	f.wanted = face
	for _, r := range text {
		switch language.LookupScript(r) {
		case language.Latin, language.Greek, language.Cyrillic:
			if !has(f.face(face), r) {
				f.wanted = Sans
				return
			}
		}
	}
}

func has(face *font.Face, r rune) bool {
	_, ok := face.NominalGlyph(r)
	return ok
}

// SetScript is called by the shaper. Signs and digits get the script of the letters before them.
func (f *faces) SetScript(s language.Script) { f.script = s }

// ResolveFace is called by the shaper. A letter that no font has gets the first face, which shows a box.
func (f *faces) ResolveFace(r rune) *font.Face {
	for _, name := range []string{scripts[f.script], f.wanted, Sans, scripts[language.LookupScript(r)], common} {
		if name != "" && has(f.face(name), r) {
			return f.face(name)
		}
	}
	for _, name := range slices.Sorted(maps.Values(scripts)) { // a sign of another script, such as its comma
		if has(f.face(name), r) {
			return f.face(name)
		}
	}
	return f.face(Sans)
}

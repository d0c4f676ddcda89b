package views

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"strings"
	"sync"
	"unicode"

	scale "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/usherbox/usher/static"
)

// CardWidth and CardHeight are the size of the picture that goes with a shared link.
const (
	CardWidth  = 1200
	CardHeight = 630
)

// Card is the picture that goes with a shared link to an event.
type Card struct {
	Seed  string // of the poster
	Title string
	Lines []string // date and place
	Photo []byte   // JPEG; none: the poster of Seed
}

const (
	cardText  = 620 // the poster begins there
	cardLeft  = 64
	cardPaper = "#faf7f0"
	cardInk   = "#17161a"
	cardMuted = "#5c574e"
)

// JPEG draws the card. A title in letters that no font here has is left out: the link says it, too.
func (c Card) JPEG() ([]byte, error) {
	picture := image.NewRGBA(image.Rect(0, 0, CardWidth, CardHeight))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(hex(cardPaper)), image.Point{}, draw.Src)
	if err := cmp.Or(c.poster(picture), c.words(picture)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: 88}); err != nil {
		return nil, fmt.Errorf("views: write a picture: %w", err)
	}
	return out.Bytes(), nil
}

// poster draws the photograph, or the poster, so that it covers the right part of the card.
func (c Card) poster(on *image.RGBA) error {
	area := image.Rect(cardText, 0, CardWidth, CardHeight)
	if len(c.Photo) > 0 {
		photo, err := jpeg.Decode(bytes.NewReader(c.Photo))
		if err != nil {
			return fmt.Errorf("views: read a photograph: %w", err)
		}
		scale.ApproxBiLinear.Scale(on, area, photo, covering(photo.Bounds(), area), draw.Src, nil)
		return nil
	}
	return drawPoster(on, area, posterSVG(c.Seed))
}

// covering is the middle of a picture in the shape of an area.
func covering(picture, area image.Rectangle) image.Rectangle {
	wide, high := picture.Dx(), picture.Dx()*area.Dy()/area.Dx()
	if high > picture.Dy() {
		wide, high = picture.Dy()*area.Dx()/area.Dy(), picture.Dy()
	}
	left, top := picture.Min.X+(picture.Dx()-wide)/2, picture.Min.Y+(picture.Dy()-high)/2
	return image.Rect(left, top, left+wide, top+high)
}

// words writes title, date and place on the left of the card.
func (c Card) words(on draw.Image) error {
	const most = cardText - 2*cardLeft
	lines, face, size, err := fitted(c.Title, most)
	if err != nil {
		return err
	}
	below := cardLeft + size
	for _, line := range lines {
		write(on, face, hex(cardInk), cardLeft, below, line)
		below += size * 112 / 100
	}
	below = CardHeight - cardLeft - 42*(len(c.Lines)-1)
	for _, line := range c.Lines {
		small, ok, err := faceOf(line, 28, "instrument-sans.ttf")
		if err != nil {
			return err
		}
		if ok {
			write(on, small.face, hex(cardMuted), cardLeft, below, shortened(small.face, line, most))
		}
		below += 42
	}
	return nil
}

// fitted breaks a title into lines, in the largest size that fits.
func fitted(title string, most int) (lines []string, face font.Face, size int, err error) {
	for _, size = range []int{76, 64, 54, 46, 38} {
		f, ok, err := faceOf(title, size, "bricolage-grotesque.ttf")
		if face = f.face; err != nil || !ok {
			return nil, face, size, err
		}
		var fits bool
		if lines, fits = broken(face, title, most); fits && len(lines)*size*112/100 <= 360 {
			return lines, face, size, nil
		}
	}
	const last = 7
	if len(lines) > last {
		lines = append(lines[:last-1], lines[last-1]+"…")
	}
	for i := range lines {
		lines[i] = shortened(face, lines[i], most)
	}
	return lines, face, size, nil
}

// faceOf returns a font that has all letters of a text, or false. Letters that join or change their order are not drawn:
// no font here shapes them.
func faceOf(text string, size int, first string) (s sized, ok bool, err error) {
	for _, r := range text {
		if !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common) {
			return s, false, nil
		}
	}
	for _, name := range []string{first, "noto-sans.ttf"} {
		if s, err = faceFor(name, size); err != nil || writable(s, text) {
			return s, err == nil, err
		}
	}
	return s, false, nil
}

// Prints reports whether a font of package static has all letters of a text, and writes them as they stand: it joins and reorders
// none.
func Prints(name, text string) bool {
	for _, r := range text {
		if !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common) {
			return false
		}
	}
	s, err := faceFor(name, 10)
	return err == nil && writable(s, text)
}

// broken puts words into lines, and reports whether each line fits.
func broken(face font.Face, text string, most int) (lines []string, fits bool) {
	fits = true
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && font.MeasureString(face, lines[n-1]+" "+word).Ceil() <= most {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
		fits = fits && font.MeasureString(face, word).Ceil() <= most
	}
	return lines, fits
}

// shortened cuts a line that is too long.
func shortened(face font.Face, line string, most int) string {
	if font.MeasureString(face, line).Ceil() <= most {
		return line
	}
	letters := []rune(line)
	for len(letters) > 0 && font.MeasureString(face, string(letters)+"…").Ceil() > most {
		letters = letters[:len(letters)-1]
	}
	return strings.TrimSpace(string(letters)) + "…"
}

func write(on draw.Image, face font.Face, ink color.Color, x, y int, text string) {
	d := font.Drawer{Dst: on, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(text)
}

// sized is a font in a size.
type sized struct {
	font *sfnt.Font
	face font.Face
}

// parsed are the fonts of cards; each is read once.
var parsed sync.Map // by name

func faceFor(name string, size int) (s sized, err error) {
	known, ok := parsed.Load(name)
	if !ok {
		f, err := opentype.Parse(static.Print(name))
		if err != nil {
			return s, fmt.Errorf("views: read font %s: %w", name, err)
		}
		known, _ = parsed.LoadOrStore(name, f)
	}
	s.font, _ = known.(*sfnt.Font) // nothing else is stored
	if s.face, err = opentype.NewFace(s.font, &opentype.FaceOptions{Size: float64(size), DPI: 72}); err != nil {
		return s, fmt.Errorf("views: size font %s: %w", name, err)
	}
	return s, nil
}

// writable reports whether a font has all letters of a text.
func writable(s sized, text string) bool {
	var buffer sfnt.Buffer
	for _, r := range text {
		if glyph, err := s.font.GlyphIndex(&buffer, r); err != nil || glyph == 0 {
			return false
		}
	}
	return true
}

// hex reads a color such as #17161a.
func hex(text string) color.NRGBA {
	c := color.NRGBA{A: 255}
	_, _ = fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B) // they are constants, and a test draws each palette
	return c
}

package shop

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"

	"codeberg.org/go-pdf/fpdf"

	"github.com/usherbox/usher/seats/pages"
)

// Print is the branding of a team for papers. The zero one is the standard look.
type Print struct {
	Branding *pages.Branding
	Logo     []byte // JPEG; nil without one

	About   *pages.EventPage // of the event of a ticket; may be nil
	Seed    string           // of the picture that is drawn where there is none; empty: the slug of the event
	Picture []byte           // of a ticket, JPEG; nil: the drawn one, or none in a plain layout
}

// colour is that of lines and bars: the team's accent, else its buttons'. Paper is a light ground.
func (p Print) colour() (c pages.Colour, own bool) {
	button, accent := p.Branding.Shades(false)
	switch {
	case accent != nil:
		return accent.Shown, true
	case button != nil:
		return button.Shown, true
	}
	return pages.Colour{R: 120, G: 120, B: 120}, false
}

// draws makes lines have the colour.
func (p Print) draws(doc *fpdf.Fpdf) {
	c, _ := p.colour()
	doc.SetDrawColor(int(c.R), int(c.G), int(c.B))
}

// ground is the colour that a ticket has behind its title, and that of the words on it.
func (p Print) ground() (ground, words pages.Colour) {
	if button, _ := p.Branding.Shades(false); button != nil {
		return button.Shown, button.On
	}
	return ink, white
}

// covers puts a picture of the document into a box, which it fills; what is too much of it is cut off.
func covers(doc *fpdf.Fpdf, name string, b box) {
	info := doc.GetImageInfo(name)
	if info == nil {
		return
	}
	w, h := b.w, b.w*info.Height()/info.Width()
	if h < b.h {
		w, h = b.h*info.Width()/info.Height(), b.h
	}
	doc.ClipRect(b.x, b.y, b.w, b.h, false)
	doc.ImageOptions(name, b.x-(w-b.w)/2, b.y-(h-b.h)/2, w, h, false, fpdf.ImageOptions{ImageType: "JPG"}, 0, "")
	doc.ClipEnd()
}

// stencil is the logo in black and white alone, as printers of rolls print it; nil without one.
func (p Print) stencil() []byte {
	if p.Logo == nil {
		return nil
	}
	logo, err := jpeg.Decode(bytes.NewReader(p.Logo))
	if err != nil {
		return nil // a paper without a logo is better than none
	}
	dots := image.NewPaletted(logo.Bounds(), color.Palette{color.White, color.Black})
	draw.FloydSteinberg.Draw(dots, dots.Rect, logo, logo.Bounds().Min)
	var b bytes.Buffer
	if err := png.Encode(&b, dots); err != nil {
		return nil
	}
	return b.Bytes()
}

// logo puts the logo into a box, which it fills in width or in height, at the right.
func (p Print) logo(doc *fpdf.Fpdf, x, y, width, height float64) {
	p.logoAt(doc, box{x, y, width, height}, 1)
}

// middleLogo is logo in the middle of a box.
func (p Print) middleLogo(doc *fpdf.Fpdf, b box) { p.logoAt(doc, b, 0.5) }

func (p Print) logoAt(doc *fpdf.Fpdf, b box, part float64) {
	pic := p.Branding.Picture(pages.Logo)
	if pic == nil || p.Logo == nil || doc.Err() {
		return
	}
	options := fpdf.ImageOptions{ImageType: "JPG"}
	if doc.RegisterImageOptionsReader("logo", options, bytes.NewReader(p.Logo)); doc.Err() {
		doc.ClearError() // a paper without a logo is better than none
		return
	}
	w := min(b.w, b.h*float64(pic.Width)/float64(pic.Height))
	doc.ImageOptions("logo", b.x+(b.w-w)*part, b.y, w, w*float64(pic.Height)/float64(pic.Width), false, options, 0, "")
}

package shop

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"

	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/views/pdf"
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
func (p Print) draws(doc *pdf.Document) {
	c, _ := p.colour()
	doc.Pen = pdf.Pen{Colour: pdf.Colour(c), Width: 0.3}
}

// ground is the colour that a ticket has behind its title, and that of the words on it.
func (p Print) ground() (ground, words pages.Colour) {
	if button, _ := p.Branding.Shades(false); button != nil {
		return button.Shown, button.On
	}
	return ink, white
}

// stencil is the logo in black and white alone, as printers of rolls print it; nil without one.
func (p Print) stencil() *image.Paletted {
	if p.Logo == nil {
		return nil
	}
	logo, err := jpeg.Decode(bytes.NewReader(p.Logo))
	if err != nil {
		return nil // a paper without a logo is better than none
	}
	dots := image.NewPaletted(logo.Bounds(), color.Palette{color.White, color.Black})
	draw.FloydSteinberg.Draw(dots, dots.Rect, logo, logo.Bounds().Min)
	return dots
}

// takeLogo puts the logo into a document; nil without one, or if it cannot be read: a paper without a logo is better than none.
func (p Print) takeLogo(doc *pdf.Document) *pdf.Image {
	if p.Branding.Picture(pages.Logo) == nil || p.Logo == nil {
		return nil
	}
	logo, err := doc.JPEG(p.Logo)
	if err != nil {
		return nil
	}
	return logo
}

// logoAt puts the logo into a box, which it fills in width or in height. part says where: 0 is its left end, 1 its right one.
func logoAt(doc *pdf.Document, logo *pdf.Image, b box, part float64) {
	if logo == nil || b.h <= 0 {
		return
	}
	w := min(b.w, b.h*float64(logo.Width)/float64(logo.Height))
	doc.Put(logo, b.x+(b.w-w)*part, b.y, w, w*float64(logo.Height)/float64(logo.Width))
}

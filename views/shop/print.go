package shop

import (
	"bytes"

	"codeberg.org/go-pdf/fpdf"

	"github.com/usherbox/usher/seats/pages"
)

// Print is the branding of a team for papers. The zero one is the standard look.
type Print struct {
	Branding *pages.Branding
	Logo     []byte // JPEG; nil without one
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

// logo puts the logo into a box, which it fills in width or in height, at the right.
func (p Print) logo(doc *fpdf.Fpdf, x, y, width, height float64) {
	pic := p.Branding.Picture(pages.Logo)
	if pic == nil || p.Logo == nil || doc.Err() {
		return
	}
	options := fpdf.ImageOptions{ImageType: "JPG"}
	if doc.RegisterImageOptionsReader("logo", options, bytes.NewReader(p.Logo)); doc.Err() {
		doc.ClearError() // a paper without a logo is better than none
		return
	}
	w := min(width, height*float64(pic.Width)/float64(pic.Height))
	doc.ImageOptions("logo", x+width-w, y, w, w*float64(pic.Height)/float64(pic.Width), false, options, 0, "")
}

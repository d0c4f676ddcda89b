package e2e

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// aDrawing is a PNG whose colours run from one corner to the other, around a ring.
func aDrawing(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			dx, dy := x-width/2, y-height/2
			c := color.NRGBA{uint8(40 + 180*x/width), uint8(30 + 60*y/height), 90, 255}
			if d := dx*dx + dy*dy; d < height*height/6 && d > height*height/12 {
				c = color.NRGBA{250, 230, 180, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	check(t, png.Encode(&b, m))
	return b.Bytes()
}

func (p *person) addsTeamPicture(kind, alt string, file []byte) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Picture", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).SetInputFiles([]playwright.InputFile{{Name: "a.png", MimeType: "image/png", Buffer: file}}))
	p.fills("What it shows", alt)
	check(p.t, p.page.Locator(`[name="kind"][value="`+kind+`"]`).Check())
	p.press(p.button("Add picture"))
	p.sees(p.page.GetByText("The picture was added."))
}

func TestBranding_PagesInTheColoursOfATeamAreAccessible(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--price", "A=95.00", "--venue", "Lindengasse Playhouse, Vienna")
			olga, bob := someone(t, o, "olga", d), someone(t, o, "bob", d)
			olga.entersDesk(o.owner(t))
			olga.visit("/desk/branding")
			olga.addsTeamPicture("logo", "Lindengasse Playhouse", aDrawing(t, 400, 160))
			olga.addsTeamPicture("header", "The stage from above", aDrawing(t, 1600, 700))
			olga.fills("Buttons", "#ffe066", "Highlights", "#e05a8a", "Name of the sender", "Lindengasse Playhouse", "Text of link 1", "Our website", "Address of link 1", "https://example.org/")
			check(t, olga.page.GetByLabel("Serif titles").Check())
			olga.press(olga.button("Preview"))
			olga.sees(olga.page.GetByText("This is not saved yet."))
			olga.press(olga.button("Save branding"))
			olga.sees(olga.page.GetByText("Pages show").First())
			olga.inBothLights("desk-branding")

			bob.visit("/events")
			bob.inBothLights("branded-programme")
			bob.openEvent(slug)
			bob.inBothLights("branded-event")
			bob.asksForBest(2, "A")
			bob.inBothLights("branded-seats")
			bob.visit("/events/" + slug + "/checkout")
			bob.inBothLights("branded-checkout")
		})
	}
}

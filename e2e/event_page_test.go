package e2e

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// dusk is the file of a picture: a bright one, on which white words are hardest to read.
func dusk(t *testing.T) playwright.InputFile {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 1600, 900))
	for y := range 900 {
		for x := range 1600 {
			m.SetNRGBA(x, y, color.NRGBA{255, uint8(220 + y%30), uint8(200 + x%50), 255})
		}
	}
	var b bytes.Buffer
	check(t, png.Encode(&b, m))
	return playwright.InputFile{Name: "dusk.png", MimeType: "image/png", Buffer: b.Bytes()}
}

func TestEventPage_AnOrganizerWritesItAndABuyerGoesOnToTheSeats(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--price", "A=95.00", "--venue", "Lindengasse Playhouse")
			ann, bob := someone(t, o, "ann", d), someone(t, o, "bob", d)
			ann.entersDesk(o.owner(t))
			ann.visit("/desk/events/" + slug + "/page")
			ann.fills("Line under the name", "by Anton Chekhov", "Description", "Four people by a lake.\n\n# Cast\n\n| | |\n|---|---|\n| Nina | Lea Brandauer |", "How to get there", "Take the U3.",
				"What to expect: access for people with disabilities", "Step-free.", "Category", "Play", "Doors open (minutes before the start)", "45", "Running time (minutes, with intervals)", "160", "Street and number", "Lindengasse 42", "Town", "Vienna")
			ann.press(ann.button("Save event page"))
			ann.sees(ann.page.GetByText("Saved."))
			check(t, ann.page.Locator("input[type=file]").SetInputFiles([]playwright.InputFile{dusk(t)}))
			check(t, ann.page.Locator("input[name=alt]").First().Fill("A lake at dusk"))
			ann.press(ann.button("Add picture"))
			ann.sees(ann.page.GetByText("The picture was added."))
			ann.inBothLights("desk-event-page")

			bob.visit("/events/" + slug)
			bob.sees(bob.page.GetByText("Lea Brandauer"))
			bob.sees(bob.page.GetByAltText("A lake at dusk"))
			bob.inBothLights("event-page")
			bob.press(bob.page.Locator("a.primary:visible"))
			bob.seesMap()
			bob.asksForBest(2, "A")
			bob.press(bob.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "About this event"}))
			bob.press(bob.page.Locator("a.primary:visible"))
			bob.holdsSeats(2)
		})
	}
}

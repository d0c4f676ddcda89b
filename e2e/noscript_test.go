package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestWithoutScriptASeatIsFoundHeldAndGivenBack(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--name", "A play for the patient")
	plain := phone
	plain.noScript = true
	ann := someone(t, boxOffice, "ann", plain)

	ann.visit("/events")
	check(t, ann.page.Locator("input[name=q]").Fill("for the patient"))
	check(t, ann.page.Locator("input[name=q]").Press("Enter"))
	ann.press(ann.page.Locator(`a[href="/events/` + slug + `"]`).First())
	ann.press(ann.page.Locator(`a[href="/events/` + slug + `/sections/0"]`).First())
	ann.sees(ann.holdButton()) // prices stand on the page before as well
	ann.press(ann.page.Locator(`.prices [data-category="B"] a`))
	ann.sees(ann.page.Locator(".off", playwright.PageLocatorOptions{Has: ann.seat("Stalls/C/12")}))
	check(t, expect.Locator(ann.page.Locator(`.sections a[href$="/sections/1?price=B"]`)).ToHaveCount(1))
	row := ann.page.GetByRole("group", playwright.PageGetByRoleOptions{Name: "Row C"})
	check(t, row.Locator(`input[value="Stalls/C/12"]`).Check())
	check(t, row.Locator(`input[value="Stalls/C/13"]`).Check())
	ann.press(ann.holdButton())
	ann.holds("Stalls/C/12", "Stalls/C/13")
	ann.sees(ann.page.GetByText("227 seats here match.")) // the form came back to what was looked for
	ann.press(ann.page.GetByText("Show all seats").First())
	check(t, expect.Locator(ann.page.Locator(".off")).ToHaveCount(0))

	ann.giveBack("Stalls/C/12")
	ann.holdsSeats(1)
	ann.holds("Stalls/C/13")
	if r := someProgram(t, boxOffice).remaining(slug); r.Held != 1 {
		t.Errorf("the counts are %+v, want 1 held", r)
	}
}

func TestWithoutScriptAConflictKeepsMyOtherSeatsAndOffersTheNearest(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	plain := desktop
	plain.noScript = true
	ann := someone(t, boxOffice, "ann", plain)
	ann.openSection(slug, 0)
	check(t, ann.seat("Stalls/C/11").Check())
	ann.press(ann.holdButton())
	ann.holds("Stalls/C/11")

	ann.settles(ann.seat("Stalls/E/12")) // the button to hold seats covers what is at the edge
	check(t, ann.seat("Stalls/C/12").Check())
	someProgram(t, boxOffice).claim(slug, "Stalls/C/12")
	ann.press(ann.holdButton())
	ann.readsRefusal("Stalls/C/12")
	ann.visit("/events") // and back by the browser's button: no form is sent again
	_, err := ann.page.GoBack()
	check(t, err)
	ann.readsRefusal("Stalls/C/12")
	ann.holds("Stalls/C/11")
	ann.takesTheOffer()
	ann.holdsSeats(2)
}

func TestWithoutScriptASeatIsBought(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre")
	plain := phone
	plain.noScript = true
	ann := someone(t, boxOffice, "ann", plain)
	ann.visit("/events/" + slug)
	ann.press(ann.page.Locator(`a[href="/events/` + slug + `/sections/1"]`).First())
	check(t, ann.seat("Boxes left/1/1").Check())
	ann.press(ann.holdButton())
	ann.holds("Boxes left/1/1")
	ann.press(ann.button("Check out"))
	ann.orders("Ann Ørsted", ownAddress(t), "")
	ann.hasTickets(1)
}

package e2e

import (
	"os/exec"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// firefox starts the Firefox of the system, which is driven over WebDriver BiDi, and closes it at the end of the test.
func firefox(t *testing.T) playwright.Browser {
	t.Helper()
	var path string
	for _, name := range []string{"firefox-esr", "firefox"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatal(`there is no Firefox (run "make browser")`)
	}
	fox, err := driver.Firefox.Launch(playwright.BrowserTypeLaunchOptions{
		Channel:        playwright.String("moz-firefox"),
		ExecutablePath: &path,
		Timeout:        playwright.Float(float64(3 * patience.Milliseconds())),
	})
	check(t, err)
	t.Cleanup(func() { _ = fox.Close() })
	return fox
}

// The way from the programme by the page of the event to a ticket, as in Chromium: by pointer and by keyboard, live, without a complaint of the browser.
func TestMainPathInFirefox(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead", "--name", "An evening with Firefox")
	olga := someone(t, boxOffice, "olga", desktop)
	olga.entersDesk(boxOffice.owner(t))
	olga.visit("/desk/events/" + slug + "/page")
	olga.fills("Line under the name", "by Anton Chekhov", "Description", "Four people by a lake.\n\n# Cast\n\nNina: Lea Brandauer")
	olga.press(olga.button("Save event page"))
	olga.sees(olga.page.GetByText("Saved."))
	check(t, olga.page.Locator("input[type=file]").SetInputFiles([]playwright.InputFile{dusk(t)}))
	check(t, olga.page.Locator("input[name=alt]").First().Fill("A lake at dusk"))
	olga.press(olga.button("Add picture"))
	olga.sees(olga.page.GetByText("The picture was added."))
	ann, bob := someoneWith(t, firefox(t), boxOffice, "ann", desktop), someProgram(t, boxOffice)
	keys := ann.page.Keyboard()

	ann.visit("/events?q=Firefox")
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "An evening with Firefox"}).First())
	ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "An evening with Firefox"}).First())
	ann.sees(ann.page.GetByText("Nina: Lea Brandauer"))
	ann.sees(ann.page.GetByAltText("A lake at dusk"))
	ann.press(ann.page.Locator("a.primary:visible").First())
	ann.isLive()
	ann.seesMap()
	ann.tabTo(ann.page.Locator(`a[href$="/sections/0"]:not([tabindex="-1"])`).First())
	check(t, keys.Press("Enter"))
	ann.sees(ann.seat("Stalls/A/1"))
	ann.isLive()
	bob.claim(slug, "Stalls/C/14")
	ann.seesTaken("Stalls/C/14") // without a reload

	ann.take("Stalls/C/12")
	check(t, keys.Press("ArrowLeft"))
	next := ann.focusedSeat()
	check(t, keys.Press("Space"))
	ann.holds("Stalls/C/12", next)
	ann.giveBack(next)

	ann.press(ann.button("Check out"))
	ann.orders("Ann Ørsted", ownAddress(t), "")
	ann.sees(ann.page.GetByText("No money moves here."))
	ann.card("Pay")
	ann.hasTickets(1)
	ann.sees(ann.page.GetByText("Stalls, row C, seat 12").First())
	if r := bob.remaining(slug); r.Held != 1 {
		t.Errorf("the counts are %+v, want one held: bob's", r)
	}
}

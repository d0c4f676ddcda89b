package e2e

import (
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// An organizer finds an order from the home of the desk by the first letters of a name, with the keyboard alone.
func TestHome_FindsAnOrderFromEveryPageByKeyboard(t *testing.T) {
	t.Parallel()
	devices := []device{desktop}
	if *pictures != "" {
		devices = append(devices, phone)
	}
	for _, d := range devices {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := boxOffice
			slug := o.event(t, "conference")
			ann, olga := someone(t, o, "ann", d), someone(t, o, "olga", d)
			ann.visit("/events/" + slug)
			ann.asksForPlaces("Places", 1)
			ann.holdsSeats(1)
			ann.press(ann.button("Check out"))
			ann.orders("Zenobia "+strings.ReplaceAll(d.String(), "/", ""), "zenobia."+d.String()+"@home.example.org", "")
			ann.hasTickets(1)

			olga.entersDesk(o.organizer(t, "Olga", "manager"))
			olga.visit("/desk")
			olga.sees(olga.page.Locator("#today"))
			olga.inBothLights("desk-home")
			olga.isAccessible("desk-home", checkup)
			olga.keys("Control+k")
			check(t, olga.page.Keyboard().Type("zenobia "+d.String()))
			olga.sees(olga.page.GetByRole("option", playwright.PageGetByRoleOptions{Name: "Zenobia"}).First()) // the order; then comes the customer
			olga.sees(olga.page.Locator(".palette input[aria-activedescendant]"))                              // of all that was typed
			olga.inBothLights("desk-palette")
			olga.keys("Enter")
			olga.sees(olga.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Zenobia"}))
			olga.visit("/desk/alerts")
			check(t, olga.page.GetByLabel("An event is sold out").Check())
			olga.press(olga.button("Save"))
			olga.sees(olga.page.GetByText("Saved."))
			check(t, expect.Locator(olga.page.GetByLabel("An event is sold out")).ToBeChecked())
			olga.press(olga.button("Send me one now"))
			olga.sees(olga.page.GetByText("The email is on its way to you."))
			olga.visit("/desk/alerts")
			olga.inBothLights("desk-alerts")
			olga.visit("/desk/search?q=zenobia")
			olga.sees(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Zenobia " + d.String()}).First())
			olga.inBothLights("desk-search")
			olga.visit("/desk/events?show=all")
			olga.inBothLights("desk-events-all")
		})
	}
}

package e2e

import (
	"path"
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestTestSale_AnOrganizerTriesAnEventBeforeItsSale(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			olga, ann := someone(t, o, "olga", d), someone(t, o, "ann", d)
			olga.entersDesk(o.owner(t))
			olga.press(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "New event"}))
			olga.fills("Name", "First night")
			olga.press(olga.button("Create draft"))
			olga.press(olga.button("Start a test sale"))
			olga.sees(olga.page.GetByText("The test sale is open."))
			olga.inBothLights("desk-test-sale")
			address, err := olga.page.Locator("#test a").First().GetAttribute("href")
			check(t, err)
			slug := path.Base(address)

			ann.visit("/events")
			check(t, expect.Locator(ann.page.GetByText("First night")).ToHaveCount(0))
			ann.openEvent(slug)
			ann.sees(ann.page.GetByText("This is a test: no money moves"))
			ann.inBothLights("test-sale")
			ann.picksToPay(slug, 1)
			ann.card("Pay")
			ann.hasTickets(1)
			ann.sees(ann.page.GetByText("TEST · First night").First())
			ann.inBothLights("test-sale-order")

			olga.press(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Desk of the test sale"}))
			olga.sees(olga.page.GetByText("your figures leave it out"))
			olga.inBothLights("desk-of-a-test-sale")
			olga.press(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Back to the event"}))
			olga.expect("409")
			olga.press(olga.button("Put on sale now"))
			olga.press(olga.button("Put on sale without it"))
			olga.sees(olga.page.GetByText("Attendees can buy tickets."))
			ann.visit("/events/" + slug)
			ann.seesAfterReload("This test is over.")
		})
	}
}

package e2e

import (
	"path"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// An attendee exchanges two tickets for another date of the series, and pays the fee. A member exchanges both of them back without,
// in six clicks and entries at most.
func TestExchange_AttendeeAndDeskMoveTicketsToAnotherDate(t *testing.T) {
	t.Parallel()
	for _, d := range []device{phone, desktop} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--demo-card", "--paid-ahead", "--exchange-until", "1 day", "--exchange-fee", "2.00")
			ann, owner := someone(t, o, "ann", d), someone(t, o, "owner", d)
			owner.entersDesk(o.owner(t))
			owner.visit("/desk/events/" + slug + "/series")
			check(t, owner.page.GetByLabel("Tue", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).SetChecked(true))
			owner.fills("First day", "2033-06-07", "Final day", "2033-06-07")
			owner.press(owner.button("Make the series"))
			owner.sees(owner.page.GetByText("2 dates"))
			_, err := owner.page.GetByLabel("Status").SelectOption(playwright.SelectOptionValues{Values: playwright.StringSlice("on sale")})
			check(t, err)
			owner.press(owner.button("Show what changes"))
			owner.press(owner.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Change 1 performance"}))
			owner.sees(owner.page.GetByText("Done. Every open page knows within a second."))

			ann.picksToPay(slug, 2)
			ann.card("Pay")
			ann.hasTickets(2)
			order := path.Base(ann.page.URL())
			ann.seesAfterReload("You can exchange tickets for another date until") // the charge may take a moment
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Exchange for another date"}))
			ann.sees(ann.page.GetByText("Same seats: €4 to pay"))
			ann.inBothLights("exchange-dates")
			ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Choose seats for Tue 7 Jun"}))
			ann.sees(ann.button("Find best seats"))
			ann.inBothLights("exchange-seats")
			ann.press(ann.button("Find best seats"))
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your old and new seats"}))
			ann.inBothLights("exchange-confirm")
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Change seats"}))
			ann.seesMap() // of the other date
			ann.press(ann.button("Remove all"))
			ann.seesMap()
			ann.press(ann.page.Locator(`a[href$="/sections/0"]:not([tabindex="-1"])`).First())
			ann.take("Stalls/C/12")
			ann.take("Stalls/C/13")
			ann.picture("exchange-map", "light")
			ann.press(ann.button("Check out"))
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Continue the exchange"}))
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your old and new seats"}))
			ann.sees(ann.page.GetByText("Stalls, row C, seat 13"))
			ann.press(ann.button("Pay €4 and exchange"))
			ann.card("Pay")
			ann.hasTickets(2)
			fresh := path.Base(ann.page.URL())
			other, err := ann.page.Locator("a.home").GetAttribute("href")
			check(t, err)
			ann.sees(ann.page.GetByText("These tickets replace yours for"))
			ann.sees(ann.page.GetByText("Stalls, row C, seat 12").First())
			ann.inBothLights("exchanged")
			ann.visit("/orders/" + order)
			ann.hasTickets(0)
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your tickets were exchanged"}))
			o.hasMails(t, 1, "/orders/"+fresh)

			owner.visit("/desk/events/" + path.Base(other) + "/orders/" + fresh)
			sheet, work := owner.page.Locator("#exchange"), &effort{person: owner}
			for i := range 2 {
				work.mark(sheet.GetByRole("checkbox").Nth(i))
			}
			work.fill(owner.page.GetByLabel("New seats, one for each ticket"), "Stalls/A/1-2")
			work.mark(owner.page.GetByLabel("Waive the fee for the exchange"))
			work.press(owner.button("Show the difference"))
			owner.sees(owner.page.Locator("#exchange-costs"))
			owner.inBothLights("desk-exchange")
			work.press(sheet.GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Exchange", Exact: playwright.Bool(true)}))
			owner.sees(owner.page.GetByText("Exchanged. The old tickets are no longer valid"))
			work.atMost(6, "an exchange of two seats at the desk")
			owner.press(owner.page.Locator("p").Filter(playwright.LocatorFilterOptions{HasText: "Exchanged for tickets for"}).GetByRole("link").First())
			for _, seat := range []string{"Stalls, row A, seat 1", "Stalls, row A, seat 2"} {
				owner.sees(owner.page.GetByText(seat).First())
			}
			ann.visit("/orders/" + fresh)
			ann.hasTickets(0) // none is left on that date
			o.usher(t, "verify")
		})
	}
}

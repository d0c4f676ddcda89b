package e2e

import (
	"net/url"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// The list for the door is printed in two clicks. The performance is called off in four clicks and entries: everyone who bought gets a letter and their money back. Its copy on another
// date is on sale in seven.
func TestEvent_IsCalledOffWithMailAndRefundsAndSoldOnAnotherDate(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := boxOffice
			slug := o.event(t, "theatre", "--demo-card", "--paid-ahead", "--price", "A=25.00")
			ann, olga := someone(t, o, "ann", phone), someone(t, o, "olga", d)
			ann.picksToPay(slug, 2)
			ann.card("Pay")
			ann.hasTickets(2)

			olga.entersDesk(o.organizer(t, "Olga "+d.String(), "manager"))
			olga.visit("/desk/events/" + slug)
			work := &effort{person: olga}
			work.press(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Door", Exact: playwright.Bool(true)}))
			work.press(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "List for the door, to print"}))
			olga.sees(olga.page.GetByText("ann").First())
			olga.inBothLights("desk-door-paper")
			work.atMost(2, "a list for the door")
			olga.visit("/desk/events/" + slug)

			work = &effort{person: olga}
			work.press(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Settings", Exact: playwright.Bool(true)}))
			work.press(olga.page.Locator("summary").Filter(playwright.LocatorFilterOptions{HasText: "Cancel the event"}))
			reason := "The lead is ill, " + d.String()
			work.fill(olga.page.GetByLabel("Reason. Attendees read this."), reason)
			olga.inBothLights("desk-call-off")
			work.press(olga.button("Cancel the event and refund all orders"))
			if work.clicks > 4 {
				t.Errorf("calling off takes %d clicks and entries", work.clicks)
			}
			ann.seesAfterReload("€50 went back to the demo card.")
			ann.picture("order-called-off", "light")
			o.hasMails(t, 1, reason)
			olga.visit("/desk/events/" + slug + "/orders")
			olga.seesAfterReload("Cancelled")
			olga.inBothLights("desk-called-off-orders")

			work = &effort{person: olga}
			work.press(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Settings", Exact: playwright.Bool(true)}))
			again := "Once more " + d.String()
			work.fill(olga.page.GetByLabel("Name of the copy"), again)
			work.fill(olga.page.Locator("section:has(#copy-title) [name=starts]"), "2033-06-14T19:30")
			work.press(olga.button("Duplicate"))
			olga.sees(olga.button("Put on sale now"))
			olga.inBothLights("desk-copy")
			work.press(olga.button("Put on sale now"))
			work.press(olga.button("Put on sale without it")) // the house has no legal texts
			olga.sees(olga.page.Locator(".badge").GetByText("On sale").First())
			if work.clicks > 7 {
				t.Errorf("a copy on another date takes %d clicks and entries", work.clicks)
			}
			ann.visit("/events?q=" + url.QueryEscape(again))
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: again}).First())
			ann.sees(ann.page.GetByText("14 June 2033").First())
			o.usher(t, "verify", "--event", slug) // fails if a promise is broken
		})
	}
}

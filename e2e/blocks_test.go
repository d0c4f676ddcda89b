package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// Seats for the press are kept back until a day, changed, sold with a code, and given to everyone.
func TestBlocks_SeatsForThePressAreKeptAndComeBack(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	owner := o.owner(t)
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			slug := o.event(t, "theatre", "--price", "A=20.00")
			ann := someone(t, o, "ann", d)
			ann.entersDesk(owner)
			ann.visit("/desk/events/" + slug + "/blocks")
			ann.inBothLights("blocks-none")
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Choose seats"}))
			check(t, ann.page.GetByLabel("More seats").Fill("Stalls/B/14-18"))
			_, err := ann.page.GetByLabel("What for").SelectOption(playwright.SelectOptionValues{Labels: &[]string{"Press"}})
			check(t, err)
			check(t, ann.page.GetByLabel("For whom").Fill("Kurier"))
			check(t, ann.page.GetByLabel("Reason", exactly).Fill("Premiere"))
			check(t, ann.page.GetByLabel("On sale again from").Fill("2030-04-28T10:00"))
			ann.inBothLights("blocks-seats")
			ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Block", Exact: playwright.Bool(true)}))
			ann.sees(ann.page.GetByText("These seats are kept back."))
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "All blocks of this event"}))
			ann.sees(ann.page.GetByText("5 of 5 left"))
			ann.inBothLights("blocks")

			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Sell with a code"}))
			check(t, expect.Locator(ann.page.GetByLabel("Kurier, 5 seats")).ToBeChecked())
			check(t, ann.page.GetByLabel("Code", exactly).Fill("KURIER"))
			ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Create codes"}))
			ann.sees(ann.page.GetByText("The codes are ready to use."))

			bob := someone(t, o, "bob", d)
			bob.visit("/events/" + slug)
			bob.entersCode("KURIER")
			bob.sees(bob.page.GetByText("makes seats available that are reserved for it."))
			bob.asksForBest(2, "A")
			bob.visit("/events/" + slug + "/checkout")
			bob.sees(bob.page.GetByText("Stalls, row B").First())

			ann.visit("/desk/events/" + slug + "/blocks")
			ann.sees(ann.page.GetByText("3 of 5 left"))
			ann.sees(ann.page.GetByText("2 held"))
			ann.press(ann.page.Locator(".block details summary"))
			check(t, ann.page.GetByLabel("For whom").Fill("All papers"))
			ann.inBothLights("blocks-change")
			ann.press(ann.button("Save"))
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "All papers"}))
			ann.press(ann.button("Put on sale now"))
			ann.sees(ann.page.GetByText("These seats are free again."))
			ann.sees(ann.page.GetByText("0 of 5 left"))
		})
	}
}

package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// The box office writes a guest list, gives seats of a block to all of it by one click, and strikes a guest off.
func TestGuests_AreInvitedGetSeatsOfABlockAndAreStruckOff(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	owner := o.owner(t)
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			slug := o.event(t, "theatre", "--price", "A=20.00")
			ann := someone(t, o, "ann", d)
			ann.entersDesk(owner)
			ann.visit("/desk/events/" + slug + "/seats")
			check(t, ann.page.GetByLabel("More seats").Fill("Stalls/B/14-18"))
			check(t, ann.page.GetByLabel("For whom").Fill("Friends of the house"))
			ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Block", Exact: playwright.Bool(true)}))
			ann.sees(ann.page.GetByText("These seats are kept back."))

			ann.visit("/desk/events/" + slug + "/guests")
			ann.inBothLights("guests-none")
			check(t, ann.page.GetByLabel("One guest on each line").Fill("Marina Keller, marina@example.org, 2, critic of the Kurier\nProfessor Adeyemi-Lindqvist; +1; taught the director\nBob\nThe quartet, 4"))
			check(t, ann.page.GetByLabel("Invited by").Fill("Jonas Weiss"))
			ann.press(ann.button("Add to the list"))
			ann.sees(ann.page.GetByText("4 guests have no tickets yet"))
			_, err := ann.page.Locator("select[name=block]").SelectOption(playwright.SelectOptionValues{Labels: &[]string{"Friends of the house, 5 seats"}})
			check(t, err)
			ann.inBothLights("guests-waiting")
			ann.press(ann.button("Issue tickets to 4 guests"))
			ann.sees(ann.page.GetByText("The others still wait"))
			ann.sees(ann.page.GetByText("1 guest has no tickets yet"))
			ann.inBothLights("guests-some")
			ann.press(ann.button("Issue tickets to The quartet"))
			ann.sees(ann.page.GetByText("The guests have their tickets."))
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "List for the door, to print"}))
			ann.sees(ann.page.GetByText("Professor Adeyemi-Lindqvist"))
			ann.inBothLights("guests-paper")

			ann.visit("/desk/events/" + slug + "/guests")
			ann.press(ann.button("Strike off: Marina Keller"))
			ann.sees(ann.page.GetByText("The guest is off the list."))
			ann.inBothLights("guests")
			ann.visit("/desk/events/" + slug + "/blocks")
			ann.sees(ann.page.GetByText("2 of 5 left"))
			ann.sees(ann.page.GetByText("3 for guests"))
		})
	}
}

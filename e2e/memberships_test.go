package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// The team adds its Friends, imports a list in which a line is wrong, gives a buyer a membership, emails members a code, and ends one.
func TestMemberships_AreImportedGivenMailedACodeAndEnded(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			owner := o.owner(t)
			slug := o.event(t, "theatre", "--confirm-email", "never", "--price", "A=0")
			bob := someone(t, o, "bob", desktop)
			bob.openEvent(slug)
			bob.asksForBest(1, "A")
			bob.holdsSeats(1)
			bob.visit("/events/" + slug + "/checkout")
			bob.orders("Bob Buyer", "bob@localhost.example", "")
			bob.hasTickets(1)

			ann := someone(t, o, "ann", d)
			ann.entersDesk(owner)
			ann.expect("422") // a list with wrong lines
			ann.visit("/desk/customers")
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Memberships", Exact: playwright.Bool(true)}))
			ann.inBothLights("memberships-none")
			ann.fills("Name", "Friends of the house")
			ann.fills("Price", "45.00")
			ann.fills("What members get", "A rehearsal, a drink with the cast, and seats before everybody else")
			ann.press(ann.button("Save"))
			ann.sees(ann.page.GetByText("No members yet."))
			check(t, ann.page.GetByLabel("One member on each line").Fill("marina@localhost.example, Marina Keller, 2030-01-01, 2099-12-31, F-1\njonas.localhost.example, Jonas Weiss\nadeyemi@localhost.example, Professor Adeyemi-Lindqvist, soon"))
			ann.press(ann.button("Import"))
			ann.sees(ann.page.GetByText("Nothing was imported."))
			ann.inBothLights("memberships-wrong")
			check(t, ann.page.GetByLabel("One member on each line").Fill("marina@localhost.example, Marina Keller, 2020-01-01, 2099-12-31, F-1\njonas@localhost.example, Jonas Weiss\nadeyemi@localhost.example, Professor Adeyemi-Lindqvist, 2098-01-01"))
			ann.press(ann.button("Import"))
			ann.sees(ann.page.GetByText("Those who had the same membership before"))
			ann.sees(ann.page.GetByText("2 members"))

			ann.visit("/desk/customers")
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Bob Buyer"}))
			ann.fills("Number of the card", "F-7")
			ann.press(ann.button("Give membership"))
			ann.sees(ann.page.GetByText("The membership was given."))
			ann.inBothLights("memberships-customer")
			ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "All members"}))
			ann.sees(ann.page.GetByText("3 members"))
			ann.inBothLights("memberships")

			ann.visit("/desk/events/" + slug + "/codes")
			ann.fills("Name for your list", "Friends first")
			ann.fills("Discount per ticket", "10%")
			_, err := ann.page.Locator("select[name=members]").SelectOption(playwright.SelectOptionValues{Labels: &[]string{"Friends of the house: 3"}})
			check(t, err)
			ann.inBothLights("memberships-codes")
			ann.press(ann.button("Create codes"))
			ann.sees(ann.button("Stop 3 codes"))
			ann.sees(ann.page.GetByText("for members: Friends of the house"))

			ann.visit("/desk/memberships?q=F-7")
			ann.press(ann.button("End now: Bob Buyer, Friends of the house"))
			ann.sees(ann.page.GetByText("The membership has ended."))
			ann.sees(ann.page.GetByText("2 members"))
		})
	}
}

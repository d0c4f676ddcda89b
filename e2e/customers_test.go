package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestCustomers_AnOwnerFindsABuyerAndSeesTheirRecord(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--confirm-email", "never", "--price", "A=0")
	bob := someone(t, o, "bob", desktop)
	bob.openEvent(slug)
	bob.asksForBest(1, "A")
	bob.holdsSeats(1)
	bob.visit("/events/" + slug + "/checkout")
	bob.orders("Bob Buyer", "Bob@localhost.example", "")
	bob.hasTickets(1)
	owner := o.owner(t)
	for i, d := range []device{{width: 390, height: 844, touch: true}, {width: 1440, height: 900}} {
		ann := someone(t, o, "ann"+d.String(), d)
		ann.entersDesk(owner)
		ann.visit("/desk/customers")
		ann.inBothLights("customers")
		check(t, ann.page.GetByLabel("Find a customer").Fill("bob b"))
		ann.press(ann.button("Find"))
		ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Bob Buyer"}))
		ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Bob Buyer", Level: playwright.Int(1)}))
		ann.sees(ann.page.GetByText("bob@localhost.example").First())
		ann.inBothLights("customer")
		check(t, ann.page.Locator("textarea[name=note]").Fill("Likes the aisle.\nBrings his parents."))
		ann.fills("Tags, with commas between them", "Member, patron of the house")
		ann.press(ann.button("Save"))
		ann.sees(ann.page.GetByText("Saved."))
		ann.sees(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Likes the aisle."}))
		ann.inBothLights("customer-noted")
		ann.visit("/desk/customers")
		ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "patron of the house: 1"}))
		ann.sees(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Bob Buyer"}))
		ann.press(ann.page.GetByText("Their addresses, to copy"))
		ann.inBothLights("customers-tag")
		if i == 1 {
			ann.visit("/desk/customers?q=nothing")
			ann.sees(ann.page.GetByText("No customer’s name or email begins like this."))
		}
	}
}

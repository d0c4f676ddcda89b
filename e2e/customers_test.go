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
	for i, d := range walked(desktop) {
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
		ann.visit("/desk/customers")
		ann.expect(`status of 422.*customers/imports`)
		ann.press(ann.page.GetByText("Import a list"))
		ann.fills("Or paste the list, with the names of its columns on the first line", "email,name,phone,consent\nx,Bob,,\nbob@work.example,Bob,many,")
		ann.press(ann.button("Import"))
		ann.sees(ann.page.GetByText("Line 2: “x” is not an email address."))
		ann.inBothLights("customers-import-wrong")
		ann.fills("Or paste the list, with the names of its columns on the first line", "email,name,phone,language,consent,consent source\nbob@"+d.String()+".example,Bob Buyer,+49 89 123,de,2020-01-31,Form at the door")
		ann.press(ann.button("Import"))
		ann.sees(ann.page.GetByText("1 new customer."))
		ann.inBothLights("customers-imported")
		ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Possible duplicates"}))
		ann.sees(ann.page.GetByText("The same name", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)}))
		ann.inBothLights("customers-duplicates")
		ann.press(ann.button("Merge the records of Bob Buyer"))
		ann.sees(ann.page.GetByText("Merged."))
		ann.inBothLights("customer-merged")
		ann.sees(ann.button("Separate bob@" + d.String() + ".example"))
		if i == 1 {
			ann.visit("/desk/customers?q=nothing")
			ann.sees(ann.page.GetByText("No customer’s name or email begins like this."))
		}
	}
}

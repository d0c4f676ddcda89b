package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestLegal_ATeamPublishesTermsAndABuyerAcceptsThem(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--demo-card", "--paid-ahead", "--price", "A=95.00")
	ann := someone(t, o, "ann", desktop)
	ann.entersDesk(o.owner(t))
	ann.visit("/desk/legal")
	ann.picture("desk-legal", "light")
	ann.press(ann.page.Locator("#terms summary"))
	ann.picture("desk-legal-terms", "light")
	ann.expect("422")
	ann.press(ann.page.Locator("#terms").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Publish"}))
	ann.sees(ann.page.GetByText("Fill in these blanks before you publish:"))
	for _, of := range [][2]string{{"terms", "# Tickets\n\nA ticket is for **one** person."}, {"imprint", "The Seagull Theatre, Main Street 1"}, {"privacy", "We keep little."}, {"accessibility", "Everybody can buy."}} {
		kind, text := of[0], of[1]
		if kind != "terms" { // it is open
			ann.press(ann.page.Locator("#" + kind + " summary"))
		}
		check(t, ann.page.Locator("#"+kind+" textarea").Fill(text))
		ann.press(ann.page.Locator("#"+kind).GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Publish"}))
		ann.sees(ann.page.GetByText("Attendees see this text now."))
		ann.sees(ann.page.Locator("#" + kind).GetByText("version 1 published"))
	}
	ann.picture("desk-legal-published", "light")

	bob := someone(t, o, "bob", phone)
	bob.openEvent(slug)
	bob.sees(bob.page.GetByText("You can cancel until"))
	bob.picture("event-foot", "light")
	bob.asksForBest(2, "A")
	bob.visit("/events/" + slug + "/checkout")
	bob.sees(bob.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay €190 now"}))
	bob.picture("checkout-terms", "light")
	bob.orders("Bob Buyer", "bob@localhost.example", "")
	bob.sees(bob.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay €190 now"})) // the browser asks to mark the checkbox
	check(t, bob.page.GetByLabel("I accept the terms").Check())
	bob.press(bob.page.Locator("form .primary"))
	bob.card("Pay")
	bob.hasTickets(2)
	bob.press(bob.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Terms"}))
	bob.sees(bob.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Tickets"}))
	bob.picture("legal-terms", "light")
	bob.visit("/legal/1/imprint")
	bob.sees(bob.page.GetByText("The Seagull Theatre, Main Street 1"))
}

func TestPrivacy_AnOwnerErasesAPersonAtTheDesk(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--confirm-email", "never", "--price", "A=0")
	bob := someone(t, o, "bob", desktop)
	bob.openEvent(slug)
	bob.asksForBest(1, "A")
	bob.visit("/events/" + slug + "/checkout")
	bob.orders("Bob Buyer", "bob@localhost.example", "")
	bob.hasTickets(1)
	ann := someone(t, o, "ann", phone)
	ann.entersDesk(o.owner(t))
	ann.visit("/desk/privacy")
	ann.picture("desk-privacy", "light")
	erase := func() {
		check(t, ann.page.GetByLabel("Email").Fill("bob@localhost.example"))
		ann.press(ann.button("Erase this person"))
	}
	ann.expect("409")
	erase()
	ann.sees(ann.page.GetByText("Nothing was erased."))
	ann.picture("desk-privacy-blocked", "light")
	bob.press(bob.page.GetByText("Cancel tickets"))
	check(t, bob.page.Locator(`form[action$="/cancellations"] input[name="ticket"]`).First().Check())
	bob.press(bob.button("Cancel selected tickets"))
	bob.sees(bob.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "This order was cancelled"}))
	erase()
	ann.sees(ann.page.GetByText("Orders without a name now: 1."))
	ann.picture("desk-privacy-erased", "light")
	ann.visit("/desk/events/" + slug + "/orders?q=Bob")
	if n := ann.number(ann.page.GetByText("Bob Buyer")); n > 0 {
		t.Error("the desk still knows the person")
	}
	o.usher(t, "verify")
}

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

var emailChangeLink = regexp.MustCompile(`/email-changes/[0-9A-Z]{26}`)

// Ann buys two tickets, each with a name, and changes one of them. Then she moves the order to another email: it changes once she pressed
// the button in the mails to both addresses, and the tickets go to the new one. The door reads the names.
func TestNames_TwoTicketsAndAnotherEmail(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "desktop": desktop, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			slug := o.event(t, "theatre", "--demo-card", "--paid-ahead", "--ticket-names", "required")
			ann, usher := someone(t, o, "ann", d), someone(t, o, "usher", phone)
			pictured := func(page string) {
				if !d.noScript { // what looks at pages is a script
					ann.inBothLights(page)
				}
			}
			ann.visit("/events/" + slug)
			ann.asksForBest(2, "A")
			ann.visit("/events/" + slug + "/checkout")
			names := ann.page.Locator(`input[name^="ticket-name-"]`)
			check(t, expect.Locator(names).ToHaveCount(2))
			check(t, names.Nth(0).Fill("Bea Ek"))
			check(t, names.Nth(1).Fill("\u00ad")) // nothing that is seen
			old := ownAddress(t)
			ann.orders("Ann Ørsted", old, "")
			ann.sees(ann.page.GetByText("Enter the name of the attendee."))
			ann.seesTyped("Ann Ørsted", old)
			pictured("checkout-names")
			check(t, expect.Locator(names.Nth(0)).ToHaveValue("Bea Ek"))
			check(t, names.Nth(1).Fill("Cid"))
			ann.press(ann.page.Locator("form .primary"))
			ann.card("Pay")
			codes := ann.codes(2)
			ann.seesAfterReload("Change names")
			order := strings.TrimPrefix(ann.page.URL(), o.url)
			ann.sees(ann.page.Locator(".tickets").GetByText("Bea Ek"))

			ann.press(ann.page.GetByText("Change names"))
			check(t, names.Nth(1).Fill("Dan Ek"))
			pictured("order-names")
			ann.visit(order)
			ann.press(ann.page.GetByText("Change names"))
			check(t, names.Nth(1).Fill("Dan Ek"))
			ann.press(ann.button("Save changes"))
			ann.sees(ann.page.Locator(".tickets").GetByText("Dan Ek"))

			fresh := "new." + old
			ann.press(ann.page.Locator("summary", playwright.PageLocatorOptions{HasText: "Change email"}))
			check(t, ann.page.GetByLabel("New email address").Fill(fresh))
			ann.press(ann.button("Change email"))
			ann.sees(ann.page.GetByText("press the buttons in our emails to"))
			pictured("order-email")
			o.hasMails(t, 1, order)
			allow, confirm := o.mailed(t, old, emailChangeLink), o.mailed(t, fresh, emailChangeLink)

			ann.visit(confirm)
			pictured("email-confirm")
			ann.press(ann.button("Confirm this address"))
			ann.sees(ann.page.GetByText("allows it, too"))
			ann.visit(order)
			ann.sees(ann.page.GetByText("press the button in our email to " + old))
			ann.visit(allow)
			pictured("email-allow")
			ann.press(ann.button("Allow this change"))
			ann.sees(ann.page.GetByText("The email address of the order was changed."))
			pictured("email-changed")
			o.hasMails(t, 2, order)
			ann.visit(order)
			ann.sees(ann.page.GetByText(fresh).First())

			usher.door(slug, "Foyer")
			for i, name := range []string{"Bea Ek", "Dan Ek"} {
				usher.scans(codes[i], "in", "Let them in.")
				usher.sees(usher.page.Locator(".verdict").GetByText(name))
			}
		})
	}
}

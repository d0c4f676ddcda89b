package e2e

import (
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// sellsTypes adds types of tickets to an event: one that costs more than the usual ticket, and one that costs less and needs a proof.
func (o *office) sellsTypes(t *testing.T, slug, category, usual, more, less string) {
	t.Helper()
	o.atDesk(t, "events/"+slug+"/prices", map[string]any{
		"price.0.0." + category: usual, "type.1.name": "Premium", "price.0.1." + category: more, "type.2.name": "Student", "type.2.proof": "student card", "price.0.2." + category: less,
	})
}

// getsType chooses another type for the ticket of this number, of those that may change.
func (p *person) getsType(n int, kind string) {
	p.t.Helper()
	choice := p.page.Locator(`select[name="type"]`).Nth(n)
	value, err := choice.Locator("option", playwright.LocatorLocatorOptions{HasText: kind}).GetAttribute("value")
	check(p.t, err)
	_, err = choice.SelectOption(playwright.SelectOptionValues{Values: &[]string{value}})
	check(p.t, err)
}

// Ann buys two tickets, and changes one up and one down. The card is declined first: her tickets stay as they are. The door lets in
// the new ones alone, and says what they are.
func TestChangeTypes_OneUpAndOneDown(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	for name, d := range map[string]device{"phone": phone, "desktop": desktop, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := o.event(t, "theatre", "--demo-card", "--paid-ahead", "--change-types-until", "1 hour")
			ann, usher := someone(t, o, "ann", d), someone(t, o, "usher", phone)
			pictured := func(page string) {
				if !d.noScript { // what looks at pages is a script
					ann.inBothLights(page)
				}
			}
			ann.visit("/events/" + slug)
			ann.asksForBest(2, "A")
			ann.visit("/events/" + slug + "/checkout")
			ann.orders("Ann Ørsted", ownAddress(t), "")
			ann.card("Pay")
			old := ann.codes(2)
			order := strings.TrimPrefix(ann.page.URL(), o.url)
			o.sellsTypes(t, slug, "A", "95", "120", "20")
			ann.seesAfterReload("Change ticket types") // the charge may take a moment
			ann.press(ann.link("Change ticket types"))
			ann.getsType(0, "Premium")
			ann.getsType(1, "Student")
			pictured("types-choose")
			ann.press(ann.button("Show the difference"))
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your old and new tickets"}))
			pictured("types-confirm")
			pay := ann.page.Locator("form .primary")
			said, err := pay.TextContent()
			check(t, err)
			if !strings.HasPrefix(said, "Change ticket types") { // the sum of both types is less than what was paid
				t.Errorf("the button says %q", said)
			}

			ann.press(ann.link("Choose other types"))
			ann.getsType(0, "Premium")
			ann.press(ann.button("Show the difference"))
			ann.press(ann.page.Locator("form .primary"))
			ann.card("Decline")
			ann.sees(ann.page.GetByText("No ticket was changed. Your tickets are still valid as they are."))
			pictured("types-declined")
			ann.visit(order)
			ann.hasTickets(2)

			ann.press(ann.link("Change ticket types"))
			ann.getsType(0, "Premium")
			ann.press(ann.button("Show the difference"))
			ann.press(ann.page.Locator("form .primary"))
			ann.card("Pay")
			ann.sees(ann.page.GetByText("These tickets replace yours of another type."))
			ann.hasTickets(1)
			pictured("types-changed")
			premium := ann.codes(1)[0]
			o.hasMails(t, 1, strings.TrimPrefix(ann.page.URL(), o.url))

			ann.visit(order)
			ann.hasTickets(1)
			ann.press(ann.link("Change ticket types"))
			ann.getsType(0, "Student")
			ann.press(ann.button("Show the difference"))
			ann.sees(ann.page.GetByText("The difference goes back to the demo card."))
			ann.press(ann.page.Locator("form .primary"))
			ann.sees(ann.page.GetByText("These tickets replace yours of another type."))
			ann.sees(ann.page.GetByText("Student, to be shown at the door: student card").First())
			student := ann.codes(1)[0]
			ann.visit(order)
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your tickets were exchanged"}))
			ann.hasTickets(0)

			usher.door(slug, "Foyer")
			for _, code := range old {
				usher.scans(code, "revoked", "This ticket was cancelled.")
			}
			usher.scans(premium, "in", "Let them in.")
			usher.sees(usher.page.Locator(".verdict").GetByText("Premium"))
			usher.scans(student, "in", "Let them in.")
			usher.sees(usher.page.Locator(".verdict").GetByText("student card"))
		})
	}
}

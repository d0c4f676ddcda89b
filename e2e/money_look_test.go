package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

var transferReference = regexp.MustCompile(`RF[0-9]{2}[0-9A-Z]+`)

// A server that sends invoices, takes bank transfers and has legal texts: its pages with something on them.
func TestMoneyPages_AreAccessibleOnPhoneAndDesktopInLightAndDark(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(filepath.Join("driver", "node_modules", "axe-core", "axe.min.js"))
	check(t, err)
	for _, d := range looked() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := ownOffice(t)
			olga, bob := someone(t, o, "olga", d), someone(t, o, "bob", d)
			olga.entersDesk(o.owner(t))
			olga.sells()
			slug := o.event(t, "theatre", "--invoices", "--price", "A=95.00", "--venue", "Lindengasse Playhouse, Vienna")
			olga.visit("/desk/legal")
			olga.press(olga.page.Locator("#terms summary"))
			check(t, olga.page.Locator("#terms textarea").Fill(someTerms))
			olga.press(olga.page.Locator("#terms").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Publish"}))
			olga.sees(olga.page.GetByText("Attendees see this text now."))
			olga.inBothLights("desk-legal-published", string(axe))
			bob.visit("/legal/1/terms")
			bob.inBothLights("legal-terms", string(axe))

			bob.openEvent(slug)
			bob.asksForBest(2, "A")
			bob.holdsSeats(2)
			bob.visit("/events/" + slug + "/checkout")
			check(t, bob.page.GetByLabel("Bank transfer").Check())
			check(t, bob.page.GetByLabel("I accept the terms").Check())
			bob.inBothLights("checkout-transfer", string(axe))
			check(t, bob.page.Locator(`[name="name"]`).Fill("Bob Buyer"))
			check(t, bob.page.Locator(`[name="email"]`).Fill("bob@localhost.example"))
			bob.press(bob.page.Locator("form .primary"))
			bob.confirmsIfAsked()
			bob.sees(bob.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Bank transfer"}))
			bob.inBothLights("order-transfer", string(axe))

			text, err := bob.page.Locator(".transfer").InnerText()
			check(t, err)
			reference := transferReference.FindString(strings.ReplaceAll(text, " ", ""))
			olga.visit("/desk/bank")
			check(t, olga.page.GetByLabel("File", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).SetInputFiles([]playwright.InputFile{{
				Name: "statement-of-march.csv", MimeType: "text/csv", Buffer: fmt.Appendf(nil, "Date,Amount,Name,Text\n2030-03-01,90.00,Charlotte Dupont-Lefèvre,Two tickets for the first night\n2030-03-02,190.00,Bob Buyer,%s\n", reference),
			}}))
			olga.press(olga.button("Import statement"))
			olga.sees(olga.page.GetByText("2 payments in this file."))
			olga.inBothLights("desk-bank-matched", string(axe))
			olga.visit("/desk/events/" + slug + "/orders")
			olga.inBothLights("desk-orders-transfer", string(axe))
			eventually(t, patience, "an invoice", func() bool {
				olga.visit("/desk/invoices")
				return olga.number(olga.page.Locator("tbody tr")) > 0
			})
			olga.inBothLights("desk-invoices-list", string(axe))
			olga.visit("/desk/taxes")
			olga.fitsAcross("the page of taxes")
			olga.inBothLights("desk-taxes", string(axe))
			o.usher(t, "verify")
		})
	}
}

const someTerms = "# Tickets\n\nA ticket is for **one** person, and for [one seat](https://example.org).\n\n* Children need a ticket of their own.\n* Keep the link of your order private.\n\n## Refunds\n\nYou can cancel until the day before. We send the money back the way it came."

// sells enters the seller on invoices and the bank account of a team.
func (p *person) sells() {
	p.t.Helper()
	p.visit("/desk/invoices")
	p.fills("Legal name", "Lindengasse Playhouse", "Street and number", "Lindengasse 1", "Postcode", "1070", "City", "Vienna", "Country (two letters, such as AT)", "AT", "Tax number, if there is no VAT id", "12 345/6789")
	p.press(p.button("Save seller"))
	p.sees(p.page.GetByText("Saved."))
	p.visit("/desk/bank")
	p.fills("Account owner", "Lindengasse Playhouse", "IBAN", "AT61 1904 3002 3457 3201")
	p.press(p.button("Save account"))
	p.sees(p.page.GetByText("Saved."))
}

// fitsAcross holds that nothing on a page scrolls sideways.
func (p *person) fitsAcross(name string) {
	p.t.Helper()
	wide, err := p.page.Evaluate(`[...document.querySelectorAll('*')].filter(at => at.scrollWidth > at.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(at).overflowX) && !at.closest('.top, .tabs')).map(at => at.tagName + '.' + at.className).concat(document.scrollingElement.scrollWidth > innerWidth ? ['the page'] : []).join(', ')`)
	check(p.t, err)
	if wide != "" {
		p.t.Errorf("%s scrolls sideways: %v", name, wide)
	}
}

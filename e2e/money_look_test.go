package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

var transferReference = regexp.MustCompile(`RF[0-9]{2}[0-9A-Z]+`)

// A server that sends invoices, takes bank transfers and has legal texts: its pages with something on them.
func TestMoneyPages_AreAccessibleOnPhoneAndDesktopInLightAndDark(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
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
			olga.inBothLights("desk-legal-published")
			bob.visit("/legal/1/terms")
			bob.inBothLights("legal-terms")

			olga.offersExtras(slug)
			bob.openEvent(slug)
			bob.asksForBest(2, "A")
			bob.visit("/events/" + slug + "/checkout")
			check(t, bob.page.GetByLabel("Bank transfer").Check())
			check(t, bob.page.GetByLabel("I accept the terms").Check())
			bob.inBothLights("checkout-transfer")
			bob.addsExtras()
			bob.inBothLights("checkout-extras")
			check(t, bob.page.Locator(`[name="name"]`).Fill("Bob Buyer"))
			check(t, bob.page.Locator(`[name="email"]`).Fill("bob@localhost.example"))
			bob.press(bob.page.Locator("form .primary"))
			bob.confirmsIfAsked()
			bob.sees(bob.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Bank transfer"}))
			bob.inBothLights("order-transfer")

			text, err := bob.page.Locator(".transfer").InnerText()
			check(t, err)
			reference := transferReference.FindString(strings.ReplaceAll(text, " ", ""))
			olga.visit("/desk/bank")
			check(t, olga.page.GetByLabel("File", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).SetInputFiles([]playwright.InputFile{{
				Name: "statement-of-march.csv", MimeType: "text/csv", Buffer: fmt.Appendf(nil, "Date,Amount,Name,Text\n2030-03-01,90.00,Charlotte Dupont-Lefèvre,Two tickets for the first night\n2030-03-02,198.50,Bob Buyer,%s\n", reference),
			}}))
			olga.press(olga.button("Import statement"))
			olga.sees(olga.page.GetByText("2 payments in this file."))
			olga.fitsAcross("the page of bank statements")
			olga.inBothLights("desk-bank-matched")
			olga.visit("/desk/events/" + slug + "/orders")
			olga.inBothLights("desk-orders-transfer")
			olga.visit("/desk/events/" + slug + "/post")
			olga.sees(olga.page.GetByText("Lindengasse 7"))
			olga.fitsAcross("the page of tickets to post")
			olga.besideEachOther(olga.page.GetByLabel("The order of Bob Buyer"), olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Bob Buyer", Exact: playwright.Bool(true)}))
			olga.inBothLights("desk-post")
			check(t, olga.page.GetByLabel("The order of Bob Buyer").Check())
			olga.press(olga.button("Mark as posted"))
			olga.sees(olga.page.GetByText("No tickets wait to be posted."))
			olga.inBothLights("desk-post-done")
			eventually(t, patience, "an invoice", func() bool {
				olga.visit("/desk/invoices")
				return olga.number(olga.page.Locator("tbody tr")) > 0
			})
			olga.fitsAcross("the list of invoices")
			olga.inBothLights("desk-invoices-list")
			olga.visit("/desk/taxes")
			olga.fitsAcross("the page of taxes")
			olga.inBothLights("desk-taxes")
			o.usher(t, "verify")
		})
	}
}

const someTerms = "# Tickets\n\nA ticket is for **one** person, and for [one seat](https://example.org).\n\n* Children need a ticket of their own.\n* Keep the link of your order private.\n\n## Refunds\n\nYou can cancel until the day before. We send the money back the way it came."

// offersExtras lets buyers of an event add a donation, and have their tickets posted.
func (p *person) offersExtras(slug string) {
	p.t.Helper()
	p.visit("/desk/events/" + slug + "/prices")
	p.opens("Donations and postage")
	p.fills("Donations to choose from", "5, 10", "What donations are for", "our youth theatre", "Postage of an order", "3.50")
	p.inBothLights("desk-prices-extras")
	p.press(p.button("Save prices"))
	p.sees(p.page.GetByText("Saved."))
}

// addsExtras adds a donation at the checkout, and has the tickets posted: the total says so before anything is ordered.
func (p *person) addsExtras() {
	p.t.Helper()
	_, err := p.page.GetByLabel("Add a donation: our youth theatre").SelectOption(playwright.SelectOptionValues{Labels: &[]string{"€5"}})
	check(p.t, err)
	p.sees(p.page.GetByText("€195", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)}).First())
	check(p.t, p.page.GetByLabel("Also send my tickets by post").Check())
	p.sees(p.page.GetByText("Order with obligation to pay · €198.50"))
	for field, text := range map[string]string{"post_street": "Lindengasse 7", "post_postcode": "1070", "post_city": "Vienna"} {
		check(p.t, p.page.Locator("[name="+field+"]").Fill(text))
	}
	_, err = p.page.Locator("[name=post_country]").SelectOption(playwright.SelectOptionValues{Labels: &[]string{"Austria"}})
	check(p.t, err)
}

// besideEachOther fails unless one part of a page is just to the right of another, in its line.
func (p *person) besideEachOther(left, right playwright.Locator) {
	p.t.Helper()
	l, err := left.BoundingBox()
	check(p.t, err)
	r, err := right.BoundingBox()
	check(p.t, err)
	if gap := r.X - l.X - l.Width; gap < 0 || gap > 48 || r.Y > l.Y+l.Height {
		p.t.Errorf("a part of the page is at %+v, and what belongs to it at %+v", *l, *r)
	}
}

// sells enters the seller on invoices and the bank account of a team.
func (p *person) sells() {
	p.t.Helper()
	p.visit("/desk/invoices")
	p.fills("Legal name", "Lindengasse Playhouse", "Street and number", "Lindengasse 1", "Postcode", "1070", "City", "Vienna", "Country (two letters, such as AT)", "AT", "Tax number, if there is no VAT ID", "12 345/6789")
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

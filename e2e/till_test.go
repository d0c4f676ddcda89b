package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// atTill opens the till of an event, and counts what it prints.
func (p *person) atTill(slug string) {
	p.t.Helper()
	check(p.t, p.context.AddInitScript(playwright.Script{Content: playwright.String(`window.printed = 0; window.print = () => { window.printed++ }`)}))
	p.visit("/desk/events/" + slug + "/till")
	p.sees(p.page.Locator(`[data-till=ready]`))
}

// strikes presses keys one after another, and returns how many.
func (p *person) strikes(keys ...string) int {
	p.t.Helper()
	for _, key := range keys {
		check(p.t, p.page.Keyboard().Press(key))
	}
	return len(keys)
}

// saysAt waits until a part of the page says something.
func (p *person) saysAt(selector, text string) {
	p.t.Helper()
	p.sees(p.page.Locator(selector).Filter(playwright.LocatorFilterOptions{HasText: text}).First())
}

func TestTill_SellsByKeyboardAndAgreesWithItsReport(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := boxOffice
			slug := o.event(t, "theatre")
			o.atDesk(t, "events/"+slug+"/codes", map[string]any{"code": "FRIENDS", "off": "10%"})
			dora := someone(t, o, "dora", d)
			dora.entersDesk(o.organizer(t, "Dora "+d.String(), "till"))
			dora.atTill(slug)
			dora.inBothLights("desk-till-closed")
			check(t, dora.page.Locator("[name=float]").Fill("200"))
			dora.press(dora.button("Open the till"))
			dora.sees(dora.page.Locator(`[data-till=ready] .shift [data-drawer]`))

			// Two seats, paid with a note, in three presses; the second Enter finds an empty cart.
			if n := dora.strikes("2", "e", "Enter", "Enter"); n > 6 {
				t.Errorf("a sale takes %d presses", n)
			}
			dora.saysAt("[data-order]", "change")
			dora.saysAt("[data-count]", "No tickets yet")
			check(t, dora.page.Locator("#paper article").Nth(1).WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateAttached}))
			if n := dora.evaluates(`window.printed`); n != 1 {
				t.Errorf("%v sales were printed", n)
			}
			dora.printsAReceipt()

			// A code, and the card terminal. One of the seats is sold on the web meanwhile: the rest stays.
			dora.strikes("3")
			dora.saysAt("[data-count]", "3 tickets")
			dora.inBothLights("desk-till")
			if !d.touch && d.zoom == 0 { // beside a queue of people, on a small screen
				check(t, dora.page.SetViewportSize(1024, 768))
				if more := dora.evaluates(`document.scrollingElement.scrollHeight - innerHeight`); more > 0 {
					t.Errorf("the till is %v pixels higher than a small screen", more)
				}
				dora.picture("desk-till-1024", "light")
				check(t, dora.page.SetViewportSize(d.width, d.height))
			}
			label, err := dora.page.Locator("[data-lines] li").First().GetAttribute("data-seat")
			check(t, err)
			if status, _ := someProgram(t, o).ask("POST", "/events/"+slug+"/claims", map[string]any{"seats": []string{label}}); status != http.StatusCreated {
				t.Fatalf("the claim of %s answers %d", label, status)
			}
			dora.saysAt("[data-refused]", "was just taken")
			dora.saysAt("[data-count]", "2 tickets")
			dora.strikes("F3")
			check(t, dora.page.Keyboard().Type("friends"))
			dora.strikes("Enter")
			dora.saysAt("[data-discount]", "off")
			dora.namesACustomer("Zoë Kassa", "zoe"+d.String()+"@example.org")
			dora.strikes("F9", "Enter")
			dora.saysAt("[data-count]", "No tickets yet")
			dora.prints(3)
			dora.strikes("F6")
			dora.prints(4)
			dora.givesAway()
			if left, err := dora.page.Locator("[name=name]").InputValue(); left != "" || err != nil {
				t.Errorf("the next sale is for %q, %v", left, err)
			}
			dora.strikes("F4")
			dora.saysAt("table.found", "Zoë Kassa")
			dora.press(dora.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Zoë Kassa"}).First())
			dora.press(dora.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Receipt, 80 mm"}))
			dora.sees(dora.page.Locator("article.receipt"))
			dora.inBothLights("desk-till-receipt")
			dora.isAccessible("desk-till-receipt", checkup)
			dora.atTill(slug)
			dora.takesAGiftCard(o)
			dora.settlesTheTill(o, slug)
		})
	}
}

// givesAway sells a ticket for nothing, and is asked why.
func (p *person) givesAway() {
	p.t.Helper()
	p.expect("422")
	p.strikes("1")
	p.saysAt("[data-count]", "1 ticket")
	p.strikes("F10")
	p.saysAt("[data-total]", "€0")
	p.inBothLights("desk-till-free")
	p.strikes("Enter")
	p.saysAt("[data-refused]", "Enter why these tickets are free.")
	check(p.t, p.page.Keyboard().Type("For the press"))
	p.strikes("Enter")
	p.saysAt("[data-count]", "No tickets yet")
}

// namesACustomer types for whom the sale is.
func (p *person) namesACustomer(name, email string) {
	p.t.Helper()
	p.strikes("F1")
	check(p.t, p.page.Keyboard().Type(name))
	p.strikes("Tab")
	check(p.t, p.page.Keyboard().Type(email))
	p.strikes("Enter")
	p.inBothLights("desk-till-customer")
}

// printsAReceipt has the customer of the last sale get a receipt, which says the change.
func (p *person) printsAReceipt() {
	p.t.Helper()
	p.press(p.button("Print receipt"))
	p.prints(2)
	if said, err := p.page.Locator("#paper article").AllTextContents(); err != nil || len(said) != 1 || !strings.Contains(said[0], "Change given") || !strings.Contains(said[0], "in cash") {
		p.t.Errorf("the receipt says %q, %v", said, err)
	}
}

// prints waits until so many sales were printed.
func (p *person) prints(n int) {
	p.t.Helper()
	_, err := p.page.WaitForFunction(fmt.Sprintf("() => window.printed === %d", n), nil)
	check(p.t, err)
}

// takesAGiftCard sells two seats for a gift card, which pays a part, and cash, by keyboard; and then sees that nothing is left on it.
func (p *person) takesAGiftCard(o *office) {
	p.t.Helper()
	card := o.vouchers(p.t, "30.00", 1)[0]
	p.strikes("2")
	p.saysAt("[data-count]", "2 tickets")
	p.strikes("F3")
	check(p.t, p.page.Keyboard().Type(card))
	p.strikes("Enter")
	p.saysAt("[data-gift-pays]", "−€30")
	p.saysAt("[data-gift-left]", "€0 left on it")
	p.inBothLights("desk-till-gift-card")
	if p.device.touch || p.device.zoom != 0 {
		p.press(p.page.Locator("[data-note]").First())
	} else {
		check(p.t, p.page.SetViewportSize(1024, 768))
		if more := p.evaluates(`document.scrollingElement.scrollHeight - innerHeight`); more > 0 {
			p.t.Errorf("the till with a gift card is %v pixels higher than a small screen", more)
		}
		p.picture("desk-till-gift-card-1024", "light")
		check(p.t, p.page.SetViewportSize(p.device.width, p.device.height))
		p.strikes("e")
	}
	p.saysAt("[data-change-title]", "Change due")
	p.strikes("Enter")
	p.saysAt("[data-count]", "No tickets yet")
	p.strikes("1", "F3")
	check(p.t, p.page.Keyboard().Type(card))
	p.strikes("Enter")
	p.saysAt("[data-refused]", "There is nothing left on this gift card")
	p.strikes("Escape", "Escape")
	p.saysAt("[data-count]", "No tickets yet")
}

// settlesTheTill pays cash out, closes with a difference, and reads the report.
func (p *person) settlesTheTill(o *office, slug string) {
	p.t.Helper()
	work := &effort{person: p}
	work.press(p.page.Locator(".shift"))
	p.inBothLights("desk-till-session")
	check(p.t, p.page.Locator("[name=amount]").Fill("30"))
	check(p.t, p.page.Locator("[name=reason]").Fill("Flowers"))
	p.press(p.page.Locator(`form[action$="/entries"] button`))
	p.sees(p.page.GetByText("Flowers"))
	var drawer float64
	_, err := fmt.Sscanf(strings.TrimPrefix(p.textOf("#drawer"), "€"), "%f", &drawer)
	check(p.t, err)
	work.fill(p.page.Locator("[name=counted]"), fmt.Sprintf("%.2f", drawer-5))
	work.press(p.page.Locator(`form[action$="/closing"] button`))
	p.saysAt("#difference", "−€5")
	work.atMost(3, "a Z report")
	p.inBothLights("desk-till-report")
	o.usher(p.t, "verify") // the report is what its entries come to, and these are what the ledgers say
}

func (p *person) textOf(selector string) string {
	p.t.Helper()
	text, err := p.page.Locator(selector).InnerText()
	check(p.t, err)
	return text
}

func TestTill_SellsTwoPerformancesAsOneSale(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o := boxOffice
			slug, name := o.event(t, "theatre"), "Matinee "+d.String()+"!"
			matinee := o.named(t, "matinee", "theatre", "--name", name)
			dora := someone(t, o, "dora", d)
			dora.entersDesk(o.organizer(t, "Dora "+d.String(), "till"))
			dora.atTill(slug)
			check(t, dora.page.Locator("[name=float]").Fill("200"))
			dora.press(dora.button("Open the till"))
			dora.sees(dora.page.Locator(`[data-till=ready] .shift [data-drawer]`))

			// Two seats here, one at the matinee, which is found by its name: one total.
			dora.strikes("2")
			dora.saysAt("[data-count]", "2 tickets")
			one := dora.textOf("[data-total]")
			dora.strikes("F2")
			dora.saysAt("dialog[open]", "2 in the cart")
			dora.inBothLights("desk-till-performances")
			check(t, dora.page.Locator("[data-find]").Fill(name))
			dora.strikes("Enter")
			dora.sees(dora.page.Locator(`[data-till=ready][data-slug="` + matinee + `"]`))
			dora.saysAt("[data-count]", "2 tickets")
			dora.strikes("1")
			dora.saysAt("[data-count]", "3 tickets")
			if both := dora.textOf("[data-total]"); both == one {
				t.Errorf("two tickets cost %s, and three %s", one, both)
			}
			dora.strikes("2")
			dora.saysAt("[data-count]", "5 tickets")
			dora.inBothLights("desk-till-two")
			if !d.touch && d.zoom == 0 {
				check(t, dora.page.SetViewportSize(1024, 768))
				if more := dora.evaluates(`document.scrollingElement.scrollHeight - innerHeight`); more > 0 {
					t.Errorf("the till is %v pixels higher than a small screen", more)
				}
				dora.picture("desk-till-two-1024", "light")
				dora.strikes("F2")
				dora.sees(dora.page.Locator("dialog[open]"))
				dora.picture("desk-till-performances-1024", "light")
				dora.strikes("Escape")
				check(t, dora.page.SetViewportSize(d.width, d.height))
			}

			// A visitor takes a seat of the performance that the page does not show. The sale is refused whole, and the cart says what is left.
			seat := func(slug string) string {
				label, err := dora.page.Locator(`[data-lines] li[data-of="` + slug + `"]`).First().GetAttribute("data-seat")
				check(t, err)
				return label
			}
			if status, _ := someProgram(t, o).ask("POST", "/events/"+slug+"/claims", map[string]any{"seats": []string{seat(slug)}}); status != http.StatusCreated {
				t.Fatalf("the claim answers %d", status)
			}
			dora.strikes("e", "Enter")
			dora.saysAt("[data-refused]", "was just taken")
			dora.saysAt("[data-count]", "4 tickets")

			// The answer to the sale is lost. It is sent again, and is the same sale: one total, all tickets on paper.
			sales := 0
			check(t, dora.page.Route("**/sales", func(r playwright.Route) {
				body, _ := r.Request().PostData()
				if strings.Contains(body, `"update":true`) {
					_ = r.Continue()
					return
				}
				if sales++; sales > 1 {
					_ = r.Continue()
					return
				}
				if _, err := r.Fetch(); err != nil {
					t.Errorf("the sale: %v", err)
				}
				_ = r.Abort()
			}))
			dora.expect("ERR_FAILED")
			dora.strikes("e", "Enter")
			dora.saysAt("[data-refused]", "nothing is sold twice")
			dora.visit("/desk/events/" + matinee + "/till")
			dora.sees(dora.page.Locator(`[data-till=ready]`))
			dora.saysAt("[data-refused]", "nothing is sold twice")
			dora.saysAt("[data-count]", "4 tickets")
			dora.strikes("Enter")
			dora.saysAt("[data-count]", "No tickets yet")
			dora.saysAt("[data-orders]", "change")
			check(t, dora.page.Locator("#paper article").Nth(3).WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateAttached}))
			if n, err := dora.page.Locator("#paper article").Count(); err != nil || n != 4 {
				t.Errorf("%d tickets are on paper, %v", n, err)
			}
			if n := dora.evaluates(`window.printed`); n != 1 {
				t.Errorf("%v sales were printed", n)
			}
			if n, err := dora.page.Locator("[data-order]").Count(); err != nil || n != 2 {
				t.Errorf("the sale has %d orders, %v", n, err)
			}
			dora.inBothLights("desk-till-two-sold")
			o.usher(t, "verify")
		})
	}
}

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
	for _, d := range looked() {
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
			dora.strikes("F9", "Enter")
			dora.saysAt("[data-count]", "No tickets yet")
			dora.settlesTheTill(o, slug)
		})
	}
}

// settlesTheTill pays cash out, closes with a difference, and reads the report.
func (p *person) settlesTheTill(o *office, slug string) {
	p.t.Helper()
	p.press(p.page.Locator(".shift"))
	p.inBothLights("desk-till-session")
	check(p.t, p.page.Locator("[name=amount]").Fill("30"))
	check(p.t, p.page.Locator("[name=reason]").Fill("Flowers"))
	p.press(p.page.Locator(`form[action$="/entries"] button`))
	p.sees(p.page.GetByText("Flowers"))
	var drawer float64
	_, err := fmt.Sscanf(strings.TrimPrefix(p.textOf("#drawer"), "€"), "%f", &drawer)
	check(p.t, err)
	check(p.t, p.page.Locator("[name=counted]").Fill(fmt.Sprintf("%.2f", drawer-5)))
	p.press(p.page.Locator(`form[action$="/closing"] button`))
	p.saysAt("#difference", "−€5")
	p.inBothLights("desk-till-report")
	o.usher(p.t, "verify")
}

func (p *person) textOf(selector string) string {
	p.t.Helper()
	text, err := p.page.Locator(selector).InnerText()
	check(p.t, err)
	return text
}

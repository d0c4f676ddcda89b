package e2e

import (
	"fmt"
	"net/url"
	"regexp"
	"sync"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// priced is a theatre with a fee and a tax on top, adults and children, and an early phase of so many seats, with prices that
// its organizer set. A child's seat costs 5 + 1.50 + 10 %, which is 7.15, and an adult's 23.65.
func (o *office) priced(t *testing.T, early int) (slug string) {
	t.Helper()
	slug = o.event(t, "theatre", "--demo-card", "--paid-ahead", "--fee", "ticket=1.50", "--opens", "2099-01-01 10:00") // once it is on sale, no tax comes on top
	form := url.Values{"key": {slug}, "type.0.name": {"Adult"}, "type.1.name": {"Child"}, "type.1.proof": {"Passport"}, "phase.1.name": {"Early bird"}, "phase.1.sells": {fmt.Sprint(early)}, "tax.name": {"VAT"}, "tax.rate": {"10"}, "tax.on_top": {"on"}}
	for _, category := range []string{"A", "B", "C", "D", "E"} {
		form.Set("price.0.0."+category, "30")
		form.Set("price.0.1."+category, "9")
		form.Set("price.1.0."+category, "20")
		form.Set("price.1.1."+category, "5")
	}
	olga := someone(t, o, "olga", desktop)
	olga.entersDesk(o.owner(t))
	status, err := olga.page.Evaluate(`async ([at, body]) => (await fetch(at, {method: 'POST', headers: {'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json'}, body})).status`,
		[]string{"/desk/events/" + slug + "/prices", form.Encode()})
	check(t, err)
	if fmt.Sprint(status) != "204" {
		t.Fatalf("the prices are answered with %v", status)
	}
	o.atDesk(t, "events/"+slug+"/status", map[string]any{"status": "on sale", "now": "on", "anyway": true})
	return slug
}

func (p *person) link(name string) playwright.Locator {
	return p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
}

// kind chooses the ticket type of the first seat in the tray.
func (p *person) kind(name string) {
	p.t.Helper()
	_, err := p.tray().Locator(".chips select").First().SelectOption(playwright.SelectOptionValues{Values: &[]string{name}})
	check(p.t, err)
}

// becomesTicket chooses the ticket type of the first seat at the checkout.
func (p *person) becomesTicket(name string) {
	p.t.Helper()
	_, err := p.page.Locator(".bill select").First().SelectOption(playwright.SelectOptionValues{Values: &[]string{name}})
	check(p.t, err)
}

// The first price that a page shows is the last one that is paid.
func TestTypes_TheFirstPriceShownIsTheLastOnePaid(t *testing.T) {
	t.Parallel()
	slug := boxOffice.priced(t, 100)
	for name, d := range map[string]device{"phone": phone, "desktop": desktop} {
		ann := someone(t, boxOffice, "ann-"+name, d)
		ann.openEvent(slug)
		ann.sees(ann.page.GetByText("left at this price"))
		ann.press(ann.link("Child"))
		price := ann.page.Locator(`.prices [data-category="A"] [data-fare]`).First()
		check(t, expect.Locator(price).ToHaveText("€7.15"))
		ann.picture("types", "light")
		ann.press(ann.page.Locator(`.sections a[href*="/sections/0"]`).First())
		seat := map[string]string{"phone": "Stalls/C/12", "desktop": "Stalls/D/12"}[name]
		ann.take(seat)
		check(t, expect.Locator(ann.tray().Locator("[data-total]")).ToHaveText("€7.15"))
		ann.kind("standard")
		check(t, expect.Locator(ann.tray().Locator("[data-total]")).ToHaveText("€23.65"))
		ann.kind("child")
		check(t, expect.Locator(ann.tray().Locator("[data-total]")).ToHaveText("€7.15"))
		ann.holds(seat)
		ann.picture("types-tray", "light")
		ann.press(ann.button("Check out"))
		ann.sees(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay €7.15 now"}))
		ann.picture("types-checkout", "light")
		for kind, total := range map[string]string{"standard": "€23.65", "child": "€7.15"} { // in any order: each is shown at once
			ann.becomesTicket(kind)
			ann.sees(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay " + total + " now"}))
		}
		ann.becomesTicket("child")
		ann.sees(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay €7.15 now"}))
		for kind, total := range map[string]string{"standard": "€23.65", "child": "€7.15"} { // the last one chosen counts, however fast
			_, err := ann.page.Evaluate(`last => {
				const kind = document.querySelector('.bill select') // found here: an answer that is on its way puts another in its place
				for (const one of ['child', 'standard', 'child', last]) { kind.value = one; kind.dispatchEvent(new Event('input', {bubbles: true})) }
			}`, kind)
			check(t, err)
			ann.sees(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay " + total + " now"}))
			check(t, expect.Locator(ann.page.Locator("#held [role=alert]")).ToHaveCount(0))
		}
		ann.becomesTicket("child")
		ann.sees(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay €7.15 now"}))
		check(t, expect.Locator(ann.page.GetByText("Update total")).ToBeHidden())
		ann.orders("Ann Ørsted", ownAddress(t), "")
		ann.card("Pay")
		ann.hasTickets(1)
		ann.sees(ann.page.GetByText("€7.15").First())
		ann.sees(ann.page.GetByText("Child, to be shown at the door: Passport").First())
		ann.press(ann.page.GetByText("Price details"))
		ann.sees(ann.page.GetByText("€0.65").First()) // the tax: 10 % of 6.50
	}
}

func TestTypes_WhatIsChosenBeforeTheScriptsAreThereCounts(t *testing.T) {
	t.Parallel()
	slug := boxOffice.priced(t, 100)
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openEvent(slug)
	ann.press(ann.page.Locator(`.sections a[href*="/sections/0"]`).First())
	ann.take("Stalls/C/14")
	ann.holds("Stalls/C/14")

	letType := ann.holdsBack("**/static/types.*")
	ann.visit("/events/" + slug + "/sections/0")
	ann.kind("child")
	letType()
	check(t, expect.Locator(ann.tray().Locator("[data-total]")).ToHaveText("€7.15"))

	letBuy := ann.holdsBack("**/static/buy.*")
	_, err := ann.page.Goto(boxOffice.url+"/events/"+slug+"/checkout", playwright.PageGotoOptions{WaitUntil: playwright.WaitUntilStateCommit})
	check(t, err)
	ann.becomesTicket("standard")
	letBuy()
	ann.sees(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay €23.65 now"}))
}

// holdsBack keeps what the page asks for at an address from arriving until it is let.
func (p *person) holdsBack(address string) (let func()) {
	p.t.Helper()
	goOn := make(chan struct{})
	check(p.t, p.page.Route(address, func(r playwright.Route) {
		<-goOn
		_ = r.Continue()
	}))
	return sync.OnceFunc(func() { close(goOn) })
}

func TestTypes_PagesShowPricesThatChangeWhileTheyAreOpen(t *testing.T) {
	t.Parallel()
	slug := boxOffice.priced(t, 2)
	ann, other := someone(t, boxOffice, "ann", desktop), someProgram(t, boxOffice)
	ann.openEvent(slug)
	price := ann.page.Locator(`.prices [data-category="A"] [data-fare]`).First()
	check(t, expect.Locator(price).ToHaveText("€23.65"))
	check(t, expect.Locator(ann.page.Locator("[data-places]")).ToHaveText("2"))
	other.claim(slug, "Stalls/C/12")
	check(t, expect.Locator(ann.page.Locator("[data-places]")).ToHaveText("1"))
	other.claim(slug, "Stalls/C/13")
	check(t, expect.Locator(price).ToHaveText("€34.65"))
	check(t, expect.Locator(ann.page.Locator(".phase")).ToBeHidden())
}

func TestTypes_ASeatThatCostsMoreThanThePageShowedIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.priced(t, 100)
	ann := someone(t, o, "ann", desktop)
	ann.openEvent(slug)
	ann.press(ann.page.Locator(`.sections a[href*="/sections/0"]`).First())
	check(t, expect.Locator(ann.page.Locator(`input[value="Stalls/C/12"]`)).ToBeAttached())
	check(t, ann.page.Route(regexp.MustCompile("/events/"+slug+`/map(\?|$)`), func(r playwright.Route) { check(t, r.Abort()) })) // the page cannot take the new prices
	ann.expect("ERR_FAILED")
	dearer := map[string]any{}
	for _, category := range []string{"A", "B", "C", "D", "E"} {
		dearer["price.0.0."+category], dearer["price.0.1."+category] = "30", "9"
		dearer["price.1.0."+category], dearer["price.1.1."+category] = "25", "5"
	}
	o.atDesk(t, "events/"+slug+"/prices", dearer)
	ann.take("Stalls/C/12")
	ann.sees(ann.page.GetByText("The price changed: Stalls, row C, seat 12 costs €29.15.").First())
	check(t, expect.Locator(ann.tray().Locator("[data-total]")).ToHaveText("€29.15"))
}

func TestTypes_WithoutScriptAFamilyIsHeldAndChanged(t *testing.T) {
	t.Parallel()
	slug := boxOffice.priced(t, 100)
	plain := phone
	plain.noScript = true
	ann := someone(t, boxOffice, "ann", plain)
	ann.visit("/events/" + slug)
	best := ann.page.Locator(".best form").First()
	check(t, best.GetByRole("spinbutton", playwright.LocatorGetByRoleOptions{Name: "Adult"}).Fill("1"))
	check(t, best.GetByRole("spinbutton", playwright.LocatorGetByRoleOptions{Name: "Child"}).Fill("2"))
	ann.press(best.GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Find best seats"}))
	ann.press(ann.button("Hold these seats"))
	ann.holdsSeats(3)
	check(t, expect.Locator(ann.tray().Locator("[data-total]")).ToHaveText("€37.95"))
	ann.kind("child")
	ann.press(ann.button("Update ticket types"))
	ann.holdsSeats(3)
	check(t, expect.Locator(ann.tray().Locator("[data-total]")).ToHaveText("€21.45"))
}

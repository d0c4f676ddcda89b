package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

// fills types into labelled fields, in pairs of label and text.
func (p *person) fills(pairs ...string) {
	p.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		check(p.t, p.page.GetByLabel(pairs[i], playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Fill(pairs[i+1]))
	}
}

// opens opens a part of a page by its heading, unless it is open.
func (p *person) opens(heading string) {
	p.t.Helper()
	part := p.page.Locator("details").Filter(playwright.LocatorFilterOptions{Has: p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: heading, Exact: playwright.Bool(true)})})
	if open, err := part.GetAttribute("open"); err != nil || open == "" && !p.isOpen(part) {
		check(p.t, err)
		p.press(part.Locator("summary").First())
	}
}

func (p *person) isOpen(part playwright.Locator) bool {
	open, err := part.Evaluate(`d => d.open`, nil)
	check(p.t, err)
	return open == true
}

// How long a person who does it for the first time takes to read, find and click something, and to press a key. Both are
// about twice what the keystroke-level model has for a skilled one (Card, Moran and Newell, 1983): 2.65 s and 0.28 s.
const perClick, perKey = 5 * time.Second, 500 * time.Millisecond

// effort counts what a person does. A test of a time would be one of the machine.
type effort struct {
	*person
	clicks, keys int
}

func (e *effort) press(what playwright.Locator) {
	e.t.Helper()
	e.person.press(what)
	e.clicks++
}

func (e *effort) opens(heading string) {
	e.t.Helper()
	e.person.opens(heading)
	e.clicks++
}

// fill clicks into a field and types.
func (e *effort) fill(field playwright.Locator, text string) {
	e.t.Helper()
	check(e.t, field.Fill(text))
	e.clicks++
	e.keys += len(text)
}

// mark clicks on a mark.
func (e *effort) mark(what playwright.Locator) {
	e.t.Helper()
	check(e.t, what.Check())
	e.clicks++
}

// atMost fails if the work took more clicks and entries.
func (e *effort) atMost(most int, what string) {
	e.t.Helper()
	e.t.Logf("%s takes %d clicks and entries", what, e.clicks)
	if e.clicks > most {
		e.t.Errorf("%s takes %d clicks and entries, want %d at most", what, e.clicks, most)
	}
}

// takes says how long all of that takes.
func (e *effort) takes() time.Duration {
	return time.Duration(e.clicks)*perClick + time.Duration(e.keys)*perKey
}

// A volunteer begins with no event, and is done after one page of prices.
func TestPrices_AVolunteerSetsThemOnOnePageAndABuyerPaysExactlyThat(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	ann := someone(t, o, "ann", desktop)
	ann.entersDesk(o.owner(t))
	now := time.Now()
	friday := now.AddDate(0, 0, 1+(int(time.Friday-now.Weekday())+6)%7)

	work := &effort{person: ann}
	work.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "New event"}))
	work.fill(ann.page.GetByLabel("Name", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}), "Spring concert")
	work.fill(ann.page.GetByLabel("Begins", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}), friday.AddDate(0, 1, 0).Format(time.DateOnly)+"T19:30")
	work.press(ann.page.GetByRole("radio", playwright.PageGetByRoleOptions{Name: "Conference"}))
	work.press(ann.button("Create draft"))
	work.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Prices", Exact: playwright.Bool(true)}).First())
	ann.picture("volunteer-1-prices", "light")
	category, err := ann.page.Locator("thead th").Nth(1).InnerText()
	check(t, err)
	for i, row := range [][2]string{{"Adult", "30"}, {"Student", "18"}, {"Child", "9"}} {
		work.fill(ann.page.Locator(fmt.Sprintf(`[name="type.%d.name"]`, i)), row[0])
		work.fill(ann.page.GetByLabel(row[0]+": price, "+category, playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}), row[1])
	}
	work.opens("Phases")
	phase := ann.page.Locator("#phase-1")
	work.fill(phase.GetByLabel("Name"), "Early bird")
	work.fill(phase.GetByLabel("Until", playwright.LocatorGetByLabelOptions{Exact: playwright.Bool(true)}), friday.Format(time.DateOnly)+"T23:59")
	work.fill(phase.GetByLabel("Adult: price in the new phase, "+category), "25")
	ann.picture("volunteer-2-phase", "light")
	work.opens("Tax")
	work.fill(ann.page.GetByLabel("Name of the tax"), "VAT")
	work.fill(ann.page.GetByLabel("Tax on tickets, in percent"), "10")
	work.opens("Discount codes")
	work.fill(ann.page.GetByLabel("New code"), "MEMBERS")
	work.fill(ann.page.GetByLabel("Discount per ticket"), "10%")
	ann.picture("volunteer-3-filled", "light")
	work.press(ann.button("Save prices"))
	ann.sees(ann.page.GetByText("Saved."))
	ann.picture("volunteer-4-saved", "light")
	if took := work.takes(); took > 3*time.Minute {
		t.Errorf("a volunteer needs %v for %d clicks and %d keys", took, work.clicks, work.keys)
	} else {
		t.Logf("%d clicks and %d keys, %v for a volunteer", work.clicks, work.keys, took)
	}
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Settings"}))
	check(t, ann.page.GetByLabel("At the box office").Check())
	ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Save", Exact: playwright.Bool(true)}))
	ann.sees(ann.page.GetByText("Saved."))
	ann.expect("409")
	ann.press(ann.button("Put on sale now"))
	ann.press(ann.button("Put on sale without it")) // no legal texts

	bob := someone(t, o, "bob", phone)
	bob.openEvent("spring-concert")
	places := bob.page.Locator(`form:has(input[name="area"])`).First()
	for _, name := range []string{"Student", "Child"} { // of the first type, the form asks for one by itself
		bob.press(places.GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "One more: " + name}))
	}
	bob.picture("volunteer-5-places", "light")
	bob.press(places.GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Add tickets"}))
	bob.holdsSeats(3)
	bob.visit("/events/spring-concert/checkout")
	bob.sees(bob.page.Locator(".total").GetByText("€52")) // 25 + 18 + 9
	bob.press(bob.page.GetByText("Discount code", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)}))
	check(t, bob.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "Discount code"}).Fill("members"))
	bob.press(bob.button("Apply code"))
	bob.sees(bob.page.Locator(".off").GetByText("−€5.20"))
	bob.sees(bob.page.Locator(".total").GetByText("€46.80"))
	bob.picture("volunteer-6-checkout", "light")
	bob.orders("Bob Buyer", "bob@localhost.example", "")
	bob.hasTickets(3)
	bob.press(bob.page.GetByText("Price details"))
	for _, text := range []string{"Discount: code MEMBERS", "−€5.20", "VAT 10% included", "€4.25", "€46.80"} { // 46.80 × 10 / 110 = 4.25, and not by the ticket: 2.05 + 1.47 + 0.74
		bob.sees(bob.page.GetByText(text).First())
	}
	bob.picture("volunteer-7-order", "light")
	o.usher(t, "verify")
}

// On a slow line a name is typed before the script of the page arrives.
func TestPrices_ANameTypedBeforeTheScriptArrivesIsInTheLabels(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "conference")
	ann := someone(t, o, "ann", desktop)
	ann.entersDesk(o.owner(t))
	waiting := make(chan playwright.Route, 1)
	check(t, ann.page.Route("**/desk_prices*.js*", func(r playwright.Route) { waiting <- r }))
	_, err := ann.page.Goto(o.url+"/desk/events/"+slug+"/prices", playwright.PageGotoOptions{WaitUntil: playwright.WaitUntilStateCommit})
	check(t, err)
	check(t, ann.page.Locator(`[name="type.0.name"]`).Fill("Visitor"))
	check(t, (<-waiting).Continue())
	ann.sees(ann.page.GetByLabel("Visitor: price, Free place", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}))
}

func TestPrices_ThreeForTwoAppliesByItself(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--price", "A=30.00")
	ann := someone(t, o, "ann", desktop)
	ann.entersDesk(o.owner(t))
	ann.visit("/desk/events/" + slug + "/prices")
	ann.opens("Offers")
	ann.press(ann.page.GetByText("Add: Pay for fewer"))
	offer := ann.page.Locator("details.part").Filter(playwright.LocatorFilterOptions{HasText: "Add: Pay for fewer"})
	check(t, offer.GetByLabel("Tickets, such as 3").Fill("3"))
	check(t, offer.GetByLabel("The buyer pays for").Fill("2"))
	ann.press(ann.button("Save prices"))
	ann.sees(ann.page.GetByText("1 offer"))
	ann.picture("offers", "light")

	bob := someone(t, o, "bob", phone)
	bob.openEvent(slug)
	bob.asksForBest(3, "A")
	bob.visit("/events/" + slug + "/checkout")
	bob.sees(bob.page.Locator(".off").GetByText("3 for 2"))
	bob.sees(bob.page.Locator(".total").GetByText("€60"))
	bob.picture("offers-checkout", "light")
	bob.orders("Bob Buyer", "bob@localhost.example", "")
	bob.hasTickets(3)
	bob.press(bob.page.GetByText("Price details"))
	bob.sees(bob.page.GetByText("Discount: 3 for 2"))
	o.usher(t, "verify")
}

// pricesAnEvening gives an event in the plan theatre types, a phase, offers and a tax, as a program does.
func (p *person) pricesAnEvening(slug string) {
	p.t.Helper()
	_, err := p.page.Evaluate(`async slug => {
		const said = { key: slug, 'type.0.name': 'Adult', 'type.1.name': 'Child', 'type.1.proof': 'Passport', 'phase.1.name': 'Early bird', 'phase.1.sells': 20, 'tax.name': 'VAT', 'tax.country': 'AT', 'tax.rate': '10',
			'offer.0.kind': 'multi', 'offer.0.count': 3, 'offer.0.pay': 2, 'offer.1.kind': 'family', 'offer.1.count': 2, 'offer.1.children': 1, 'offer.1.percent': 20, 'offer.1.types': ['standard'], 'offer.1.child_types': ['child'] }
		for (const of of ['A', 'B', 'C', 'D', 'W']) Object.assign(said, { ['price.0.0.' + of]: '90', ['price.0.1.' + of]: '50%', ['price.1.0.' + of]: '75' })
		const a = await fetch('/desk/events/' + slug + '/prices', { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify(said) })
		if (!a.ok) throw new Error(await a.text())
	}`, slug)
	check(p.t, err)
}

// At the box office each marked seat is sold as the type that is chosen for it, and the total is that of the server.
func TestPrices_TheBoxOfficeSellsEachSeatAsItsType(t *testing.T) {
	t.Parallel()
	o := ownOffice(t)
	slug := o.event(t, "theatre", "--price", "A=30.00")
	ann := someone(t, o, "ann", desktop)
	ann.entersDesk(o.owner(t))
	ann.visit("/desk/events/" + slug + "/seats")
	ann.pricesAnEvening(slug)
	ann.visit("/desk/events/" + slug + "/seats")
	till, free := ann.page.Locator("#till"), ann.page.Locator(".plot label.s.free input")
	for i := range 2 {
		check(t, free.Nth(i).Check(playwright.LocatorCheckOptions{Force: playwright.Bool(true)}))
	}
	check(t, expect.Locator(till.Locator(".lines li")).ToHaveCount(2))
	check(t, expect.Locator(till.Locator("strong")).ToHaveText("€150"))
	_, err := till.Locator(".lines select").Nth(1).SelectOption(playwright.SelectOptionValues{Values: &[]string{"child"}})
	check(t, err)
	check(t, expect.Locator(till.Locator("strong")).ToHaveText("€120"))
	for _, scheme := range []string{"light", "dark"} {
		ann.picture("till-desktop", scheme)
	}
	check(t, ann.page.SetViewportSize(phone.width, phone.height))
	check(t, till.ScrollIntoViewIfNeeded())
	for _, scheme := range []string{"light", "dark"} {
		ann.picture("till-phone", scheme)
	}
	ann.press(ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Sell", Exact: playwright.Bool(true)}))
	ann.sees(ann.page.GetByText("€120").First())
	ann.sees(ann.page.GetByText("Child").First())
	o.usher(t, "verify")
}

package e2e

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/playwright-community/playwright-go"
)

// What stands on the pages, by the names people know it.

func (p *person) visit(path string) {
	p.t.Helper()
	_, err := p.page.Goto(p.office.url + path)
	check(p.t, err)
}

// openEvent opens the page of an event and waits until it is live.
func (p *person) openEvent(slug string) {
	p.t.Helper()
	p.visit("/events/" + slug)
	p.isLive()
}

// openSection opens the page of one section: its rows as a form.
func (p *person) openSection(slug string, number int) {
	p.t.Helper()
	p.visit(fmt.Sprintf("/events/%s/sections/%d", slug, number))
	if !p.device.noScript {
		p.isLive()
	}
}

// isLive waits until the page has the map as it is and hears of every change.
func (p *person) isLive() {
	p.t.Helper()
	p.sees(p.page.Locator(`body[data-live="live"]`))
}

// seat is the checkbox of one seat.
func (p *person) seat(label string) playwright.Locator {
	return p.page.Locator(fmt.Sprintf(`input[name="seat"][value="%s"]`, label))
}

// tray is where the seats of the person stand.
func (p *person) tray() playwright.Locator { return p.page.Locator("#tray") }

// take clicks a seat, on a phone taps it, and waits until it is in the tray.
func (p *person) take(label string) {
	p.t.Helper()
	if p.device.touch {
		check(p.t, p.seat(label).Tap())
	} else {
		p.press(p.seat(label))
	}
	p.holds(label)
}

func (p *person) holds(labels ...string) {
	p.t.Helper()
	for _, label := range labels {
		p.sees(p.tray().Locator(fmt.Sprintf(`[data-seat="%s"]`, label)))
	}
}

// press clicks, on a phone too: a click waits for the page that it leads to, and a tap does not.
func (p *person) press(what playwright.Locator) {
	p.t.Helper()
	if p.device.noScript {
		p.settles(what)
	}
	check(p.t, what.Click())
}

// settles brings something into view and waits until it stays where it is: rows get their height as they come into view,
// and where no script runs Playwright does not see that what is below them moves.
func (p *person) settles(what playwright.Locator) {
	p.t.Helper()
	var before *playwright.Rect
	eventually(p.t, patience, "something that stays where it is", func() bool {
		check(p.t, what.ScrollIntoViewIfNeeded())
		now, err := what.BoundingBox()
		check(p.t, err)
		still := before != nil && now != nil && *now == *before
		before = now
		return still
	})
}

func (p *person) button(name string) playwright.Locator {
	return p.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: name})
}

// control presses a button that moves the map or stops its updates; on phones they are in a menu.
func (p *person) control(name string) {
	p.t.Helper()
	button := p.page.Locator("#map").GetByRole("button", playwright.LocatorGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
	closed := p.page.Locator(".menu:not([open]) summary")
	eventually(p.t, patience, "the button "+name, func() bool {
		if shut, err := closed.IsVisible(); err == nil && shut {
			p.press(closed)
		}
		visible, err := button.IsVisible()
		return err == nil && visible
	})
	p.press(button)
	if p.device.width < 960 {
		check(p.t, p.page.Keyboard().Press("Escape"))
	}
}

func (p *person) sees(what playwright.Locator) {
	p.t.Helper()
	check(p.t, expect.Locator(what).ToBeVisible())
}

// seesLater is sees for what takes its time: a hold that ends, a page that connects again.
func (p *person) seesLater(what playwright.Locator) {
	p.t.Helper()
	check(p.t, expect.Locator(what).ToBeVisible(playwright.LocatorAssertionsToBeVisibleOptions{Timeout: playwright.Float(float64(3 * patience.Milliseconds()))}))
}

// isLiveAgain waits until a page that lost its connection has another.
func (p *person) isLiveAgain() {
	p.t.Helper()
	p.seesLater(p.page.Locator(`body[data-live="live"]`))
}

// isOffline waits until the page says that it hears of no changes.
func (p *person) isOffline() {
	p.t.Helper()
	p.sees(p.page.Locator(`body:not([data-live="live"])`))
}

// seesTaken waits until the page shows that another visitor has the seat.
func (p *person) seesTaken(label string) {
	p.t.Helper()
	p.sees(p.page.Locator(fmt.Sprintf(`input[name="seat"][value="%s"]:is(:disabled, [aria-disabled="true"])`, label)))
}

// seesFree waits until a seat can be had, and is not this person's; it may have to end before.
func (p *person) seesFree(label string) {
	p.t.Helper()
	p.seesLater(p.page.Locator(fmt.Sprintf(`input[name="seat"][value="%s"]:enabled:not(:checked):not([aria-disabled="true"])`, label)))
}

// holdsSeats waits until the tray has so many seats.
func (p *person) holdsSeats(n int) {
	p.t.Helper()
	check(p.t, expect.Locator(p.tray().Locator(`[data-seat]`)).ToHaveCount(n))
}

// giveBack gives one seat back by its button in the tray.
func (p *person) giveBack(label string) {
	p.t.Helper()
	p.press(p.tray().Locator(fmt.Sprintf(`[data-seat="%s"]`, label)).GetByRole("button"))
	check(p.t, expect.Locator(p.tray().Locator(fmt.Sprintf(`[data-seat="%s"]`, label))).ToHaveCount(0))
}

// seesExpired waits until the page says that the time of the hold is up.
func (p *person) seesExpired() {
	p.t.Helper()
	p.seesLater(p.page.Locator(`#tray[data-state="lapsed"]`))
}

// holdButton sends the form of a section, where there is no script that claims at a tap.
func (p *person) holdButton() playwright.Locator {
	return p.button("Hold these seats")
}

// readsRefusal waits for the message that a claim was refused, which names the seat.
func (p *person) readsRefusal(label string) {
	p.t.Helper()
	p.sees(p.message())
	check(p.t, expect.Locator(p.message()).ToContainText(words(label)))
}

// words is a label as people say it.
func words(label string) string {
	parts := strings.Split(label, "/")
	return parts[0] + ", row " + parts[1] + ", seat " + parts[2]
}

func (p *person) message() playwright.Locator { return p.page.Locator("#message") }

// takesTheOffer takes the nearest seat that a refusal offers.
func (p *person) takesTheOffer() {
	p.t.Helper()
	p.press(p.message().GetByRole("button").First())
}

var choosing sync.Mutex

// asksForBest takes the best seats together in a category. One person asks after another: the best seats of an event
// are the same for all, and only the first to hold them gets them.
func (p *person) asksForBest(n int, category string) {
	p.t.Helper()
	choosing.Lock()
	defer choosing.Unlock()
	held, err := p.tray().Locator(`[data-seat]`).Count()
	check(p.t, err)
	p.triesBest(n, category)
	p.holdsSeats(held + n)
}

// triesBest asks for the best seats together in a category, whatever the answer is.
func (p *person) triesBest(n int, category string) {
	p.t.Helper()
	form := p.page.Locator(`form:has(input[name="best"])`).First()
	check(p.t, form.GetByLabel("How many").Fill(fmt.Sprint(n)))
	_, err := form.Locator(`select[name="category"]`).SelectOption(playwright.SelectOptionValues{Values: &[]string{category}})
	check(p.t, err)
	p.press(form.GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Find best seats"}))
	p.press(p.button("Hold these seats"))
}

// asksForPlaces asks for places in an area.
func (p *person) asksForPlaces(area string, n int) {
	p.t.Helper()
	form := p.page.Locator(fmt.Sprintf(`form:has(input[name="area"][value="%s"])`, area)).First()
	check(p.t, form.GetByLabel("Tickets").Fill(fmt.Sprint(n)))
	p.press(form.GetByRole("button", playwright.LocatorGetByRoleOptions{Name: "Add tickets"}))
}

func (p *person) evaluates(script string) float64 {
	p.t.Helper()
	n, err := p.page.Evaluate(script)
	check(p.t, err)
	return asFloat(n)
}

func asFloat(n any) float64 {
	switch n := n.(type) {
	case float64:
		return n
	case int:
		return float64(n)
	}
	return math.NaN()
}

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

const goodCard = "4242424242424242"

// choosesReader has the open till of a person use a card reader.
func (p *person) choosesReader(label string) {
	p.t.Helper()
	p.press(p.page.Locator(".shift"))
	p.choosesReaderHere(label)
}

// choosesReaderHere has the session of the page use a card reader.
func (p *person) choosesReaderHere(label string) {
	p.t.Helper()
	p.press(p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Choose a card reader"}))
	if !p.device.noScript {
		p.inBothLights("desk-till-readers")
	}
	check(p.t, p.page.GetByLabel(label+", online").Check())
	p.press(p.button("Save"))
	p.saysAt("main", label)
	if !p.device.noScript {
		p.inBothLights("desk-till-session-reader")
	}
}

// opensTillWithout opens a till and chooses a reader, without scripts.
func (p *person) opensTillWithout(label string) {
	p.t.Helper()
	p.visit("/desk/till")
	check(p.t, p.page.Locator("[name=float]").Fill("50"))
	p.press(p.button("Open the till"))
	p.press(p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Open since"}))
	p.choosesReaderHere(label)
}

// waitsForCard waits until the dialog asks for a card.
func (p *person) waitsForCard(label string) {
	p.t.Helper()
	p.saysAt("dialog[open] [data-reader-says]", "Waiting for a card at “"+label+"”")
}

func TestTillReader_SellsByKeyboardDeclinesAndCancels(t *testing.T) {
	t.Parallel()
	o, bank := stripeOffice(t)
	reader := bank.AddReader("Front desk")
	slug := o.event(t, "theatre", "--paid-ahead")
	dora := someone(t, o, "dora", desktop)
	dora.entersDesk(o.organizer(t, "Dora", "till"))
	dora.atTill(slug)
	check(t, dora.page.Locator("[name=float]").Fill("200"))
	dora.press(dora.button("Open the till"))
	dora.sees(dora.page.Locator(`[data-till=ready] .shift [data-drawer]`))
	drawer := dora.textOf("[data-drawer]")
	dora.choosesReader("Front desk")
	dora.visit("/desk/events/" + slug + "/till")
	dora.sees(dora.page.Locator(`[data-till=ready]`))
	check(t, dora.page.SetViewportSize(1024, 768))

	// Two seats, paid with a card, in three presses. A fourth one cancels nothing.
	dora.strikes("2", "F9", "Enter")
	dora.waitsForCard("Front desk")
	dora.strikes("Enter")
	dora.waitsForCard("Front desk")
	if more := dora.evaluates(`document.scrollingElement.scrollHeight - innerHeight`); more > 0 {
		t.Errorf("the till is %v pixels higher than a small screen", more)
	}
	dora.inBothLights("desk-till-reader-1024")
	bank.Presents(reader, goodCard)
	dora.saysAt("[data-count]", "No tickets yet")
	dora.sees(dora.page.Locator("[data-order]"))
	check(t, dora.page.Locator("#paper article").Nth(1).WaitFor(playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateAttached}))
	if n := dora.evaluates(`window.printed`); n != 1 {
		t.Errorf("%v sales were printed", n)
	}
	if now := dora.textOf("[data-drawer]"); now != drawer {
		t.Errorf("the drawer had %s, and has %s", drawer, now)
	}

	// A card is declined: the cart stays, and another card pays it.
	dora.strikes("1", "F9", "Enter")
	dora.waitsForCard("Front desk")
	bank.Presents(reader, stripetest.Declined)
	dora.saysAt("[data-refused]", "the bank declined the card")
	dora.saysAt("[data-count]", "1 ticket")
	dora.inBothLights("desk-till-reader-declined-1024")
	dora.strikes("Enter")
	dora.waitsForCard("Front desk")
	bank.Presents(reader, goodCard)
	dora.saysAt("[data-count]", "No tickets yet")

	// The page is loaded again, and still waits. The customer pays in cash after all.
	dora.strikes("1", "F9", "Enter")
	dora.waitsForCard("Front desk")
	_, err := dora.page.Reload()
	check(t, err)
	dora.waitsForCard("Front desk")
	dora.strikes("Escape")
	dora.saysAt("[data-refused]", "You stopped the payment")
	dora.saysAt("[data-count]", "1 ticket")
	if left := bank.Shows(reader); left != 0 {
		t.Errorf("the reader still shows %d", left)
	}
	dora.strikes("F8", "q", "Enter")
	dora.saysAt("[data-count]", "No tickets yet")

	// A card is in the reader when the sale is cancelled. The next customer need not wait for it, and its money goes back.
	dora.strikes("1", "F9", "Enter")
	dora.waitsForCard("Front desk")
	bank.Inserts(reader)
	dora.strikes("Escape")
	dora.saysAt("dialog[open] [data-reader-says]", "told to stop")
	dora.inBothLights("desk-till-reader-stops-1024")
	dora.strikes("Escape")
	dora.saysAt("[data-refused]", "its money goes back")
	dora.strikes("F8", "q", "Enter")
	dora.saysAt("[data-count]", "No tickets yet")
	bank.Presents(reader, goodCard)
	if status := stripetest.Deliver(t, o.url+"/webhooks/stripe", bank.ReaderEvent(reader, "terminal.reader.action_succeeded")); status != http.StatusNoContent {
		t.Errorf("the webhook got %d", status)
	}
	eventually(t, 3*patience, "the card gets its money back", func() bool {
		all := bank.Sessions()
		return all[len(all)-1].Refunded == all[len(all)-1].Amount
	})

	// Without scripts, the page Seats sells at the reader, too.
	plain := someone(t, o, "eve", device{width: 390, height: 844, noScript: true})
	plain.entersDesk(o.organizer(t, "Eve", "till"))
	plain.opensTillWithout("Front desk")
	plain.visit("/desk/events/" + slug + "/seats")
	check(t, plain.page.Locator("[name=seats]").Fill("Stalls/C/12"))
	check(t, plain.page.GetByLabel("by card", playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).Check())
	plain.press(plain.button("Sell"))
	plain.sees(plain.page.GetByText("Waiting for a card at “Front desk”"))
	check(t, dora.page.SetViewportSize(390, 844))
	_, err = dora.page.Goto(plain.page.URL())
	check(t, err)
	dora.saysAt("main", "Waiting for a card")
	dora.inBothLights("desk-reader-waiting")
	bank.Presents(reader, stripetest.Declined)
	plain.seesLater(plain.page.GetByText("the bank declined the card"))
	dora.seesLater(dora.page.GetByText("the bank declined the card"))
	dora.inBothLights("desk-reader-failed")
	captured := 0
	for _, s := range bank.Sessions() {
		captured += s.Captures
	}
	if captured != 3 {
		t.Errorf("cards were charged %d times, want 3", captured)
	}
	if bank.Judged() < 8 {
		t.Errorf("stripe-mock looked at %d requests", bank.Judged())
	}
	if out := o.usher(t, "verify"); !strings.Contains(out, "ok") || strings.Contains(out, "BROKEN") {
		t.Errorf("the books: %s", out)
	}
}

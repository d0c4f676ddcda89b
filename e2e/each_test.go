package e2e

import (
	"path"
	"regexp"
	"strings"

	"github.com/playwright-community/playwright-go"
)

// onDesktop are the states that have to do with a mouse, or look the same on a phone.
var onDesktop = map[string]bool{"event-card": true, "event-forced": true, "event-closed": true}

// each is every page and state that is looked at, in the order one comes upon them.
var each = []struct {
	name string
	open func(p *person, s sales)
}{
	{"events-none", func(p *person, s sales) {
		_, err := p.page.Goto(s.none + "/events")
		check(p.t, err)
	}},
	{"events", func(p *person, _ sales) { p.visit("/events") }},
	{"event-full", func(p *person, s sales) { p.openEvent(s.full) }},
	{"waitlist-wrong", func(p *person, s sales) {
		p.press(p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Join the waiting list"}))
		p.expect("422")
		check(p.t, p.page.GetByLabel("Email (we’ll send offers here)").Fill("ann@localhost"+p.name))
		check(p.t, p.page.GetByLabel("Wait until").Fill("2001-01-01"))
		p.press(p.button("Join the waiting list"))
		p.sees(p.page.GetByText("This day is in the past."))
	}},
	{"waitlist-consent-wrong", func(p *person, s sales) {
		p.expect("422")
		check(p.t, p.page.GetByLabel("Wait until").Fill(""))
		check(p.t, p.page.GetByLabel("Order at once, at the box office").Check())
		p.press(p.button("Join the waiting list"))
		p.sees(p.page.GetByText("Enter the maximum price."))
		p.sees(p.page.GetByText("Enter your name."))
	}},
	{"waitlist-asked", func(p *person, s sales) {
		check(p.t, p.page.GetByLabel("Your name (to order at once)").Fill("Ann"))
		check(p.t, p.page.GetByLabel("Maximum price").Fill("30"))
		p.press(p.button("Join the waiting list"))
		p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Check your email"}))
	}},
	{"waitlist-new", func(p *person, s sales) { p.visit(p.office.mailed(p.t, "ann@localhost"+p.name, placeLink)) }},
	{"waitlist-place", func(p *person, s sales) {
		p.press(p.button("Confirm my place"))
		p.press(p.page.GetByText("Change what you’re waiting for"))
	}},
	{"rows-full", func(p *person, s sales) { p.openSection(s.full, 0) }},
	{"event-scheduled", func(p *person, s sales) { p.visit("/events/" + s.later); p.sees(p.page.GetByText("Not on sale yet")) }},
	{"event-paused", func(p *person, s sales) {
		p.visit("/events/" + s.paused)
		p.sees(p.page.GetByText("The hall is being aired."))
	}},
	{"event-closed", func(p *person, s sales) {
		p.visit("/events/" + s.closed)
		p.sees(p.page.GetByText("See you next year."))
	}},
	{"event", func(p *person, s sales) { p.openEvent(s.theatre); p.seesMap() }},
	{"event-near", func(p *person, _ sales) {
		for range 3 {
			p.control("Zoom in")
		}
	}},
	{"event-card", func(p *person, _ sales) {
		p.control("Back to full map")                 // zoomed in, a small screen may show no middle of a section
		check(p.t, p.page.Keyboard().Press("Escape")) // the menu would cover it
		p.seesCard()
	}},
	{"event-rows", func(p *person, _ sales) {
		p.press(p.page.Locator(".sections a").Nth(2))
		p.sees(p.page.Locator("#rows input[name=seat]").First())
	}},
	{"event-forced", func(p *person, _ sales) { p.forced(playwright.ForcedColorsActive) }},
	{"paused", func(p *person, _ sales) {
		p.forced(playwright.ForcedColorsNone)
		p.control("Pause updates")
		check(p.t, expect.Locator(p.page.Locator(".stale")).ToHaveText("Paused. Seats may be out of date."))
	}},
	{"away", func(p *person, _ sales) {
		p.control("Resume updates")
		p.isLive()
		p.online(false)
		p.sees(p.page.GetByText("Reconnecting."))
	}},
	{"checkout-none", func(p *person, s sales) {
		p.online(true)
		p.expect("404")
		p.visit("/events/" + s.theatre + "/checkout")
		p.sees(p.page.GetByText("You have no seats held for this event."))
	}},
	{"polling", func(p *person, s sales) {
		back := p.blocksSockets()
		p.visit("/events/" + s.theatre + "/sections/0")
		p.seesLater(p.page.Locator(`body[data-live="polling"]`))
		back()
	}},
	{"hold", func(p *person, s sales) { p.openSection(s.theatre, 1); p.take(p.box(1)) }},
	{"event-hold", func(p *person, s sales) { p.openEvent(s.theatre) }},
	{"more-time", func(p *person, _ sales) {
		_, err := p.page.Evaluate(`document.querySelector('#more-time').showModal()`)
		check(p.t, err)
	}},
	{"conflict", func(p *person, s sales) {
		p.missesChanges()
		p.openSection(s.theatre, 1)
		label := p.box(2)
		someProgram(p.t, p.office).claim(s.theatre, label)
		p.press(p.seat(label))
		p.sees(p.message())
	}},
	{"lapsed", func(p *person, s sales) {
		p.openSection(s.short, 1)
		p.take(p.box(1))
		p.seesExpired()
	}},
	{"event-lapsed", func(p *person, s sales) { p.openEvent(s.short) }},
	{"places", func(p *person, s sales) { p.openEvent(s.places) }},
	{"places-hold", func(p *person, s sales) { p.asksForPlaces("Places", 2); p.holdsSeats(2) }},
	{"checkout", func(p *person, s sales) { p.visit("/events/" + s.places + "/checkout") }},
	{"checkout-wrong", func(p *person, _ sales) {
		p.orders("Ann Ørsted", "ann@example.org", "2300-01-01")
		p.sees(p.page.GetByText("is in the future"))
	}},
	{"order", func(p *person, _ sales) {
		p.orders("Ann Ørsted", "ann@example.org", "1990-12-31")
		p.hasTickets(2)
	}},
	{"checkout-door", func(p *person, s sales) { p.visit("/events/" + s.theatre + "/checkout") }},
	{"confirm-email", func(p *person, _ sales) {
		p.orders("Ann Ørsted", "ann@localhost"+p.name, "")
		p.sees(p.asksToConfirm())
	}},
	{"confirm-order", func(p *person, _ sales) { p.opensMail(); p.sees(p.button("Confirm my order")) }},
	{"order-door", func(p *person, _ sales) {
		p.press(p.button("Confirm my order"))
		p.sees(p.page.GetByText("to pay at the box office"))
	}},
	{"questions", func(p *person, s sales) {
		p.openEvent(s.asking)
		p.asksForPlaces("Places", 3)
		p.holdsSeats(3)
		p.visit("/events/" + s.asking + "/checkout")
	}},
	{"questions-wrong", func(p *person, _ sales) {
		p.answers(" ", "vegetarian", true)
		p.orders("Ann Ørsted", "ann@example.org", "")
		p.sees(p.page.GetByText("Answer this question."))
	}},
	{"order-cancel", func(p *person, _ sales) {
		check(p.t, p.page.GetByLabel("Company").Fill("Ørsted & Daughters"))
		p.press(p.page.Locator("form .primary"))
		p.hasTickets(3)
		p.order, p.tickets = p.page.URL(), p.codes(3)
		p.press(p.page.GetByText("Cancel tickets"))
		check(p.t, p.page.Locator(`form[action$="/cancellations"] input[name="ticket"]`).First().Check())
		check(p.t, p.button("Cancel selected tickets").ScrollIntoViewIfNeeded())
	}},
	{"order-some", func(p *person, _ sales) {
		p.press(p.button("Cancel selected tickets"))
		p.hasTickets(2)
	}},
	{"order-mailed", func(p *person, _ sales) { p.press(p.button("Send the email again")); p.hasTickets(2) }},
	{"order-details", func(p *person, _ sales) {
		p.press(p.page.GetByText("Change name or answers"))
		check(p.t, p.button("Save changes").ScrollIntoViewIfNeeded())
	}},
	{"door", func(p *person, s sales) {
		p.door(s.asking, "North gate")
		p.sees(p.page.GetByText("stored on this device"))
	}},
	{"door-in", func(p *person, _ sales) { p.scans(p.tickets[1], "in", "Let them in.") }},
	{"door-twice", func(p *person, _ sales) { p.scans(p.tickets[1], "again", "This ticket was already used") }},
	{"door-revoked", func(p *person, _ sales) { p.scans(p.tickets[0], "revoked", "This ticket was cancelled.") }},
	{"door-which", func(p *person, _ sales) { p.scans(path.Base(p.order), "which", "Which of its tickets?") }},
	{"door-away", func(p *person, _ sales) {
		p.online(false)
		p.scans(p.tickets[2], "in", "checked on this phone")
	}},
	{"door-none", func(p *person, _ sales) {
		p.online(true)
		p.sees(p.page.GetByText("stored on this device"))
		p.expect("404")
		p.visit("/door/nowhere")
		p.sees(p.page.GetByText("This link to the door does not work."))
	}},
	{"order-checked-in", func(p *person, _ sales) {
		p.visit(strings.TrimPrefix(p.order, p.office.url))
		p.sees(p.page.GetByText("Checked in").First())
	}},
	{"order-cancelled", func(p *person, s sales) {
		p.buysPlaces(s.asking, 1)
		p.cancelsOne()
		p.sees(p.page.GetByText("This order was cancelled"))
	}},
	{"credit-ask", func(p *person, _ sales) { p.visit("/account") }},
	{"credit-sent", func(p *person, _ sales) { p.asksForLink("ann" + p.name + "@example.org") }},
	{"credit-link", func(p *person, _ sales) { p.visit(p.linkIn("ann" + p.name + "@example.org")) }},
	{"personal-data", func(p *person, _ sales) { p.visit("/personal-data") }},
	{"personal-data-sent", func(p *person, _ sales) { p.asksForLink("data" + p.name + "@example.org") }},
	{"personal-data-link", func(p *person, _ sales) {
		p.visit(p.office.mailed(p.t, "data"+p.name+"@example.org", regexp.MustCompile(`/personal-data/[0-9A-Z]{26}`)))
	}},
	{"personal-data-shown", func(p *person, _ sales) {
		p.press(p.button("Show my data"))
		p.sees(p.page.GetByText("exported_at"))
	}},
	{"credit-link-again", func(p *person, _ sales) { p.visit(p.linkIn("ann" + p.name + "@example.org")) }},
	{"credit-empty", func(p *person, _ sales) { p.press(p.button("Open my account")); p.sees(p.button("Redeem")) }},
	{"credit-wrong", func(p *person, _ sales) {
		p.expect("404")
		p.redeems("ABCD-EFGH-JKMN-PQRS")
		p.sees(p.page.GetByText("no voucher"))
	}},
	{"credit", func(p *person, s sales) {
		p.redeems(p.office.vouchers(p.t, "200.00", 1)[0])
		p.sees(p.page.GetByText("is in your credit"))
	}},
	{"checkout-credit", func(p *person, s sales) {
		p.openEvent(s.theatre)
		p.asksForBest(2, "A")
		p.visit("/events/" + s.theatre + "/checkout")
		p.sees(p.page.GetByText("of the €200"))
	}},
	{"credit-spent", func(p *person, _ sales) {
		p.paysWithCredit("Ann Ørsted")
		p.hasTickets(2)
		p.visit("/account")
		p.sees(p.page.Locator(".owned").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "A night out"}).First())
	}},
	{"order-back", func(p *person, _ sales) {
		p.press(p.page.Locator(".owned").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "A night out"}).First())
		p.hasTickets(2)
		p.cancelsOne()
		p.seesAfterReload("went back into your credit")
	}},
	{"checkout-lapsed", func(p *person, s sales) {
		p.visit("/events/" + s.short + "/checkout")
		p.sees(p.page.GetByText("Your hold expired."))
	}},
	{"checkout-lost", func(p *person, s sales) {
		someProgram(p.t, p.office).claim(s.short, p.box(1))
		p.seesLater(p.page.GetByText("was taken by someone else")) // the page hears of it before a button is pressed
	}},
	{"checkout-demo", func(p *person, s sales) {
		p.openEvent(s.demo)
		p.asksForBest(1, "A")
		p.visit("/events/" + s.demo + "/checkout")
	}},
	{"demo-card", func(p *person, _ sales) {
		p.orders("Ann Ørsted", "ann@example.org", "")
		p.sees(p.page.GetByText("No money moves here."))
	}},
	{"declined", func(p *person, _ sales) { p.card("Decline"); p.sees(p.page.GetByText("Your payment was declined")) }},
	{"checkout-paying", func(p *person, s sales) {
		p.press(p.page.Locator("form .primary"))
		p.sees(p.page.GetByText("No money moves here."))
		p.visit("/events/" + s.demo + "/checkout")
		p.sees(p.page.GetByText("You have an unfinished payment."))
	}},
	{"payment", func(p *person, _ sales) {
		p.press(p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Continue payment"}))
		p.sees(p.page.GetByText("Your payment isn’t confirmed yet"))
	}},
	{"payment-stopped", func(p *person, _ sales) {
		p.press(p.button("Cancel payment"))
		p.sees(p.page.Locator("h1"))
	}},
	{"order-paid", func(p *person, s sales) {
		p.visit("/events/" + s.demo + "/checkout")
		p.orders("Ann Ørsted", "ann@example.org", "")
		p.card("Pay")
		p.hasTickets(1)
	}},
	{"order-refunded", func(p *person, _ sales) {
		p.cancelsOne()
		p.sees(p.page.GetByText(" back to the demo card."))
	}},
	{"series", func(p *person, s sales) {
		p.visit("/series/" + s.series)
		p.sees(p.page.Locator(".month a").First())
	}},
	{"exchange-offered", func(p *person, s sales) {
		p.picksToPay(s.dates, 2)
		p.card("Pay")
		p.hasTickets(2)
		p.order = p.page.URL()
		p.seesAfterReload("You can exchange tickets for another date until") // the charge may take a moment
	}},
	{"exchange-dates", func(p *person, _ sales) {
		p.press(p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Exchange for another date"}))
		p.sees(p.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Choose seats for Tue 7 Jun"}))
	}},
	{"exchange-seats", func(p *person, _ sales) {
		p.press(p.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Choose seats for Tue 7 Jun"}))
		p.sees(p.button("Find best seats"))
	}},
	{"exchange-confirm", func(p *person, _ sales) {
		p.press(p.button("Find best seats"))
		p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your old and new seats"}))
	}},
	{"exchange-begun", func(p *person, _ sales) {
		p.press(p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Change seats"}))
		p.isLive()
		p.press(p.button("Check out"))
		p.sees(p.page.GetByText("You’re exchanging your tickets for seats on this date."))
	}},
	{"exchanged", func(p *person, _ sales) {
		p.press(p.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Continue the exchange"}))
		p.press(p.button("Pay €4 and exchange"))
		p.card("Pay")
		p.hasTickets(2)
		p.sees(p.page.GetByText("These tickets replace yours for"))
	}},
	{"ticket-in-log", func(p *person, _ sales) { p.seesAfterReload("In the public log") }},
	{"public-log", func(p *person, _ sales) {
		p.press(p.page.GetByText("In the public log").First())
		p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Check a ticket"}))
	}},
	{"public-log-right", func(p *person, _ sales) {
		p.press(p.button("Check in this browser"))
		p.sees(p.page.GetByText("The sale is to the order of this ticket."))
	}},
	{"public-log-wrong", func(p *person, _ sales) {
		check(p.t, p.page.GetByLabel("Code of the ticket").Fill("0-0000-0000-0000-0000"))
		p.press(p.button("Check in this browser"))
		p.sees(p.page.GetByText("This ticket is not in the log."))
	}},
	{"exchanged-away", func(p *person, _ sales) {
		p.visit(strings.TrimPrefix(p.order, p.office.url))
		p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your tickets were exchanged"}))
	}},
	{"checkout-ways", func(p *person, s sales) {
		p.openEvent(s.ways)
		p.asksForBest(1, "A")
		p.visit("/events/" + s.ways + "/checkout")
		p.sees(p.page.GetByLabel("Bank transfer"))
		p.sees(p.page.GetByText("Price details"))
	}},
	{"order-invoice", func(p *person, _ sales) {
		check(p.t, p.page.GetByLabel("Bank transfer").Check())
		p.orders("Ann Ørsted", "ann@localhost"+p.name, "")
		p.hasTickets(1)
	}},
	{"stadium", func(p *person, s sales) { p.openEvent(s.stadium) }},
	{"stadium-rows", func(p *person, s sales) { p.openSection(s.stadium, 3) }},
	{"lost", func(p *person, _ sales) { p.expect("404"); p.visit("/events/nowhere") }},
}

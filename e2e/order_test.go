package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// orders fills in the checkout and sends it.
func (p *person) orders(name, email, born string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Name").Fill(name))
	check(p.t, p.page.GetByRole("textbox", playwright.PageGetByRoleOptions{Name: "Email"}).Fill(email))
	if born != "" {
		check(p.t, p.page.GetByLabel("Date of birth").Fill(born))
	}
	p.press(p.page.Locator("form .primary"))
}

var confirmLink = regexp.MustCompile(`/confirmations/[0-9A-Z]{26}`)

// asksToConfirm is the heading of the page that waits for an email to be confirmed.
func (p *person) asksToConfirm() playwright.Locator {
	return p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Confirm your email"})
}

// confirmsIfAsked presses the button of the mail about an order, if the page asks for it.
func (p *person) confirmsIfAsked() {
	p.t.Helper()
	either := p.asksToConfirm().Or(p.page.Locator(".tickets .qr[data-code]")).First()
	check(p.t, expect.Locator(either).ToBeVisible(playwright.LocatorAssertionsToBeVisibleOptions{Timeout: playwright.Float(float64(2 * patience.Milliseconds()))}))
	if asked, err := p.asksToConfirm().Count(); err == nil && asked > 0 {
		p.opensMail()
		p.press(p.button("Confirm my order"))
	}
}

// opensMail opens the link of the mail about the order that the page waits with.
func (p *person) opensMail() {
	p.t.Helper()
	email, err := p.page.Locator("main section b").First().TextContent()
	check(p.t, err)
	p.visit(p.office.mailed(p.t, email, confirmLink))
}

// hasTickets waits until the page of an order shows so many tickets with their codes. Payments may take their time.
func (p *person) hasTickets(n int) {
	p.t.Helper()
	if n > 0 {
		p.confirmsIfAsked()
	}
	check(p.t, expect.Locator(p.page.Locator(".tickets .qr[data-code]")).ToHaveCount(n, playwright.LocatorAssertionsToHaveCountOptions{Timeout: playwright.Float(float64(2 * patience.Milliseconds()))}))
}

func TestAFreePlaceBecomesATicketWithACode(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "desktop": desktop, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "conference", "--ask-birth", "--limit", "1", "--hold", "5m")
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug)
			ann.asksForPlaces("Places", 1)
			ann.holdsSeats(1)
			ann.press(ann.button("Check out"))
			ann.orders("Ann Ørsted", ownAddress(t), "2300-01-01")
			ann.sees(ann.page.GetByText("is in the future"))
			ann.seesTyped("Ann Ørsted", ownAddress(t))
			ann.visit("/events/" + slug) // one more look at the seats, and back by the browser's button
			_, err := ann.page.GoBack()
			check(t, err)
			ann.sees(ann.page.GetByText("is in the future"))
			ann.seesTyped("Ann Ørsted", ownAddress(t))
			ann.orders("Ann Ørsted", ownAddress(t), "1990-12-31")
			ann.hasTickets(1)
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Order confirmed"}))
			if !d.noScript {
				_, err := ann.page.WaitForFunction(`() => !Object.keys(sessionStorage).some(kept => kept.endsWith('/checkout'))`, nil)
				check(t, err)
			}
			_, err = ann.page.GoBack()
			check(t, err)
			ann.hasTickets(1) // the checkout it went back to leads on to what came of it
			if r := someProgram(t, boxOffice).remaining(slug); r.Free != 199 || r.Held != 0 {
				t.Errorf("the counts are %+v, want 199 free and none held", r)
			}
		})
	}
}

func TestADoubleClickTheBackButtonAndASecondTabMakeOneOrder(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "2")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openEvent(slug)
	ann.asksForPlaces("Places", 1)
	ann.holdsSeats(1)
	ann.expect(`status of 404`) // the answer to what is left of her hold, once it is ordered
	looking := ann.page
	first, live, stale := ann.tab(), ann.tab(), ann.tab()
	check(t, stale.Route("**/*.js*", func(r playwright.Route) { // it hears nothing of what the others do
		check(t, r.Fulfill(playwright.RouteFulfillOptions{ContentType: playwright.String("text/javascript"), Body: ""}))
	}))
	for _, tab := range []playwright.Page{first, live, stale} {
		ann.page = tab
		ann.visit("/events/" + slug + "/checkout")
		check(t, tab.GetByLabel("Name").Fill("Ann"))
		check(t, tab.GetByLabel("Email").Fill(ownAddress(t)))
	}
	check(t, first.Locator("form .primary").Dblclick())
	ann.page = first
	ann.hasTickets(1)
	at := first.URL()
	ann.page = looking
	ann.holdsSeats(0) // the page on which she took it hears that it is ordered
	ann.page = live
	ann.hasTickets(1) // the live page of the checkout leads on by itself
	ann.page = stale
	ann.press(stale.Locator("form .primary"))
	ann.hasTickets(1)
	for name, tab := range map[string]playwright.Page{"live": live, "stale": stale} {
		if tab.URL() != at {
			t.Errorf("the %s tab has %s, the first %s", name, tab.URL(), at)
		}
	}
	_, err := stale.GoBack()
	check(t, err)
	ann.hasTickets(1) // the checkout leads to the order
	if stale.URL() != at {
		t.Errorf("the way back leads to %s, the first tab has %s", stale.URL(), at)
	}
	if r := someProgram(t, boxOffice).remaining(slug); r.Free != 199 {
		t.Errorf("%d are free, want 199: one order", r.Free)
	}
}

func TestOrder_ExpiredHoldIsSoldIfTheSeatsAreAvailable(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--hold", "10s")
	ann := someone(t, boxOffice, "ann", phone)
	ann.openSection(slug, 0)
	ann.take("Stalls/C/12")
	ann.visit("/events/" + slug + "/checkout")
	ann.seesLater(ann.page.GetByText("Your hold expired."))
	ann.orders("Ann", ownAddress(t), "")
	ann.hasTickets(1)
	ann.sees(ann.page.GetByText("to pay at the box office"))

	bob := someone(t, boxOffice, "bob", phone)
	bob.openSection(slug, 0)
	bob.take("Stalls/C/14")
	bob.visit("/events/" + slug + "/checkout")
	bob.seesLater(bob.page.GetByText("Your hold expired."))
	someProgram(t, boxOffice).claim(slug, "Stalls/C/14")
	bob.seesLater(bob.page.GetByText("Sorry, Stalls, row C, seat 14 was taken by someone else after your hold expired. You haven’t paid anything."))
}

func TestConfirm_OrderIsPlacedByTheButtonOfItsMailInAnotherBrowser(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug, email := boxOffice.event(t, "conference", "--limit", "1"), ownAddress(t)
			ann := someone(t, boxOffice, "ann", d)
			ann.visit("/events/" + slug)
			ann.asksForPlaces("Places", 1)
			ann.holdsSeats(1)
			ann.visit("/events/" + slug + "/checkout")
			ann.sees(ann.page.GetByText("Unless you confirmed your email address here before"))
			ann.orders("Ann", "wrong."+email, "")
			ann.sees(ann.asksToConfirm())
			ann.sees(ann.page.GetByText("Nothing is ordered yet."))
			ann.press(ann.button("Change my details"))
			ann.sees(ann.page.GetByText("Nothing was ordered."))
			ann.orders("Ann", email, "")
			ann.sees(ann.page.GetByText(email))
			if r := someProgram(t, boxOffice).remaining(slug); r.Free != 199 || r.Held != 1 {
				t.Errorf("the counts are %+v while it waits, want the seat held", r)
			}
			reader := someone(t, boxOffice, "reader", desktop)
			reader.visit(boxOffice.mailed(t, email, confirmLink))
			reader.press(reader.button("Confirm my order"))
			reader.hasTickets(1)
			if d.noScript {
				ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Check again"}))
			}
			ann.seesLater(ann.page.Locator(".tickets .qr[data-code]")) // the page goes on by itself
			if r := someProgram(t, boxOffice).remaining(slug); r.Free != 199 || r.Held != 0 {
				t.Errorf("the counts are %+v, want one sold", r)
			}
		})
	}
}

func TestPersonLimit_IsToldAtTheCheckoutBeforePayment(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead", "--limit", "1")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.picksToPay(slug, 1)
	ann.card("Pay")
	ann.hasTickets(1)
	name, host, _ := strings.Cut(ownAddress(t), "@")
	for what, email := range map[string]string{
		"another cookie": name + "@" + host, "a plus-tag": name + "+again@" + host, "another spelling": strings.ToUpper(name) + "@" + host,
	} {
		t.Run(what, func(t *testing.T) {
			eve := someone(t, boxOffice, "eve", phone)
			eve.openEvent(slug)
			eve.asksForBest(1, "A")
			eve.visit("/events/" + slug + "/checkout")
			eve.sees(eve.page.GetByText("All your orders count"))
			eve.orders("Eve", email, "")
			eve.sees(eve.page.GetByRole("alert").GetByText("You can book up to 1 ticket per person for this event, over all orders. 1 is already booked"))
			eve.seesTyped("Eve", email)
			if at := eve.page.URL(); !strings.Contains(at, "/checkout") {
				t.Errorf("it is told at %s", at)
			}
			check(t, expect.Locator(eve.page.GetByText("No money moves here.")).ToHaveCount(0))
			eve.orders("Eve", fmt.Sprintf("eve%d.%s", len(what), email), "")
			eve.sees(eve.page.GetByText("No money moves here.")) // another person may pay
		})
	}
	ann.openEvent(slug)
	ann.triesBest(1, "A")
	check(t, expect.Locator(ann.message()).ToContainText("You can book up to 1 ticket. You already have 1.")) // in the same browser before they hold one
}

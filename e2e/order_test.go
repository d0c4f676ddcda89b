package e2e

import (
	"testing"

	"github.com/playwright-community/playwright-go"
)

// orders fills in the checkout and sends it.
func (p *person) orders(name, email, born string) {
	p.t.Helper()
	check(p.t, p.page.GetByLabel("Name").Fill(name))
	check(p.t, p.page.GetByLabel("E-mail").Fill(email))
	if born != "" {
		check(p.t, p.page.GetByLabel("Date of birth").Fill(born))
	}
	p.press(p.page.Locator("form .primary"))
}

// hasTickets waits until the page of an order shows so many tickets with their codes. Payments may take their time.
func (p *person) hasTickets(n int) {
	p.t.Helper()
	check(p.t, expect.Locator(p.page.Locator(".tickets .qr[data-code]")).ToHaveCount(n, playwright.LocatorAssertionsToHaveCountOptions{Timeout: playwright.Float(float64(2 * patience.Milliseconds()))}))
}

func TestAFreePlaceBecomesATicketWithACode(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]device{"phone": phone, "desktop": desktop, "without script": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := house.event(t, "conference", "--ask-birth", "--limit", "1", "--hold", "5m")
			ann := someone(t, house, "ann", d)
			ann.visit("/events/" + slug)
			ann.asksForPlaces("Places", 1)
			ann.holdsSeats(1)
			ann.press(ann.button("Continue"))
			ann.orders("Ann Ørsted", "ann@example.org", "2300-01-01")
			ann.sees(ann.page.GetByText("is yet to come"))
			ann.seesTyped("Ann Ørsted", "ann@example.org")
			ann.visit("/events/" + slug) // one more look at the seats, and back by the browser's button
			_, err := ann.page.GoBack()
			check(t, err)
			ann.sees(ann.page.GetByText("is yet to come"))
			ann.seesTyped("Ann Ørsted", "ann@example.org")
			ann.orders("Ann Ørsted", "ann@example.org", "1990-12-31")
			ann.hasTickets(1)
			ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Your ticket"}))
			if !d.noScript {
				_, err := ann.page.WaitForFunction(`() => !Object.keys(sessionStorage).some(kept => kept.endsWith('/checkout'))`, nil)
				check(t, err)
			}
			_, err = ann.page.GoBack()
			check(t, err)
			ann.hasTickets(1) // the checkout it went back to leads on to what came of it
			if r := someProgram(t, house).remaining(slug); r.Free != 199 || r.Held != 0 {
				t.Errorf("the counts are %+v, want 199 free and none held", r)
			}
		})
	}
}

func TestADoubleClickTheBackButtonAndASecondTabMakeOneOrder(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "conference", "--limit", "2")
	ann := someone(t, house, "ann", desktop)
	ann.openEvent(slug)
	ann.asksForPlaces("Places", 1)
	ann.holdsSeats(1)
	ann.expect(`status of 404`) // the answer to what is left of her hold, once it is ordered
	looking := ann.page
	first, second := ann.tab(), ann.tab()
	for _, tab := range []playwright.Page{first, second} {
		ann.page = tab
		ann.visit("/events/" + slug + "/checkout")
		check(t, tab.GetByLabel("Name").Fill("Ann"))
		check(t, tab.GetByLabel("E-mail").Fill("ann@example.org"))
	}
	check(t, first.Locator("form .primary").Dblclick())
	ann.page = first
	ann.hasTickets(1)
	at := first.URL()
	ann.page = looking
	ann.holdsSeats(0) // the page on which she took it hears that it is ordered
	ann.page = second
	ann.press(second.Locator("form .primary"))
	ann.hasTickets(1)
	if second.URL() != at {
		t.Errorf("the second tab has %s, the first %s", second.URL(), at)
	}
	if r := someProgram(t, house).remaining(slug); r.Free != 199 {
		t.Errorf("%d are free, want 199: one order", r.Free)
	}
}

func TestSeatsThatLapsedAreStillOrderedIfNobodyTookThem(t *testing.T) {
	t.Parallel()
	slug := house.event(t, "theatre", "--hold", "10s")
	ann := someone(t, house, "ann", phone)
	ann.openSection(slug, 0)
	ann.take("Stalls/C/12")
	ann.visit("/events/" + slug + "/checkout")
	ann.seesLater(ann.page.GetByText("Your time ran out."))
	ann.orders("Ann", "ann@example.org", "")
	ann.hasTickets(1)
	ann.sees(ann.page.GetByText("to pay at the door"))

	bob := someone(t, house, "bob", phone)
	bob.openSection(slug, 0)
	bob.take("Stalls/C/14")
	bob.visit("/events/" + slug + "/checkout")
	bob.seesLater(bob.page.GetByText("Your time ran out."))
	someProgram(t, house).claim(slug, "Stalls/C/14")
	bob.orders("Bob", "bob@example.org", "")
	bob.sees(bob.page.GetByText("Stalls, row C, seat 14 was taken by somebody else after your time ran out. Nothing was sold."))
}

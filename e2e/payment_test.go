package e2e

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// picksToPay takes the best seats of a demo event and sends the form of its checkout.
func (p *person) picksToPay(slug string, n int) {
	p.t.Helper()
	p.openEvent(slug)
	p.asksForBest(n, "A")
	p.visit("/events/" + slug + "/checkout")
	p.orders("Ann Ørsted", ownAddress(p.t), "")
	p.sees(p.page.GetByText("No money moves here."))
}

// card tells the demo card what to do.
func (p *person) card(what string) {
	p.t.Helper()
	p.press(p.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: what, Exact: playwright.Bool(true)}))
}

func TestTheDemoCardBuysTickets(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"Pay", "Pay slowly", "Pay and say so three times"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead")
			ann := someone(t, boxOffice, "ann", phone)
			ann.picksToPay(slug, 2)
			ann.card(what)
			ann.hasTickets(2)
		})
	}
}

func TestPayment_DeclinedCardKeepsSeatsAndForm(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead")
	ann := someone(t, boxOffice, "ann", phone)
	ann.picksToPay(slug, 2)
	ann.card("Decline")
	ann.sees(ann.page.GetByText("Your payment was declined"))
	check(t, expect.Locator(ann.page.GetByLabel("Name")).ToHaveValue("Ann Ørsted"))
	ann.press(ann.page.Locator("form .primary"))
	ann.card("Pay")
	ann.hasTickets(2)
}

func TestPayment_PageCountsSeatsLive(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead")
	ann, bob := someone(t, boxOffice, "ann", phone), someProgram(t, boxOffice)
	ann.picksToPay(slug, 2)
	ann.visit("/events/" + slug + "/checkout")
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Continue payment"}))
	ann.sees(ann.page.GetByText("Your seats are held for this payment"))
	count := ann.page.Locator("[data-free-total]")
	free := bob.remaining(slug).Free
	check(t, expect.Locator(count).ToHaveText(strconv.Itoa(free)))
	if status, _ := bob.ask("POST", "/events/"+slug+"/claims", map[string]any{"seats": []string{"Stalls/C/12"}}); status != http.StatusCreated {
		t.Fatalf("another visitor claims a seat: %d", status)
	}
	ann.seesLater(count.And(ann.page.GetByText(strconv.Itoa(free-1), playwright.PageGetByTextOptions{Exact: playwright.Bool(true)})))
}

func TestADoubleClickAndTheBackButtonMakeOnePayment(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead")
	ann := someone(t, boxOffice, "ann", desktop)
	ann.openEvent(slug)
	ann.asksForBest(2, "A")
	ann.visit("/events/" + slug + "/checkout")
	check(t, ann.page.GetByLabel("Name").Fill("Ann"))
	check(t, ann.page.GetByLabel("Email").Fill("ann@example.org"))
	check(t, ann.page.Locator("form .primary").Dblclick())
	ann.sees(ann.page.GetByText("No money moves here."))
	card := ann.page.URL()
	ann.visit("/events/" + slug + "/checkout")
	ann.sees(ann.page.GetByText("You have an unfinished payment."))
	check(t, expect.Locator(ann.page.GetByLabel("Name")).ToHaveValue("Ann"))
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Continue payment"}))
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Continue to payment"}))
	ann.sees(ann.page.GetByText("No money moves here."))
	if ann.page.URL() != card {
		t.Errorf("there are two charges, %s and %s", card, ann.page.URL())
	}
	check(t, ann.page.GetByRole("button", playwright.PageGetByRoleOptions{Name: "Pay", Exact: playwright.Bool(true)}).Dblclick())
	ann.hasTickets(2)
	at := ann.page.URL()
	_, err := ann.page.GoBack()
	check(t, err)
	_, err = ann.page.Goto(card)
	check(t, err)
	ann.hasTickets(2)
	if ann.page.URL() != at {
		t.Errorf("back and forth led to %s, want %s", ann.page.URL(), at)
	}
}

func TestPayment_PageFromBeforeTheProviderAnsweredLeadsToIt(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead")
	ann := someone(t, boxOffice, "ann", phone)
	ann.picksToPay(slug, 2)
	card := ann.page.URL()
	ann.visit("/events/" + slug + "/checkout")
	// The form was sent twice, and the second is answered while the first asks the provider.
	check(t, ann.page.AddInitScript(playwright.Script{Content: playwright.String(`addEventListener('DOMContentLoaded', () => location.search || document.querySelector('.choices .primary')?.remove())`)}))
	ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Continue payment"}))
	ann.sees(ann.page.GetByText("No money moves here."))
	if ann.page.URL() != card {
		t.Errorf("there are two charges, %s and %s", card, ann.page.URL())
	}
	ann.card("Pay")
	ann.hasTickets(2)
}

func TestPayment_LateMoneyBuysTheSeatsIfAvailable(t *testing.T) {
	t.Parallel()
	for name, taken := range map[string]bool{"free": false, "taken": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead", "--hold", "8s", "--pay-within", "8s")
			ann, bob := someone(t, boxOffice, "ann", phone), someProgram(t, boxOffice)
			ann.openSection(slug, 0)
			ann.take("Stalls/C/12")
			ann.visit("/events/" + slug + "/checkout")
			ann.orders("Ann", "ann@example.org", "")
			ann.card("Pay too late")
			ann.sees(ann.page.GetByText("Your payment isn’t confirmed yet"))
			if !taken {
				ann.hasTickets(1)
				return
			}
			eventually(t, patience, "the seat is free once the time for paying is over", func() bool { // and for five seconds from then
				status, _ := bob.ask("POST", "/events/"+slug+"/claims", map[string]any{"seats": []string{"Stalls/C/12"}})
				return status == http.StatusCreated
			})
			ann.seesLater(ann.page.GetByText("taken by someone else after your hold expired. Nothing was charged."))
			nearest := ann.page.Locator(`button[name="instead"]`).First()
			check(t, expect.Locator(nearest).ToContainText(regexp.MustCompile(`Stalls, row C, seat 1[13]\b`)))
			ann.press(nearest)
			check(t, expect.Locator(ann.page.Locator("#answer")).ToHaveCount(0))
			ann.sees(ann.page.GetByText("1 ticket").First())
			check(t, expect.Locator(ann.page.Locator("main")).ToContainText(regexp.MustCompile(`Stalls, row C, seat 1[13]\b`)))
		})
	}
}

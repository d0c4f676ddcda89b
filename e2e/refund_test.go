package e2e

import (
	"path"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"
)

func TestCancel_RefundsTheCard(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--demo-card", "--paid-ahead", "--price", "A=25.00")
	ann := someone(t, boxOffice, "ann", phone)
	ann.picksToPay(slug, 2)
	ann.card("Pay")
	ann.hasTickets(2)
	ann.press(ann.page.GetByText("Cancel tickets"))
	ann.sees(ann.page.GetByText("The price goes back to the demo card."))
	check(t, ann.page.Locator(`form[action$="/cancellations"] input[name="ticket"]`).First().Check())
	ann.press(ann.button("Cancel selected tickets"))
	ann.hasTickets(1)
	ann.sees(ann.page.GetByText("€25 goes back to the demo card.").Or(ann.page.GetByText("€25 went back to the demo card.")))
	ann.seesAfterReload("€25 went back to the demo card.")
	boxOffice.hasMails(t, 2, path.Base(ann.page.URL()))

	ann.press(ann.page.GetByText("Cancel tickets"))
	check(t, ann.page.Locator(`form[action$="/cancellations"] input[name="ticket"]`).Check())
	ann.press(ann.button("Cancel selected tickets"))
	ann.sees(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "This order was cancelled"}))
	ann.seesAfterReload("€50 went back to the demo card.")
	boxOffice.usher(t, "verify", "--event", slug) // fails if a promise is broken
}

// seesAfterReload loads the page again until a text is there.
func (p *person) seesAfterReload(text string) {
	p.t.Helper()
	p.findsAfterReload(text, p.page.GetByText(text))
}

func (p *person) findsAfterReload(name string, what playwright.Locator) {
	p.t.Helper()
	eventually(p.t, patience, name, func() bool {
		if p.number(what) > 0 {
			return true
		}
		_, err := p.page.Reload()
		check(p.t, err)
		return false
	})
}

func TestCancel_RefundsCredit(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "theatre", "--paid-ahead", "--price", "A=25.00")
	ann := someone(t, boxOffice, "ann", device{width: 390, height: 844, noScript: true})
	ann.visit("/account")
	ann.signsIn("ann.back@example.org")
	ann.redeems(boxOffice.vouchers(t, "60.00", 1)[0])
	ann.visit("/events/" + slug)
	ann.asksForBest(2, "A")
	ann.visit("/events/" + slug + "/checkout")
	ann.paysWithCredit("Ann Ørsted")
	ann.hasTickets(2)
	ann.cancelsOne()
	ann.seesAfterReload("€25 went back into your credit.")
	ann.visit("/account")
	ann.sees(ann.page.GetByText("€35", playwright.PageGetByTextOptions{Exact: playwright.Bool(true)}))
}

func TestCancel_UsedTicketIsRefused(t *testing.T) {
	t.Parallel()
	slug := boxOffice.event(t, "conference", "--limit", "4")
	ann, usher := someone(t, boxOffice, "ann", phone), someone(t, boxOffice, "usher", phone)
	codes := ann.buysPlaces(slug, 2)
	ann.press(ann.page.GetByText("Cancel tickets"))
	check(t, ann.page.Locator(`form[action$="/cancellations"] input[name="ticket"]`).First().Check())
	usher.door(slug, "")
	usher.scans(codes[0], "in", "Let them in.")
	ann.press(ann.button("Cancel selected tickets"))
	ann.sees(ann.page.GetByText("A ticket that you marked was already used, so it cannot be cancelled any more."))
	ann.hasTickets(2)
	ann.sees(ann.page.GetByText("Checked in at"))
	ann.visit(strings.TrimPrefix(strings.TrimSuffix(ann.page.URL(), "/cancellations"), boxOffice.url))
	check(t, expect.Locator(ann.page.Locator(`form[action$="/cancellations"] input[name="ticket"]`)).ToHaveCount(1))
}

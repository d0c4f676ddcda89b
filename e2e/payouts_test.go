package e2e

import (
	"net/http"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

// An order is paid by card, a part of it is given back, and Stripe pays out: the desk shows no difference. Then Stripe pays out a payment of another shop.
func TestPayouts_TheDeskShowsTheDifferenceAndNamesIt(t *testing.T) {
	t.Parallel()
	for _, d := range walked(desktop) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			o, bank := stripeOffice(t)
			slug := o.event(t, "theatre", "--paid-ahead", "--price", "A=95.00")
			ann, olga := someone(t, o, "ann", phone), someone(t, o, "olga", d)
			ann.goesToPay(slug, "Stalls/C/12")
			ann.card("Pay")
			ann.hasTickets(1)
			session := bank.Sessions()[0].ID
			bank.GivesBack(session, 1000)
			bank.Adjusts("fee", "eur", "", -200)
			fine := bank.PaysOut("eur")
			o.tells(t, bank, "charge.refunded")
			olga.entersDesk(o.owner(t))
			olga.visit("/desk/books")
			work := &effort{person: olga}
			work.press(olga.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Payouts", Exact: playwright.Bool(true)}))
			olga.sees(olga.page.GetByText("Never read yet."))
			olga.inBothLights("desk-payouts-none")
			work.press(olga.button("Read now"))
			olga.sees(olga.page.GetByText("Payouts are being read."))
			eventually(t, patience, "the payout is read", func() bool {
				olga.visit("/desk/books/payouts")
				// 95.00 less 10.00, a fee of 0.55 and one of 2.00
				return olga.number(olga.page.GetByRole("cell", playwright.PageGetByRoleOptions{Name: "€82.45"})) == 1
			})
			work.press(olga.page.Locator("tbody a"))
			olga.sees(olga.page.GetByText(fine))
			work.atMost(3, "a payout, compared to the cent,")
			olga.sees(olga.page.Locator("dl.amounts div").Last().GetByText("€0", playwright.LocatorGetByTextOptions{Exact: playwright.Bool(true)}))
			olga.fitsAcross("the page of a payout")
			olga.inBothLights("desk-payout")

			bank.Adjusts("charge", "eur", "", 4200)
			bank.Adjusts("dispute", "eur", session, -8500)
			foreign := bank.PaysOut("eur")
			if status := stripetest.Deliver(t, o.url+"/webhooks/stripe", bank.PayoutEvent(foreign, "payout.paid")); status != http.StatusNoContent {
				t.Fatalf("the webhook got %d", status)
			}
			eventually(t, patience, "the other payout is read", func() bool {
				olga.visit("/desk/books/payouts")
				return olga.number(olga.page.GetByText("2 lines to look at")) == 1 // its lines come after the payout itself
			})
			if d.zoom == 0 {
				olga.fitsAcross("the page of payouts")
			}
			olga.inBothLights("desk-payouts")
			olga.press(olga.page.Locator("tbody a").First())
			olga.sees(olga.page.GetByText("Belongs to nothing here."))
			olga.fitsAcross("the page of a payout that differs")
			olga.inBothLights("desk-payout-differs")
		})
	}
}

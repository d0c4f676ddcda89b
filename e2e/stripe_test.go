package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/playwright-community/playwright-go"

	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

// stripeOffice is a box office that takes cards at a stand-in for Stripe. stripe-mock holds every request to it against
// Stripe's own description; what stripe-mock cannot do (it keeps no books) the stand-in does.
func stripeOffice(t *testing.T) (*office, *stripetest.Fake) {
	t.Helper()
	bank := stripetest.New(t)
	bank.JudgedBy(t, stripetest.Mock(t, "../tools/go.mod"))
	return ownOffice(t, "USHER_STRIPE_KEY=sk_test_1", "USHER_STRIPE_WEBHOOK_SECRET="+stripetest.Secret, "--stripe-url", bank.URL), bank
}

// goesToPay takes a seat, orders it by card and stands on the bank's page.
func (p *person) goesToPay(slug, label string) {
	p.t.Helper()
	p.openSection(slug, 0)
	p.take(label)
	p.visit("/events/" + slug + "/checkout")
	p.orders("Ann Ørsted", "ann@example.org", "")
	p.atTheBank()
}

func (p *person) atTheBank() {
	p.t.Helper()
	p.sees(p.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "The bank"}))
}

// tells delivers webhooks about the latest session, each as Stripe signs it.
func (o *office) tells(t *testing.T, bank *stripetest.Fake, kinds ...string) {
	t.Helper()
	all := bank.Sessions()
	for _, kind := range kinds {
		body := bank.Event(all[len(all)-1].ID, kind)
		for range 2 { // each comes twice
			if status := stripetest.Deliver(t, o.url+"/webhooks/stripe", body); status != http.StatusNoContent {
				t.Errorf("the webhook %s got %d", kind, status)
			}
		}
	}
}

// chargesWhoIsNotThere saves a card for seats that come back, and has an offer charge it.
func (o *office) chargesWhoIsNotThere(t *testing.T) {
	slug, seller, ann := o.named(t, "full", tinyPlan(t), "--paid-ahead"), someProgram(t, o), someone(t, o, "ann", phone)
	seller.claim(slug, "Box/1/1", "Box/1/2")
	ann.visit("/events/" + slug + "/waitlist")
	check(t, ann.page.GetByLabel("Order at once, by card").Check())
	check(t, ann.page.GetByLabel("Your name (to order at once)").Fill("Ann Ørsted"))
	check(t, ann.page.GetByLabel("Maximum price").Fill("30"))
	ann.waits("ann.saves@example.org")
	ann.sees(ann.page.GetByText("for €30 at most."))
	ann.inBothLights("waitlist-card")
	ann.press(ann.button("Save a card"))
	ann.atTheBank()
	ann.card("Pay")
	ann.sees(ann.page.GetByText("saved with the card provider"))
	if status, _ := seller.ask("DELETE", "/events/"+slug+"/claims", nil); status != http.StatusNoContent {
		t.Fatalf("seats come back: %d", status)
	}
	ann.seesLater(ann.page.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "You have your seats"}))
}

func TestACardIsPaidAtStripeHoweverItsNewsCome(t *testing.T) {
	t.Parallel()
	o, bank := stripeOffice(t)
	t.Run("comes back, with fees", func(t *testing.T) {
		ann := someone(t, o, "ann", phone)
		ann.goesToPay(o.event(t, "theatre", "--paid-ahead", "--price", "A=95.00", "--fee", "ticket=1.50", "--fee", "percent=2.5"), "Stalls/C/12")
		if all := bank.Sessions(); all[0].Amount != 9500+150+238 {
			t.Errorf("the bank asks for %d", all[0].Amount)
		}
		ann.card("Pay")
		ann.hasTickets(1)
	})
	t.Run("never comes back, news twice and out of order", func(t *testing.T) {
		ann := someone(t, o, "ann", desktop)
		ann.goesToPay(o.event(t, "theatre", "--paid-ahead"), "Stalls/C/12")
		all := bank.Sessions()
		o.tells(t, bank, "checkout.session.expired") // which is not so
		bank.Pays(all[len(all)-1].ID, false)
		o.tells(t, bank, "checkout.session.completed", "checkout.session.expired")
		eventually(t, patience, "the money is taken", func() bool { all := bank.Sessions(); return all[len(all)-1].Captures == 1 })
		o.tells(t, bank, "checkout.session.completed")
	})
	t.Run("declined, then paid", func(t *testing.T) {
		ann := someone(t, o, "ann", phone)
		ann.goesToPay(o.event(t, "theatre", "--paid-ahead"), "Stalls/C/12")
		ann.card("Pay with a bad card")
		ann.sees(ann.page.GetByText("Your card was declined."))
		ann.press(ann.page.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Back to the shop"}))
		ann.press(ann.button("Cancel payment"))
		ann.seesTyped("Ann Ørsted", "ann@example.org")
		ann.press(ann.page.Locator("form .primary"))
		ann.atTheBank()
		ann.card("Pay")
		ann.hasTickets(1)
	})
	t.Run("too late", func(t *testing.T) {
		slug := o.event(t, "theatre", "--paid-ahead", "--hold", "10s", "--pay-within", "10s")
		ann, bob := someone(t, o, "ann", phone), someProgram(t, o)
		ann.goesToPay(slug, "Stalls/C/12")
		eventually(t, patience, "the seat is free once the time for paying is over", func() bool {
			status, _ := bob.ask("POST", "/events/"+slug+"/claims", map[string]any{"seats": []string{"Stalls/C/12"}})
			return status == http.StatusCreated
		})
		all := bank.Sessions()
		bank.Pays(all[len(all)-1].ID, false)
		o.tells(t, bank, "checkout.session.completed")
		eventually(t, patience, "what the bank kept is let go", func() bool { all := bank.Sessions(); return all[len(all)-1].Intent == "canceled" })
	})
	t.Run("saved for the wait list", o.chargesWhoIsNotThere)
	captured := 0
	for _, s := range bank.Sessions() {
		captured += s.Captures
		if s.Intent == "requires_capture" {
			t.Errorf("the bank keeps %d without an order", s.Amount)
		}
	}
	if captured != 4 {
		t.Errorf("money was taken %d times, want 4", captured)
	}
	if bank.Judged() < 8 {
		t.Errorf("stripe-mock looked at %d requests", bank.Judged())
	}
	if out := o.usher(t, "verify"); !strings.Contains(out, "ok") || strings.Contains(out, "BROKEN") {
		t.Errorf("the books: %s", out)
	}
}

package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/payouts"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// newStripeSite is a site that takes cards at a stand-in for Stripe, for an event with fees.
func newStripeSite(t *testing.T) (*site, *stripetest.Fake) {
	t.Helper()
	bank, db := stripetest.New(t), seatstest.DB(t)
	account := stripe.New("sk_test_1", "whsec_old,"+stripetest.Secret, bank.URL)
	e := events.Settings{PaidAhead: true, Fees: seats.Fees{Ticket: 150, Percent: 333}}
	return newSiteIn(t, db, e, func(c *Config) {
		c.Orders.Payments.Accept(payments.Card, seatstest.Watched(t, db, account))
		c.Stripe, c.Payouts = account.ReadWebhook, payouts.New(db, c.Desk, account)
	}), bank
}

// begins starts a payment of two places at Stripe's page; it returns the payment's address and the session's name.
func (s *site) begins(t *testing.T, bank *stripetest.Fake) (code, session string) {
	t.Helper()
	who := person(t)
	form := fill(s.held(t, who, 2), "Ann", "ann@example.org")
	form.Set("method", "card")
	a, body := s.post(t, who, form)
	at, _, _ := strings.Cut(a.Header.Get("Location"), "?")
	code, ok := strings.CutPrefix(at, "/payments/")
	if a.StatusCode != http.StatusSeeOther || !ok {
		t.Fatal(a.StatusCode, a.Header, body)
	}
	all := bank.Sessions()
	return code, all[len(all)-1].ID
}

func (s *site) orderOf(t *testing.T, code string) (body web.OrderBody, found bool) {
	t.Helper()
	a, text := send(t, person(t), "GET", s.url+"/orders/"+code, "")
	var answer web.OrderAnswer
	if a.StatusCode == http.StatusOK {
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(text, err)
		}
	}
	return answer.Order, a.StatusCode == http.StatusOK
}

// eventually waits for something that other parts of the program bring about.
func eventually(t *testing.T, what string, true func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !true(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

func (s *site) count(t *testing.T, what string) (n int) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM `+what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *site) wantBooks(t *testing.T) {
	t.Helper()
	report, err := verify.Look(t.Context(), s.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			t.Errorf("%s: %s", p.Name, f)
		}
	}
}

// tells delivers webhooks, all at once and each of them often, and waits until they were acted on.
func (s *site) tells(t *testing.T, bodies ...[]byte) {
	t.Helper()
	var crowd sync.WaitGroup
	for range 5 {
		for _, body := range bodies {
			crowd.Go(func() {
				if status := stripetest.Deliver(t, s.url+"/webhooks/stripe", body); status != http.StatusNoContent {
					t.Errorf("a webhook got %d", status)
				}
			})
		}
	}
	crowd.Wait()
	eventually(t, "the inbox is read and nothing is under way", func() bool {
		return s.count(t, `inbox WHERE done_at IS NULL`)+s.count(t, `intention WHERE done_at IS NULL`) == 0
	})
}

func TestWebhooksInAnyOrderAndManyTimesTakeTheMoneyOnce(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	code, session := s.begins(t, bank)
	early := bank.Event(session, "checkout.session.completed") // written before it was paid, and comes with the others
	bank.Pays(session, false)
	s.tells(t, bank.Event(session, "charge.captured"), bank.Event(session, "checkout.session.completed"), early, bank.Event(session, "charge.succeeded"))
	order, found := s.orderOf(t, code)
	if all := bank.Sessions(); !found || order.Due != 0 || order.Fee == 0 || all[0].Captures != 1 || all[0].Captured != order.Total {
		t.Errorf("the order is %+v, Stripe has %+v", order, all[0])
	}
	if n := s.count(t, "inbox"); n != 4 {
		t.Errorf("%d events are in the inbox, want 4", n)
	}
	s.tells(t, early) // a day later
	if n := s.count(t, "orders"); n != 1 {
		t.Errorf("there are %d orders", n)
	}
	s.wantBooks(t)
}

func TestMoneyOfAnotherCurrencyBuysNothingAndIsGivenBack(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	code, session := s.begins(t, bank)
	bank.Exchanges(session, "usd")
	bank.Pays(session, false)
	s.tells(t, bank.Event(session, "checkout.session.completed"))
	_, ordered := s.orderOf(t, code)
	list, err := s.sold.Payments.Alerts(t.Context())
	if all := bank.Sessions(); ordered || all[0].Captures != 0 || all[0].Intent != "canceled" || err != nil || len(list) != 1 || !strings.Contains(list[0].Why, " USD, and the order is ") {
		t.Errorf("an order is there: %t; Stripe has %+v; attention is asked for %+v, %v", ordered, all[0], list, err)
	}
	s.wantBooks(t)
}

func TestMoneyGivenBackAtStripeLeavesTheOrderAndIsTold(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	code, session := s.begins(t, bank)
	bank.Pays(session, false)
	s.tells(t, bank.Event(session, "checkout.session.completed"))
	before, _ := s.orderOf(t, code)
	bank.GivesBack(session, 1000)
	s.tells(t, bank.Event(session, "refund.created"), bank.Event(session, "charge.refunded"), bank.Event(session, "refund.updated"))
	order, _ := s.orderOf(t, code)
	list, err := s.sold.Payments.Alerts(t.Context())
	if order.Back != 1000 || order.Due != 0 || order.State != orders.Confirmed || err != nil || len(list) != 1 || !strings.Contains(list[0].Why, "EUR 10.00 were given back at the provider") {
		t.Errorf("the order is %+v, attention is asked for %+v, %v", order, list, err)
	}
	s.wantBooks(t)
	// The organizer cancels it: what is left goes back, and not a cent more.
	found, err := s.sold.Find(t.Context(), code)
	if err == nil {
		err = s.sold.Revoke(t.Context(), s.sale, found, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the rest went back", func() bool { return s.count(t, `refund WHERE done_at IS NULL`) == 0 })
	if all := bank.Sessions(); all[0].Refunded != before.Total {
		t.Errorf("Stripe gave back %d of %d", all[0].Refunded, before.Total)
	}
	s.tells(t, bank.Event(session, "charge.refunded"))
	s.wantBooks(t)
}

func TestARefundThatWasMadeAtStripeMeanwhileIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	code, session := s.begins(t, bank)
	bank.Pays(session, false)
	s.tells(t, bank.Event(session, "checkout.session.completed"))
	order, _ := s.orderOf(t, code)
	bank.GivesBack(session, order.Total) // and its webhook is late
	found, err := s.sold.Find(t.Context(), code)
	if err == nil {
		err = s.sold.Revoke(t.Context(), s.sale, found, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refund is known to be made", func() bool { return s.count(t, `refund WHERE elsewhere`) == 1 })
	s.tells(t, bank.Event(session, "charge.refunded"))
	if n := s.count(t, "refund"); n != 1 {
		t.Errorf("there are %d refunds, want 1", n)
	}
	s.wantBooks(t)
}

func TestARefundThatFailsAfterAllIsPaidOutByHand(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	code, session := s.begins(t, bank)
	bank.Pays(session, false)
	s.tells(t, bank.Event(session, "checkout.session.completed"))
	found, err := s.sold.Find(t.Context(), code)
	if err == nil {
		err = s.sold.Revoke(t.Context(), s.sale, found, false, found.Tickets[0].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	cost := found.Tickets[0].Price + found.Tickets[0].Fee // its share of the fees goes back with it
	eventually(t, "the refund is made", func() bool { return s.count(t, `refund WHERE done_at IS NOT NULL`) == 1 })
	if all := bank.Sessions(); found.Tickets[0].Fee == 0 || all[0].Refunded != cost {
		t.Errorf("Stripe gave back %d for a ticket of %+v", all[0].Refunded, found.Tickets[0])
	}
	bank.Fails(session)
	s.tells(t, bank.Event(session, "refund.updated"), bank.Event(session, "refund.failed"))
	list, err := s.sold.Payments.Alerts(t.Context())
	if err != nil || len(list) != 1 || list[0].State != payments.ToPayOut || list[0].Amount != cost || !strings.Contains(list[0].Why, "expired_or_canceled_card") {
		t.Errorf("attention is asked for %+v, %v", list, err)
	}
	s.wantBooks(t)
	if amount, _, err := s.sold.Payments.PaidOut(t.Context(), code, nil); err != nil || amount != cost {
		t.Errorf("%d was paid out, %v", amount, err)
	}
	s.tells(t, bank.Event(session, "refund.failed")) // once more
	if list, err = s.sold.Payments.Alerts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("then attention is asked for %+v, %v", list, err)
	}
	// Another ticket goes back by card, as if nothing had been.
	if found, err = s.sold.Find(t.Context(), code); err == nil {
		err = s.sold.Revoke(t.Context(), s.sale, found, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other refund is made", func() bool { return s.count(t, `refund WHERE done_at IS NOT NULL`) == 2 })
	s.wantBooks(t)
}

func TestAWebhookThatIsNotOursChangesNothingAndOneThatIsForgedIsRefused(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	_, session := s.begins(t, bank)
	body := bank.Event(session, "checkout.session.completed")
	for what, d := range map[string]struct {
		body, signature string
		status          int
	}{
		"forged":        {string(body), stripetest.Sign(body, "whsec_other", time.Now()), 400},
		"unsigned":      {string(body), "", 400},
		"too old":       {string(body), stripetest.Sign(body, stripetest.Secret, time.Now().Add(-time.Hour)), 400},
		"of no payment": {foreign, stripetest.Sign([]byte(foreign), stripetest.Secret, time.Now()), 204},
		"of no order":   {strings.ReplaceAll(foreign, "pi_x", ""), stripetest.Sign([]byte(strings.ReplaceAll(foreign, "pi_x", "")), stripetest.Secret, time.Now()), 204},
	} {
		if a, text := send(t, person(t), "POST", s.url+"/webhooks/stripe", d.body, "Stripe-Signature", d.signature); a.StatusCode != d.status {
			t.Errorf("%s: %d %s, want %d", what, a.StatusCode, text, d.status)
		}
	}
	if n := s.count(t, "inbox"); n != 0 {
		t.Errorf("%d events are in the inbox", n)
	}
	bank.GivesBack(session, 1)
	refund := bank.Event(session, "refund.updated")
	bank.Down(true)
	if status := stripetest.Deliver(t, s.url+"/webhooks/stripe", refund); status != http.StatusServiceUnavailable {
		t.Errorf("while Stripe cannot say which payment it is: %d, want 503, so that it is told again", status)
	}
}

const foreign = `{"id":"evt_x","object":"event","type":"refund.updated","data":{"object":{"id":"re_x","object":"refund","payment_intent":"pi_x","metadata":{}}}}`

package waitlist_test

import (
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/stripe"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitlist"
)

// keepsCards has the nodes take cards at a stand-in for Stripe, and carry out what is meant by themselves.
func (h *fixture) keepsCards(t *testing.T) *stripetest.Fake {
	t.Helper()
	fake := stripetest.New(t)
	for _, n := range h.nodes {
		n.ordersAtOnce(h)
		n.orders.Payments.Accept(payments.Card, seatstest.Watched(t, h.db, stripe.New("sk_test_123", stripetest.Secret, fake.URL)))
	}
	return fake
}

// asksToSave has an entry begin to save a card, and returns the page for that.
func (n *node) asksToSave(t *testing.T, code string) (page string) {
	t.Helper()
	k := payments.CardRequest{Mandate: seats.NewID(), Email: n.entry(t, code).Email, What: "once", Back: "/waitlist/" + code}
	if err := n.list.StoreMandate(t.Context(), n.entry(t, code), k.Mandate, n.orders.Payments.NewMandate(payments.Card, k)); err != nil {
		t.Fatal(err)
	}
	m, err := n.orders.Payments.Mandate(t.Context(), k.Mandate)
	if err != nil || m.Page == "" || m.Given() {
		t.Fatalf("a page to save a card on: %+v, %v", m, err)
	}
	return m.Reference
}

// cards are how many cards the provider keeps.
func cards(fake *stripetest.Fake) (n int) {
	for _, s := range fake.Sessions() {
		if s.Keeps && s.Customer != "" {
			n++
		}
	}
	return n
}

func TestConsent_SavedCardPaysAndIsForgotten(t *testing.T) {
	t.Parallel()
	h := build(t, hall(0, 2), week/2, 2, false) // 10.00 each
	fake, a, b := h.keepsCards(t), h.nodes[0], h.nodes[1]
	has := a.fill(t)
	ann, bob := a.agrees(t, "ann@example.org", payments.Card, 1000), a.agrees(t, "bob@example.org", payments.Card, 1000)
	fake.Pays(a.asksToSave(t, ann), false) // and never comes back to our page
	a.asksToSave(t, bob)                   // and gives none
	h.rounds(t)
	if _, err := a.sale.Release(t.Context(), has[0]); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	seatstest.Run(t, h.db, a.orders.Jobs()...)
	seatstest.Run(t, h.db, b.orders.Jobs()...)
	h.eventually(t, "the order is paid, and no card is kept", func() bool {
		return h.count(t, `SELECT count(*) FROM orders WHERE method = 'card' AND paid = 1000`) == 1 && cards(fake) == 0
	})
	if x := a.entry(t, ann); x.State != waitlist.Served {
		t.Errorf("who saved a card is %s", x.State)
	}
	if x := a.entry(t, bob); x.State != waitlist.Offered || !strings.Contains(x.Offer.Why, "saved a card") || x.Consent.Given() {
		t.Errorf("who saved none is %s, %+v", x.State, x.Offer)
	}
	h.eventually(t, "nothing of the mandates is left", func() bool { return h.count(t, `SELECT count(*) FROM mandate WHERE state <> 'ended'`) == 0 })
	charges := 0
	for _, s := range fake.Sessions() {
		if !s.Keeps {
			charges++
			if s.Captures != 1 || s.Amount != 1000 {
				t.Errorf("the provider has %+v", s)
			}
		} else if s.Status == "open" {
			t.Error("the unused page for a card is still open")
		}
	}
	if charges != 1 {
		t.Errorf("%d charges", charges)
	}
	h.wantBooks(t)
}

func TestConsent_DeclinedCardKeepsTheOffer(t *testing.T) {
	t.Parallel()
	h := build(t, hall(0, 1), week/2, 1, false)
	fake, n := h.keepsCards(t), h.nodes[0]
	has := n.fill(t)
	ann := n.agrees(t, "ann@example.org", payments.Card, 1000)
	fake.Pays(n.asksToSave(t, ann), false)
	fake.Refuses("authentication_required")
	h.rounds(t)
	if _, err := n.sale.Release(t.Context(), has[0]); err != nil {
		t.Fatal(err)
	}
	h.rounds(t)
	e := n.entry(t, ann)
	if e.State != waitlist.Offered || !strings.Contains(e.Offer.Why, "wants the holder of the card to confirm it. Nothing was charged.") || e.Mandate != (seats.ID{}) {
		t.Fatalf("the entry with the declined card is %s, %+v", e.State, e.Offer)
	}
	if mails := h.count(t, `SELECT count(*) FROM mail WHERE kind = 'wait-offer'`); mails != 1 {
		t.Errorf("%d mails ask", mails)
	}
	seatstest.Run(t, h.db, n.orders.Jobs()...)
	h.eventually(t, "the card is forgotten", func() bool { return cards(fake) == 0 })
	n.buys(t, ann)
	h.rounds(t)
	if e := n.entry(t, ann); e.State != waitlist.Served {
		t.Errorf("who ordered by themselves is %s", e.State)
	}
	h.wantBooks(t)
}

func TestACardIsForgottenHoweverItsEntryEndsAndAsksForMore(t *testing.T) {
	t.Parallel()
	h := build(t, hall(0, 1), week/2, 1, false)
	fake, n := h.keepsCards(t), h.nodes[0]
	n.fill(t)
	code := map[string]string{}
	for _, who := range []string{"leaves", "changes", "wants more", "waits until now", "stays"} {
		code[who] = n.agrees(t, strings.ReplaceAll(who, " ", ".")+"@example.org", payments.Card, 1000)
		fake.Pays(n.asksToSave(t, code[who]), false)
	}
	if err := n.list.Leave(t.Context(), n.sale, n.entry(t, code["leaves"])); err != nil {
		t.Fatal(err)
	}
	for who, c := range map[string]waitlist.Consent{
		"changes": {}, "wants more": {Method: payments.Card, Name: "Ann", Most: 1001}, "stays": {Method: payments.Card, Name: "Anna", Most: 1000},
	} {
		if err := n.list.Change(t.Context(), n.sale, n.entry(t, code[who]), waitlist.NewEntry{Wanted: one, Consent: c}); err != nil {
			t.Fatal(err)
		}
	}
	h.exec(t, `UPDATE entry SET until = clock_timestamp() WHERE code = $1`, code["waits until now"])
	h.rounds(t)
	seatstest.Run(t, h.db, n.orders.Jobs()...)
	h.eventually(t, "one card is kept", func() bool {
		return cards(fake) == 1 && h.count(t, `SELECT count(*) FROM mandate WHERE state = 'ended'`) == 4
	})
	if e := n.entry(t, code["stays"]); e.Mandate == (seats.ID{}) {
		t.Error("who agreed to no more than before has to save their card again")
	}
	if left := h.count(t, `SELECT count(*) FROM mandate WHERE state = 'ended' AND token || email || what || back <> ''`); left != 0 {
		t.Errorf("of %d mandates that ended something is left", left)
	}
	h.wantBooks(t)
}

func TestACardThatItsProviderDoesNotForgetIsToldToTheOperatorUntilItDoes(t *testing.T) {
	t.Parallel()
	h := build(t, hall(0, 1), week/2, 1, false)
	fake, n := h.keepsCards(t), h.nodes[0]
	n.fill(t)
	ann := n.agrees(t, "ann@example.org", payments.Card, 1000)
	page := n.asksToSave(t, ann)
	fake.Pays(page, false)
	if err := n.list.Leave(t.Context(), n.sale, n.entry(t, ann)); err != nil {
		t.Fatal(err)
	}
	fake.Down(true)
	seatstest.Run(t, h.db, n.orders.Jobs()...)
	told := func() []payments.Alert {
		list, err := n.orders.Payments.Alerts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	h.eventually(t, "why the card is kept is noted", func() bool { return h.count(t, `SELECT count(*) FROM mandate WHERE error <> ''`) == 1 })
	if list := told(); len(list) != 0 {
		t.Errorf("after one try the attention list has %+v", list)
	}
	h.exec(t, `UPDATE mandate SET tries = 7`)
	if list := told(); len(list) != 1 || list[0].Kind != payments.AlertCard || list[0].Reference != page || !strings.Contains(list[0].Why, "7 times") {
		t.Errorf("after seven tries the attention list has %+v", list)
	}
	fake.Down(false)
	h.exec(t, `UPDATE mandate SET next_try = clock_timestamp()`)
	seatstest.Run(t, h.db, n.orders.Jobs()...)
	h.eventually(t, "the card is forgotten", func() bool { return cards(fake) == 0 && len(told()) == 0 })
	if left := h.count(t, `SELECT count(*) FROM mandate WHERE error <> ''`); left != 0 {
		t.Error("of a mandate that ended an error is left")
	}
	h.wantBooks(t)
}

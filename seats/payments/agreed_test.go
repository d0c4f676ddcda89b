package payments_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

// rules gives the event other rules of prices.
func (h *shop) rules(t testing.TB, r seats.PriceRules) {
	t.Helper()
	_, err := events.EditPrices(t.Context(), h.office, "evening", events.PriceEdit{Rules: &r}, nil)
	if err == nil {
		h.sale, err = h.office.Sale(t.Context(), "evening")
	}
	if err != nil || len(h.sale.Event.Rules.Offers) != len(r.Offers) || h.sale.Event.Rules.Tax.Rate != r.Tax.Rate {
		t.Fatalf("the rules are %+v, %v", h.sale.Event.Rules, err)
	}
}

func TestPayment_KeepsTheTermsThatItBeganWith(t *testing.T) {
	t.Parallel()
	half := seats.PriceOffer{Number: 1, Name: "Half for two", Kind: seats.OfferGroup, Count: 2, Percent: 50_00}
	before, after := seats.Tax{Rate: 10_000}, seats.Tax{Rate: 20_000}
	for name, test := range map[string]struct {
		begins, then seats.PriceRules
		slow         bool
		offer        string
	}{
		"an offer is added while paying":        {begins: seats.PriceRules{Tax: before}, then: seats.PriceRules{Tax: after, Offers: []seats.PriceOffer{half}, LastOffer: 1}},
		"an offer is added while it is awaited": {begins: seats.PriceRules{Tax: before}, then: seats.PriceRules{Tax: after, Offers: []seats.PriceOffer{half}, LastOffer: 1}, slow: true},
		"an offer ends while paying":            {begins: seats.PriceRules{Tax: before, Offers: []seats.PriceOffer{half}, LastOffer: 1}, then: seats.PriceRules{Tax: after, LastOffer: 1}, offer: half.Name},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openShop(t, events.Settings{})
			h.rules(t, test.begins)
			who := seats.NewID()
			var p payments.Payment
			if test.slow {
				p = h.slowly(t, who)
			} else {
				h.bank.set(func(b *bank) { b.next = payments.Pending })
				p = h.pays(t, who, h.claims(t, who, 2))
			}
			h.rules(t, test.then)
			h.bank.moves(p.ID, payments.Captured)
			h.webhook(t, p, "came")
			p = h.until(t, p.Code, "captured")
			o := h.again(t, orders.Order{Code: p.Code})
			if o.Total != p.Amount || o.Paid != p.Amount || o.Offer != test.offer || o.Tickets[0].Rate != before.Rate {
				t.Errorf("the payment is of %d, and the order of %d, paid %d, by the offer %q with tax at %d", p.Amount, o.Total, o.Paid, o.Offer, o.Tickets[0].Rate)
			}
			h.wantMoney(t)
		})
	}
}

func TestPayment_OfAnotherCurrencyBuysNothing(t *testing.T) {
	t.Parallel()
	h := openShop(t, events.Settings{})
	h.bank.set(func(b *bank) { b.next = payments.Pending })
	who := seats.NewID()
	p := h.pays(t, who, h.claims(t, who, 2))
	h.holdsExpire(t)
	h.exec(t, `UPDATE event SET currency = 'CHF'`)
	h.rules(t, seats.PriceRules{Tax: seats.Tax{Rate: 10_000}}) // the node reads the event anew
	h.bank.moves(p.ID, payments.Captured)
	h.webhook(t, p, "came")
	h.untilRefunded(t, p)
	if n := h.count(t, "orders"); n != 0 {
		t.Errorf("there are %d orders", n)
	}
	h.wantMoney(t)
}

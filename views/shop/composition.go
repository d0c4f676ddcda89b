package shop

import (
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/views"
)

// Part is a line of what a price consists of.
type Part struct {
	Label  string `json:"label"`
	Amount int64  `json:"amount"` // minor units; a discount is negative
	Text   string `json:"text"`
}

// PartsOf lists what a cost consists of; nothing if it is the prices alone.
func PartsOf(e seats.Event, c pricing.Cost, code string) []Part {
	name := c.Applied.Name
	if c.Applied.Code {
		name = "code " + code
	}
	return parts(e, c.Total, c.Discount, c.Fee, name, pricing.Taxes(c.Lines))
}

func parts(e seats.Event, total, discount, fee int64, name string, taxes []pricing.TaxSum) (list []Part) {
	add := func(label string, amount int64) {
		text := views.Money(max(amount, -amount), e.Currency)
		if amount < 0 {
			text = "−" + text
		}
		list = append(list, Part{label, amount, text})
	}
	if discount > 0 {
		add("Before the discount", total+discount)
		if name != "" {
			name = ": " + name
		}
		add("Discount"+name, -discount)
	}
	if fee > 0 {
		add("Fees included", fee)
	}
	for _, t := range taxes {
		if t.Rate > 0 {
			add(TaxName(e)+" "+pricing.Rate(t.Rate)+"% included", t.Tax)
		}
	}
	return list
}

// TaxName is what the tax of an event is called.
func TaxName(e seats.Event) string {
	if e.Rules.Tax.Name == "" {
		return "Tax"
	}
	return e.Rules.Tax.Name
}

// parts lists what the hold costs consists of.
func (s Sale) parts() []Part { return PartsOf(s.Event, s.cost(), s.Code) }

// Parts lists what an order cost consists of, for its live tickets.
func (p OrderPage) Parts() []Part { return PartsOfOrder(p.Event, p.Order) }

// PartsOfOrder lists what the live tickets of an order cost consists of.
func PartsOfOrder(e seats.Event, o orders.Order) []Part {
	var total, discount, fee int64
	for _, t := range o.Tickets {
		if !t.Revoked {
			total, discount, fee = total+t.Cost(), discount+t.Discount, fee+t.Fee
		}
	}
	name := o.Offer
	if o.DiscountCode != "" {
		name = "code " + o.DiscountCode
	}
	return parts(e, total, discount, fee, name, o.Taxes())
}

// AllIn is the price to show for a line: with fees and taxes.
func AllIn(e seats.Event, l seats.Line) int64 {
	return pricing.AllIn(pricing.Line{Type: l.Type, Category: l.Category, Price: l.Price}, pricing.TermsOf(e)).Cost()
}

// Contents says what the prices of an event contain; nothing if they are the prices alone.
func Contents(e seats.Event) (said []string) {
	var fees []string
	if e.Fees.Ticket > 0 {
		fees = append(fees, views.Money(e.Fees.Ticket, e.Currency)+" for each ticket")
	}
	if e.Fees.Percent > 0 {
		fees = append(fees, pricing.Percentage(e.Fees.Percent)+"% of its price")
	}
	tax := e.Rules.Tax
	if len(fees) > 0 {
		words := "A fee of " + joined(fees)
		if tax.OnTop && tax.FeeRate > 0 {
			words += ", plus " + TaxName(e) + " " + pricing.Rate(tax.FeeRate) + "%"
		}
		said = append(said, words+".")
	}
	if tax.Rate > 0 {
		said = append(said, TaxName(e)+" "+pricing.Rate(tax.Rate)+"%.")
	}
	for _, o := range e.Rules.Offers {
		said = append(said, "Offer: "+OfferWords(o)+".")
	}
	return said
}

// OfferWords says what an offer gives.
func OfferWords(o seats.PriceOffer) string {
	percent := pricing.Percentage(o.Percent) + "% off"
	switch o.Kind {
	case seats.OfferMulti:
		return o.Name + ", " + views.Counted(o.Count, "ticket") + " for the price of " + views.Number(o.Pay)
	case seats.OfferGroup:
		return o.Name + ", " + percent + " from " + views.Counted(o.Count, "ticket")
	}
	return o.Name + ", " + percent + " for " + views.Counted(o.Count, "adult") + " with at least " + childrenWords(o.Children)
}

func childrenWords(n int) string {
	if n == 1 {
		return "1 child"
	}
	return views.Number(n) + " children"
}

package shop

import (
	"context"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// Part is a line of what a price consists of.
type Part struct {
	Label  string `json:"label"`
	Amount int64  `json:"amount"` // minor units; a discount is negative
	Text   string `json:"text"`
}

// PartsOf lists what a cost consists of; nothing if it is the prices alone.
func PartsOf(ctx context.Context, e *seats.Event, c pricing.Cost, code string) []Part {
	name := c.Applied.Name
	if c.Applied.Code && code != "" {
		name = text.T(ctx, "code %s", code)
	}
	return parts(ctx, e, c.Total-pricing.SumOf(c.Extras), c.Discount, c.Fee, name, pricing.Taxes(c.Lines, c.Extras...))
}

func parts(ctx context.Context, e *seats.Event, total, discount, fee int64, name string, taxes []pricing.TaxSum) (list []Part) {
	add := func(label string, amount int64) {
		said := views.MoneyIn(ctx, max(amount, -amount), e.Currency)
		if amount < 0 {
			said = "−" + said
		}
		list = append(list, Part{label, amount, said})
	}
	if discount > 0 {
		add(text.T(ctx, "Before the discount"), total+discount)
		if name == "" {
			add(text.T(ctx, "Discount"), -discount)
		} else {
			add(text.T(ctx, "Discount: %s", name), -discount)
		}
	}
	if fee > 0 {
		add(text.T(ctx, "Fees included"), fee)
	}
	for _, t := range taxes {
		if t.Rate > 0 {
			add(text.T(ctx, "%s %s included", TaxName(ctx, *e), taxRate(ctx, t.Rate)), t.Tax)
		}
	}
	return list
}

// TaxName is what the tax of an event is called.
func TaxName(ctx context.Context, e seats.Event) string {
	if e.Rules.Tax.Name == "" {
		return text.T(ctx, "Tax")
	}
	return e.Rules.Tax.Name
}

// parts lists what the hold costs consists of.
func (s Sale) parts(ctx context.Context) []Part { return PartsOf(ctx, &s.Event, s.Cost(), s.Code) }

// Parts lists what an order cost consists of, for its live tickets.
func (p OrderPage) Parts(ctx context.Context) []Part { return PartsOfOrder(ctx, p.Event, p.Order) }

// PartsOfOrder lists what the live tickets of an order cost consists of, and what its buyer added.
func PartsOfOrder(ctx context.Context, e seats.Event, o orders.Order) (list []Part) {
	var total, discount, fee int64
	for _, t := range o.Tickets {
		if !t.Revoked {
			total, discount, fee = total+t.Cost(), discount+t.Discount, fee+t.Fee
		}
	}
	name := o.Offer
	if o.DiscountCode != "" {
		name = text.T(ctx, "code %s", o.DiscountCode)
	}
	for _, x := range o.Extras {
		list = append(list, Part{ExtraWords(ctx, x), x.Price, views.MoneyIn(ctx, x.Price, e.Currency)})
	}
	return append(list, parts(ctx, &e, total, discount, fee, name, o.Taxes())...)
}

// ExtraWords names what a buyer added.
func ExtraWords(ctx context.Context, x pricing.Extra) string {
	if x.Kind == pricing.Donation {
		return text.T(ctx, "Donation")
	}
	return text.T(ctx, "Postage")
}

// AllIn is the price to show for a line: with fees and taxes.
func AllIn(e seats.Event, l seats.Line) int64 {
	return pricing.AllIn(pricing.Line{Type: l.Type, Category: l.Category, Price: l.Price}, pricing.TermsOf(&e)).Cost()
}

// Contents says what the prices of an event contain; nothing if they are the prices alone.
func Contents(ctx context.Context, e seats.Event) (said []string) {
	var fees []string
	if e.Fees.Ticket > 0 {
		fees = append(fees, text.T(ctx, "%s for each ticket", views.MoneyIn(ctx, e.Fees.Ticket, e.Currency)))
	}
	if e.Fees.Percent > 0 {
		fees = append(fees, text.T(ctx, "%s of its price", percentage(ctx, e.Fees.Percent)))
	}
	tax := e.Rules.Tax
	if len(fees) > 0 {
		if tax.OnTop && tax.FeeRate > 0 {
			said = append(said, text.T(ctx, "A fee of %s, plus %s %s.", text.List(ctx, fees), TaxName(ctx, e), taxRate(ctx, tax.FeeRate)))
		} else {
			said = append(said, text.T(ctx, "A fee of %s.", text.List(ctx, fees)))
		}
	}
	if tax.Rate > 0 {
		said = append(said, TaxName(ctx, e)+" "+taxRate(ctx, tax.Rate)+".")
	}
	for _, o := range e.Rules.Offers {
		said = append(said, text.T(ctx, "Offer: %s.", OfferWords(ctx, o)))
	}
	return said
}

// OfferWords says what an offer gives.
func OfferWords(ctx context.Context, o seats.PriceOffer) string {
	switch o.Kind {
	case seats.OfferMulti:
		return text.N(ctx, "%[2]s, %[1]d ticket for the price of %[3]d", "%[2]s, %[1]d tickets for the price of %[3]d", o.Count, o.Name, o.Pay)
	case seats.OfferGroup:
		return text.N(ctx, "%[2]s, %[3]s off from %[1]d ticket", "%[2]s, %[3]s off from %[1]d tickets", o.Count, o.Name, percentage(ctx, o.Percent))
	}
	return text.T(ctx, "%s, %s off for %s with at least %s", o.Name, percentage(ctx, o.Percent), text.N(ctx, "%d adult", "%d adults", o.Count), text.N(ctx, "%d child", "%d children", o.Children))
}

// percentage writes hundredths of a percent: "12.5%".
func percentage(ctx context.Context, hundredths int) string {
	return text.Percent(ctx, float64(hundredths)/100)
}

// taxRate writes the rate of a tax, in thousandths of a percent: "8.875%".
func taxRate(ctx context.Context, thousandths int) string {
	return text.Percent(ctx, float64(thousandths)/1000)
}

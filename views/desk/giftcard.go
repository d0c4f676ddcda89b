package desk

import (
	"context"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// GiftCardsPath is the address of the team's gift cards.
const GiftCardsPath = Path + "/gift-cards"

// GiftCardsPage is what gift cards a team offers, and those that it sold.
type GiftCardsPage struct {
	Frame
	Next                      string // cursor of the next page; empty: there is none
	Open                      bool   // as stored, or as typed
	Stored                    bool   // gift cards are offered
	Payable                   bool   // there is a way to pay them
	Currency, Amounts, Months string
	Sold                      []giftcards.Sold
	Public                    string // where attendees buy them
	Mistakes                  organizers.Mistakes
	Law                       *giftcards.Law // of the team's country; nil: not known
}

// SetOffer fills in the form with what is stored.
func (p *GiftCardsPage) SetOffer(o giftcards.Offer) {
	if o.Currency == "" { // nothing is stored
		p.Currency, p.Amounts, p.Months = "EUR", "25, 50, 100", "36"
		if p.Law != nil {
			p.Months = strconv.Itoa(p.Law.Months)
		}
		return
	}
	p.Open, p.Currency = o.Open, o.Currency
	if o.Months > 0 {
		p.Months = strconv.Itoa(o.Months)
	}
	amounts := make([]string, len(o.Amounts))
	for i, a := range o.Amounts {
		amounts[i] = pricing.Amount(a, o.Currency)
	}
	p.Amounts = strings.Join(amounts, ", ")
}

// lawWords says how long gift cards are valid by the law of the team's country, if that is known.
func (p GiftCardsPage) lawWords(ctx context.Context) string {
	if p.Law == nil {
		return text.T(ctx, "Many countries have a law on how long gift cards are valid. We don’t know that of your country. Ask a lawyer.")
	}
	of := []any{text.T(ctx, p.Law.Name), p.Law.Months / 12, text.T(ctx, p.Law.Source), strconv.Itoa(giftcards.LawsOf)}
	law := text.T(ctx, "In %s, claims from a gift card end after %d years, and courts may reject a shorter time (%s; compared in %s). Ask a lawyer.", of...)
	if p.Law.Least {
		law = text.T(ctx, "In %s, a gift card is valid for at least %d years (%s; compared in %s). Ask a lawyer.", of...)
	}
	if months, err := strconv.Atoi(p.Months); err == nil && months > 0 && months < p.Law.Months {
		return text.T(ctx, "Your time is shorter than that of the law.") + " " + law
	}
	return law
}

// giftPeople says who bought a gift card, and for which address.
func giftPeople(ctx context.Context, c giftcards.Sold) string {
	if c.Buyer == c.Recipient {
		return c.Buyer
	}
	return text.T(ctx, "%s to %s", c.Buyer, c.Recipient)
}

// giftStanding says how a gift card stands.
func giftStanding(ctx context.Context, c giftcards.Sold) string {
	switch {
	case c.Left > 0:
		return text.T(ctx, "Left on it: %s", views.MoneyIn(ctx, c.Left, c.Currency))
	case c.Spent:
		return text.T(ctx, "Redeemed")
	case c.State == giftcards.Issued:
		return text.T(ctx, "Not redeemed")
	case c.State == giftcards.Open:
		return text.T(ctx, "Being paid")
	case c.State == giftcards.Refunding:
		return text.T(ctx, "Refund on its way")
	case c.State == giftcards.Refunded:
		return text.T(ctx, "Refunded")
	}
	return text.T(ctx, "Not paid")
}

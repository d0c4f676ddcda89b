package desk

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
)

// GiftCardsPath is the address of the team's gift cards.
const GiftCardsPath = Path + "/gift-cards"

// GiftCardsPage is what gift cards a team offers, and those that it sold.
type GiftCardsPage struct {
	Frame
	Open                      bool // as stored, or as typed
	Stored                    bool // gift cards are offered
	Payable                   bool // there is a way to pay them
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
func (p GiftCardsPage) lawWords() string {
	if p.Law == nil {
		return "Many countries have a law on how long gift cards are valid. We don’t know that of your country. Ask a lawyer."
	}
	law := fmt.Sprintf("In %s, claims from a gift card end after %d years, and courts may reject a shorter time", p.Law.Name, p.Law.Months/12)
	if p.Law.Least {
		law = fmt.Sprintf("In %s, a gift card is valid for at least %d years", p.Law.Name, p.Law.Months/12)
	}
	law += fmt.Sprintf(" (%s; compared in %d). Ask a lawyer.", p.Law.Source, giftcards.LawsOf)
	if months, err := strconv.Atoi(p.Months); err == nil && months > 0 && months < p.Law.Months {
		return "Your time is shorter than that of the law. " + law
	}
	return law
}

// giftPeople says who bought a gift card, and for which address.
func giftPeople(c giftcards.Sold) string {
	if c.Buyer == c.Recipient {
		return c.Buyer
	}
	return c.Buyer + " to " + c.Recipient
}

// giftStanding says how a gift card stands.
func giftStanding(c giftcards.Sold) string {
	switch {
	case c.Spent:
		return "Redeemed"
	case c.State == giftcards.Issued:
		return "Not redeemed"
	case c.State == giftcards.Open:
		return "Being paid"
	case c.State == giftcards.Refunding:
		return "Refund on its way"
	case c.State == giftcards.Refunded:
		return "Refunded"
	}
	return "Not paid"
}

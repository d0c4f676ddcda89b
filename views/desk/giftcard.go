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

// lawWords says how long gift cards are valid by the law of the team's country, or of some countries if that is not known.
func (p GiftCardsPage) lawWords() string {
	const ask = " Check it, and ask a lawyer."
	if p.Law == nil {
		return "Many countries have a minimum: in Germany three years to the end of the year, in Ireland and the US five years. Austrian courts allow short times only with good reason, and some countries allow none. Ask a lawyer."
	}
	law := fmt.Sprintf("In %s it is %d years (%s; entered from memory in %d).", p.Law.Name, p.Law.Months/12, p.Law.Source, giftcards.LawsOf)
	if months, err := strconv.Atoi(p.Months); err == nil && months > 0 && months < p.Law.Months {
		return "This is shorter than the law of your country may allow. " + law + ask
	}
	return law + ask
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

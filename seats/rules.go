package seats

import "slices"

// PriceRules are what an event prices its tickets by besides its prices and fees. Package pricing computes with them.
type PriceRules struct {
	Tax       Tax          `json:"tax"`
	Offers    []PriceOffer `json:"offers,omitempty"`
	LastOffer int          `json:"last_offer,omitempty"` // the highest number that an offer ever had
}

// Tax is how much tax prices contain. Its zero value is none. A rate is in thousandths of a percent.
type Tax struct {
	Name    string     `json:"name,omitempty"`    // such as VAT; empty: Tax
	Country string     `json:"country,omitempty"` // ISO 3166-1; the rates of this country are suggested
	Rate    int        `json:"rate"`              // of tickets
	FeeRate int        `json:"fee_rate"`          // of fees
	Types   []TypeRate `json:"types,omitempty"`
	OnTop   bool       `json:"on_top"`   // prices and fees are entered without the tax; pages show them with it
	ByTotal bool       `json:"by_total"` // the tax of a rate is rounded once for an order, not for each ticket
}

// TypeRate is the rate of a ticket type that differs from other types.
type TypeRate struct {
	Type int `json:"type"`
	Rate int `json:"rate"`
}

// RateOf is the rate of tickets of a type.
func (t Tax) RateOf(kind int) int {
	for _, r := range t.Types {
		if r.Type == kind {
			return r.Rate
		}
	}
	return t.Rate
}

// Kinds of offers.
const (
	OfferMulti  = "multi"  // pay for Pay of Count tickets
	OfferGroup  = "group"  // Percent off from Count tickets on
	OfferFamily = "family" // Percent off for Count adults with at least so many Children
)

// PriceOffer is a discount that an order gets by itself.
type PriceOffer struct {
	Number     int    `json:"number"` // of the event; never given to another offer
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Types      []int  `json:"types,omitempty"`      // it is for these types; none: for all
	Categories []int  `json:"categories,omitempty"` // it is for these categories; none: for all
	Count      int    `json:"count"`
	Pay        int    `json:"pay,omitempty"`
	ChildTypes []int  `json:"child_types,omitempty"`
	Children   int    `json:"children,omitempty"`
	Percent    int    `json:"percent,omitempty"` // hundredths of a percent
}

// Offer returns the offer with this number.
func (r PriceRules) Offer(number int) (o PriceOffer, found bool) {
	at := slices.IndexFunc(r.Offers, func(o PriceOffer) bool { return o.Number == number })
	if at < 0 {
		return PriceOffer{}, false
	}
	return r.Offers[at], true
}

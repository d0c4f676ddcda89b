package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// TaxField names the field of the tax rate of a ticket type.
func TaxField(kind int) string { return fmt.Sprintf("tax.type.%d", kind) }

// OfferField names a field of an offer.
func OfferField(n int, what string) string { return fmt.Sprintf("offer.%d.%s", n, what) }

// OfferName is the name of an offer that gets none from its organizer.
func OfferName(o seats.PriceOffer) string {
	switch o.Kind {
	case seats.OfferMulti:
		return fmt.Sprintf("%d for %d", o.Count, o.Pay)
	case seats.OfferGroup:
		return fmt.Sprintf("Groups of %d or more", o.Count)
	}
	return "Family"
}

// offerKinds are the kinds of offers with what organizers call them.
var offerKinds = [][2]string{{seats.OfferMulti, text.Mark("Pay for fewer, such as 3 for 2")}, {seats.OfferFamily, text.Mark("Family")}, {seats.OfferGroup, text.Mark("Group")}}

// offerForm is an offer on the page: one that is there, or a new one of a kind.
type offerForm struct {
	n     int
	of    seats.PriceOffer
	fresh bool
}

// offers are the offers of the event, and a new one of each kind.
func (p PricesPage) offers() (list []offerForm) {
	for n, o := range p.Sale.Event.Rules.Offers {
		list = append(list, offerForm{n: n, of: o})
	}
	for _, kind := range offerKinds {
		list = append(list, offerForm{n: len(list), of: seats.PriceOffer{Kind: kind[0]}, fresh: true})
	}
	return list
}

func offerWord(kind string) string {
	for _, k := range offerKinds {
		if k[0] == kind {
			return k[1]
		}
	}
	return kind
}

// typed reports whether a part of the page was filled in when it was refused; it is open then.
func (p PricesPage) typed(prefixes ...string) bool {
	for name, values := range p.Form {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) && !strings.HasSuffix(name, ".kind") && strings.Join(values, "") != "" {
				return true
			}
		}
	}
	return false
}

// marked reports whether a value of a list of checkboxes is chosen.
func (p PricesPage) marked(name, key string, stored bool) bool {
	if p.Form != nil {
		return slices.Contains(p.Form[name], key)
	}
	return stored
}

func percentField(hundredths int) string {
	if hundredths == 0 {
		return ""
	}
	return pricing.Percentage(hundredths)
}

// taxWords say how the event is taxed.
func (p PricesPage) taxWords(ctx context.Context) string {
	t := p.Sale.Event.Rules.Tax
	rates := []string{}
	for _, rate := range slices.Concat([]int{t.Rate}, ratesOfTypes(t)) {
		if one := text.T(ctx, "%s%%", pricing.Rate(rate)); !slices.Contains(rates, one) {
			rates = append(rates, one)
		}
	}
	name := t.Name
	if name == "" {
		name = text.T(ctx, "Tax")
	}
	switch {
	case t.Rate == 0 && len(t.Types) == 0 && t.FeeRate == 0:
		return text.T(ctx, "No tax")
	case t.OnTop:
		return text.T(ctx, "%s %s on top of the prices", name, text.List(ctx, rates))
	}
	return text.T(ctx, "%s %s inside of the prices", name, text.List(ctx, rates))
}

func ratesOfTypes(t seats.Tax) (rates []int) {
	for _, r := range t.Types {
		rates = append(rates, r.Rate)
	}
	return rates
}

// taxed reports whether an event has a tax.
func taxed(t seats.Tax) bool { return t.Rate != 0 || t.FeeRate != 0 || len(t.Types) > 0 }

// rate is the content of the field of a tax rate.
func (p PricesPage) rate(name string, rate int) string {
	stored := ""
	if taxed(p.Sale.Event.Rules.Tax) {
		stored = pricing.Rate(rate)
	}
	return p.value(name, stored)
}

// typeRate is the rate of a type that has one of its own.
func (p PricesPage) typeRate(kind int) string {
	stored := ""
	for _, r := range p.Sale.Event.Rules.Tax.Types {
		if r.Type == kind {
			stored = pricing.Rate(r.Rate)
		}
	}
	return p.value(TaxField(kind), stored)
}

// country is the country the rates of which are suggested.
func (p PricesPage) country() string {
	stored := p.Sale.Event.Rules.Tax.Country
	if stored == "" {
		stored = p.Home
	}
	return p.value("tax.country", stored)
}

// suggestion is a tax rate that the page suggests.
type suggestion struct{ rate, words string }

// suggested are the rates of the country of the event, or of all countries if it has none.
func (p PricesPage) suggested(ctx context.Context) (list []suggestion) {
	one, known := p.Rates.Country(p.country())
	countries := p.Rates.Countries
	if known {
		countries = []pricing.CountryRate{one}
	}
	for _, c := range countries {
		list = append(list, suggestion{pricing.Rate(c.Standard), text.T(ctx, "%s, standard", countryName(ctx, c))})
		for _, rate := range c.Reduced {
			list = append(list, suggestion{pricing.Rate(rate), text.T(ctx, "%s, reduced", countryName(ctx, c))})
		}
	}
	return list
}

// ratesWords say how old the suggested rates are that came with Usher.
func (p PricesPage) ratesWords(ctx context.Context) string {
	if one, known := p.Rates.Country(p.country()); known && one.ChangedAt != nil {
		return text.T(ctx, "Ask a tax adviser which one applies.")
	}
	return text.T(ctx, "Those that came with Usher are as of %s, and not verified: check them first. Ask a tax adviser which one applies.", ratesDay(ctx, p.Rates))
}

// byTotal reports whether the tax is rounded once for an order: as stored, or by the law of the country.
func (p PricesPage) byTotal() bool {
	t := p.Sale.Event.Rules.Tax
	if taxed(t) {
		return t.ByTotal
	}
	c, _ := p.Rates.Country(p.country())
	return !c.ByLine
}

// offersWords count the offers.
func (p PricesPage) offersWords(ctx context.Context) string {
	if n := len(p.Sale.Event.Rules.Offers); n > 0 {
		return text.N(ctx, "%d offer", "%d offers", n)
	}
	return text.T(ctx, "None")
}

// codesWords name the first codes.
func (p PricesPage) codesWords(ctx context.Context) string {
	names := []string{}
	for _, g := range p.Codes {
		if g.State != pricing.CodeOver && len(names) < 3 {
			names = append(names, g.Title())
		}
	}
	if len(names) == 0 {
		return text.T(ctx, "None")
	}
	return strings.Join(names, ", ")
}

func has(list []int, n int) bool { return slices.Contains(list, n) }

// onIf is the value of a checkbox, or of an option, that is on.
func onIf(is bool) string {
	if is {
		return "on"
	}
	return ""
}

// hasExtras reports whether buyers can add something to an order.
func hasExtras(e seats.Event) bool {
	return len(e.Rules.Extras.Donations) > 0 || e.Rules.Extras.Postage > 0
}

// extraWords say what buyers can add to an order.
func extraWords(ctx context.Context, e seats.Event) string {
	x, words := e.Rules.Extras, []string{}
	if len(x.Donations) > 0 {
		words = append(words, text.T(ctx, "Donations"))
	}
	if x.Postage > 0 {
		words = append(words, text.T(ctx, "postage %s", views.MoneyIn(ctx, x.Postage, e.Currency)))
	}
	if len(words) == 0 {
		return text.T(ctx, "None")
	}
	return strings.Join(words, ", ")
}

// amountField is the content of a field; empty for nothing.
func amountField(amount int64, currency string) string {
	if amount == 0 {
		return ""
	}
	return pricing.Amount(amount, currency)
}

func amountsField(amounts []int64, currency string) string {
	texts := make([]string, len(amounts))
	for i, a := range amounts {
		texts[i] = pricing.Amount(a, currency)
	}
	return strings.Join(texts, ", ")
}

func rateField(rate int) string {
	if rate == 0 {
		return ""
	}
	return pricing.Rate(rate)
}

package desk

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// fieldReader reads fields of a form and keeps what was wrong with the first one that cannot be read.
type fieldReader struct {
	form url.Values
	sale *seats.Sale
	err  error
}

func (f *fieldReader) fail(wrong text.Local) {
	if f.err == nil {
		f.err = seats.Unchanged(wrong)
	}
}

// wrongIn says what is wrong with something that an organizer typed, as package pricing reads it.
func wrongIn(err error) text.Local {
	var wrong *seats.ValidationError
	if errors.As(err, &wrong) {
		return wrong
	}
	return text.Message{ID: err.Error()}
}

func (f *fieldReader) text(name string) string { return strings.TrimSpace(f.form.Get(name)) }

func (f *fieldReader) is(name string) bool { return f.form.Get(name) != "" }

// whole reads a whole number; 0 if the field is empty.
func (f *fieldReader) whole(name string) int {
	n, err := strconv.Atoi(cmp.Or(f.text(name), "0"))
	if err != nil {
		f.fail(notWhole(f.text(name)))
	}
	return n
}

// minutes reads a number of them; 0 if the field is empty.
func (f *fieldReader) minutes(name string) time.Duration {
	return time.Duration(f.whole(name)) * time.Minute
}

// percent reads hundredths of a percent; 0 if the field is empty.
func (f *fieldReader) percent(name string) int {
	n, err := pricing.ReadPercent(cmp.Or(strings.TrimSpace(strings.TrimSuffix(f.text(name), "%")), "0"))
	if err != nil {
		f.fail(wrongIn(err))
	}
	return n
}

// rate reads thousandths of a percent; 0 if the field is empty.
func (f *fieldReader) rate(name string) int { return f.rateIn(f.text(name)) }

func (f *fieldReader) rateIn(written string) int {
	n, err := pricing.ReadRate(cmp.Or(strings.TrimSpace(strings.TrimSuffix(written, "%")), "0"))
	if err != nil {
		f.fail(wrongIn(err))
	}
	return n
}

// moment reads a time at the place of the event; nil if the field is empty.
func (f *fieldReader) moment(name string) *time.Time {
	t, err := pricing.ReadTime(f.text(name), f.sale.Event.Local(time.Now()).Location())
	if err != nil {
		f.fail(wrongIn(err))
	}
	return t
}

// off reads what is taken off a price: a percentage such as 10%, or an amount.
func (f *fieldReader) off(name string) (percent int, amount int64) {
	amount, of, some, err := pricing.ReadPrice(f.text(name), f.sale.Event.Currency)
	switch {
	case err != nil:
		f.fail(wrongIn(err))
	case !some:
		f.fail(text.Say("Say what the code takes off: a percentage such as 10%%, or an amount such as %s.", pricing.Amount(500, f.sale.Event.Currency)))
	case of != nil:
		percent = *of
	}
	return percent, amount
}

// ids reads ids that are chosen.
func (f *fieldReader) ids(name string) (chosen []seats.ID) {
	for _, one := range f.form[name] {
		id, err := seats.ParseID(one)
		if err != nil {
			f.fail(text.Say("“%s” is not an id.", one))
		}
		chosen = append(chosen, id)
	}
	return chosen
}

// types reads the keys of ticket types that are chosen.
func (f *fieldReader) types(name string, list *seats.Prices) (chosen []int) {
	for _, key := range f.form[name] {
		if kind := list.TypeKeyed(key); kind >= 0 {
			chosen = append(chosen, kind)
		} else {
			f.fail(text.Say(noTicketType, key))
		}
	}
	return chosen
}

// categories reads the keys of categories that are chosen.
func (f *fieldReader) categories(name string) (chosen []int) {
	for _, key := range f.form[name] {
		at := -1
		for i, c := range f.sale.Plan.Categories {
			if c.Key == key {
				at = i
			}
		}
		if at < 0 {
			f.fail(text.Say(noCategory, key))
		}
		chosen = append(chosen, at)
	}
	return chosen
}

// names reports whether a form has a field that begins like this: a part of the page that a program leaves out stays as it is.
func names(form url.Values, prefixes ...string) bool {
	for name := range form {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
	}
	return false
}

// rulesOf reads tax and offers; nil if the form names neither.
func rulesOf(form url.Values, s *seats.Sale, list *seats.Prices) (*seats.PriceRules, error) {
	f, rules := &fieldReader{form: form, sale: s}, s.Event.Rules
	hasTax, hasOffers, hasExtras := names(form, "tax."), names(form, "offer."), names(form, "extra.")
	if hasExtras {
		rules.Extras = f.extras()
	}
	if hasTax {
		rules.Tax = f.tax(list)
	}
	if hasOffers {
		f.offers(&rules, list)
	}
	if f.err != nil || !hasTax && !hasOffers && !hasExtras {
		return nil, f.err
	}
	return &rules, nil
}

// tax reads the tax of an event. The rate of fees is that of tickets if the field is empty.
func (f *fieldReader) tax(list *seats.Prices) seats.Tax {
	t := seats.Tax{
		Name: f.text("tax.name"), Country: strings.ToUpper(f.text("tax.country")), Rate: f.rate("tax.rate"), OnTop: f.is("tax.on_top"), ByTotal: f.is("tax.by_total") && f.text("tax.by_total") != "off",
	}
	if t.FeeRate = t.Rate; f.is("tax.fee_rate") {
		t.FeeRate = f.rate("tax.fee_rate")
	}
	for kind := range list.Types {
		if name := desk.TaxField(kind); f.is(name) {
			t.Types = append(t.Types, seats.TypeRate{Type: kind, Rate: f.rate(name)})
		}
	}
	return t
}

// extras reads what buyers can add to an order.
func (f *fieldReader) extras() (x seats.Extras) {
	for _, one := range strings.FieldsFunc(f.text("extra.donations"), func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		x.Donations = append(x.Donations, f.amount(one))
	}
	slices.Sort(x.Donations)
	x.Donations = slices.Compact(x.Donations)
	x.DonationFor, x.Postage, x.PostageRate = f.text("extra.donation_for"), f.amount(f.text("extra.postage")), f.rate("extra.postage_rate")
	return x
}

// amount reads an amount in the currency of the event; 0 if there is none.
func (f *fieldReader) amount(written string) int64 {
	if written == "" {
		return 0
	}
	n, err := pricing.ReadAmount(written, f.sale.Event.Currency)
	if err != nil {
		f.fail(text.Say("“%s” is not an amount such as %s.", written, pricing.Amount(500, f.sale.Event.Currency)))
	}
	return n
}

// offers reads the offers of an event. A new one without any field, and one that is marked as removed, is left out.
func (f *fieldReader) offers(rules *seats.PriceRules, list *seats.Prices) {
	before := *rules
	rules.Offers = nil
	for n := 0; f.is(desk.OfferField(n, "kind")); n++ {
		field := func(what string) string { return desk.OfferField(n, what) }
		if f.is(field("removed")) || f.text(field("count")) == "" && f.text(field("percent")) == "" && f.text(field("name")) == "" {
			continue
		}
		o := seats.PriceOffer{
			Name: f.text(field("name")), Kind: f.text(field("kind")), Count: f.whole(field("count")), Pay: f.whole(field("pay")), Children: f.whole(field("children")),
			Percent: f.percent(field("percent")), Types: f.types(field("types"), list), ChildTypes: f.types(field("child_types"), list), Categories: f.categories(field("categories")),
		}
		o.Name = cmp.Or(o.Name, desk.OfferName(o))
		if _, found := before.Offer(f.whole(field("number"))); found {
			o.Number = f.whole(field("number"))
		} else {
			rules.LastOffer++
			o.Number = rules.LastOffer
		}
		rules.Offers = append(rules.Offers, o)
	}
}

// newCodeOf reads the discount code that the page of prices can add; nil for none.
func newCodeOf(form url.Values, s *seats.Sale) (*pricing.Code, error) {
	f := &fieldReader{form: form, sale: s}
	if f.text("code.new") == "" && f.text("code.off") == "" {
		return nil, nil
	}
	c := pricing.Code{Code: pricing.SpellCode(f.text("code.new"))}
	c.Percent, c.Amount = f.off("code.off")
	if f.err == nil && c.Code == "" {
		f.fail(text.Say(badCode))
	}
	if wrong := pricing.CheckCode(c); f.err == nil && wrong.ID != "" {
		f.fail(wrong)
	}
	return &c, f.err
}

var (
	badCode      = text.Mark("A code is 3 to 40 letters and digits, such as MEMBERS. Spaces and dashes do not count.")
	noTicketType = text.Mark("There is no ticket type “%s”.")
	noCategory   = text.Mark("There is no category “%s”.")
)

func notWhole(written string) text.Local { return text.Say("“%s” is not a whole number.", written) }

type taxBody struct {
	Name    string      `json:"name"`
	Country string      `json:"country"`
	Rate    string      `json:"rate"` // percent
	FeeRate string      `json:"fee_rate"`
	Types   []taxOfType `json:"types"`
	OnTop   bool        `json:"on_top"`
	ByTotal bool        `json:"by_total"`
}

type taxOfType struct {
	Type string `json:"type"`
	Rate string `json:"rate"`
}

type offerBody struct {
	Number     int      `json:"number"`
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Count      int      `json:"count"`
	Pay        int      `json:"pay,omitempty"`
	Percent    string   `json:"percent,omitempty"`
	Types      []string `json:"types"`
	ChildTypes []string `json:"child_types,omitempty"`
	Children   int      `json:"children,omitempty"`
	Categories []string `json:"categories"`
}

type extrasBody struct {
	Donations   []int64 `json:"donations"` // minor units
	DonationFor string  `json:"donation_for"`
	Postage     int64   `json:"postage"`      // minor units; 0: tickets are not posted
	PostageRate string  `json:"postage_rate"` // percent
}

func describeExtras(s *seats.Sale) extrasBody {
	x := s.Event.Rules.Extras
	return extrasBody{append([]int64{}, x.Donations...), x.DonationFor, x.Postage, pricing.Rate(x.PostageRate)}
}

func describeTax(s *seats.Sale) taxBody {
	t := s.Event.Rules.Tax
	b := taxBody{Name: t.Name, Country: t.Country, Rate: pricing.Rate(t.Rate), FeeRate: pricing.Rate(t.FeeRate), Types: []taxOfType{}, OnTop: t.OnTop, ByTotal: t.ByTotal}
	for _, r := range t.Types {
		b.Types = append(b.Types, taxOfType{s.Prices.Types[r.Type].Key, pricing.Rate(r.Rate)})
	}
	return b
}

func describeOffers(s *seats.Sale) []offerBody {
	list := []offerBody{}
	for _, o := range s.Event.Rules.Offers {
		b := offerBody{Number: o.Number, Name: o.Name, Kind: o.Kind, Count: o.Count, Pay: o.Pay, Children: o.Children, Types: typeKeys(s, o.Types), ChildTypes: typeKeys(s, o.ChildTypes), Categories: categoryKeys(s, o.Categories)}
		if o.Percent > 0 {
			b.Percent = pricing.Percentage(o.Percent)
		}
		list = append(list, b)
	}
	return list
}

func typeKeys(s *seats.Sale, types []int) []string {
	keys := []string{}
	for _, t := range types {
		keys = append(keys, s.Prices.Types[t].Key)
	}
	return keys
}

func categoryKeys(s *seats.Sale, categories []int) []string {
	keys := []string{}
	for _, c := range categories {
		keys = append(keys, s.Plan.Categories[c].Key)
	}
	return keys
}

package desk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
)

// pricesBody is a change as programs send it: what GET answers, or parts of it.
type pricesBody struct {
	Key      string      `json:"key"`
	Currency string      `json:"currency"`
	Version  *int64      `json:"version"` // of the list that this one follows
	Types    []typeBody  `json:"types"`
	Phases   []phaseBody `json:"phases"`
	Prices   []priceBody `json:"prices"`
	Tax      *taxBody    `json:"tax"`
	Extras   *extrasBody `json:"extras"`
	Offers   []offerBody `json:"offers"`
}

var errPricesChanged = web.NewProblem(409, "changed", text.Mark("The prices changed since you read them."), web.NothingChanged, text.Mark("Read them again."))

// pricesForm reads a form of the page, or the same as JSON: with the names of the fields, or as GET answers it.
func pricesForm(r *http.Request, s *seats.Sale) (url.Values, error) {
	if web.IsForm(r) {
		return deskForm(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var parts map[string]json.RawMessage
	_ = json.Unmarshal(body, &parts) // deskForm says what is wrong
	if !slices.ContainsFunc([]string{"types", "phases", "prices", "tax", "extras", "offers"}, func(name string) bool { return parts[name] != nil }) {
		return deskForm(r)
	}
	var b pricesBody
	if err := web.DecodeJSON(body, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Currency != "" && b.Currency != s.Event.Currency:
		return nil, web.Invalid(text.Mark("The prices of this event are in %s."), s.Event.Currency)
	case b.Version != nil && *b.Version != s.Prices.Version:
		return nil, errPricesChanged
	}
	b.Key = keyOf(r, b.Key)
	return b.form(s)
}

// form writes the change as the fields of the page.
func (b pricesBody) form(s *seats.Sale) (url.Values, error) {
	f := url.Values{}
	if b.Key != "" {
		f.Set("key", b.Key)
	}
	now := describePrices(s)
	types, err := merged(now.Types, b.Types, s)
	if err != nil {
		return nil, err
	}
	if b.Types != nil || b.Phases != nil || b.Prices != nil {
		if err := b.list(f, now, types, s); err != nil {
			return nil, err
		}
	}
	if b.Tax != nil {
		for name, text := range map[string]string{"name": b.Tax.Name, "country": b.Tax.Country, "rate": b.Tax.Rate, "fee_rate": b.Tax.FeeRate, "on_top": on(b.Tax.OnTop), "by_total": on(b.Tax.ByTotal)} {
			f.Set("tax."+name, text)
		}
		for _, t := range b.Tax.Types {
			kind := typeAt(types, t.Type)
			if kind < 0 {
				return nil, noType(t.Type)
			}
			f.Set(desk.TaxField(kind), t.Rate)
		}
	}
	if x := b.Extras; x != nil {
		amounts := make([]string, len(x.Donations))
		for i, n := range x.Donations {
			amounts[i] = pricing.Amount(n, s.Event.Currency)
		}
		for name, text := range map[string]string{"donations": strings.Join(amounts, " "), "donation_for": x.DonationFor, "postage": pricing.Amount(x.Postage, s.Event.Currency), "postage_rate": x.PostageRate} {
			f.Set("extra."+name, text)
		}
	}
	if b.Offers != nil {
		f.Set("offer.", "") // none is left
	}
	for n, o := range b.Offers {
		for name, text := range map[string]string{"kind": o.Kind, "name": o.Name, "percent": o.Percent, "number": number(o.Number), "count": number(o.Count), "pay": number(o.Pay), "children": number(o.Children)} {
			f.Set(desk.OfferField(n, name), text)
		}
		f[desk.OfferField(n, "types")], f[desk.OfferField(n, "child_types")], f[desk.OfferField(n, "categories")] = o.Types, o.ChildTypes, o.Categories
	}
	return f, nil
}

// list writes ticket types, phases and prices. What the body leaves out stays as it is; prices are replaced as a whole.
func (b pricesBody) list(f url.Values, now pricesAnswer, types []typeBody, s *seats.Sale) error {
	for i, t := range types {
		for name, text := range map[string]string{
			"name": t.Name, "sold_to": string(t.SoldTo), "least": number(t.Least), "most": number(t.Most), "proof": t.Proof, "with": t.With, "with_each": number(t.Each), "retired": on(t.Retired),
		} {
			f.Set(desk.TypeField(i, name), text)
		}
	}
	phases := now.Phases
	for i, p := range b.Phases {
		switch at := cmp.Or(p.Number, i+1); {
		case at > 0 && at <= len(phases):
			phases[at-1] = p
		case at == len(phases)+1:
			phases = append(phases, p)
		default:
			return web.Invalid(noPhase, at)
		}
	}
	for i, p := range phases {
		for name, text := range map[string]string{"name": p.Name, "begins": moment(p.BeginsAt), "ends": moment(p.EndsAt), "retired": on(p.Retired)} {
			f.Set(desk.PhaseField(i+1, name), text)
		}
		if p.Sells != nil {
			f.Set(desk.PhaseField(i+1, "sells"), strconv.Itoa(*p.Sells))
		}
	}
	prices := b.Prices
	if prices == nil {
		prices = now.Prices
	}
	for _, p := range prices {
		kind := typeAt(types, p.Type)
		switch {
		case kind < 0:
			return noType(p.Type)
		case p.Phase < 0 || p.Phase > len(phases):
			return web.Invalid(noPhase, p.Phase)
		case s.Plan.CategoryKeyed(p.Category) < 0:
			return web.Invalid(noCategory, p.Category)
		}
		text := pricing.Amount(p.Amount, s.Event.Currency)
		if p.Percent != "" {
			text = p.Percent + "%"
		}
		f.Set(desk.PriceField(p.Phase, kind, p.Category), text)
	}
	return nil
}

// merged puts ticket types that were sent in the place of those with their keys, and new ones behind them.
func merged(types, sent []typeBody, s *seats.Sale) ([]typeBody, error) {
	for _, t := range sent {
		kind := s.Prices.TypeKeyed(t.Key)
		if kind >= 0 {
			types[kind] = t
			continue
		}
		key := events.Slug(t.Name, fmt.Sprint("type-", len(types)+1)) // as listOf makes it
		if t.Name == "" || t.Key != "" && t.Key != key {
			return nil, noType(t.Key)
		}
		t.Key = key
		types = append(types, t)
	}
	return types, nil
}

func typeAt(types []typeBody, key string) int {
	return slices.IndexFunc(types, func(t typeBody) bool { return t.Key == key })
}

func noType(key string) error { return web.Invalid(noTicketType, key) }

var noPhase = text.Mark("There is no phase %d.")

// on is the value of a field that is marked.
func on(is bool) string {
	if is {
		return "on"
	}
	return ""
}

// number is the content of a field; empty for none.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

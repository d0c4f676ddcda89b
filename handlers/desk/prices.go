package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// Prices answers GET /desk/events/{slug}/prices
func (h *Handlers) Prices(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, describePrices(s))
	}
	return h.showPrices(w, r, m, s, http.StatusOK, nil, "")
}

func (h *Handlers) showPrices(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, form url.Values, wrong string) error {
	p := desk.PricesPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "Prices")), Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, List: s.Prices, Form: form, Wrong: wrong}
	p.Script = "desk_prices.js"
	var err error
	if p.Rates, err = pricing.RatesOf(r.Context(), h.Organizers, m); err != nil {
		return err
	}
	if p.Codes, _, err = pricing.Groups(r.Context(), h.Organizers, m, s.Event.ID, paging.Page{Limit: 5}); err != nil {
		return err
	}
	if sender, err := h.Server.Invoices.Sender(r.Context(), m); err == nil {
		p.Home = sender.Country
	} else if !errors.Is(err, invoices.ErrNoSender) {
		return err
	}
	for phase := range s.Prices.Phases {
		p.Left = append(p.Left, s.Left(phase+1))
	}
	return web.WritePage(w, r, status, desk.Prices(p))
}

// SetPrices answers POST /desk/events/{slug}/prices: the fields are those of the page. Each of its parts that is named, which
// are the price list, the tax and the offers, is replaced as a whole.
func (h *Handlers) SetPrices(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	f, err := pricesForm(r, s)
	if err != nil {
		return err
	}
	edit, err := priceEditOf(f, s)
	if err == nil && names(f, "tax.") && !f.Has("tax.by_total") {
		err = h.roundAsCountry(r.Context(), m, &edit.Rules.Tax)
	}
	if err == nil {
		action := organizers.Action{
			Key: deskKeyOf(r, f), Form: []any{"prices", s.Event.Slug, f}, What: text.Mark("changed the prices of"), Subject: "events/" + s.Event.Slug,
			Detail: changesOf(edit),
		}
		err = h.Organizers.WithAudit(r.Context(), m, action, func(also seats.TxHook) error {
			_, err := events.EditPrices(r.Context(), h.Inventory, s.Event.Slug, edit, also)
			return err
		})
	}
	var conflict *seats.Conflict
	var invalid *seats.ValidationError
	switch {
	case err == nil && web.WantsJSON(r):
		w.WriteHeader(http.StatusNoContent)
		return nil
	case err == nil:
		return deskDone(w, r, desk.PricesPath(s.Event.Slug), "set")
	case web.WantsJSON(r):
		return err
	case errors.As(err, &conflict):
		return h.showPrices(w, r, m, s, http.StatusConflict, f, conflict.In(r.Context()))
	case errors.As(err, &invalid):
		return h.showPrices(w, r, m, s, http.StatusUnprocessableEntity, f, invalid.In(r.Context()))
	}
	return err
}

// roundAsCountry rounds a tax as the rates of its country say: once for an order, or for each ticket.
func (h *Handlers) roundAsCountry(ctx context.Context, m organizers.Member, t *seats.Tax) error {
	rates, err := pricing.RatesOf(ctx, h.Organizers, m)
	c, _ := rates.Country(t.Country)
	t.ByTotal = !c.ByLine
	return err
}

// priceEditOf reads the parts of the page that a form names.
func priceEditOf(f url.Values, s *seats.Sale) (edit events.PriceEdit, err error) {
	list := s.Prices
	if names(f, "type.", "phase.", "price.") {
		if list, err = listOf(f, s); err != nil {
			return edit, err
		}
		edit.List = list
	}
	if edit.Rules, err = rulesOf(f, s, list); err != nil {
		return edit, err
	}
	edit.Code, err = newCodeOf(f, s)
	return edit, err
}

// changesOf says for the log what an edit changes.
func changesOf(edit events.PriceEdit) map[string]any {
	detail := map[string]any{}
	if edit.List != nil {
		detail["types"], detail["phases"] = len(edit.List.Types), len(edit.List.Phases)
	}
	if edit.Rules != nil {
		detail["tax"], detail["offers"] = edit.Rules.Tax, edit.Rules.Offers
	}
	if edit.Code != nil {
		detail["code"] = edit.Code.Code
	}
	return detail
}

// listOf reads the fields of the page: those of types and phases that are there, and of new ones behind them, which are
// left out without a name.
func listOf(f url.Values, s *seats.Sale) (*seats.Prices, error) {
	next := &seats.Prices{}
	whole := func(name string) (int, error) {
		n, err := strconv.Atoi(cmp.Or(strings.TrimSpace(f.Get(name)), "0"))
		if err != nil {
			return 0, seats.Unchanged(notWhole(f.Get(name)))
		}
		return n, nil
	}
	for i := 0; i < len(s.Prices.Types) || strings.TrimSpace(f.Get(desk.TypeField(i, "name"))) != ""; i++ {
		t := seats.TicketType{Name: strings.TrimSpace(f.Get(desk.TypeField(i, "name"))), Position: i, Proof: strings.TrimSpace(f.Get(desk.TypeField(i, "proof")))}
		t.SoldTo, t.Retired = seats.SoldTo(cmp.Or(f.Get(desk.TypeField(i, "sold_to")), string(seats.SoldToEveryone))), f.Get(desk.TypeField(i, "retired")) != ""
		t.Key = events.Slug(t.Name, fmt.Sprint("type-", i+1))
		if i < len(s.Prices.Types) {
			t.Key, t.Name = s.Prices.Types[i].Key, cmp.Or(t.Name, s.Prices.Types[i].Name)
		}
		var err error
		for name, n := range map[string]*int{"least": &t.Least, "most": &t.Most, "with_each": &t.With.Each} {
			if *n, err = whole(desk.TypeField(i, name)); err != nil {
				return nil, err
			}
		}
		next.Types = append(next.Types, t)
	}
	for i := range next.Types {
		switch with := f.Get(desk.TypeField(i, "with")); with {
		case "":
		case desk.WithAccessible:
			next.Types[i].With.Accessible = true
		default:
			kind := next.TypeKeyed(with)
			if kind < 0 {
				return nil, seats.Unchanged(text.Say(noTicketType, with))
			}
			next.Types[i].With.Type = &kind
		}
	}
	for n := 1; n <= len(s.Prices.Phases) || strings.TrimSpace(f.Get(desk.PhaseField(n, "name"))) != ""; n++ {
		phase := seats.Phase{Name: strings.TrimSpace(f.Get(desk.PhaseField(n, "name"))), Retired: f.Get(desk.PhaseField(n, "retired")) != ""}
		if n <= len(s.Prices.Phases) {
			phase.Name = cmp.Or(phase.Name, s.Prices.Phases[n-1].Name)
		}
		zone := s.Event.Local(time.Now()).Location()
		var err error
		if phase.BeginsAt, err = pricing.ReadTime(f.Get(desk.PhaseField(n, "begins")), zone); err == nil {
			phase.EndsAt, err = pricing.ReadTime(f.Get(desk.PhaseField(n, "ends")), zone)
		}
		if err != nil {
			return nil, seats.Unchanged(wrongIn(err))
		}
		if strings.TrimSpace(f.Get(desk.PhaseField(n, "sells"))) != "" {
			sells, err := whole(desk.PhaseField(n, "sells"))
			if err != nil {
				return nil, err
			}
			phase.Sells = &sells
		}
		next.Phases = append(next.Phases, phase)
	}
	if wrong := unnamed(f, next); wrong.ID != "" {
		return nil, seats.Unchanged(wrong)
	}
	for phase := 0; phase <= len(next.Phases); phase++ {
		for kind := range next.Types {
			for category, c := range s.Plan.Categories {
				amount, percent, sold, err := pricing.ReadPrice(f.Get(desk.PriceField(phase, kind, c.Key)), s.Event.Currency)
				if err != nil {
					return nil, seats.Unchanged(wrongIn(err))
				}
				if phase == 0 && kind == 0 && percent != nil {
					return nil, seats.Unchanged(text.Say("The prices of the first ticket type are amounts: percentages are of those."))
				}
				if sold {
					next.Amounts = append(next.Amounts, seats.Amount{Phase: phase, Type: kind, Category: category, Amount: amount, Percent: percent})
				}
			}
		}
	}
	return next, nil
}

// unnamed says which new row or phase was filled in without a name; empty if none was.
func unnamed(f url.Values, list *seats.Prices) text.Message {
	for field := range f {
		phase, kind := 0, 0
		_ = scans(field, "price.%d.%d.", &phase, &kind) || scans(field, "phase.%d.", &phase) || strings.HasSuffix(field, ".name") && scans(field, "type.%d.", &kind)
		switch {
		case strings.TrimSpace(f.Get(field)) == "":
		case kind >= len(list.Types):
			return text.Say("The ticket type in row %d has no name. Give it one.", len(list.Types)+1)
		case phase > len(list.Phases):
			return text.Say("The new phase has no name. Give it one, such as Early bird.")
		}
	}
	return text.Message{}
}

// scans reads numbers at the beginning of a text.
func scans(field, format string, numbers ...any) bool {
	n, err := fmt.Sscanf(field, format, numbers...)
	return err == nil && n == len(numbers)
}

type pricesAnswer struct {
	Currency string      `json:"currency"`
	Version  int64       `json:"version"`
	Types    []typeBody  `json:"types"`
	Phases   []phaseBody `json:"phases"`
	Prices   []priceBody `json:"prices"`
	Tax      taxBody     `json:"tax"`
	Extras   extrasBody  `json:"extras"`
	Offers   []offerBody `json:"offers"`
}

type typeBody struct {
	Number  int          `json:"number"`
	Key     string       `json:"key"`
	Name    string       `json:"name"`
	SoldTo  seats.SoldTo `json:"sold_to"`
	Least   int          `json:"least"`
	Most    int          `json:"most"`
	Proof   string       `json:"proof"`
	With    string       `json:"with"`
	Each    int          `json:"with_each"`
	Retired bool         `json:"retired"`
}

type phaseBody struct {
	Number   int        `json:"number"`
	Name     string     `json:"name"`
	BeginsAt *time.Time `json:"begins_at,omitempty"`
	EndsAt   *time.Time `json:"ends_at,omitempty"`
	Sells    *int       `json:"sells,omitempty"`
	Left     *int       `json:"left,omitempty"`
	Retired  bool       `json:"retired"`
}

type priceBody struct {
	Phase    int    `json:"phase"`
	Type     string `json:"type"`
	Category string `json:"category"`
	Amount   int64  `json:"amount"`
	Percent  string `json:"percent,omitempty"`
}

func describePrices(s *seats.Sale) pricesAnswer {
	a := pricesAnswer{Currency: s.Event.Currency, Version: s.Prices.Version, Types: []typeBody{}, Phases: []phaseBody{}, Prices: []priceBody{}, Tax: describeTax(s), Extras: describeExtras(s), Offers: describeOffers(s)}
	for i, t := range s.Prices.Types {
		a.Types = append(a.Types, typeBody{i, t.Key, t.Name, t.SoldTo, t.Least, t.Most, t.Proof, desk.WithOf(s.Prices, t.With), t.With.Each, t.Retired})
	}
	for i, f := range s.Prices.Phases {
		body := phaseBody{i + 1, f.Name, f.BeginsAt, f.EndsAt, f.Sells, nil, f.Retired}
		if left := s.Left(i + 1); f.Sells != nil && left >= 0 {
			body.Left = &left
		}
		a.Phases = append(a.Phases, body)
	}
	for _, p := range s.Prices.Amounts {
		body := priceBody{Phase: p.Phase, Type: s.Prices.Types[p.Type].Key, Category: s.Plan.Categories[p.Category].Key, Amount: p.Amount}
		if p.Percent != nil {
			body.Percent = pricing.Percentage(*p.Percent)
		}
		a.Prices = append(a.Prices, body)
	}
	return a
}

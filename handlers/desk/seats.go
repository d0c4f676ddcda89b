package desk

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

func asRefusal(err error) (*seats.Conflict, bool) {
	var refusal *seats.Conflict
	return refusal, errors.As(err, &refusal)
}

// ListSeats answers GET /desk/events/{slug}/seats
func (h *Handlers) ListSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	return h.showSeats(w, r, m, s, http.StatusOK, desk.SeatsPage{Form: r.URL.Query()})
}

func (h *Handlers) showSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, status int, p desk.SeatsPage) error {
	p.Frame, p.Key = h.eventFrame(w, r, m, s, text.T(r.Context(), "Seats")), seats.NewID().String()
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot()}
	section, err := strconv.Atoi(p.Form.Get("section"))
	if err != nil || section < 0 || section >= len(s.Plan.Sections) {
		section = 0
	}
	p.Section = section
	at := s.Plan.Sections[section]
	if p.Blocked, err = h.Sales.Blocked(r.Context(), s, at.First, at.First+at.Count-1); err != nil {
		return err
	}
	if list, err := chosen(s, p.Form); err == nil && len(list) > 0 {
		if f, err := officeForm(s, p.Form, list); err == nil {
			if err := h.toSell(r, s, f, &p); err != nil {
				return err
			}
		}
	}
	p.Methods, p.Script = orders.OfficeMethods(), "desk_seats.js"
	if h.takesCards(s.Event) {
		open, err := till.Current(r.Context(), h.Organizers, m)
		if err != nil {
			return err
		}
		if session, _ := till.InCurrency(open, s.Event.Currency); session.Reader != "" {
			p.Methods = append(p.Methods, payments.Card)
		}
	}
	return web.WritePage(w, r, status, desk.Seats(p))
}

// toSell fills in what a sale costs and what its gift card pays, as far as they are known. What is wrong with it was said, or is once it is sold.
func (h *Handlers) toSell(r *http.Request, s *seats.Sale, f orders.OfficeForm, p *desk.SeatsPage) error {
	f, err := h.Orders.TypedCard(r.Context(), []*seats.Sale{s}, f)
	var parts []orders.OfficePart
	if err == nil {
		parts, err = h.Orders.WithCodes(r.Context(), []orders.OfficePart{{Sale: s, Form: f}})
	}
	var card payments.GiftCard
	if err == nil {
		f = parts[0].Form
		parts, card, err = h.Orders.WithCard(r.Context(), parts)
	}
	if _, refused := refusedWords(r.Context(), err); err != nil && !refused {
		return err
	}
	p.Lines, p.Cost, _ = f.Quote(s)
	if err == nil && card.Account != "" {
		pays := orders.ByCard(parts)
		p.CardPays = &pays
	}
	return nil
}

// chosen are the seats of a form: those that are marked, and those that are written.
func chosen(s *seats.Sale, form url.Values) ([]int, error) {
	list, err := sales.Pick(s, form.Get("seats"))
	if err != nil {
		return nil, err
	}
	for _, label := range form["seat"] {
		idx, ok := s.Seat(label)
		if !ok {
			return nil, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no seat “%s”. Nothing was changed."), Args: []any{label}}
		}
		list = append(list, idx)
	}
	return list, nil
}

func sectionQuery(form url.Values) string {
	if section := form.Get("section"); section != "" {
		return "?section=" + url.QueryEscape(section)
	}
	return ""
}

// officeForm is the sale of these seats by a form. It names the ticket type of a seat by its idx or label, and that of the other seats once.
func officeForm(s *seats.Sale, form url.Values, list []int) (orders.OfficeForm, error) {
	f := orders.OfficeForm{Seats: list, Name: form.Get("name"), Email: form.Get("email"), Method: form.Get("method"), Code: form.Get("code"), Card: strings.TrimSpace(form.Get("gift_card"))}
	var err error
	if f.Reason = strings.Join(strings.Fields(form.Get(orders.FieldReason)), " "); f.Method == payments.Free && f.Reason == "" && form.Has(orders.FieldReason) && form.Get("update") == "" {
		return f, orders.Mistakes{{Field: orders.FieldReason, Message: text.Mark("Enter why these tickets are free.")}}
	}
	if f.Total, err = shownSum(form, "total", text.Mark("The total is a whole number of minor units.")); err != nil {
		return f, err
	}
	if f.CardPays, err = shownSum(form, "gift_card_pays", text.Mark("What the gift card pays is a whole number of minor units.")); err != nil {
		return f, err
	}
	own := map[int]string{}
	for field := range form {
		label, is := strings.CutPrefix(field, shop.TypePrefix)
		if !is {
			continue
		}
		idx, err := strconv.Atoi(label)
		if err != nil {
			if idx, is = s.Seat(label); !is {
				return f, &seats.ValidationError{Unknown: true, Message: text.Mark("This event has no seat “%s”. Nothing was sold."), Args: []any{label}}
			}
		}
		own[idx] = form.Get(field)
	}
	for _, idx := range list {
		if key := cmp.Or(own[idx], form.Get("type")); key != "" {
			if f.Types == nil {
				f.Types = map[int]string{}
			}
			f.Types[idx] = key
		}
	}
	return f, nil
}

// shownSum is a sum that the page showed, in minor units; nil if it showed none. Wrong says that it is none.
func shownSum(form url.Values, field, wrong string) (*int64, error) {
	typed := form.Get(field)
	if typed == "" {
		return nil, nil
	}
	sum, err := strconv.ParseInt(typed, 10, 64)
	if err != nil {
		return nil, web.Invalid(wrong)
	}
	return &sum, nil
}

// alsoPrefix begins the fields of a sale that are of other events of the team: also.matinee.seat, also.matinee.total.
const alsoPrefix = "also."

// officeParts are what a form sells: seats of the event of the address, and of others that it names. How it is paid, its code and its
// name are those of the whole sale.
func (h *Handlers) officeParts(r *http.Request, m organizers.Member, s *seats.Sale, form url.Values) ([]orders.OfficePart, error) {
	forms := map[string]url.Values{}
	for field, values := range form {
		rest, is := strings.CutPrefix(field, alsoPrefix)
		slug, field, named := strings.Cut(rest, ".")
		if !is || !named {
			continue
		}
		if forms[slug] == nil {
			forms[slug] = url.Values{}
		}
		forms[slug][field] = values
	}
	part := func(s *seats.Sale, form url.Values) (p orders.OfficePart, err error) {
		p.Sale = s
		list, err := chosen(s, form)
		if err == nil {
			p.Form, err = officeForm(s, form, list)
		}
		return p, err
	}
	first, err := part(s, form)
	if err != nil {
		return nil, err
	}
	parts, of := []orders.OfficePart{first}, []*seats.Sale{s}
	for _, slug := range slices.Sorted(maps.Keys(forms)) {
		if len(parts) > orders.MostOfficeParts {
			break // it is refused
		}
		other, err := h.Inventory.Sale(r.Context(), slug)
		if err == nil && (!m.Owns(other.Event) || slug == s.Event.Slug) {
			err = seats.ErrNoEvent
		}
		if err != nil {
			return nil, err
		}
		one, err := part(other, forms[slug])
		if err != nil {
			return nil, err
		}
		one.Form.Name, one.Form.Email, one.Form.Method, one.Form.Reason = first.Form.Name, first.Form.Email, first.Form.Method, first.Form.Reason
		parts, of = append(parts, one), append(of, other)
	}
	if first.Form, err = h.Orders.TypedCard(r.Context(), of, first.Form); err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i].Form.Code, parts[i].Form.Card = first.Form.Code, first.Form.Card
	}
	return parts, nil
}

type quotedTicket struct {
	Seat  string `json:"seat"`
	Type  string `json:"type"`
	Price int64  `json:"price"`
}

// quotedSale is what a sale would cost in one event.
type quotedSale struct {
	Currency string         `json:"currency"`
	Total    int64          `json:"total"`
	Discount int64          `json:"discount"`
	Tickets  []quotedTicket `json:"tickets"`
	Taken    []string       `json:"taken,omitempty"` // seats that are held or sold

	Also map[string]quotedSale `json:"also,omitempty"` // in other events, by slug

	GiftCard *quotedCard `json:"gift_card,omitempty"`
}

// quotedCard is what a gift card would pay of a sale, in all its events.
type quotedCard struct {
	Code    string `json:"code"`
	Balance int64  `json:"balance"`
	Pays    int64  `json:"pays"`
}

func quotePart(p orders.OfficePart) (quotedSale, error) {
	s := p.Sale
	lines, cost, err := p.Form.Quote(s)
	if err != nil {
		return quotedSale{}, err
	}
	quoted := quotedSale{Currency: s.Event.Currency, Total: cost.Total, Discount: cost.Discount, Tickets: []quotedTicket{}}
	states := s.Snapshot().States
	for i, l := range lines {
		quoted.Tickets = append(quoted.Tickets, quotedTicket{s.Plan.Label(l.Seat), s.Prices.Types[l.Type].Key, cost.Lines[i].Cost()})
		if shown := states[l.Seat].Shown(); shown == seats.Held || shown == seats.Sold {
			quoted.Taken = append(quoted.Taken, s.Plan.Label(l.Seat))
		}
	}
	return quoted, nil
}

// quoteSeats answers what a sale would cost, and sells nothing.
func (h *Handlers) quoteSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale, form url.Values, parts []orders.OfficePart) error {
	parts, err := h.Orders.WithCodes(r.Context(), parts)
	var card payments.GiftCard
	if err == nil {
		parts, card, err = h.Orders.WithCard(r.Context(), parts)
	}
	var answer quotedSale
	for i, p := range parts {
		var one quotedSale
		if one, err = quotePart(p); err != nil {
			break
		}
		if i == 0 {
			answer = one
			continue
		}
		if answer.Also == nil {
			answer.Also = map[string]quotedSale{}
		}
		answer.Also[p.Sale.Event.Slug] = one
	}
	if err == nil && card.Account != "" {
		answer.GiftCard = &quotedCard{Code: parts[0].Form.Card, Balance: card.Balance, Pays: orders.ByCard(parts)}
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showSeats(w, r, m, s, deskStatus(err), desk.SeatsPage{Form: form, Message: words})
	}
	switch {
	case err != nil:
		return h.problemOf(w, r, s, err)
	case !web.WantsJSON(r):
		return h.showSeats(w, r, m, s, http.StatusOK, desk.SeatsPage{Form: form})
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// soldAnswer is the order of a sale, and those in other events.
type soldAnswer struct {
	web.OrderAnswer
	Also []web.OrderBody `json:"also,omitempty"`
}

// SellSeats answers POST /desk/events/{slug}/sales, the box office.
func (h *Handlers) SellSeats(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	var codes []string
	parts, err := h.officeParts(r, m, s, form)
	if err == nil && form.Get("update") != "" {
		return h.quoteSeats(w, r, m, s, form, parts)
	}
	atReader := form.Get("method") == payments.Card
	switch {
	case err != nil:
	case atReader:
		codes = make([]string, 1)
		codes[0], err = h.sellAtReader(r, m, form, parts)
	default:
		codes, err = h.sellParts(r, m, form, parts)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showSeats(w, r, m, s, deskStatus(err), desk.SeatsPage{Form: form, Message: words})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	if atReader {
		return h.leadToReader(w, r, m, codes[0])
	}
	var answer soldAnswer
	for i, code := range codes {
		order, err := h.Orders.Find(r.Context(), code)
		if err != nil {
			return err
		}
		if one := describeDeskOrder(parts[i].Sale, order); i == 0 {
			answer.Order = one
		} else {
			answer.Also = append(answer.Also, one)
		}
	}
	return deskWith(w, r, soldPath(m, s.Event.Slug, codes[0]), "sold", http.StatusCreated, answer)
}

// soldPath is the page of an order that was sold; the door has none of orders.
func soldPath(m organizers.Member, slug, code string) string {
	if m.May(organizers.Find) {
		return desk.OrderPath(slug, code)
	}
	return shop.OrderPath(code)
}

// officeAction is a sale at the box office as the audit log has it. name is that of the way to pay beside cash and the card terminal.
func officeAction(key, name string, parts []orders.OfficePart, what string) organizers.Action {
	lead := parts[0].Sale
	detail := map[string]any{"seats": web.Labels(lead, parts[0].Form.Seats), "method": parts[0].Form.Method}
	if reason := parts[0].Form.Reason; reason != "" && parts[0].Form.Method == payments.Free {
		detail["reason"] = reason
	}
	asked := []any{"sell", lead.Event.Slug, parts[0].Form, name}
	for _, p := range parts[1:] {
		detail[p.Sale.Event.Slug] = web.Labels(p.Sale, p.Form.Seats)
		asked = append(asked, p.Sale.Event.Slug, p.Form)
	}
	return organizers.Action{Key: key, Form: asked, What: what, Subject: "events/" + lead.Event.Slug + "/orders", Detail: detail}
}

// sellParts sells what a form asks for, once, and returns the code of each order.
func (h *Handlers) sellParts(r *http.Request, m organizers.Member, form url.Values, parts []orders.OfficePart) (codes []string, err error) {
	lead := parts[0].Sale
	key, name := deskKeyOf(r, form), form.Get("paid_by")
	act := officeAction(key, name, parts, text.Mark("sold at the box office"))
	sell := func(also seats.TxHook) (err error) {
		codes, err = h.Orders.SellTogetherAtOffice(r.Context(), MemberKey(m, key), parts, also)
		return err
	}
	err = h.Organizers.WithAudit(r.Context(), m, act, func(also seats.TxHook) error {
		session, err := till.Selling(r.Context(), h.Organizers, m, lead.Event.Currency, name)
		if err != nil {
			return err
		}
		for i := range parts {
			if session != 0 {
				parts[i].Form.Entry = till.OfSale(session, name)
			}
		}
		return sell(also)
	})
	if err == nil && codes == nil { // the form came before: the orders it made
		err = sell(nil)
	}
	return codes, err
}

type momentBody struct {
	Version int64     `json:"version"`
	At      time.Time `json:"at"`
	State   string    `json:"state"`
	Who     string    `json:"who,omitempty"`
	Order   string    `json:"order,omitempty"`
	Reason  string    `json:"reason,omitempty"`
}

// Seat answers GET /desk/events/{slug}/seats/{idx}
func (h *Handlers) Seat(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	idx, err := strconv.Atoi(r.PathValue("idx"))
	if err != nil || idx < 0 || idx >= len(s.Plan.Seats) {
		return web.ErrSeatIndex
	}
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64) // what is no number is after the newest
	list, back, err := h.Sales.Timeline(r.Context(), s, idx, before)
	if err != nil {
		return err
	}
	of, err := h.Orders.OfSeat(r.Context(), s.Event.ID, idx)
	if err != nil {
		return err
	}
	moments := desk.Moments(r.Context(), list, of)
	if web.WantsJSON(r) {
		answer := struct {
			Seat    string       `json:"seat"`
			Moments []momentBody `json:"moments"`
			Back    int64        `json:"back,omitempty"`
		}{s.Plan.Label(idx), []momentBody{}, back}
		for _, m := range moments {
			answer.Moments = append(answer.Moments, momentBody{m.Version, m.At.UTC(), m.State.String(), m.Who, m.Order, m.Reason})
		}
		return web.WriteJSON(w, http.StatusOK, answer)
	}
	page := desk.SeatPage{Frame: h.eventFrame(w, r, m, s, s.Plan.WordsIn(r.Context(), idx)), Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot()}, Idx: idx, Moments: moments, Back: back}
	return web.WritePage(w, r, http.StatusOK, desk.Seat(page))
}

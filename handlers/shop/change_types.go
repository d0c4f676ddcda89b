package shop

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// typesBody is what tickets of an order may become, for programs.
type typesBody struct {
	Until    time.Time        `json:"until"`
	Currency string           `json:"currency"`
	Tickets  []typeTicketBody `json:"tickets"`
	Quote    *typesQuoteBody  `json:"quote,omitempty"` // of the types that the address names
}

type typeTicketBody struct {
	Ticket  string           `json:"ticket"`
	Seat    string           `json:"seat"`
	Type    string           `json:"type"`  // key
	Price   int64            `json:"price"` // that was paid, minor units
	Choices []typeChoiceBody `json:"choices"`
}

type typeChoiceBody struct {
	Type  string `json:"type"` // key
	Name  string `json:"name"`
	Price int64  `json:"price"` // minor units
	Proof string `json:"proof,omitempty"`
}

type typesQuoteBody struct {
	Worth      int64          `json:"worth"` // that was paid for the old tickets, minor units
	Total      int64          `json:"total"` // of the new ones
	Difference int64          `json:"difference"`
	Methods    []string       `json:"methods"`
	Tickets    []typeSwapBody `json:"tickets"` // that get a new code
}

type typeSwapBody struct {
	Ticket string `json:"ticket"`
	Type   string `json:"type"` // key
}

// typesIn reads types of tickets, each as "ticket:key". Empty ones keep their type.
func typesIn(texts []string) (map[seats.ID]string, error) {
	types := map[seats.ID]string{}
	for _, text := range texts {
		if text == "" {
			continue
		}
		ticket, key, _ := strings.Cut(text, ":")
		id, err := seats.ParseID(ticket)
		if err != nil {
			return nil, orders.ErrNoTicket
		}
		types[id] = key
	}
	return types, nil
}

// Types answers GET /orders/{code}/types: what tickets may become, and what that costs.
func (h *Handlers) Types(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	types, err := typesIn(r.URL.Query()["type"])
	if err != nil {
		return err
	}
	return h.showTypes(w, r, s, order, types, http.StatusOK, "")
}

// showTypes writes the page of a change of types. message says why what was asked was not done; the page asks again then.
func (h *Handlers) showTypes(w http.ResponseWriter, r *http.Request, s *seats.Sale, order orders.Order, types map[seats.ID]string, status int, message string) error {
	p := shop.TypesPage{Order: order, Chosen: types, Choices: map[seats.ID][]orders.TypeChoice{}, Message: message}
	p.Page = views.Page{Title: text.T(r.Context(), "Change ticket types") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "order.css"}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Key: rand.Text(), Now: h.Hub.Now()}
	refusal := order.RefuseTypes()
	if p.Refused = refusal != nil; !p.Refused {
		for _, t := range order.Retypable() {
			p.Choices[t.ID] = order.TypeChoices(s, t)
		}
		var nonsense *seats.ValidationError
		var err error
		if len(types) > 0 && message == "" {
			p.Quote, err = h.Orders.QuoteTypes(s, order, types)
		}
		switch {
		case errors.As(err, &nonsense) && !web.WantsJSON(r):
			p.Message, status = nonsense.In(h.Reading(r)), http.StatusUnprocessableEntity
		case err != nil && !errors.As(err, &refusal):
			return err
		}
	}
	if refusal != nil && web.WantsJSON(r) {
		return h.refuse(w, r, s, refusal)
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, status, map[string]any{"types": describeTypes(s, p)})
	}
	if refusal != nil && message == "" {
		p.Message, status, p.Quote = refusal.In(h.Reading(r)), http.StatusConflict, orders.Quote{}
	}
	return web.WritePage(w, r, status, shop.Types(p))
}

func describeTypes(s *seats.Sale, p shop.TypesPage) typesBody {
	body := typesBody{Until: p.Order.TypesEnd.UTC(), Currency: p.Order.Currency, Tickets: []typeTicketBody{}}
	for _, t := range p.Order.Retypable() {
		one := typeTicketBody{t.ID.String(), s.Plan.Label(t.Idx), s.Prices.Types[t.TypeNumber()].Key, t.Cost(), []typeChoiceBody{}}
		for _, c := range p.Choices[t.ID] {
			one.Choices = append(one.Choices, typeChoiceBody{c.Key, c.Name, c.Price, c.Proof})
		}
		body.Tickets = append(body.Tickets, one)
	}
	if q := p.Quote; len(q.Swaps) > 0 {
		body.Quote = &typesQuoteBody{Worth: q.Worth, Total: q.Total, Difference: q.Difference, Methods: append([]string{}, q.Methods...)}
		for _, x := range q.Swaps {
			body.Quote.Tickets = append(body.Quote.Tickets, typeSwapBody{x.Ticket.ID.String(), s.Prices.Types[x.Line.Type].Key})
		}
	}
	return body
}

// changingTypes is a change of types as programs send it.
type changingTypes struct {
	Key        string            `json:"key"`
	Types      map[string]string `json:"types"` // keys of types, by the ids of tickets
	Method     string            `json:"method"`
	Difference *int64            `json:"difference"` // as it was shown, minor units: another one is refused
}

func decodeTypeChange(r *http.Request) (f orders.TypesForm, err error) {
	var asked changingTypes
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return f, err
		}
		asked.Key, asked.Method = r.PostForm.Get("key"), r.PostForm.Get("method")
		if n, err := strconv.ParseInt(r.PostForm.Get("difference"), 10, 64); err == nil {
			asked.Difference = &n
		}
		if f.Types, err = typesIn(r.PostForm["type"]); err != nil {
			return f, err
		}
	} else if err := web.DecodeBody(r, &asked); err != nil {
		return f, err
	}
	for ticket, key := range asked.Types {
		id, err := seats.ParseID(ticket)
		if err != nil {
			return f, orders.ErrNoTicket
		}
		if f.Types == nil {
			f.Types = map[seats.ID]string{}
		}
		f.Types[id] = key
	}
	if asked.Difference == nil {
		return f, web.ErrNoDifference
	}
	f.Key, f.Method, f.Difference = asked.Key, asked.Method, asked.Difference
	return f, nil
}

// ChangeTypes answers POST /orders/{code}/types
func (h *Handlers) ChangeTypes(w http.ResponseWriter, r *http.Request) error {
	f, err := decodeTypeChange(r)
	if err != nil {
		return err
	}
	if h.Hurried(w, r, web.CountsOrders, web.OrdersPerNetwork) { // each may be a call to the provider
		return errTooFast
	}
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	f.Language, _ = h.LanguageOf(r)
	code, paid, err := h.Orders.ChangeTypes(r.Context(), s, order, f)
	if err != nil {
		return h.refuseTypes(w, r, s, f, err)
	}
	if paid != nil { // it may be declined: they come back
		return h.leadToPayment(w, r, *paid)
	}
	if !web.WantsJSON(r) {
		http.Redirect(w, r, shop.OrderPath(code), http.StatusSeeOther)
		return nil
	}
	if order, err = h.Orders.Find(r.Context(), code); err != nil {
		return err
	}
	w.Header().Set("Location", shop.OrderPath(code))
	return web.WriteJSON(w, http.StatusCreated, web.OrderAnswer{Order: web.DescribeOrder(s, order)})
}

// refuseTypes says why types were not changed, as JSON or on the page where they are chosen.
func (h *Handlers) refuseTypes(w http.ResponseWriter, r *http.Request, s *seats.Sale, f orders.TypesForm, err error) error {
	var refusal *seats.Conflict
	var nonsense *seats.ValidationError
	var wrong orders.Mistakes
	message, status := "", http.StatusConflict
	switch {
	case errors.As(err, &refusal) && web.WantsJSON(r):
		return h.refuse(w, r, s, refusal)
	case web.WantsJSON(r):
		return err
	case errors.As(err, &refusal):
		message = refusal.In(h.Reading(r))
	case errors.As(err, &wrong):
		message, status = wrong.In(h.Reading(r)), http.StatusUnprocessableEntity
	case errors.As(err, &nonsense):
		message, status = nonsense.In(h.Reading(r)), http.StatusUnprocessableEntity
	default:
		return err
	}
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	return h.showTypes(w, r, s, order, f.Types, status, message)
}

// showDifferenceOver says that a difference was not paid: the old tickets hold, and the types may be chosen again.
func (h *Handlers) showDifferenceOver(w http.ResponseWriter, r *http.Request, s *seats.Sale, p payments.Payment) error {
	form, err := orders.FormOf(p)
	if err != nil {
		return err
	}
	order, err := h.Orders.Find(r.Context(), form.Exchange.Code)
	if err != nil {
		return err
	}
	types := map[seats.ID]string{}
	for i, id := range form.Exchange.Tickets {
		types[id] = form.Exchange.Types[i]
	}
	said := payments.Reason(p.Reason).In(r.Context()) + " " + text.T(r.Context(), "No ticket was changed. Your tickets are still valid as they are.")
	return h.showTypes(w, r, s, order, types, http.StatusOK, said)
}

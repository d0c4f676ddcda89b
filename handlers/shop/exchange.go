package shop

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// exchangeBody is what an exchange of an order would be, for programs.
type exchangeBody struct {
	Until        time.Time          `json:"until"`
	Worth        int64              `json:"worth"` // of the tickets, without the fee; minor units
	Fee          int64              `json:"fee"`
	Currency     string             `json:"currency"`
	Performances []exchangeDateBody `json:"performances"`
}

type exchangeDateBody struct {
	Event      string       `json:"event"` // slug
	StartsAt   time.Time    `json:"starts_at"`
	Status     seats.Status `json:"status"`
	Free       int          `json:"free"`
	Difference *int64       `json:"difference,omitempty"` // of the same seats, to pay or less than 0 to get back
}

// ExchangeDates answers GET /orders/{code}/exchange: which tickets may go, and the performances that they may go for.
func (h *Handlers) ExchangeDates(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	tickets, err := ticketIDs(r.URL.Query()["ticket"])
	if err != nil {
		return err
	}
	p := shop.ExchangePage{Order: order, Chosen: tickets, Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Now: h.Hub.Now()}}
	p.Page = h.exchangePage(w, r, s)
	refusal := order.RefuseExchange()
	if refusal == nil {
		if p.Quote, err = h.Orders.QuoteExchange(s, s, order, tickets, nil, false); err != nil && !errors.As(err, &refusal) {
			return err
		}
	}
	if refusal != nil {
		if web.WantsJSON(r) {
			return h.refuse(w, r, s, refusal)
		}
		p.Refused, p.Message = true, refusal.In(r.Context())
		return web.WritePage(w, r, http.StatusConflict, shop.ExchangeDates(p))
	}
	if p.All, err = h.Programme.OfSeries(r.Context(), s.Event.Series); err != nil {
		return err
	}
	p.All = slices.DeleteFunc(slices.Clone(p.All), func(c programme.Card) bool { return c.ID == s.Event.ID || c.Status == seats.Cancelled })
	if to := r.URL.Query().Get("to"); slices.ContainsFunc(p.All, func(c programme.Card) bool { return c.Slug == to }) {
		http.Redirect(w, r, shop.ExchangeFor(to, order.Code, tickets), http.StatusSeeOther)
		return nil
	}
	whole := web.WantsJSON(r)
	if p.Month = monthOf(r, p.All); p.Month.IsZero() && len(p.All) > 0 {
		p.Month = shop.MonthOf(p.All[0])
	}
	for _, c := range p.All {
		if whole || shop.MonthOf(c).Equal(p.Month) {
			d := shop.ExchangeDate{Card: c}
			if d.Difference, err = h.sameSeats(r, s, c.Slug, p.Quote); err != nil {
				return err
			}
			p.Dates = append(p.Dates, d)
		}
	}
	if !whole {
		return web.WritePage(w, r, http.StatusOK, shop.ExchangeDates(p))
	}
	body := exchangeBody{Until: order.ExchangeEnds.UTC(), Worth: p.Quote.Worth, Fee: p.Quote.Fee, Currency: order.Currency, Performances: []exchangeDateBody{}}
	for _, d := range p.Dates {
		body.Performances = append(body.Performances, exchangeDateBody{d.Slug, d.StartsAt.UTC(), d.Status, d.Free, d.Difference})
	}
	return web.WriteJSON(w, http.StatusOK, map[string]any{"exchange": body})
}

func (h *Handlers) exchangePage(w http.ResponseWriter, r *http.Request, s *seats.Sale) views.Page {
	return views.Page{Title: text.T(r.Context(), "Exchange for another date") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "order.css"}
}

// sameSeats is what the same seats would cost more or less on another date; nil if they are taken there, or it has another plan
// or other types.
func (h *Handlers) sameSeats(r *http.Request, s *seats.Sale, slug string, q orders.Quote) (*int64, error) {
	to, err := h.Inventory.Sale(r.Context(), slug)
	if err != nil {
		return nil, err
	}
	var idxs, kinds []int
	states := to.Snapshot().States
	for _, t := range q.Tickets {
		kind, idx, there := to.Prices.TypeKeyed(s.Prices.Types[t.TypeNumber()].Key), 0, false
		if t.Idx < len(s.Plan.Seats) {
			idx, there = to.Seat(s.Plan.Label(t.Idx))
		}
		if kind < 0 || !there || states[idx].Shown() != seats.Free {
			return nil, nil
		}
		idxs, kinds = append(idxs, idx), append(kinds, kind)
	}
	difference := pricing.CostOf(&to.Event, to.Quote(h.Hub.Now(), idxs, kinds)).Total - q.Worth
	return &difference, nil
}

// ticketIDs reads tickets that an address or a form names.
func ticketIDs(texts []string) (tickets []seats.ID, err error) {
	for _, text := range texts {
		id, err := seats.ParseID(text)
		if err != nil {
			return nil, orders.ErrNoTicket
		}
		tickets = append(tickets, id)
	}
	return tickets, nil
}

// exchangeCookie remembers the page of an exchange while seats are chosen on the map.
const exchangeCookie = "exchange"

// ExchangeSeats answers GET /events/{slug}/exchange/{code}: the seats of another performance that tickets go for.
func (h *Handlers) ExchangeSeats(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	tickets, err := ticketIDs(r.URL.Query()["ticket"])
	if err != nil {
		return err
	}
	order, err := h.Orders.Find(r.Context(), r.PathValue("code"))
	if err != nil {
		return err
	}
	return h.showExchange(w, r, s, order, tickets, http.StatusOK, "")
}

func (h *Handlers) showExchange(w http.ResponseWriter, r *http.Request, s *seats.Sale, order orders.Order, tickets []seats.ID, status int, message string) error {
	from, err := h.Inventory.Sale(r.Context(), order.Event)
	if err != nil {
		return err
	}
	p := shop.ExchangePage{Page: h.exchangePage(w, r, s), Order: order, Chosen: tickets, Message: message}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Key: seats.NewID().String(), Now: h.Hub.Now()}
	p.Old = shop.Sale{Event: from.Event, Plan: from.Plan, Prices: from.Prices}
	var lines []seats.Line
	if holder, known := h.Holder(r); known {
		hold, err := s.Hold(r.Context(), holder)
		if err != nil && !errors.Is(err, seats.ErrNoHold) {
			return err
		}
		if err == nil {
			p.Hold, lines = &hold, hold.Lines
		}
	}
	refusal := order.RefuseExchange()
	if refusal != nil {
		p.Refused = true
	} else {
		p.Quote, err = h.Orders.QuoteExchange(from, s, order, tickets, lines, false)
	}
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	if refusal != nil && message == "" {
		p.Message, status = refusal.In(h.Reading(r)), http.StatusConflict
	}
	if web.WantsJSON(r) {
		if refusal != nil {
			return h.refuse(w, r, s, refusal)
		}
		return web.WriteJSON(w, status, map[string]any{"exchange": describeQuote(s, from, order, p.Quote)})
	}
	begun := shop.ExchangeFor(s.Event.Slug, order.Code, tickets)
	if p.Refused {
		begun = ""
	}
	h.KeepCookie(w, exchangeCookie, begun)
	return web.WritePage(w, r, status, shop.ExchangeSeats(p))
}

// begunExchange is the page of an exchange that the visitor began for an event; empty if they began none.
func (h *Handlers) begunExchange(r *http.Request, s *seats.Sale) string {
	begun := h.KeptCookie(r, exchangeCookie)
	if !strings.HasPrefix(begun, "/events/"+s.Event.Slug+"/exchange/") {
		return ""
	}
	return begun
}

// quoteBody is an exchange with the seats that are held for it.
type quoteBody struct {
	Worth      int64      `json:"worth"`
	Fee        int64      `json:"fee"`
	Total      int64      `json:"total"`
	Difference int64      `json:"difference"`
	Currency   string     `json:"currency"`
	Methods    []string   `json:"methods"`
	Swaps      []swapBody `json:"swaps"`
}

type swapBody struct {
	Ticket string `json:"ticket"`
	From   string `json:"from"` // label of the old seat
	To     string `json:"to"`
}

func describeQuote(s, from *seats.Sale, order orders.Order, q orders.Quote) quoteBody {
	body := quoteBody{q.Worth, q.Fee, q.Total, q.Difference, order.Currency, append([]string{}, q.Methods...), []swapBody{}}
	for _, x := range q.Swaps {
		body.Swaps = append(body.Swaps, swapBody{x.Ticket.ID.String(), from.Plan.Label(x.Ticket.Idx), s.Plan.Label(x.Line.Seat)})
	}
	return body
}

// exchanging is an exchange as programs send it, and forms with the same names.
type exchanging struct {
	Hold       string   `json:"hold"`
	Seats      []string `json:"seats"`
	Tickets    []string `json:"tickets"`    // ids; none: all that may be exchanged
	Method     string   `json:"method"`     // by which the difference is paid
	Difference *int64   `json:"difference"` // as it was shown, minor units: another one is refused
}

func decodeExchange(r *http.Request, s *seats.Sale) (f orders.ExchangeForm, err error) {
	var asked exchanging
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return f, err
		}
		asked = exchanging{Hold: r.PostForm.Get("hold"), Seats: r.PostForm["seat"], Tickets: r.URL.Query()["ticket"], Method: r.PostForm.Get("method")}
		if n, err := strconv.ParseInt(r.PostForm.Get("difference"), 10, 64); err == nil {
			asked.Difference = &n
		}
	} else if err := web.DecodeBody(r, &asked); err != nil {
		return f, err
	}
	if asked.Difference == nil {
		return f, web.ErrNoDifference
	}
	f.Method, f.Difference = asked.Method, asked.Difference
	if f.Hold, err = seats.ParseID(asked.Hold); err != nil {
		return f, web.ErrHoldID
	}
	for _, label := range asked.Seats {
		idx, ok := s.Seat(label)
		if !ok {
			return f, web.ErrSeatLabel
		}
		f.Seats = append(f.Seats, idx)
	}
	f.Tickets, err = ticketIDs(asked.Tickets)
	return f, err
}

// Exchange answers POST /events/{slug}/exchange/{code}
func (h *Handlers) Exchange(w http.ResponseWriter, r *http.Request, s *seats.Sale) error {
	f, err := decodeExchange(r, s)
	if err != nil {
		return err
	}
	order, err := h.Orders.Find(r.Context(), r.PathValue("code"))
	if err != nil {
		return err
	}
	holder, known := h.Holder(r)
	if !known {
		return web.ErrNoHold
	}
	f.Language, _ = h.LanguageOf(r)
	code, paid, err := h.Orders.Exchange(r.Context(), s, holder, order, f)
	if err != nil {
		return h.refuseExchange(w, r, s, order, f, err)
	}
	if paid != nil { // it may be declined: they come back
		return h.leadToPayment(w, r, *paid)
	}
	h.KeepCookie(w, exchangeCookie, "")
	if left, err := s.Hold(r.Context(), holder); err == nil || errors.Is(err, seats.ErrNoHold) {
		h.tellMine(r, s, left)
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

// refuseExchange says why an exchange was not done, as JSON or on its page.
func (h *Handlers) refuseExchange(w http.ResponseWriter, r *http.Request, s *seats.Sale, order orders.Order, f orders.ExchangeForm, err error) error {
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
	case errors.As(err, &nonsense) && !nonsense.Unknown:
		message, status = nonsense.In(h.Reading(r)), http.StatusUnprocessableEntity
	case errors.Is(err, seats.ErrNoHold):
		message = text.T(r.Context(), "Your hold expired. Nothing was exchanged, and your tickets are still valid. Choose seats again.")
	default:
		return err
	}
	if order, err = h.Orders.Find(r.Context(), order.Code); err != nil {
		return err
	}
	return h.showExchange(w, r, s, order, f.Tickets, status, message)
}

package desk

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views/desk"
	"github.com/usherbox/usher/views/shop"
)

// Till answers GET /desk/events/{slug}/till, where tickets are sold by keyboard and touch.
func (h *Handlers) Till(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) (err error) {
	p := desk.TillPage{Frame: h.eventFrame(w, r, m, s, text.T(r.Context(), "Till"))}
	p.Sale = shop.Sale{Event: s.Event, Plan: s.Plan, Prices: s.Prices, Map: s.Snapshot(), Now: time.Now()}.Whole()
	p.Sale = p.Sale.OnFloor(r.URL.Path, r.URL.Query())
	p.Style, p.Script = "desk.css till.css map.css", "till.js"
	if len(s.Plan.Floors) > 0 {
		p.Style += " floors.css"
	}
	if p.Settings, err = till.SettingsOf(r.Context(), h.Organizers, m); err != nil {
		return err
	}
	open, err := till.Current(r.Context(), h.Organizers, m)
	if err != nil {
		return err
	}
	if session, is := till.InCurrency(open, s.Event.Currency); is {
		if session, err = till.Find(r.Context(), h.Organizers, m, session.ID); err != nil {
			return err
		}
		p.Session = &session
		if h.takesCards(s.Event) {
			p.Reader = session.ReaderLabel
		}
	}
	p.Fares = tillFares(s, p.Sale.Now)
	if p.Shows, err = h.shows(r, m, s); err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, describeTill(s, &p))
	}
	return web.WritePage(w, r, http.StatusOK, desk.Till(p))
}

type tillPageBody struct {
	Currency string           `json:"currency"`
	Required bool             `json:"required"`
	Methods  []string         `json:"methods"`
	Session  *tillSessionBody `json:"session,omitempty"`
	Types    []tillTypeBody   `json:"types"`

	Performances []tillShowBody `json:"performances"` // of the team, that are sold now or soon
}

type tillShowBody struct {
	Slug     string    `json:"slug"`
	Name     string    `json:"name"`
	StartsAt time.Time `json:"starts_at"`
	Currency string    `json:"currency"`
	Free     int       `json:"free"`
}

type tillTypeBody struct {
	Key    string           `json:"key"`
	Name   string           `json:"name"`
	Prices map[string]int64 `json:"prices"` // by category
}

func describeTill(s *seats.Sale, p *desk.TillPage) tillPageBody {
	b := tillPageBody{Currency: s.Event.Currency, Required: p.Settings.Required, Methods: append([]string{}, p.Settings.Methods...), Types: []tillTypeBody{}, Performances: []tillShowBody{}}
	for _, e := range p.Shows {
		b.Performances = append(b.Performances, tillShowBody{e.Slug, e.Name, e.StartsAt.UTC(), e.Currency, e.Free})
	}
	if p.Session != nil {
		session := describeSession(*p.Session)
		b.Session = &session
	}
	for _, fare := range p.Fares {
		one := tillTypeBody{fare.Key, fare.Name, map[string]int64{}}
		for category, price := range fare.Prices {
			if price >= 0 {
				one.Prices[s.Plan.Categories[category].Key] = price
			}
		}
		b.Types = append(b.Types, one)
	}
	return b
}

// mostShows is how many performances the till lists.
const mostShows = 200

// shows are the performances of the team that are on sale or will be, and the one of the page.
func (h *Handlers) shows(r *http.Request, m organizers.Member, s *seats.Sale) ([]overview.Event, error) {
	list, err := h.Overview.First(r.Context(), m, overview.Filter{Show: overview.OnSale, Public: true}, mostShows)
	if err != nil || slices.ContainsFunc(list, func(e overview.Event) bool { return e.Slug == s.Event.Slug }) {
		return list, err
	}
	return slices.Insert(list, 0, overview.Event{Event: s.Event, Free: s.Snapshot().Counts.Remaining()}), nil
}

// tillFares are the ticket types that the box office sells, each with what it costs in each category; -1 where it has no price.
func tillFares(s *seats.Sale, now time.Time) (fares []desk.TillFare) {
	first := make([]int, len(s.Plan.Categories))
	for i := range first {
		first[i] = slices.IndexFunc(s.Plan.Seats, func(seat seats.Seat) bool { return seat.Category == i })
	}
	for _, kind := range s.Prices.Order() {
		if s.Prices.Types[kind].Retired {
			continue
		}
		fare := desk.TillFare{Key: s.Prices.Types[kind].Key, Name: s.Prices.Types[kind].Name}
		for category, idx := range first {
			price := int64(-1)
			if _, sold := s.Prices.Price(0, kind, category); sold && idx >= 0 {
				price = shop.AllIn(s.Event, s.Quote(now, []int{idx}, []int{kind})[0])
			}
			fare.Prices = append(fare.Prices, price)
		}
		fares = append(fares, fare)
	}
	return fares
}

// mostAtOnce is how many best seats the till finds at once.
const mostAtOnce = 100

// BestSeats answers GET /desk/events/{slug}/till/best: available seats side by side for so many, the best for their price, which no
// visitor holds. Nothing is held.
func (h *Handlers) BestSeats(w http.ResponseWriter, r *http.Request, _ organizers.Member, s *seats.Sale) error {
	q := r.URL.Query()
	n, err := strconv.Atoi(q.Get("n"))
	if err != nil || n < 1 || n > mostAtOnce {
		return web.Invalid(text.Mark("Say how many seats: n is a number from 1 to %d."), mostAtOnce)
	}
	category := -1
	if key := q.Get("category"); key != "" {
		if category = slices.IndexFunc(s.Plan.Categories, func(c seats.Category) bool { return c.Key == key }); category < 0 {
			return web.Invalid(text.Mark("This event has no category “%s”."), key)
		}
	}
	var not []int
	for _, label := range q["not"] {
		if idx, ok := s.Seat(label); ok {
			not = append(not, idx)
		}
	}
	best := bestAtTill(s, n, category, s.Prices.TypeKeyed(q.Get("type")), not)
	if best == nil {
		return h.WriteRefusal(w, r, s, &seats.Conflict{Code: seats.CodeSoldOut, Message: text.Mark("There are not %d seats left here. Choose another category, or seats one by one."), Args: []any{n}})
	}
	return web.WriteJSON(w, http.StatusOK, map[string]any{"seats": web.Labels(s, best)})
}

// bestAtTill are the seats side by side that give most for their price; where there are none, the closest to the stage, or places of an area.
func bestAtTill(s *seats.Sale, n, category, kind int, not []int) []int {
	price := func(c int) (int64, bool) {
		k := kind
		if k < 0 {
			k, _ = s.Prices.Usual(c, nil)
		}
		amount, sold := s.Prices.Price(0, k, c)
		return amount, sold && (category < 0 || c == category)
	}
	for _, together := range []bool{true, false} {
		if found := s.Propose(seats.Party{Size: n, Price: price, Together: together, Not: not}); len(found) > 0 {
			return found[0].Seats
		}
	}
	var places []int
	states := s.Snapshot().States
	for idx, state := range states {
		if _, may := price(s.Plan.Seats[idx].Category); state == seats.Free && may && s.Plan.Sections[s.Plan.Seats[idx].Section].Area && !slices.Contains(not, idx) {
			if places = append(places, idx); len(places) == n {
				return places
			}
		}
	}
	return nil
}

// PrintTickets answers GET /desk/events/{slug}/till/tickets/{code}: the tickets of an order for a ticket printer or on A6; with receipt=with its
// receipt behind them, if it has one, and with receipt=only that alone.
func (h *Handlers) PrintTickets(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	o, err := h.Orders.Find(r.Context(), r.PathValue("code"))
	if err != nil || o.Event != s.Event.Slug {
		return cmp.Or(err, orders.ErrNoOrder)
	}
	p := desk.PaperPage{Frame: h.frame(w, r, m, text.T(r.Context(), "Tickets")), Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Order: o}
	p.Style, p.Small, p.Only = "desk.css till.css", r.URL.Query().Get("paper") != "a6", r.URL.Query().Get("receipt") == "only"
	if p.Only || r.URL.Query().Get("receipt") == "with" {
		if p.Receipt, err = h.receiptOf(r, m, p); err != nil {
			return err
		}
		if p.Only && p.Receipt == nil {
			return errNoReceipt
		}
	}
	return web.WritePage(w, r, http.StatusOK, desk.Paper(p))
}

var errNoReceipt = web.NewProblem(http.StatusNotFound, "unknown", text.Mark("There is no receipt: nothing was paid for this order."), "", text.Mark("Look at the order's page."))

// receiptOf is the receipt of an order on a paper, with the cash that the customer gave as the till says; nil if there is none.
func (h *Handlers) receiptOf(r *http.Request, m organizers.Member, p desk.PaperPage) (*desk.Receipt, error) {
	page := shop.OrderPage{Sale: p.Sale, Order: p.Order}
	if !page.HasReceipt() {
		return nil, nil
	}
	documents, err := h.Server.Invoices.Of(r.Context(), p.Order.Code)
	if err != nil {
		return nil, err
	}
	receipt := &desk.Receipt{Parts: page.Parts(r.Context()), Invoices: documents}
	if given := r.URL.Query().Get("given"); given != "" {
		cash := p.Order.Paid - p.Order.ByCard
		receipt.Given, err = strconv.ParseInt(given, 10, 64)
		if err != nil || p.Order.Method != payments.Cash || receipt.Given < cash || receipt.Given > cash+mostChange {
			return nil, web.Invalid(text.Mark("given is what the customer gave in cash for this order, in minor units: at least what it cost."))
		}
		receipt.Change = receipt.Given - cash
	}
	sender, err := h.Server.Invoices.Sender(r.Context(), m)
	if err != nil && !errors.Is(err, invoices.ErrNoSender) {
		return nil, err
	}
	receipt.Seller = sender.Party
	return receipt, nil
}

// mostChange is the most change that a receipt says, in minor units.
const mostChange = 1_000_000_000

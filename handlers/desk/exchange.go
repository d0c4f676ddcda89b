package desk

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/seats/till"
	"github.com/usherbox/usher/views/desk"
)

// deskQuote is what an exchange would be, for programs.
type deskQuote struct {
	Worth      int64    `json:"worth"` // of the tickets, without the fee
	Fee        int64    `json:"fee"`
	Total      int64    `json:"total"`
	Difference int64    `json:"difference"` // to pay, or less than 0 to give back
	Currency   string   `json:"currency"`
	Methods    []string `json:"methods"`
}

// ExchangeOrder answers POST /desk/events/{slug}/orders/{code}/exchanges. With show it says what the exchange costs, and does nothing.
func (h *Handlers) ExchangeOrder(w http.ResponseWriter, r *http.Request, m organizers.Member, s *seats.Sale) error {
	order, err := h.orderOf(r, s)
	if err != nil {
		return err
	}
	form, err := deskForm(r)
	if err != nil {
		return err
	}
	if form.Get("show") == "" {
		return h.doOrder(w, r, m, s, order, form, h.exchange(r, m, s))
	}
	to, f, err := h.exchangeForm(r, m, s, form)
	var q orders.Quote
	if err == nil {
		q, err = h.Orders.QuoteAtDesk(r.Context(), to, order, f)
	}
	if words, refused := deskRefused(r, err); refused {
		return h.showOrder(w, r, m, s, order, deskStatus(err), desk.OrderPage{Message: words, Form: form})
	}
	if err != nil {
		return h.problemOf(w, r, s, err)
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, map[string]any{"exchange": deskQuote{q.Worth, q.Fee, q.Total, q.Difference, order.Currency, append([]string{}, q.Methods...)}})
	}
	return h.showOrder(w, r, m, s, order, http.StatusOK, desk.OrderPage{Form: form, Exchange: &desk.DeskExchange{Quote: q, To: to}})
}

func (h *Handlers) exchange(r *http.Request, m organizers.Member, s *seats.Sale) orderAct {
	return orderAct{text.Mark("exchanged tickets"), "exchanged", func(o orders.Order, form url.Values, _ []seats.ID, key string, also seats.TxHook) error {
		to, f, err := h.exchangeForm(r, m, s, form)
		if err != nil {
			return err
		}
		f.Key = key
		_, err = h.Orders.ExchangeAtDesk(r.Context(), to, o, f, also)
		return err
	}}
}

// exchangeForm reads an exchange, and finds the performance that it is for.
func (h *Handlers) exchangeForm(r *http.Request, m organizers.Member, s *seats.Sale, form url.Values) (to *seats.Sale, f orders.ExchangeForm, err error) {
	dates, err := h.otherDates(r, s)
	if err != nil {
		return nil, f, err
	}
	if !slices.ContainsFunc(dates, func(c programme.Card) bool { return c.Slug == form.Get("event") }) {
		return nil, f, &seats.ValidationError{Message: text.Mark("Choose another performance of the series. Nothing was exchanged.")}
	}
	if to, err = h.Inventory.Sale(r.Context(), form.Get("event")); err != nil {
		return nil, f, err
	}
	if f.Method, f.NoFee = form.Get("method"), form.Get("nofee") != ""; f.NoFee && !m.May(organizers.Manage) {
		return nil, f, &seats.ValidationError{Message: text.Mark("Only managers waive the fee. Nothing was exchanged.")}
	}
	if n, err := strconv.ParseInt(form.Get("difference"), 10, 64); err == nil {
		f.Difference = &n
	}
	if f.Tickets, err = ticketsOf(form); err != nil {
		return nil, f, err
	}
	if len(f.Tickets) == 0 {
		return nil, f, &seats.ValidationError{Message: text.Mark("No ticket was chosen. Nothing was exchanged.")}
	}
	f.Seats, err = sales.Pick(to, form.Get("seats"))
	if err == nil && len(f.Seats) == 0 {
		err = &seats.ValidationError{Message: text.Mark("No seat was chosen. Nothing was exchanged.")}
	}
	if err == nil {
		err = h.exchangeAtTill(r, m, to, &f)
	}
	return to, f, err
}

// exchangeAtTill has a difference come into the open till session of the member, as a sale. A member who may not refund takes
// no cheaper seats for a ticket.
func (h *Handlers) exchangeAtTill(r *http.Request, m organizers.Member, to *seats.Sale, f *orders.ExchangeForm) error {
	if !m.May(organizers.Manage) {
		f.NoBack = &seats.Conflict{Code: till.CodeMoney, Message: text.Mark("The new seats cost less, and only managers pay money back. Nothing was exchanged. Choose other seats, or ask a manager.")}
	}
	session, err := till.Selling(r.Context(), h.Organizers, m, to.Event.Currency, "")
	if closed := (*seats.Conflict)(nil); errors.As(err, &closed) {
		f.Closed = &seats.Conflict{Code: till.CodeClosed, Message: text.Mark("Your till is closed. Nothing was exchanged. Open it, then exchange again.")}
		return nil
	}
	if session != 0 {
		f.Entry = till.OfSale(session, "")
	}
	return err
}

// otherDates are the performances to come that tickets of an event may be exchanged for; none if it is in no series.
func (h *Handlers) otherDates(r *http.Request, s *seats.Sale) ([]programme.Card, error) {
	if s.Event.Series == 0 {
		return nil, nil
	}
	dates, err := h.Programme.OfSeries(r.Context(), s.Event.Series)
	return slices.DeleteFunc(slices.Clone(dates), func(c programme.Card) bool { return c.ID == s.Event.ID || c.Status == seats.Cancelled }), err
}

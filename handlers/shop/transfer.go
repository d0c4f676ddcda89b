package shop

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoTransfer = web.NewProblem(404, "link", text.Mark("No ticket was sent by this link."), web.NothingChanged, text.Mark("Check that you have the whole link, or ask the person who sent it."))

// Offer answers POST /orders/{code}/transfers and POST /tickets/{code}/transfers
func (h *Handlers) Offer(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, _ *seats.Sale, a acting, tickets []seats.ID) error {
		if len(tickets) != 1 {
			return orders.ErrNoTicket
		}
		return h.Orders.Offer(r.Context(), order, a.Key, tickets[0], a.Email)
	})
}

// Withdraw answers POST /orders/{code}/withdrawals and POST /tickets/{code}/withdrawals
func (h *Handlers) Withdraw(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, _ *seats.Sale, a acting, tickets []seats.ID) error {
		if len(tickets) != 1 {
			return orders.ErrNoTicket
		}
		return h.Orders.Withdraw(r.Context(), order, a.Key, tickets[0])
	})
}

// offered returns the ticket of the address, and the event.
func (h *Handlers) offered(r *http.Request) (t orders.Transfer, order orders.Order, s *seats.Sale, err error) {
	t, order, err = h.Orders.Offered(r.Context(), r.PathValue("code"))
	if errors.Is(err, orders.ErrNoTransfer) {
		err = errNoTransfer
	}
	if err != nil {
		return t, order, nil, err
	}
	s, err = h.Inventory.Sale(r.Context(), order.Event)
	if err == nil && web.ElsewhereEvent(r, &s.Event) {
		err = web.NotHere(r, errNoTransfer)
	}
	return t, order, s, err
}

type transferAnswer struct {
	Event string `json:"event"`
	Seat  string `json:"seat,omitempty"` // of the ticket, if it may be accepted
	From  string `json:"from"`           // the name of the sender
	Open  bool   `json:"open"`           // it may be accepted
}

// Transfer answers GET /transfers/{code}
func (h *Handlers) Transfer(w http.ResponseWriter, r *http.Request) error {
	t, order, s, err := h.offered(r)
	if err != nil {
		return err
	}
	page := h.acceptPage(w, r, t, order, s)
	if web.WantsJSON(r) {
		answer := transferAnswer{Event: order.Event, From: t.From, Open: page.Open()}
		if page.Open() {
			answer.Seat = s.Plan.Label(page.Ticket.Idx)
		}
		return web.WriteJSON(w, http.StatusOK, answer)
	}
	return web.WritePage(w, r, http.StatusOK, shop.Accept(page))
}

func (h *Handlers) acceptPage(w http.ResponseWriter, r *http.Request, t orders.Transfer, order orders.Order, s *seats.Sale) shop.AcceptPage {
	page := shop.AcceptPage{
		Page: views.Page{Title: text.T(r.Context(), "A ticket for you") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "order.css"},
		Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: rand.Text(), Now: h.Hub.Now()}, Transfer: t, Email: t.SentTo,
	}
	for _, one := range order.Tickets {
		if one.ID == t.Ticket {
			page.Ticket = one
		}
	}
	return page
}

type accepting struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

type acceptedAnswer struct {
	Ticket string `json:"ticket"` // the address of the ticket
}

// Accept answers POST /transfers/{code}
func (h *Handlers) Accept(w http.ResponseWriter, r *http.Request) error {
	var a accepting
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return err
		}
		a = accepting{r.PostForm.Get("key"), r.PostForm.Get("name"), r.PostForm.Get("email")}
	} else {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = web.DecodeJSON(body, &a)
		}
		if err != nil {
			return err
		}
	}
	t, order, s, err := h.offered(r)
	if err != nil {
		return err
	}
	code, err := h.Orders.Accept(r.Context(), t.Code, orders.Acceptance{Key: a.Key, Name: a.Name, Email: a.Email, Language: text.Tag(h.Reading(r))})
	if err == nil && web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusCreated, acceptedAnswer{shop.ReceivedPath(code)})
	}
	if err == nil {
		http.Redirect(w, r, shop.ReceivedPath(code), http.StatusSeeOther)
		return nil
	}
	var refusal *seats.Conflict
	var wrong orders.Mistakes
	if web.WantsJSON(r) || !errors.As(err, &refusal) && !errors.As(err, &wrong) {
		return err
	}
	if refusal != nil { // it may have been accepted since
		if t, order, _, err = h.offered(r); err != nil {
			return err
		}
	}
	page, status := h.acceptPage(w, r, t, order, s), http.StatusUnprocessableEntity
	if page.Name, page.Email, page.Wrong = a.Name, a.Email, wrong; refusal != nil {
		page.Message, status = refusal.In(h.Reading(r)), http.StatusConflict
	}
	return web.WritePage(w, r, status, shop.Accept(page))
}

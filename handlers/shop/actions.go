package shop

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// acting is what a form on an order's page says; programs send the same as JSON.
type acting struct {
	Key     string   `json:"key"`
	Tickets []string `json:"tickets"` // ids
	Email   string   `json:"email"`   // of a friend, whom a ticket is sent to
	Friend  string   `json:"friend"`  // the email of one who may buy tickets that are offered back
}

func decodeActing(r *http.Request) (a acting, tickets []seats.ID, err error) {
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return a, nil, err
		}
		a = acting{r.PostForm.Get("key"), r.PostForm["ticket"], r.PostForm.Get("email"), r.PostForm.Get(orders.FieldFriend)}
	} else {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return a, nil, err
		}
		if err := web.DecodeJSON(body, &a); err != nil {
			return a, nil, err
		}
	}
	for _, text := range a.Tickets {
		id, err := seats.ParseID(text)
		if err != nil {
			return a, nil, orders.ErrNoTicket
		}
		tickets = append(tickets, id)
	}
	return a, tickets, nil
}

// Resend answers POST /orders/{code}/mails
func (h *Handlers) Resend(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, _ *seats.Sale, a acting, _ []seats.ID) error {
		return h.Orders.Resend(r.Context(), order, a.Key)
	})
}

// Cancel answers POST /orders/{code}/cancellations
func (h *Handlers) Cancel(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, s *seats.Sale, a acting, tickets []seats.ID) error {
		if len(tickets) == 0 {
			return web.ErrNoChoice
		}
		return h.Orders.Cancel(r.Context(), s, order, a.Key, tickets...)
	})
}

// OfferBack answers POST /orders/{code}/resales
func (h *Handlers) OfferBack(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, s *seats.Sale, a acting, tickets []seats.ID) error {
		if len(tickets) == 0 {
			return web.ErrNoChoice
		}
		if a.Friend != "" {
			return h.Orders.OfferToFriend(r.Context(), s, order, a.Key, tickets, a.Friend)
		}
		return h.Orders.OfferBack(r.Context(), s, order, a.Key, tickets)
	})
}

// TakeBack answers POST /orders/{code}/resales/withdrawals
func (h *Handlers) TakeBack(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, s *seats.Sale, a acting, tickets []seats.ID) error {
		if len(tickets) != 1 {
			return orders.ErrNoTicket
		}
		return h.Orders.TakeBack(r.Context(), s, order, a.Key, tickets[0])
	})
}

type detailed struct {
	Key     string            `json:"key"`
	Name    string            `json:"name"`
	Answers map[string]string `json:"answers"` // by number of the event's question, from 1
	Names   map[string]string `json:"names"`   // on tickets, by their ids
}

// ChangeDetails answers POST /orders/{code}/details
func (h *Handlers) ChangeDetails(w http.ResponseWriter, r *http.Request) error {
	var asked detailed
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return err
		}
	} else {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = web.DecodeJSON(body, &asked)
		}
		if err != nil {
			return err
		}
	}
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	if web.IsForm(r) {
		asked = detailed{r.PostForm.Get("key"), r.PostForm.Get("name"), map[string]string{}, map[string]string{}}
		for i := range s.Event.Questions {
			asked.Answers[strconv.Itoa(i+1)] = r.PostForm.Get(orders.FieldAnswer(i + 1))
		}
		for _, t := range order.Tickets {
			if field := orders.FieldTicketName(t.ID.String()); r.PostForm.Has(field) {
				asked.Names[t.ID.String()] = r.PostForm.Get(field)
			}
		}
	}
	details := orders.Details{Name: asked.Name, Answers: asked.Answers, Names: asked.Names}
	err = h.Orders.ChangeDetails(r.Context(), s.Event, order, asked.Key, details)
	return h.afterOrder(w, r, order, s, err, shop.OrderPage{Typed: &details})
}

// onOrder does something to the order of the address, and shows what it is then.
func (h *Handlers) onOrder(w http.ResponseWriter, r *http.Request, do func(orders.Order, *seats.Sale, acting, []seats.ID) error) error {
	a, tickets, err := decodeActing(r)
	if err != nil {
		return err
	}
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	return h.afterOrder(w, r, order, s, do(order, s, a, tickets), shop.OrderPage{TypedEmail: a.Email, TypedFriend: a.Friend})
}

// afterOrder shows what an order is after something was done to it; page has what was typed, if err is about that.
func (h *Handlers) afterOrder(w http.ResponseWriter, r *http.Request, order orders.Order, s *seats.Sale, err error, page shop.OrderPage) error {
	var refusal *seats.Conflict
	var wrong orders.Mistakes
	switch {
	case errors.As(err, &refusal) && web.WantsJSON(r):
		return h.refuse(w, r, s, refusal)
	case errors.As(err, &refusal):
		return h.showOrder(w, r, s, order, http.StatusConflict, shop.OrderPage{Message: refusal.In(h.Reading(r))})
	case errors.As(err, &wrong) && !web.WantsJSON(r):
		page.Mistakes, page.WrongEmail = wrong, wrong.About(orders.FieldEmail)
		return h.showOrder(w, r, s, order, http.StatusUnprocessableEntity, page)
	case err != nil:
		return err
	case !web.WantsJSON(r):
		http.Redirect(w, r, shop.OrderAddress(order), http.StatusSeeOther)
		return nil
	}
	if order, s, err = h.find(r); err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusCreated, web.OrderAnswer{Order: web.DescribeOrder(s, order)})
}

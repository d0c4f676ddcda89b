package shop

import (
	"errors"
	"io"
	"net/http"

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
}

func decodeActing(r *http.Request) (a acting, tickets []seats.ID, err error) {
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return a, nil, err
		}
		a = acting{r.PostForm.Get("key"), r.PostForm["ticket"], r.PostForm.Get("email")}
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
	err = do(order, s, a, tickets)
	var refusal *seats.Conflict
	var wrong orders.Mistakes
	switch {
	case errors.As(err, &refusal) && web.WantsJSON(r):
		return h.refuse(w, r, s, refusal)
	case errors.As(err, &refusal):
		return h.showOrder(w, r, s, order, http.StatusConflict, shop.OrderPage{Message: refusal.In(h.Reading(r))})
	case errors.As(err, &wrong) && !web.WantsJSON(r):
		return h.showOrder(w, r, s, order, http.StatusUnprocessableEntity, shop.OrderPage{TypedEmail: a.Email, WrongEmail: wrong.About(orders.FieldEmail)})
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

package handlers

import (
	"errors"
	"io"
	"net/http"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

// acting is what a form on an order's page says; programs send the same as JSON.
type acting struct {
	Key     string   `json:"key"`
	Tickets []string `json:"tickets"` // ids
}

func decodeActing(r *http.Request) (a acting, tickets []seats.ID, err error) {
	if isForm(r) {
		if err := parseForm(r); err != nil {
			return a, nil, err
		}
		a = acting{r.PostForm.Get("key"), r.PostForm["ticket"]}
	} else {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return a, nil, err
		}
		if err := decodeJSON(body, &a); err != nil {
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

// POST /orders/{code}/mails
func (h *Handlers) resend(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, _ *seats.Sale, a acting, _ []seats.ID) error {
		return h.orders.Resend(r.Context(), order, a.Key)
	})
}

// POST /orders/{code}/cancellations
func (h *Handlers) cancel(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, s *seats.Sale, a acting, tickets []seats.ID) error {
		if len(tickets) == 0 {
			return errNoChoice
		}
		return h.orders.Cancel(r.Context(), s, order, a.Key, tickets...)
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
	var refusal *seats.Refusal
	switch {
	case errors.As(err, &refusal) && wantsJSON(r):
		return h.refuse(w, r, s, refusal)
	case errors.As(err, &refusal):
		return h.showOrder(w, r, s, order, http.StatusConflict, refusal.Message)
	case err != nil:
		return err
	case !wantsJSON(r):
		http.Redirect(w, r, shop.OrderPath(order.Code), http.StatusSeeOther)
		return nil
	}
	if order, err = h.orders.Find(r.Context(), order.Code); err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, orderAnswer{describeOrder(s, order)})
}

package shop

import (
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
)

// OfferBack answers POST /orders/{code}/resales
func (h *Handlers) OfferBack(w http.ResponseWriter, r *http.Request) error {
	return h.onOrder(w, r, func(order orders.Order, s *seats.Sale, a acting, tickets []seats.ID) error {
		if len(tickets) == 0 {
			return web.ErrNoChoice
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

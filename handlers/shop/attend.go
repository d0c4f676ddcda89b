package shop

import (
	"errors"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

type joinAnswer struct {
	Link string `json:"link"`
}

// Attend answers POST /orders/{code}/attendances checks a ticket of an online event in and leads on to it. A browser does not follow a form
// to another site under our rules for pages, so it goes by a page of ours.
func (h *Handlers) Attend(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	_, tickets, err := decodeActing(r)
	if err != nil {
		return err
	}
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	if len(tickets) != 1 {
		return orders.ErrNoTicket
	}
	link, err := h.Orders.Attend(r.Context(), order, tickets[0])
	var refusal *seats.Conflict
	switch {
	case errors.As(err, &refusal) && web.WantsJSON(r):
		return h.refuse(w, r, s, refusal)
	case errors.As(err, &refusal):
		return h.showOrder(w, r, s, order, http.StatusConflict, shop.OrderPage{Message: refusal.In(h.Reading(r))})
	case err != nil:
		return err
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusOK, joinAnswer{link})
	}
	http.Redirect(w, r, shop.OrderAddress(order)+"/attendances/"+tickets[0].String(), http.StatusSeeOther)
	return nil
}

// Attendance answers GET /orders/{code}/attendances/{ticket} leads who checked in on to the event.
func (h *Handlers) Attendance(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	ticket, err := seats.ParseID(r.PathValue("ticket"))
	if err != nil {
		return orders.ErrNoTicket
	}
	link, err := h.Orders.JoinLink(r.Context(), order, ticket)
	if errors.Is(err, orders.ErrNoTicket) && !web.WantsJSON(r) { // not checked in, or cancelled: the order's page says more
		http.Redirect(w, r, shop.OrderAddress(order), http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, joinAnswer{link})
	}
	page := shop.AttendPage{
		Page: views.Page{Title: text.T(r.Context(), "Join") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Script: "buy.js", Style: "order.css"},
		Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot()}, Back: shop.OrderAddress(order), Link: link,
	}
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Refresh", "0; url="+link)
	return web.WritePage(w, r, http.StatusOK, shop.Attend(page))
}

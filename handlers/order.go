package handlers

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

type orderAnswer struct {
	Order orderBody `json:"order"`
}

type orderBody struct {
	Code        string       `json:"code"`
	Event       string       `json:"event"`
	State       string       `json:"state"`
	Name        string       `json:"name"`
	Email       string       `json:"email"`
	Born        string       `json:"born,omitempty"`
	Method      string       `json:"method"`
	Currency    string       `json:"currency"`
	Total       int64        `json:"total"`
	Fee         int64        `json:"fee"`
	Due         int64        `json:"due"`
	Back        int64        `json:"back,omitempty"`
	CreatedAt   time.Time    `json:"created_at"`
	DueAt       *time.Time   `json:"due_at,omitempty"`       // until when it is to be paid; it is cancelled then
	CancelUntil *time.Time   `json:"cancel_until,omitempty"` // until when its attendee cancels; left out: never
	Tickets     []ticketBody `json:"tickets"`

	Answers map[string]string `json:"answers,omitempty"` // by number of the question, from 1
}

type ticketBody struct {
	ID      string `json:"id"`
	Seat    string `json:"seat"`
	Idx     int    `json:"idx"`
	Price   int64  `json:"price"`
	Fee     int64  `json:"fee"`
	Code    string `json:"code"`
	Revoked bool   `json:"revoked"`

	In *time.Time `json:"in,omitempty"` // when somebody went in with it
}

func describeOrder(s *seats.Sale, o orders.Order) orderBody {
	body := orderBody{
		Code: o.Code, Event: o.Event, State: o.State, Name: o.Name, Email: o.Email, Method: o.Method, Currency: o.Currency,
		Total: o.Total, Fee: o.Fee, Due: o.Due(), Back: o.Back, CreatedAt: o.CreatedAt.UTC(), Answers: o.Answers, Tickets: []ticketBody{},
		DueAt: o.DueAt, CancelUntil: o.CancelEnds,
	}
	if o.Born != nil {
		body.Born = o.Born.Format(time.DateOnly)
	}
	for _, t := range o.Tickets {
		body.Tickets = append(body.Tickets, ticketBody{t.ID.String(), s.Plan.Label(t.Idx), t.Idx, t.Price, t.Fee, t.Code, t.Revoked, t.In})
	}
	return body
}

// find returns the order of the address and its event.
func (h *Handlers) find(r *http.Request) (orders.Order, *seats.Sale, error) {
	order, err := h.orders.Find(r.Context(), r.PathValue("code"))
	if err != nil {
		return order, nil, err
	}
	sale, err := h.office.Sale(r.Context(), order.Event)
	return order, sale, err
}

// GET /orders/{code}
func (h *Handlers) order(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, orderAnswer{describeOrder(s, order)})
	}
	return h.showOrder(w, r, s, order, http.StatusOK, "")
}

// showOrder writes the page of an order; message says why what was asked was not done.
func (h *Handlers) showOrder(w http.ResponseWriter, r *http.Request, s *seats.Sale, order orders.Order, status int, message string) error {
	sent, err := h.orders.LastMail(r.Context(), order.ID)
	if err != nil {
		return err
	}
	page := shop.OrderPage{
		Page:  views.Page{Title: "Order · " + s.Event.Name, Nonce: nonce(w), Script: "buy.js", Style: "order.css"},
		Sale:  shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: rand.Text(), Now: h.hub.Now()},
		Order: order, Sent: sent, Message: message,
	}
	if left, waits := page.JoinsIn(); waits {
		w.Header().Set("Refresh", strconv.Itoa(int(left/time.Second)+2))
	}
	return writePage(w, r, status, shop.Order(page))
}

// GET /orders/{code}/calendar.ics
func (h *Handlers) calendar(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+s.Event.Slug+`.ics"`)
	_, _ = w.Write([]byte(calendarOf(s, order, h.origin(r)+shop.OrderPath(order.Code)))) // a reader who is gone needs none
	return nil
}

// GET /orders/{code}/tickets.pdf
func (h *Handlers) paper(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	pdf, err := shop.OrderPage{Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Order: order}.Paper()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/pdf")
	w.Header().Set("Content-Disposition", `inline; filename="`+s.Event.Slug+`.pdf"`)
	_, _ = w.Write(pdf) // a reader who is gone needs none
	return nil
}

// calendarOf is an order as calendars read it (RFC 5545).
func calendarOf(s *seats.Sale, o orders.Order, address string) string {
	place, status := s.Event.Venue, ""
	if s.Event.Online.On {
		place = address
	}
	if o.State == orders.Cancelled {
		status = "CANCELLED"
	}
	words := make([]string, len(o.Tickets))
	for i, t := range o.Tickets {
		words[i] = s.Plan.Words(t.Idx)
	}
	return calendar{
		id: o.ID.String() + "@usher", summary: s.Event.Name, location: place, url: address, status: status, made: o.CreatedAt, starts: s.Event.StartsAt,
		description: strings.TrimPrefix(strings.Join(words, "\n")+"\n"+joinWords(s, o)+address, "\n"),
	}.text()
}

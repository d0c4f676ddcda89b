package handlers

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

type paymentAnswer struct {
	Payment paymentBody `json:"payment"`
}

type paymentBody struct {
	Code     string `json:"code"`
	Event    string `json:"event"`
	Method   string `json:"method"`
	State    string `json:"state"`
	Currency string `json:"currency"`
	Amount   int64  `json:"amount"`
	Page     string `json:"page,omitempty"`
	Order    string `json:"order,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Confirm  string `json:"confirm,omitempty"` // the address where the mail went that confirms the order
}

func describePayment(p orders.Payment) paymentBody {
	body := paymentBody{Code: p.Code, Event: p.Event, Method: p.Method, State: "open", Currency: p.Currency, Amount: p.Amount, Page: p.Page, Reason: p.Reason}
	if p.Confirms() && !p.Confirmed {
		body.Confirm = p.Form.Email
	}
	switch {
	case p.Done():
		body.State, body.Page, body.Order = "done", "", shop.OrderPath(p.Code)
	case p.Over():
		body.State, body.Page, body.Confirm = "over", "", ""
	}
	return body
}

// pay begins a payment and sends whoever pays on their way. A browser does not follow a form to another site under our
// rules for pages, so it goes by a page of ours.
func (h *Handlers) pay(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form) error {
	p, err := h.orders.Pay(r.Context(), s, holder, form)
	if err != nil {
		return h.refuseOrder(w, r, s, holder, form, err)
	}
	h.limits.Of(s).Ordered(len(form.Seats))
	w.Header().Set("Location", shop.PaymentPath(p.Code))
	if wantsJSON(r) {
		return writeJSON(w, http.StatusAccepted, paymentAnswer{describePayment(p)})
	}
	switch {
	case p.Done():
		w.Header().Set("Location", shop.OrderPath(p.Code))
	case strings.HasPrefix(p.Page, "/") && !p.Over():
		w.Header().Set("Location", p.Page)
	case p.Page != "" && !p.Over():
		w.Header().Set("Location", shop.PaymentPath(p.Code)+"?go")
	}
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// GET /payments/{code}
func (h *Handlers) payment(w http.ResponseWriter, r *http.Request) error {
	p, err := h.orders.Payment(r.Context(), r.PathValue("code"))
	if err != nil {
		return err
	}
	if r.URL.Query().Has("back") && !p.Done() && !p.Over() {
		if err := h.orders.Ask(r.Context(), p); err != nil {
			return err
		}
		if p, err = h.orders.Payment(r.Context(), p.Code); err != nil {
			return err
		}
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, paymentAnswer{describePayment(p)})
	}
	if p.Done() {
		if err := h.tellDone(r, p); err != nil {
			return err
		}
		http.Redirect(w, r, shop.OrderPath(p.Code), http.StatusSeeOther)
		return nil
	}
	return h.showPayment(w, r, p)
}

// tellDone lets the other pages of the attendee show what they hold now: the order may have been placed without them.
func (h *Handlers) tellDone(r *http.Request, p orders.Payment) error {
	r, err := h.visited(r)
	if err != nil {
		return err
	}
	holder, known := h.holder(r)
	if !known || holder != p.Holder {
		return nil
	}
	s, err := h.office.Sale(r.Context(), p.Event)
	if err != nil {
		return err
	}
	hold, err := s.Hold(r.Context(), holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return err
	}
	h.hub.Mine(s, h.sessions.Token(r.Context()), hold, true)
	return nil
}

// showPayment says how a payment stands. Who paid and got no seats is shown what to do next: their seats as far as they
// are still theirs, or the nearest ones.
func (h *Handlers) showPayment(w http.ResponseWriter, r *http.Request, p orders.Payment) error {
	s, err := h.office.Sale(r.Context(), p.Event)
	if err != nil {
		return err
	}
	if r, err = h.visited(r); err != nil {
		return err
	}
	holder, known := h.holder(r)
	mine := known && holder == p.Holder
	if p.Over() && mine {
		hold, err := s.Hold(r.Context(), holder)
		if err == nil && slices.Equal(hold.Seats, p.Form.Seats) {
			return h.showCheckout(w, r, s, shop.CheckoutPage{Form: p.Form, Message: p.Reason})
		}
		gone := without(p.Form.Seats, hold.Seats)
		return h.showCheckout(w, r, s, shop.CheckoutPage{Form: p.Form, Message: p.Reason, Nearest: nearest(s, gone, hold.Seats)})
	}
	title := "Payment · "
	if p.Confirms() {
		title = "Confirm your email · "
	}
	page := views.Page{Title: title + s.Event.Name, Nonce: nonce(w), Script: "buy.js", Style: "order.css"}
	if !p.Over() {
		page.Refresh = "10;url=" + shop.PaymentPath(p.Code) + "?back" // nothing is typed here
	}
	ends, err := h.confirmEnds(r, s, p)
	if err != nil {
		return err
	}
	if r.URL.Query().Has("go") && p.Page != "" && !p.Over() {
		w.Header().Set("Refresh", "0; url="+p.Page)
	}
	return writePage(w, r, http.StatusOK, shop.Payment(shop.PaymentPage{
		Page: page, Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Now: h.hub.Now()}, Payment: p, Mine: mine, Ends: ends, Mailed: r.URL.Query().Get("mail"),
	}))
}

// POST /payments/{code}/stop
func (h *Handlers) stopPayment(w http.ResponseWriter, r *http.Request) error {
	p, err := h.orders.Stop(r.Context(), r.PathValue("code"))
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, paymentAnswer{describePayment(p)})
	}
	http.Redirect(w, r, shop.PaymentPath(p.Code), http.StatusSeeOther)
	return nil
}

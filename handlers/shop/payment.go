package shop

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

type PaymentAnswer struct {
	Payment PaymentBody `json:"payment"`
}

type PaymentBody struct {
	Code     string `json:"code"`
	Event    string `json:"event"`
	Method   string `json:"method"`
	State    string `json:"state"`
	Currency string `json:"currency"`
	Amount   int64  `json:"amount"`
	Page     string `json:"page,omitempty"`
	Order    string `json:"order,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Until    string `json:"until,omitempty"`   // while processing: the provider says until then whether the money comes
	Confirm  string `json:"confirm,omitempty"` // the address where the mail went that confirms the order
}

func (h *Handlers) describePayment(r *http.Request, p payments.Payment) PaymentBody {
	body := PaymentBody{Code: p.Code, Event: p.Event, Method: p.Method, State: "open", Currency: p.Currency, Amount: p.Amount, Page: h.At(r, p.Page), Reason: p.Reason}
	if p.Confirms() && !p.Confirmed {
		body.Confirm = p.Email
	}
	switch {
	case p.Done():
		body.State, body.Page, body.Order = "done", "", shop.OrderPath(p.Code)
	case p.Over():
		body.State, body.Page, body.Confirm = "over", "", ""
	case p.Awaited():
		body.State, body.Page, body.Until = "processing", "", p.AwaitedUntil.UTC().Format(time.RFC3339)
	}
	return body
}

// pay begins a payment and redirects the buyer. A browser does not follow a form to another site under our
// rules for pages, so it goes by a page of ours.
func (h *Handlers) pay(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form) error {
	p, err := h.Orders.Pay(r.Context(), s, holder, form)
	if err != nil {
		return h.refuseOrder(w, r, s, holder, form, err)
	}
	h.Limits.Of(s).Ordered(len(form.Seats))
	return h.leadToPayment(w, r, p)
}

// leadToPayment answers with a payment that begins, or redirects to it.
func (h *Handlers) leadToPayment(w http.ResponseWriter, r *http.Request, p payments.Payment) error {
	w.Header().Set("Location", h.At(r, shop.PaymentPath(p.Code)))
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusAccepted, PaymentAnswer{h.describePayment(r, p)})
	}
	switch {
	case p.Done():
		w.Header().Set("Location", shop.OrderPath(p.Code))
	case web.Framed(r): // providers are not framed: the page has a link to a tab of its own
	case strings.HasPrefix(p.Page, "/") && !p.Over():
		w.Header().Set("Location", p.Page)
	case p.Page != "" && !p.Over():
		w.Header().Set("Location", shop.PaymentPath(p.Code)+"?go")
	}
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// ownPayment is the payment of the address. One at a card reader is of the box office, and has no page here.
func (h *Handlers) ownPayment(r *http.Request) (payments.Payment, error) {
	p, err := h.Orders.Payments.Find(r.Context(), r.PathValue("code"))
	if err == nil && p.Till != nil {
		err = payments.ErrNoPayment
	}
	return p, err
}

// Payment answers GET /payments/{code}
func (h *Handlers) Payment(w http.ResponseWriter, r *http.Request) error {
	p, err := h.ownPayment(r)
	if err != nil {
		return err
	}
	s, err := h.Inventory.Sale(r.Context(), p.Event)
	if err != nil {
		return err
	}
	if web.ElsewhereEvent(r, &s.Event) {
		return web.NotHere(r, payments.ErrNoPayment)
	}
	if r.URL.Query().Has("back") && !p.Done() && !p.Over() {
		if err := h.Orders.Payments.Ask(r.Context(), p); err != nil {
			return err
		}
		if p, err = h.Orders.Payments.Find(r.Context(), p.Code); err != nil {
			return err
		}
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, PaymentAnswer{h.describePayment(r, p)})
	}
	if p.Done() {
		if err := h.tellDone(r, p); err != nil {
			return err
		}
		http.Redirect(w, r, shop.OrderPath(p.Code), http.StatusSeeOther)
		return nil
	}
	return h.showPayment(w, r, s, p)
}

// tellDone lets the other pages of the attendee show what they hold now: the order may have been placed without them.
func (h *Handlers) tellDone(r *http.Request, p payments.Payment) error {
	r, err := h.Visited(r)
	if err != nil {
		return err
	}
	holder, known := h.Holder(r)
	if !known || holder != p.Holder {
		return nil
	}
	s, err := h.Inventory.Sale(r.Context(), p.Event)
	if err != nil {
		return err
	}
	hold, err := s.Hold(r.Context(), holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return err
	}
	h.Hub.Mine(s, h.Sessions.Token(r.Context()), hold, true)
	return nil
}

// showPayment says how a payment stands. Who paid and got no seats is shown what to do next: their seats as far as they
// are still theirs, or the nearest ones.
func (h *Handlers) showPayment(w http.ResponseWriter, r *http.Request, s *seats.Sale, p payments.Payment) error {
	r, err := h.Visited(r)
	if err != nil {
		return err
	}
	if answered, err := h.InFrame(w, r, s.Event.Team); answered || err != nil {
		return err
	}
	holder, known := h.Holder(r)
	mine := known && holder == p.Holder || p.ChangesTypes() // the visitor may have found the order by email
	if p.Over() && p.ChangesTypes() {
		return h.showDifferenceOver(w, r, s, p)
	}
	if p.Over() && mine {
		form, err := orders.FormOf(p)
		if err != nil {
			return err
		}
		page := shop.CheckoutPage{Form: form, Message: payments.Reason(p.Reason).In(r.Context())}
		hold, err := s.Hold(r.Context(), holder)
		if err != nil || !slices.Equal(hold.Seats, p.Seats) {
			page.Nearest = nearest(s, without(p.Seats, hold.Seats), hold.Seats)
		}
		return h.showCheckout(w, r, s, page)
	}
	title := text.T(r.Context(), "Payment") + " · "
	if p.Confirms() {
		title = text.T(r.Context(), "Confirm your email") + " · "
	}
	page := views.Page{Title: title + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Script: "buy.js", Style: "order.css"}
	if !p.Over() && !p.Awaited() {
		page.Refresh = "10;url=" + shop.PaymentPath(p.Code) + "?back" // nothing is typed here
	}
	ends, err := h.confirmEnds(r, s, p)
	if err != nil {
		return err
	}
	if r.URL.Query().Has("go") && p.Page != "" && !p.Over() && !web.Framed(r) {
		w.Header().Set("Refresh", "0; url="+p.Page)
	}
	return web.WritePage(w, r, http.StatusOK, shop.Payment(shop.PaymentPage{
		Page: page, Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Now: h.Hub.Now()}, Payment: p, Mine: mine, Ends: ends, Mailed: r.URL.Query().Get("mail"),
	}))
}

// StopPayment answers POST /payments/{code}/stop
//
// A repeat needs no key: a payment that was stopped stays so.
func (h *Handlers) StopPayment(w http.ResponseWriter, r *http.Request) error {
	p, err := h.ownPayment(r)
	if err == nil {
		p, err = h.Orders.Payments.Stop(r.Context(), p.Code)
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, PaymentAnswer{h.describePayment(r, p)})
	}
	http.Redirect(w, r, shop.PaymentPath(p.Code), http.StatusSeeOther)
	return nil
}

package shop

import (
	"errors"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoConfirmation = web.NewProblem(404, "link", text.Mark("This link confirms no order."), web.NothingChanged, text.Mark("Open the newest email that we sent you, or order again."))

// Confirmation answers GET /confirmations/{token}
//
// Looking confirms nothing: programs that read mail look at every address in it. The button does.
func (h *Handlers) Confirmation(w http.ResponseWriter, r *http.Request) error {
	p, err := h.Orders.Payments.ToConfirm(r.Context(), r.PathValue("token"))
	if errors.Is(err, payments.ErrNoLink) {
		return errNoConfirmation
	}
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, PaymentAnswer{h.describePayment(r, p)})
	}
	if p.Done() || p.Over() || p.Confirmed {
		http.Redirect(w, r, shop.PaymentPath(p.Code), http.StatusSeeOther)
		return nil
	}
	s, err := h.Inventory.Sale(r.Context(), p.Event)
	if err != nil {
		return err
	}
	return web.WritePage(w, r, http.StatusOK, shop.Confirmation(shop.PaymentPage{
		Page: views.Page{Title: text.T(r.Context(), "Confirm your order") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "order.css"}, Sale: shop.Sale{Event: s.Event, Plan: s.Plan}, Payment: p,
	}, r.PathValue("token")))
}

// ConfirmOrder answers POST /confirmations/{token}
//
// The link alone is enough: the mail may be read in another browser. A repeat leads to the same order.
func (h *Handlers) ConfirmOrder(w http.ResponseWriter, r *http.Request) error {
	p, err := h.Orders.Payments.Confirm(r.Context(), r.PathValue("token"))
	if errors.Is(err, payments.ErrNoLink) {
		return errNoConfirmation
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

// ConfirmAgain answers POST /payments/{code}/mails
func (h *Handlers) ConfirmAgain(w http.ResponseWriter, r *http.Request) error {
	p, err := h.ownPayment(r)
	if err != nil {
		return err
	}
	said := "sent"
	if err := h.Orders.Payments.ConfirmAgain(r.Context(), p); errors.Is(err, payments.ErrMailed) {
		said = "enough"
	} else if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusAccepted, PaymentAnswer{h.describePayment(r, p)})
	}
	http.Redirect(w, r, shop.PaymentPath(p.Code)+"?mail="+said, http.StatusSeeOther)
	return nil
}

// confirmEnds is until when the seats of an order that waits for its email are kept; zero for payments of money.
func (h *Handlers) confirmEnds(r *http.Request, s *seats.Sale, p payments.Payment) (ends time.Time, err error) {
	if !p.Confirms() || p.Over() {
		return ends, nil
	}
	hold, err := s.Hold(r.Context(), p.Holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return ends, err
	}
	return hold.ExpiresAt, nil
}

package shop

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var errNoEmailChange = web.NewProblem(404, "link", text.Mark("This link changes no email address."), web.NothingChanged, text.Mark("Open the newest email that we sent you, or ask for the change again on the page of your order."))

// ChangeEmail answers POST /orders/{code}/email-changes
func (h *Handlers) ChangeEmail(w http.ResponseWriter, r *http.Request) error {
	a, _, err := decodeActing(r)
	if err != nil {
		return err
	}
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	err = h.Orders.ChangeEmail(r.Context(), order, a.Key, a.Email)
	var wrong orders.Mistakes
	if errors.As(err, &wrong) && !web.WantsJSON(r) {
		return h.showOrder(w, r, s, order, http.StatusUnprocessableEntity, shop.OrderPage{NewEmail: a.Email, WrongNewEmail: wrong.About(orders.FieldEmail)})
	}
	return h.afterOrder(w, r, order, s, err, shop.OrderPage{})
}

// StopEmailChange answers POST /orders/{code}/email-changes/stop
func (h *Handlers) StopEmailChange(w http.ResponseWriter, r *http.Request) error {
	order, s, err := h.find(r)
	if err != nil {
		return err
	}
	return h.afterOrder(w, r, order, s, h.Orders.StopEmailChange(r.Context(), order), shop.OrderPage{})
}

// emailChange returns the request of the address, and the event of its order.
func (h *Handlers) emailChange(r *http.Request) (c orders.EmailChange, s *seats.Sale, err error) {
	c, err = h.Orders.EmailChange(r.Context(), r.PathValue("code"))
	if errors.Is(err, orders.ErrNoEmailChange) {
		err = errNoEmailChange
	}
	if err != nil {
		return c, nil, err
	}
	s, err = h.Inventory.Sale(r.Context(), c.Event)
	if err == nil && web.ElsewhereEvent(r, &s.Event) {
		err = web.NotHere(r, errNoEmailChange)
	}
	return c, s, err
}

type emailChangeAnswer struct {
	Event  string    `json:"event"`
	From   string    `json:"from,omitempty"` // only by the link of that address
	To     string    `json:"to"`
	State  string    `json:"state"` // open, agreed: the other address did not answer yet, changed, over
	EndsAt time.Time `json:"ends_at"`
}

func describeEmailChange(c orders.EmailChange) emailChangeAnswer {
	answer := emailChangeAnswer{Event: c.Event, To: c.To, State: "over", EndsAt: c.EndsAt.UTC()}
	switch {
	case c.DoneAt != nil:
		answer.State = "changed"
	case c.Open() && c.Answered():
		answer.State = "agreed"
	case c.Open():
		answer.State = "open"
	}
	if c.Old {
		answer.From = c.From
	}
	return answer
}

// EmailChange answers GET /email-changes/{code}
//
// Looking agrees to nothing: programs that read mail look at every address in it. The button does.
func (h *Handlers) EmailChange(w http.ResponseWriter, r *http.Request) error {
	c, s, err := h.emailChange(r)
	if err != nil {
		return err
	}
	if web.WantsJSON(r) {
		return web.WriteJSON(w, http.StatusOK, describeEmailChange(c))
	}
	return h.showEmailChange(w, r, http.StatusOK, c, s, "")
}

func (h *Handlers) showEmailChange(w http.ResponseWriter, r *http.Request, status int, c orders.EmailChange, s *seats.Sale, message string) error {
	return web.WritePage(w, r, status, shop.EmailChange(shop.EmailPage{
		Page: views.Page{Title: text.T(r.Context(), "Change email") + " · " + s.Event.Name, Nonce: web.Nonce(w), Legal: h.Legal(r, s.Event.Team), Branding: h.Branding(r, s.Event.Team), Style: "order.css"},
		Sale: shop.Sale{Event: s.Event, Plan: s.Plan, Map: s.Snapshot(), Key: rand.Text(), Now: h.Hub.Now()}, Change: c, Message: message,
	}))
}

// AnswerEmailChange answers POST /email-changes/{code}
//
// The link alone is enough: the mail may be read in another browser.
func (h *Handlers) AnswerEmailChange(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Stop bool `json:"stop"` // it refuses the change, which ends it
	}
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return err
		}
		asked.Stop = r.PostForm.Get("stop") != ""
	} else {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = web.DecodeJSON(body, &asked)
		}
		if err != nil {
			return err
		}
	}
	_, s, err := h.emailChange(r)
	if err != nil {
		return err
	}
	after, err := h.Orders.AnswerEmailChange(r.Context(), r.PathValue("code"), !asked.Stop)
	var refusal *seats.Conflict
	switch {
	case errors.As(err, &refusal) && !web.WantsJSON(r):
		c, _, err := h.emailChange(r)
		if err != nil {
			return err
		}
		return h.showEmailChange(w, r, http.StatusConflict, c, s, refusal.In(h.Reading(r)))
	case errors.As(err, &refusal):
		return h.refuse(w, r, s, refusal)
	case err != nil:
		return err
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusOK, describeEmailChange(after))
	}
	http.Redirect(w, r, shop.EmailChangePath(r.PathValue("code")), http.StatusSeeOther)
	return nil
}

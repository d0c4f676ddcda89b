package shop

import (
	"errors"
	"io"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/payments/demo"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

var (
	errNoCharge = web.NewProblem(404, "unknown", text.Mark("The demo card has no such charge."), web.NothingChanged, text.Mark("Start from the checkout of a demo event."))
	errAnswered = web.NewProblem(409, "answered", text.Mark("The demo card was told something else for this payment before."), text.Mark("The first answer counts."), text.Mark("The page of the payment shows what became of it."))
)

// DemoCard answers GET /demo-card/{reference}
func (h *Handlers) DemoCard(w http.ResponseWriter, r *http.Request) error {
	c, err := h.Card.Charge(r.Context(), r.PathValue("reference"))
	if errors.Is(err, demo.ErrNoCharge) {
		return errNoCharge
	}
	if err != nil {
		return err
	}
	if !c.Pending {
		http.Redirect(w, r, c.Back+"?back", http.StatusSeeOther)
		return nil
	}
	page := views.Page{Title: text.T(r.Context(), "The demo card"), Nonce: web.Nonce(w), Legal: h.Legal(r, 0), Branding: h.Branding(r, 0), Style: "order.css"}
	return web.WritePage(w, r, http.StatusOK, shop.DemoCard(shop.DemoPage{
		Page: page, Reference: c.Reference, What: c.What, Amount: c.Amount, Currency: c.Currency, Back: c.Back,
	}))
}

// AnswerDemoCard answers POST /demo-card/{reference}
func (h *Handlers) AnswerDemoCard(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Answer string `json:"answer"`
	}
	if web.IsForm(r) {
		if err := web.ParseForm(r); err != nil {
			return err
		}
		asked.Answer = r.PostForm.Get("answer")
	} else {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		if err := web.DecodeJSON(body, &asked); err != nil {
			return err
		}
	}
	c, err := h.Card.Charge(r.Context(), r.PathValue("reference"))
	if err == nil {
		err = h.Card.Answer(r.Context(), c.Reference, asked.Answer)
	}
	switch {
	case errors.Is(err, demo.ErrNoCharge):
		return errNoCharge
	case errors.Is(err, demo.ErrAnswered):
		return errAnswered
	case err != nil:
		return err
	case web.WantsJSON(r):
		return web.WriteJSON(w, http.StatusOK, map[string]string{"back": c.Back})
	}
	http.Redirect(w, r, c.Back+"?back", http.StatusSeeOther)
	return nil
}

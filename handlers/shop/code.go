package shop

import (
	"hash/maphash"
	"net/http"
	"strings"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/views/shop"
)

// codeGuesses is how often a network may type a code that an event does not have.
var codeGuesses = limit.Per(20, time.Minute)

var codeSeed = maphash.MakeSeed()

var errGuesses = web.NewProblem(http.StatusTooManyRequests, "too_many", "Too many codes were tried from your network.", web.SeatsStay, "Wait a minute, then try again.")

// limitCodes refuses a network that guesses codes. A code that the event has costs nothing.
func (h *Handlers) limitCodes(r *http.Request, s *seats.Sale, code string) error {
	if strings.TrimSpace(code) == "" {
		return nil
	}
	key, now := limit.With(uint64(web.NetworkOf(r)), maphash.String(codeSeed, s.Event.Slug)), time.Now()
	if wait := h.Limits.Take(key, 1, codeGuesses, now); wait > 0 {
		return errGuesses
	}
	found, err := h.Orders.FindCode(r.Context(), s.Event.ID, code)
	if err == nil && found.State != pricing.CodeUnknown {
		h.Limits.Give(key, 1, codeGuesses)
	}
	return err
}

// applyCode shows the checkout with what a code saves, or why it does not, and with everything that was typed.
func (h *Handlers) applyCode(w http.ResponseWriter, r *http.Request, s *seats.Sale, holder seats.ID, form orders.Form) error {
	if err := h.limitCodes(r, s, form.Code); err != nil {
		return err
	}
	return h.tell(w, r, s, holder, orders.Typed{Form: form})
}

// showCode finds what the code that was typed takes off.
func (h *Handlers) showCode(r *http.Request, s *seats.Sale, p *shop.CheckoutPage) (err error) {
	if p.HasCodes, err = h.Orders.HasCodes(r.Context(), s.Event.ID); err != nil || strings.TrimSpace(p.Form.Code) == "" {
		return err
	}
	found, err := h.Orders.FindCode(r.Context(), s.Event.ID, p.Form.Code)
	if err != nil {
		return err
	}
	if wrong := found.State.Message(); wrong != "" {
		if p.Mistakes.About(orders.FieldCode) == "" {
			p.Mistakes = append(p.Mistakes, orders.Mistake{Field: orders.FieldCode, Message: wrong})
		}
		return nil
	}
	p.Discount, p.Code = &found.Discount, found.Code
	return nil
}

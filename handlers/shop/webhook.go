package shop

import (
	"errors"
	"io"
	"net/http"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

var (
	errForged  = web.NewProblem(400, "invalid", text.Mark("This is not signed by the provider, or is too old."), web.NothingChanged, text.Mark("Check the secret of the webhook."))
	errWebhook = web.NewProblem(404, "unknown", text.Mark("No webhook is set up here."), web.NothingChanged, text.Mark("Start usher with USHER_STRIPE_WEBHOOK_SECRET."))
)

// StripeWebhook answers POST /webhooks/stripe
func (h *Handlers) StripeWebhook(w http.ResponseWriter, r *http.Request) error {
	if h.Stripe == nil {
		return asJSON(r, errWebhook)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return asJSON(r, err)
	}
	event, err := h.Stripe(r.Context(), body, r.Header.Get("Stripe-Signature"))
	switch {
	case errors.Is(err, payments.ErrNotOurs):
	case errors.Is(err, payments.ErrForged):
		h.About(w, r).Warn("a webhook was refused", "error", err)
		return asJSON(r, errForged)
	case err != nil:
		return asJSON(r, err) // it is told again
	default:
		if err := h.Orders.Payments.Record(r.Context(), event); err != nil {
			return asJSON(r, err)
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

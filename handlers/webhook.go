package handlers

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/usherbox/usher/seats/orders"
)

// Webhook reads what a provider sends by itself and tells whether it is really from there.
type Webhook func(ctx context.Context, body []byte, signature string) (orders.News, error)

var (
	errForged  = &problem{400, "invalid", "This is not signed by the provider, or is too old.", nothingChanged, "Check the secret of the webhook."}
	errWebhook = &problem{404, "unknown", "No webhook is set up here.", nothingChanged, "Start usher with USHER_STRIPE_WEBHOOK_SECRET."}
)

// POST /webhooks/stripe
func (h *Handlers) stripeWebhook(w http.ResponseWriter, r *http.Request) error {
	if h.stripe == nil {
		return asJSON(r, errWebhook)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return asJSON(r, err)
	}
	news, err := h.stripe(r.Context(), body, r.Header.Get("Stripe-Signature"))
	switch {
	case errors.Is(err, orders.ErrNotOurs):
	case errors.Is(err, orders.ErrForged):
		h.about(w, r).Warn("a webhook was refused", "error", err)
		return asJSON(r, errForged)
	case err != nil:
		return asJSON(r, err) // it is told again
	default:
		if err := h.orders.Hear(r.Context(), news); err != nil {
			return asJSON(r, err)
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

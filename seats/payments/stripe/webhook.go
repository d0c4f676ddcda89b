package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
)

// ReadWebhook reads a webhook. Its signature, of the body as it came, has to be right and at most five minutes old: else it is
// orders.ErrForged. What it is about says which payment of ours it is of; a refund made at Stripe itself only says of which
// payment there, and that is looked up. One about a payout names no payment.
func (s *Stripe) ReadWebhook(ctx context.Context, body []byte, signature string) (payments.WebhookEvent, error) {
	var event api.Event
	err := errors.New("there is no secret for webhooks")
	for _, secret := range s.secrets {
		if secret == "" {
			continue
		}
		if event, err = api.ConstructEvent(body, signature, secret, api.WithIgnoreAPIVersionMismatch()); err == nil {
			break
		}
	}
	if err == nil && ahead(signature) {
		err = errors.New("its time is more than five minutes ahead")
	}
	if err != nil {
		return payments.WebhookEvent{}, fmt.Errorf("stripe: a webhook: %w: %w", payments.ErrForged, err)
	}
	if aboutPayouts(event) {
		return payments.WebhookEvent{Method: payments.Card, Event: event.ID, Kind: string(event.Type)}, nil
	}
	var about struct {
		Metadata struct {
			Payment string `json:"payment"`
		} `json:"metadata"`
		Intent json.RawMessage `json:"payment_intent"`
		Action struct {
			Process struct {
				Intent json.RawMessage `json:"payment_intent"`
			} `json:"process_payment_intent"`
		} `json:"action"` // of a card reader
	}
	if event.Data == nil || json.Unmarshal(event.Data.Raw, &about) != nil {
		return payments.WebhookEvent{}, payments.ErrNotOurs
	}
	of := about.Metadata.Payment
	if len(about.Action.Process.Intent) > 0 {
		of, about.Intent = "", about.Action.Process.Intent // metadata are those of the reader
	}
	if intent := ""; of == "" && json.Unmarshal(about.Intent, &intent) == nil && intent != "" {
		if of, err = s.paymentOf(ctx, intent); err != nil {
			return payments.WebhookEvent{}, err
		}
	}
	payment, err := seats.ParseID(of)
	if err != nil {
		return payments.WebhookEvent{}, payments.ErrNotOurs
	}
	return payments.WebhookEvent{Method: payments.Card, Event: event.ID, Payment: payment, Kind: string(event.Type)}, nil
}

// paymentOf is the payment of ours that a payment intent was made for; orders.ErrNotOurs if Stripe knows of none.
func (s *Stripe) paymentOf(ctx context.Context, intent string) (string, error) {
	found, err := s.client.V1PaymentIntents.Retrieve(ctx, intent, nil)
	var e *api.Error
	switch {
	case errors.As(err, &e) && (e.HTTPStatusCode == http.StatusNotFound || e.HTTPStatusCode == http.StatusBadRequest):
		return "", payments.ErrNotOurs
	case err != nil:
		return "", fmt.Errorf("stripe: find the payment of an intent: %w", err)
	}
	return found.Metadata["payment"], nil
}

// ahead reports whether a signature says a time that is yet to come by more than clocks differ, which Stripe's library allows.
func ahead(signature string) bool {
	for part := range strings.SplitSeq(signature, ",") {
		if text, is := strings.CutPrefix(strings.TrimSpace(part), "t="); is {
			at, err := strconv.ParseInt(text, 10, 64)
			if err != nil || time.Until(time.Unix(at, 0)) > 5*time.Minute {
				return true
			}
		}
	}
	return false
}

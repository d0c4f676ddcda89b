package stripe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	api "github.com/stripe/stripe-go/v85"

	"github.com/usherbox/usher/seats/payments"
)

// Capture is part of payments.Provider.
func (s *Stripe) Capture(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	return s.move(ctx, c, func(session *api.CheckoutSession) error {
		if session.PaymentIntent == nil || session.PaymentIntent.Status != api.PaymentIntentStatusRequiresCapture {
			return nil
		}
		params := &api.PaymentIntentCaptureParams{}
		params.SetIdempotencyKey(c.Key)
		_, err := s.client.V1PaymentIntents.Capture(ctx, session.PaymentIntent.ID, params)
		return err
	})
}

// Void is part of payments.Provider: the page is closed, or what was promised there is given back.
func (s *Stripe) Void(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	if c.Reader != "" && c.Reference == "" {
		return s.voidUnanswered(ctx, c)
	}
	return s.move(ctx, c, func(session *api.CheckoutSession) error {
		if c.Reader != "" {
			return s.endAtReader(ctx, c, session.PaymentIntent)
		}
		if session.Status == api.CheckoutSessionStatusOpen {
			params := &api.CheckoutSessionExpireParams{}
			params.SetIdempotencyKey(c.Key + "-page")
			if _, err := s.client.V1CheckoutSessions.Expire(ctx, session.ID, params); err == nil || !settled(err) {
				return err
			}
			var err error // the customer paid in this moment
			if session, err = s.session(ctx, c); err != nil {
				return err
			}
		}
		if session.PaymentIntent == nil || !slices.Contains(cancellable, session.PaymentIntent.Status) {
			return nil
		}
		params := &api.PaymentIntentCancelParams{}
		params.SetIdempotencyKey(c.Key)
		_, err := s.client.V1PaymentIntents.Cancel(ctx, session.PaymentIntent.ID, params)
		return err
	})
}

// cancellable are the states in which Stripe may give up a payment. One that a bank is processing it seldom can.
var cancellable = []api.PaymentIntentStatus{
	api.PaymentIntentStatusRequiresCapture, api.PaymentIntentStatusRequiresAction, api.PaymentIntentStatusRequiresPaymentMethod, api.PaymentIntentStatusProcessing,
}

// Refund is part of payments.Provider. Its key is kept with the refund, so that one that was made is found again when
// Stripe has forgotten the key of the call.
func (s *Stripe) Refund(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	refusal := ""
	st, err := s.move(ctx, c, func(session *api.CheckoutSession) error {
		if session.PaymentIntent == nil {
			return nil
		}
		for refund, err := range s.refunds(ctx, session) {
			if err != nil {
				return err
			}
			if refund.Metadata["key"] == c.Key {
				return nil
			}
		}
		amount, _ := toStripe(c.Refund, c.Currency)
		params := &api.RefundCreateParams{PaymentIntent: api.String(session.PaymentIntent.ID), Amount: api.Int64(amount), Metadata: map[string]string{"key": c.Key, "payment": c.Payment.String()}}
		params.SetIdempotencyKey(c.Key)
		_, err := s.client.V1Refunds.Create(ctx, params)
		if e := (*api.Error)(nil); settled(err) && errors.As(err, &e) {
			refusal = why(e)
		}
		return err
	})
	st.Reason = cmp.Or(refusal, st.Reason)
	return st, err
}

// move looks how a payment stands, does something about it, and tells how it stands then. What Stripe refused because it
// stands otherwise is no error.
func (s *Stripe) move(ctx context.Context, c payments.Charge, act func(*api.CheckoutSession) error) (payments.Standing, error) {
	session, err := s.session(ctx, c)
	if err != nil {
		return payments.Standing{}, err
	}
	if err := act(session); err != nil && !settled(err) {
		return payments.Standing{}, err
	}
	return s.Lookup(ctx, c)
}

// settled reports whether Stripe understood a request and refused it: then it is known how things stand, by asking.
func settled(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Type != api.ErrorTypeIdempotency &&
		(e.HTTPStatusCode == http.StatusBadRequest || e.HTTPStatusCode == http.StatusPaymentRequired)
}

// Package stripe lets orders be paid with Stripe, on its hosted page (Checkout), by every method that the account has. A card
// is charged only once the seats are sold, by manual capture. Most other methods know no manual capture: the money comes
// first, at once or after days. What Stripe tells by webhook makes us ask; nothing it says there is believed.
package stripe

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/usherbox/usher/seats/outbound"
	"github.com/usherbox/usher/seats/payments"
)

// Stripe is an account at Stripe. A reference is a Checkout Session, or a PaymentIntent where a card that is kept was charged or a reader reads one.
type Stripe struct {
	client  *api.Client
	secrets []string
}

// New returns the account of a secret key. secret is that of the webhook; two, with a comma between, while it is changed.
// url is where Stripe is; empty for the real one.
func New(key, secret, url string) *Stripe {
	config := &api.BackendConfig{
		HTTPClient:        &http.Client{Timeout: 10 * time.Second, CheckRedirect: outbound.Stay},
		MaxNetworkRetries: api.Int64(0), // the attempt is repeated by itself
		EnableTelemetry:   api.Bool(false),
		LeveledLogger:     &api.LeveledLogger{Level: api.LevelNull},
	}
	if url != "" {
		config.URL = api.String(url)
	}
	return &Stripe{client: api.NewClient(key, api.WithBackends(api.NewBackendsWithConfig(config))), secrets: strings.Split(secret, ",")}
}

// Authorize is part of payments.Provider: it makes the page where the attendee pays.
func (s *Stripe) Authorize(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	amount, ok := toStripe(c.Amount, c.Currency)
	if !ok {
		return payments.Standing{Stand: payments.Declined, Amount: c.Amount, Currency: c.Currency, Reason: "the card provider cannot take this amount in " + c.Currency + "."}, nil
	}
	switch {
	case c.Reader != "":
		return s.handOver(ctx, c, amount)
	case c.Token != "":
		return s.charge(ctx, c, amount)
	}
	ours := map[string]string{"payment": c.Payment.String()}
	params := &api.CheckoutSessionCreateParams{
		Mode:              api.String(string(api.CheckoutSessionModePayment)),
		ClientReferenceID: api.String(c.Payment.String()),
		Metadata:          ours,
		SuccessURL:        api.String(c.Back + "?back"),
		CancelURL:         api.String(c.Back),
		PaymentIntentData: &api.CheckoutSessionCreatePaymentIntentDataParams{Description: api.String(c.What), Metadata: ours},
		PaymentMethodOptions: &api.CheckoutSessionCreatePaymentMethodOptionsParams{
			Card: &api.CheckoutSessionCreatePaymentMethodOptionsCardParams{CaptureMethod: api.String(string(api.PaymentIntentCaptureMethodManual))},
		},
		LineItems: []*api.CheckoutSessionCreateLineItemParams{{
			Quantity: api.Int64(1),
			PriceData: &api.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: api.String(strings.ToLower(c.Currency)), UnitAmount: api.Int64(amount),
				ProductData: &api.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: api.String(c.What)},
			},
		}},
	}
	if !c.Slow {
		for _, method := range slices.Sorted(maps.Keys(slowMethods)) {
			params.ExcludedPaymentMethodTypes = append(params.ExcludedPaymentMethodTypes, api.String(method))
		}
	}
	if c.Email != "" { // Stripe refuses an empty one
		params.CustomerEmail = api.String(c.Email)
	}
	params.SetIdempotencyKey(c.Key)
	session, err := s.client.V1CheckoutSessions.Create(ctx, params)
	if err != nil {
		return refused(err)
	}
	return standing(session), nil
}

// Methods that take days, and for how many at most Stripe names (docs.stripe.com/payments/payment-methods, of each method
// "Payment confirmation: delayed"; vouchers: how long a slip is valid). Others are confirmed at once.
var slowMethods = map[string]int{
	"acss_debit": 10, "au_becs_debit": 7, "bacs_debit": 7, "boleto": 7, "customer_balance": 14, "konbini": 7, "multibanco": 7,
	"nz_bank_account": 7, "oxxo": 7, "sepa_debit": 14, "us_bank_account": 7,
}

const usualWait = 14 // days of a slow method that is not in the table

// wait returns how long the method of an intent may take.
func wait(p *api.PaymentIntent) time.Duration {
	days := usualWait
	if c := p.LatestCharge; c != nil && c.PaymentMethodDetails != nil {
		days = cmp.Or(slowMethods[string(c.PaymentMethodDetails.Type)], days)
	}
	return time.Duration(days) * 24 * time.Hour
}

// refused is the answer to a request that Stripe understood and will never grant; other errors leave open what happened.
func refused(err error) (payments.Standing, error) {
	var e *api.Error
	if errors.As(err, &e) && (e.HTTPStatusCode == http.StatusBadRequest || e.HTTPStatusCode == http.StatusPaymentRequired) && e.Type != api.ErrorTypeIdempotency {
		return payments.Standing{Stand: payments.Declined, Reason: why(e)}, nil
	}
	return payments.Standing{}, err
}

// Lookup is part of payments.Provider. Of money that was taken it also tells what became of refunds, ours and others.
func (s *Stripe) Lookup(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	session, err := s.session(ctx, c)
	if err != nil {
		return payments.Standing{}, err
	}
	st := standing(session)
	if c.Reader != "" && session.PaymentIntent != nil {
		if st, err = s.atReader(ctx, c, session.PaymentIntent, st); err != nil {
			return payments.Standing{}, err
		}
	}
	if st.Stand != payments.Captured {
		return st, nil
	}
	for refund, err := range s.refunds(ctx, session) {
		if err != nil {
			return payments.Standing{}, err
		}
		failed := refund.Status == api.RefundStatusFailed || refund.Status == api.RefundStatusCanceled
		switch key := refund.Metadata["key"]; {
		case failed && key != "":
			st.Failed = append(st.Failed, payments.Failure{Key: key, Reason: string(refund.Status) + " " + string(refund.FailureReason)})
		case !failed && key == "":
			st.Elsewhere += fromStripe(refund.Amount, st.Currency)
		}
	}
	return st, nil
}

func (s *Stripe) refunds(ctx context.Context, session *api.CheckoutSession) api.Seq2[*api.Refund, error] {
	return s.client.V1Refunds.List(ctx, &api.RefundListParams{PaymentIntent: api.String(session.PaymentIntent.ID)}).All(ctx)
}

func (s *Stripe) session(ctx context.Context, c payments.Charge) (*api.CheckoutSession, error) {
	if strings.HasPrefix(c.Reference, intentPrefix) {
		return s.charged(ctx, c.Reference)
	}
	params := &api.CheckoutSessionRetrieveParams{}
	params.AddExpand("payment_intent.latest_charge")
	return s.client.V1CheckoutSessions.Retrieve(ctx, c.Reference, params)
}

// standing is what a session says, in our words.
func standing(s *api.CheckoutSession) payments.Standing {
	st := payments.Standing{Stand: payments.Pending, Reference: s.ID, Page: s.URL, Currency: strings.ToUpper(string(s.Currency))}
	st.Amount = fromStripe(s.AmountTotal, st.Currency)
	if s.Status == api.CheckoutSessionStatusExpired {
		st.Stand, st.Page = payments.Voided, ""
	}
	p := s.PaymentIntent
	if s.Status != api.CheckoutSessionStatusComplete || p == nil {
		return st
	}
	st.Page, st.Card = "", fingerprint(p)
	switch p.Status {
	case api.PaymentIntentStatusRequiresCapture:
		st.Stand, st.Amount = payments.Authorized, fromStripe(p.AmountCapturable, st.Currency)
	case api.PaymentIntentStatusSucceeded:
		st.Stand, st.Captured = payments.Captured, fromStripe(p.AmountReceived, st.Currency)
		if p.LatestCharge != nil {
			st.Refunded = fromStripe(p.LatestCharge.AmountRefunded, st.Currency)
		}
	case api.PaymentIntentStatusProcessing, api.PaymentIntentStatusRequiresAction: // the latter: a slip is to be paid
		st.Stand, st.Wait = payments.Processing, wait(p)
	case api.PaymentIntentStatusRequiresPaymentMethod: // it failed after the page was done
		st.Stand, st.Reason = payments.Declined, "the bank did not pay."
	case api.PaymentIntentStatusCanceled:
		st.Stand = payments.Voided
	}
	return st
}

// fingerprint is Stripe's name of the card that was used, the same for every customer who uses it; empty if the intent was
// read without its charge.
func fingerprint(p *api.PaymentIntent) string {
	if c := p.LatestCharge; c != nil && c.PaymentMethodDetails != nil && c.PaymentMethodDetails.Card != nil {
		return c.PaymentMethodDetails.Card.Fingerprint
	}
	return ""
}

package stripe

import (
	"context"
	"errors"
	"net/http"
	"strings"

	api "github.com/stripe/stripe-go/v85"

	"github.com/usherbox/usher/seats/payments"
)

// OffSession is part of payments.CardStore: a card that is kept is charged while its holder is not there.
func (*Stripe) OffSession() {}

// StoreCard is part of payments.CardStore: a page in setup mode with a SetupIntent for charges while the customer is not there. Stripe
// asks for a text that says what they agree to, for how much and until when, right where they do
// (docs.stripe.com/payments/save-and-reuse, "Compliance").
func (s *Stripe) StoreCard(ctx context.Context, k payments.CardRequest) (payments.StoredCard, error) {
	ours := map[string]string{"mandate": k.Mandate.String()}
	params := &api.CheckoutSessionCreateParams{
		Mode:               api.String(string(api.CheckoutSessionModeSetup)),
		PaymentMethodTypes: []*string{api.String("card")},
		ClientReferenceID:  api.String(k.Mandate.String()),
		Metadata:           ours,
		CustomerCreation:   api.String(string(api.CheckoutSessionCustomerCreationAlways)),
		CustomerEmail:      api.String(k.Email),
		SuccessURL:         api.String(k.Back + "?card"),
		CancelURL:          api.String(k.Back),
		SetupIntentData:    &api.CheckoutSessionCreateSetupIntentDataParams{Description: api.String(k.What), Metadata: ours},
		CustomText:         &api.CheckoutSessionCreateCustomTextParams{Submit: &api.CheckoutSessionCreateCustomTextSubmitParams{Message: api.String(k.What)}},
	}
	params.SetIdempotencyKey(k.Key)
	session, err := s.client.V1CheckoutSessions.Create(ctx, params)
	if err != nil {
		return payments.StoredCard{}, err
	}
	return kept(session), nil
}

// StoredCard is part of payments.CardStore.
func (s *Stripe) StoredCard(ctx context.Context, reference string) (payments.StoredCard, error) {
	params := &api.CheckoutSessionRetrieveParams{}
	params.AddExpand("setup_intent")
	session, err := s.client.V1CheckoutSessions.Retrieve(ctx, reference, params)
	if err != nil {
		return payments.StoredCard{}, err
	}
	return kept(session), nil
}

// kept is what a page in setup mode says. A token is a customer and a card of theirs.
func kept(s *api.CheckoutSession) payments.StoredCard {
	k := payments.StoredCard{Reference: s.ID}
	if s.Status == api.CheckoutSessionStatusOpen {
		k.Page = s.URL
	}
	if i := s.SetupIntent; s.Customer != nil && i != nil && i.Status == api.SetupIntentStatusSucceeded && i.PaymentMethod != nil {
		k.Token = s.Customer.ID + "/" + i.PaymentMethod.ID
	}
	return k
}

// DeleteCard is part of payments.CardStore: with its customer Stripe deletes the card.
func (s *Stripe) DeleteCard(ctx context.Context, reference string) error {
	k, err := s.StoredCard(ctx, reference)
	switch {
	case err != nil:
		return err
	case k.Token != "":
		customer, _, _ := strings.Cut(k.Token, "/")
		_, err = s.client.V1Customers.Delete(ctx, customer, nil)
		var e *api.Error
		if errors.As(err, &e) && e.HTTPStatusCode == http.StatusNotFound {
			return nil // it was done
		}
	case k.Page != "":
		_, err = s.client.V1CheckoutSessions.Expire(ctx, reference, nil) // refused if a card was given in this moment: it comes again
	}
	return err
}

const intentPrefix = "pi_"

// charge asks for the money of a card that is kept. Where the bank wants to see its holder, who is not there, it is declined.
func (s *Stripe) charge(ctx context.Context, c payments.Charge, amount int64) (payments.Standing, error) {
	customer, card, _ := strings.Cut(c.Token, "/")
	params := &api.PaymentIntentCreateParams{
		Amount: api.Int64(amount), Currency: api.String(strings.ToLower(c.Currency)),
		Customer: api.String(customer), PaymentMethod: api.String(card), PaymentMethodTypes: []*string{api.String("card")},
		OffSession: api.Bool(true), Confirm: api.Bool(true),
		CaptureMethod: api.String(string(api.PaymentIntentCaptureMethodManual)), Description: api.String(c.What),
		Metadata: map[string]string{"payment": c.Payment.String()},
	}
	params.AddExpand("latest_charge")
	params.SetIdempotencyKey(c.Key)
	intent, err := s.client.V1PaymentIntents.Create(ctx, params)
	if err != nil {
		return refused(err)
	}
	st := standing(asSession(intent))
	if intent.Status != api.PaymentIntentStatusRequiresAction && intent.Status != api.PaymentIntentStatusRequiresPaymentMethod && st.Stand != payments.Pending {
		return st, nil
	}
	cancel := &api.PaymentIntentCancelParams{}
	cancel.SetIdempotencyKey(c.Key + "-asks")
	if _, err := s.client.V1PaymentIntents.Cancel(ctx, intent.ID, cancel); err != nil && !settled(err) {
		return payments.Standing{}, err
	}
	return payments.Standing{Stand: payments.Declined, Amount: c.Amount, Currency: c.Currency, Reason: asksHolder}, nil
}

// charged is how the charge of a card that is kept stands.
func (s *Stripe) charged(ctx context.Context, reference string) (*api.CheckoutSession, error) {
	params := &api.PaymentIntentRetrieveParams{}
	params.AddExpand("latest_charge")
	intent, err := s.client.V1PaymentIntents.Retrieve(ctx, reference, params)
	if err != nil {
		return nil, err
	}
	return asSession(intent), nil
}

// asSession is a charge without a page, as if it had one that is done.
func asSession(intent *api.PaymentIntent) *api.CheckoutSession {
	return &api.CheckoutSession{ID: intent.ID, Status: api.CheckoutSessionStatusComplete, Currency: intent.Currency, AmountTotal: intent.Amount, PaymentIntent: intent}
}

const asksHolder = "the bank wants the holder of the card to confirm it."

// why says in words why a request was refused.
func why(e *api.Error) string {
	switch {
	case e.Code == api.ErrorCodeAuthenticationRequired || e.DeclineCode == api.DeclineCodeAuthenticationRequired:
		return asksHolder
	case e.Code == api.ErrorCodeExpiredCard:
		return "the card has expired."
	case e.Type == api.ErrorTypeCard:
		return "the bank declined the card."
	}
	return "the card provider refused it."
}

package stripe

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	api "github.com/stripe/stripe-go/v85"

	"github.com/usherbox/usher/seats/payments"
)

// Card readers at the box office: Stripe Terminal, in the server-driven integration (docs.stripe.com/terminal/payments/collect-card-payment).
// A reader shows one PaymentIntent at a time, and charges the card that it reads. What it does stands in its latest action.

// Readers is part of payments.ReaderProvider. A reader is assigned by its metadata at Stripe: team is the number of the team.
func (s *Stripe) Readers(ctx context.Context, team int64) (list []payments.Reader, err error) {
	params := &api.TerminalReaderListParams{}
	params.Limit = api.Int64(pageSize)
	for r, err := range s.client.V1TerminalReaders.List(ctx, params).All(ctx) {
		if err != nil {
			return nil, err
		}
		if team != 0 && r.Metadata["team"] != strconv.FormatInt(team, 10) {
			continue
		}
		list = append(list, payments.Reader{ID: r.ID, Label: r.Label, Online: r.Status == api.TerminalReaderStatusOnline})
		if len(list) == pageSize {
			break
		}
	}
	return list, nil
}

// intentOf makes the PaymentIntent of a charge at a reader, which no reader shows yet; a repeat finds the same one.
func (s *Stripe) intentOf(ctx context.Context, c payments.Charge, amount int64) (*api.PaymentIntent, error) {
	params := &api.PaymentIntentCreateParams{
		Amount: api.Int64(amount), Currency: api.String(strings.ToLower(c.Currency)), PaymentMethodTypes: []*string{api.String("card_present")},
		CaptureMethod: api.String(string(api.PaymentIntentCaptureMethodAutomatic)), Description: api.String(c.What), Metadata: map[string]string{"payment": c.Payment.String()},
	}
	params.SetIdempotencyKey(c.Key)
	return s.client.V1PaymentIntents.Create(ctx, params)
}

// handOver makes the PaymentIntent of a charge and has the reader show it. If the reader refuses, the intent is given up. If it is not
// known whether the reader shows it, it is pending: Stripe repeats an unclear answer for its key for a day, so the next question is
// about the intent.
func (s *Stripe) handOver(ctx context.Context, c payments.Charge, amount int64) (payments.Standing, error) {
	intent, err := s.intentOf(ctx, c, amount)
	if err != nil {
		return refused(err)
	}
	c.Reference = intent.ID
	show := &api.TerminalReaderProcessPaymentIntentParams{PaymentIntent: api.String(intent.ID), ProcessConfig: &api.TerminalReaderProcessPaymentIntentProcessConfigParams{
		SkipTipping: api.Bool(true), EnableCustomerCancellation: api.Bool(true), // a tip would change the amount
	}}
	show.SetIdempotencyKey(c.Key + "-reader")
	_, err = s.client.V1TerminalReaders.ProcessPaymentIntent(ctx, c.Reader, show)
	var e *api.Error
	switch {
	case err == nil:
		return s.Lookup(ctx, c)
	case !errors.As(err, &e) || !settled(err) && e.HTTPStatusCode != http.StatusNotFound && e.Code != api.ErrorCodeTerminalReaderBusy:
		return payments.Standing{Stand: payments.Pending, Reference: intent.ID, Amount: c.Amount, Currency: c.Currency}, nil
	}
	st, err := s.Void(ctx, c)
	if err == nil && st.Stand == payments.Voided {
		st.Stand, st.Reason = payments.Declined, whyNotShown(e)
	}
	return st, err
}

// voidUnanswered ends a charge at a reader of which no answer came, with the key of that call. The reader is not told to show it.
func (s *Stripe) voidUnanswered(ctx context.Context, c payments.Charge) (payments.Standing, error) {
	amount, ok := toStripe(c.Amount, c.Currency)
	if !ok { // it was never asked for
		return payments.Standing{Stand: payments.Declined, Amount: c.Amount, Currency: c.Currency}, nil
	}
	intent, err := s.intentOf(ctx, c, amount)
	if err != nil {
		return refused(err)
	}
	c.Reference = intent.ID
	return s.Void(ctx, c)
}

// whyNotShown says why a reader did not take a payment.
func whyNotShown(e *api.Error) string {
	switch e.Code {
	case api.ErrorCodeTerminalReaderOffline:
		return "the card reader is offline."
	case api.ErrorCodeTerminalReaderBusy:
		return "the card reader is busy."
	case api.ErrorCodeTerminalReaderTimeout:
		return "the card reader did not answer."
	case api.ErrorCodeResourceMissing:
		return "there is no such card reader any more."
	}
	return "the card provider refused it."
}

// waiting are the states of an intent that a reader may still charge.
var waiting = []api.PaymentIntentStatus{
	api.PaymentIntentStatusRequiresPaymentMethod, api.PaymentIntentStatusRequiresConfirmation, api.PaymentIntentStatusRequiresAction, api.PaymentIntentStatusProcessing,
}

// atReader corrects what an intent says while it is at a reader: it is pending as long as the reader shows it. One that the reader
// ended is given up, so that nothing comes of it later.
func (s *Stripe) atReader(ctx context.Context, c payments.Charge, intent *api.PaymentIntent, st payments.Standing) (payments.Standing, error) {
	if !slices.Contains(waiting, intent.Status) {
		return st, nil
	}
	st.Stand, st.Page, st.Reason = payments.Pending, "", ""
	shown, err := s.shown(ctx, c.Reader, intent.ID)
	if err != nil || shown != nil && shown.Status != api.TerminalReaderActionStatusFailed || intent.Status == api.PaymentIntentStatusProcessing {
		return st, err
	}
	if _, err := s.client.V1PaymentIntents.Cancel(ctx, intent.ID, nil); err != nil && !settled(err) {
		return st, err
	}
	session, err := s.charged(ctx, intent.ID)
	if err != nil {
		return st, err
	}
	if slices.Contains(waiting, session.PaymentIntent.Status) { // the card was read in this moment
		return st, nil
	}
	if st = standing(session); st.Stand == payments.Voided {
		st.Stand, st.Reason = payments.Declined, "it was ended at the card reader."
		if shown != nil {
			st.Reason = whyFailed(shown)
		}
	}
	return st, nil
}

// whyFailed says why a reader charged no card.
func whyFailed(a *api.TerminalReaderAction) string {
	switch api.ErrorCode(a.FailureCode) {
	case api.ErrorCodeCardDeclined:
		return "the bank declined the card."
	case api.ErrorCodeExpiredCard:
		return "the card has expired."
	case "customer_canceled":
		return "the customer cancelled it at the card reader."
	case api.ErrorCodeTerminalReaderOffline:
		return "the card reader is offline."
	case api.ErrorCodeTerminalReaderTimeout:
		return "the card reader did not answer."
	}
	return "the card could not be read."
}

// shown is the action of a reader about an intent; nil if its latest action is about something else, or there is no such reader.
func (s *Stripe) shown(ctx context.Context, reader, intent string) (*api.TerminalReaderAction, error) {
	r, err := s.client.V1TerminalReaders.Retrieve(ctx, reader, nil)
	var e *api.Error
	if errors.As(err, &e) && e.HTTPStatusCode == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if a := r.Action; a != nil && a.ProcessPaymentIntent != nil && a.ProcessPaymentIntent.PaymentIntent != nil && a.ProcessPaymentIntent.PaymentIntent.ID == intent {
		return a, nil
	}
	return nil, nil
}

// endAtReader ends what a reader shows of a charge, and gives its intent up. The intent decides: a reader that is offline, or does not
// answer, charges nothing of it afterwards. A card that is being read goes first. These calls have no key: a repeat may be granted
// later, and changes nothing that is done.
func (s *Stripe) endAtReader(ctx context.Context, c payments.Charge, intent *api.PaymentIntent) error {
	if intent == nil || !slices.Contains(waiting, intent.Status) {
		return nil
	}
	if a, err := s.shown(ctx, c.Reader, intent.ID); err == nil && a != nil && a.Status == api.TerminalReaderActionStatusInProgress {
		_, _ = s.client.V1TerminalReaders.CancelAction(ctx, c.Reader, nil)
	}
	_, err := s.client.V1PaymentIntents.Cancel(ctx, intent.ID, nil)
	return err
}

package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payouts"
)

// Payouts is part of payouts.Provider.
func (s *Stripe) Payouts(ctx context.Context, since time.Time) iter.Seq2[payouts.Payout, error] {
	return func(yield func(payouts.Payout, error) bool) {
		params := &api.PayoutListParams{CreatedRange: &api.RangeQueryParams{GreaterThanOrEqual: since.Unix()}}
		params.Limit = api.Int64(pageSize)
		for p, err := range s.client.V1Payouts.List(ctx, params).All(ctx) {
			if err != nil {
				yield(payouts.Payout{}, fmt.Errorf("stripe: %w", err))
				return
			}
			if !yield(payout(p), nil) {
				return
			}
		}
	}
}

const pageSize = 100 // Stripe's most

func payout(p *api.Payout) payouts.Payout {
	currency := strings.ToUpper(string(p.Currency))
	return payouts.Payout{
		ID: p.ID, Status: string(p.Status), Currency: currency, Amount: fromStripe(p.Amount, currency), CreatedAt: time.Unix(p.Created, 0), ArrivesOn: time.Unix(p.ArrivalDate, 0).UTC(),
		Automatic: p.Automatic && p.ReconciliationStatus != api.PayoutReconciliationStatusNotApplicable,
		Settled:   p.ReconciliationStatus != api.PayoutReconciliationStatusInProgress,
	}
}

// Lines is part of payouts.Provider. The payout itself is a balance transaction, too, and no line of it.
func (s *Stripe) Lines(ctx context.Context, id string) iter.Seq2[payouts.Line, error] {
	return func(yield func(payouts.Line, error) bool) {
		params := &api.BalanceTransactionListParams{Payout: api.String(id)}
		params.AddExpand("data.source")
		params.Limit = api.Int64(pageSize)
		known := map[string]string{} // payments of ours by their intent
		for t, err := range s.client.V1BalanceTransactions.List(ctx, params).All(ctx) {
			var l payouts.Line
			if err == nil {
				if t.Type == api.BalanceTransactionTypePayout {
					continue
				}
				l, err = s.line(ctx, t, known)
			}
			if err != nil {
				yield(payouts.Line{}, fmt.Errorf("stripe: %w", err))
				return
			}
			if !yield(l, nil) {
				return
			}
		}
	}
}

// lineKinds are the kinds of lines by reporting category.
var lineKinds = map[api.BalanceTransactionReportingCategory]string{
	api.BalanceTransactionReportingCategoryCharge: payouts.Charge, api.BalanceTransactionReportingCategoryRefund: payouts.Refund,
	api.BalanceTransactionReportingCategoryRefundFailure: payouts.Returned, api.BalanceTransactionReportingCategoryDispute: payouts.Dispute,
	api.BalanceTransactionReportingCategoryDisputeReversal: payouts.Dispute, api.BalanceTransactionReportingCategoryFee: payouts.Fee, "network_cost": payouts.Fee,
	api.BalanceTransactionReportingCategoryTax: payouts.Fee, api.BalanceTransactionReportingCategoryPayoutReversal: payouts.Earlier,
}

// line is a balance transaction in our words. known keeps what was asked for.
func (s *Stripe) line(ctx context.Context, t *api.BalanceTransaction, known map[string]string) (payouts.Line, error) {
	currency := strings.ToUpper(string(t.Currency))
	l := payouts.Line{
		ID: t.ID, Kind: cmp.Or(lineKinds[t.ReportingCategory], payouts.Other), Type: string(t.Type), At: time.Unix(t.Created, 0), Currency: currency,
		Amount: fromStripe(t.Amount, currency), Fee: fromStripe(t.Fee, currency), Net: fromStripe(t.Net, currency),
	}
	if t.Source == nil {
		return l, nil
	}
	l.Source = t.Source.ID
	of, intent := "", (*api.PaymentIntent)(nil)
	switch {
	case t.Source.Charge != nil:
		c := t.Source.Charge
		of, intent, l.Of = c.Metadata["payment"], c.PaymentIntent, strings.ToUpper(string(c.Currency))
		l.Charged = fromStripe(cmp.Or(c.AmountCaptured, c.Amount), l.Of)
	case t.Source.Refund != nil:
		r := t.Source.Refund
		of, intent, l.Of, l.Key = r.Metadata["payment"], r.PaymentIntent, strings.ToUpper(string(r.Currency)), r.Metadata["key"]
		l.Charged = fromStripe(r.Amount, l.Of)
	case t.Source.Dispute != nil:
		intent = t.Source.Dispute.PaymentIntent
	}
	if of == "" && intent != nil {
		asked := false
		if of, asked = known[intent.ID]; !asked {
			var err error
			if of, err = s.paymentOf(ctx, intent.ID); err != nil && !errors.Is(err, payments.ErrNotOurs) {
				return l, err
			}
			known[intent.ID] = of
		}
	}
	if id, err := seats.ParseID(of); err == nil { // else it is of nothing here
		l.Payment = id
	}
	return l, nil
}

// aboutPayouts reports whether a webhook is about a payout: then all of them are read.
func aboutPayouts(event api.Event) bool { return strings.HasPrefix(string(event.Type), "payout.") }

package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/payments"
)

// Card is the demo card of a database. One is enough for a node.
type Card struct {
	db     seats.DB
	record func(context.Context, payments.WebhookEvent) error

	telling *jobs.Job
}

// New returns the demo card. It passes its events to record.
func New(db seats.DB, record func(context.Context, payments.WebhookEvent) error) *Card {
	c := &Card{db: db, record: record}
	c.telling = jobs.New("demo card", dueEventsSQL, c.tellDue)
	return c
}

// ErrNoCharge and ErrAnswered say what is not there, and what was said otherwise before.
var (
	ErrNoCharge = errors.New("the demo card has no such charge")
	ErrAnswered = errors.New("the demo card was told something else for this charge")
)

// Charge is the amount and the choices that the payer with the demo card sees.
type Charge struct {
	Reference string
	What      string
	Amount    int64  // minor units
	Currency  string // ISO 4217
	Back      string // where they come back to
	Pending   bool   // it still waits for them
}

const chargeSQL = `
SELECT reference, what, amount, currency, back, stand = 'pending' AND NOT EXISTS (SELECT FROM demo_news n WHERE n.payment_id = c.payment_id)
  FROM demo_charge c WHERE reference = $1`

// Charge returns the charge with a reference. ErrNoCharge if there is none.
func (c *Card) Charge(ctx context.Context, reference string) (Charge, error) {
	var charge Charge
	err := c.db.QueryRow(ctx, chargeSQL, reference).Scan(&charge.Reference, &charge.What, &charge.Amount, &charge.Currency, &charge.Back, &charge.Pending)
	if errors.Is(err, pgx.ErrNoRows) {
		return charge, ErrNoCharge
	}
	if err != nil {
		return charge, fmt.Errorf("demo: read a charge: %w", err)
	}
	return charge, nil
}

// stand runs a statement about a charge and returns how it stands then.
func (c *Card) stand(ctx context.Context, sql string, args ...any) (s payments.Standing, err error) {
	err = c.db.QueryRow(ctx, sql, args...).Scan(&s.Stand, &s.Reference, &s.Amount, &s.Currency, &s.Captured, &s.Refunded)
	if err != nil {
		return s, fmt.Errorf("demo: %w", err)
	}
	switch s.Stand {
	case payments.Pending:
		s.Page = "/demo-card/" + s.Reference
	case payments.Declined:
		s.Reason = "the demo card was told to decline."
	}
	return s, nil
}

const standing = ` stand, reference, amount, currency, captured, (SELECT coalesce(sum(value::bigint), 0)::bigint FROM jsonb_each_text(refunds))`

const authorizeSQL = `
INSERT INTO demo_charge (payment_id, reference, amount, currency, what, back) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (payment_id) DO UPDATE SET what = excluded.what
RETURNING` + standing

// Authorize is part of payments.Provider.
func (c *Card) Authorize(ctx context.Context, charge payments.Charge) (payments.Standing, error) {
	return c.stand(ctx, authorizeSQL, charge.Payment, seats.NewID().String(), charge.Amount, charge.Currency, charge.What, charge.Back)
}

const captureSQL = `
UPDATE demo_charge
   SET captured = CASE WHEN stand = 'authorized' THEN $2 ELSE captured END,
       stand    = CASE WHEN stand = 'authorized' THEN 'captured' ELSE stand END
 WHERE payment_id = $1
RETURNING` + standing

// Capture is part of payments.Provider.
func (c *Card) Capture(ctx context.Context, charge payments.Charge) (payments.Standing, error) {
	return c.stand(ctx, captureSQL, charge.Payment, charge.Amount)
}

const voidSQL = `
UPDATE demo_charge SET stand = CASE WHEN stand IN ('authorized', 'pending') THEN 'voided' ELSE stand END
 WHERE payment_id = $1
RETURNING` + standing

// Void is part of payments.Provider.
func (c *Card) Void(ctx context.Context, charge payments.Charge) (payments.Standing, error) {
	return c.stand(ctx, voidSQL, charge.Payment)
}

const refundSQL = `
UPDATE demo_charge SET refunds = refunds || jsonb_build_object($2::text, $3::bigint)
 WHERE payment_id = $1
RETURNING` + standing

// Refund is part of payments.Provider.
func (c *Card) Refund(ctx context.Context, charge payments.Charge) (payments.Standing, error) {
	return c.stand(ctx, refundSQL, charge.Payment, charge.Key, charge.Refund)
}

const lookupSQL = `SELECT` + standing + ` FROM demo_charge WHERE payment_id = $1`

// Lookup is part of payments.Provider.
func (c *Card) Lookup(ctx context.Context, charge payments.Charge) (payments.Standing, error) {
	return c.stand(ctx, lookupSQL, charge.Payment)
}

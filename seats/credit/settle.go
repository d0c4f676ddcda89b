package credit

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// What is not captured goes back at once.
const captureSQL = `
WITH done AS (
    UPDATE credit_hold SET state = 'captured', captured = $2
     WHERE id = $1 AND state = 'open' AND amount >= $2
    RETURNING account_id, currency, amount - $2 AS rest
), back AS (
    UPDATE credit_account a SET balance = balance + done.rest
      FROM done WHERE a.id = done.account_id AND done.rest > 0
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, hold_id)
SELECT 'capture', held.id, sales.id, done.currency, $2, $1
  FROM done, credit_account held, credit_account sales
 WHERE held.kind = 'held' AND held.email IS NULL AND held.currency = done.currency
   AND sales.kind = 'sales' AND sales.email IS NULL AND sales.currency = done.currency
 UNION ALL
SELECT 'void', held.id, done.account_id, done.currency, done.rest, $1
  FROM done, credit_account held
 WHERE held.kind = 'held' AND held.email IS NULL AND held.currency = done.currency AND done.rest > 0`

// Capture makes so many minor units of a hold the house's and gives the rest back. A repeat changes nothing.
// ErrNoHold; ErrTooMuch; ErrVoided; ErrCaptured if another amount was captured before.
func (l *Ledger) Capture(ctx context.Context, hold seats.ID, amount int64) error {
	if amount <= 0 {
		return ErrAmount
	}
	done, err := l.db.Exec(ctx, captureSQL, hold, amount)
	if err != nil {
		return fmt.Errorf("credit: capture: %w", err)
	}
	if done.RowsAffected() > 0 {
		return nil
	}
	h, err := l.Find(ctx, hold)
	switch {
	case err != nil:
		return err
	case h.State == Captured && h.Captured == amount:
		return nil
	case h.State == Open:
		return ErrTooMuch
	}
	return ended(h.State)
}

const voidSQL = `
WITH done AS (
    UPDATE credit_hold SET state = 'voided'
     WHERE id = $1 AND state = 'open'
       AND (NOT $2 OR expires_at <= clock_timestamp() AND NOT EXISTS (SELECT FROM payment p WHERE p.id = $1 AND p.state IN ('open', 'authorized', 'sold')))
    RETURNING account_id, currency, amount
), back AS (
    UPDATE credit_account a SET balance = balance + done.amount
      FROM done WHERE a.id = done.account_id
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, hold_id)
SELECT 'void', held.id, done.account_id, done.currency, done.amount, $1
  FROM done, credit_account held
 WHERE held.kind = 'held' AND held.email IS NULL AND held.currency = done.currency`

// Void gives a hold back. A repeat changes nothing. ErrNoHold; ErrCaptured if it is too late for that.
func (l *Ledger) Void(ctx context.Context, hold seats.ID) error {
	done, err := l.db.Exec(ctx, voidSQL, hold, false)
	if err != nil {
		return fmt.Errorf("credit: void: %w", err)
	}
	if done.RowsAffected() > 0 {
		return nil
	}
	h, err := l.Find(ctx, hold)
	if err == nil && h.State == Captured {
		err = ErrCaptured
	}
	return err
}

// States of a hold.
const (
	Open     = "open"
	Captured = "captured"
	Voided   = "voided"
)

// Held is a hold as it is.
type Held struct {
	State    string
	Amount   Amount
	Captured int64 // minor units
	Refunded int64 // minor units
}

const findHoldSQL = `SELECT state, amount, currency, captured, refunded FROM credit_hold WHERE id = $1`

// Find returns a hold. ErrNoHold if there is none.
func (l *Ledger) Find(ctx context.Context, hold seats.ID) (h Held, err error) {
	err = l.db.QueryRow(ctx, findHoldSQL, hold).Scan(&h.State, &h.Amount.Minor, &h.Amount.Currency, &h.Captured, &h.Refunded)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, ErrNoHold
	}
	if err != nil {
		return h, fmt.Errorf("credit: find a hold: %w", err)
	}
	return h, nil
}

package credit

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Money that goes back to a gift card may be spent for a year, also if the card expires before.
const refundSQL = `
WITH done AS (
    UPDATE credit_hold SET refunded = refunded + $3
     WHERE id = $2 AND refunded + $3 <= captured
    RETURNING account_id, currency
), back AS (
    UPDATE credit_account a SET balance = balance + $3
      FROM done WHERE a.id = done.account_id
    RETURNING a.kind, a.email
), lasts AS (
    UPDATE credit_voucher v SET expires_at = greatest(v.expires_at, clock_timestamp() + interval '1 year')
      FROM back WHERE back.kind = 'card' AND back.email = 'card-' || v.id AND v.expires_at IS NOT NULL
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, hold_id, key)
SELECT 'refund', sales.id, done.account_id, done.currency, $3, $2, $1
  FROM done, credit_account sales
 WHERE sales.kind = 'sales' AND sales.email IS NULL AND sales.currency = done.currency`

// Refund gives so many minor units of what was captured back to whom they came from. A repeat with the same key changes
// nothing. ErrNoHold; ErrTooMuch if less than that is left of what was captured; ErrDiffers if the key was used for
// something else.
func (l *Ledger) Refund(ctx context.Context, key string, hold seats.ID, amount int64) error {
	if amount <= 0 {
		return ErrAmount
	}
	done, err := l.db.Exec(ctx, refundSQL, key, hold, amount)
	switch {
	case err != nil && !repeated(err):
		return fmt.Errorf("credit: refund: %w", err)
	case err == nil && done.RowsAffected() > 0:
		return nil
	}
	if found, err := l.sameRefund(ctx, key, hold, amount); found || err != nil {
		return err
	}
	if _, err := l.Find(ctx, hold); err != nil {
		return err
	}
	return ErrTooMuch
}

const sameRefundSQL = `SELECT kind = 'refund' AND hold_id = $2 AND amount = $3 FROM credit_transfer WHERE key = $1`

// sameRefund is the answer to a refund with a key that was used before: found tells whether it was.
func (l *Ledger) sameRefund(ctx context.Context, key string, hold seats.ID, amount int64) (found bool, err error) {
	var same *bool
	err = l.db.QueryRow(ctx, sameRefundSQL, key, hold, amount).Scan(&same)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("credit: look for the first answer: %w", err)
	case same == nil || !*same:
		return true, ErrDiffers
	}
	return true, nil
}

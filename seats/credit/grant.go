package credit

import (
	"context"
	"fmt"

	"github.com/usherbox/usher/seats"
)

const grantSQL = `
WITH account AS (
    INSERT INTO credit_account (kind, email, currency, balance) VALUES ('attendee', $2, $3, $4)
        ON CONFLICT (kind, email, currency) DO UPDATE SET balance = credit_account.balance + excluded.balance
    RETURNING id
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, key, order_id)
SELECT 'grant', issued.id, account.id, $3, $4, $1, $5
  FROM account, credit_account issued
 WHERE issued.kind = 'issued' AND issued.email IS NULL AND issued.currency = $3`

// Grant gives an address credit made by the operator: an order that was paid in another way and is refunded as credit,
// or a kindness, which is about no order (the zero ID). A repeat with the same key changes nothing; ErrDiffers if the key was used
// for something else.
func (l *Ledger) Grant(ctx context.Context, key string, email string, a Amount, order seats.ID) error {
	if err := l.ready(ctx, a); err != nil {
		return err
	}
	email, err := Address(email)
	if err != nil {
		return err
	}
	_, err = l.db.Exec(ctx, grantSQL, key, email, a.Currency, a.Minor, order)
	if repeated(err) {
		return l.sameGrant(ctx, key, email, a)
	}
	if err != nil {
		return fmt.Errorf("credit: grant: %w", err)
	}
	return nil
}

const sameGrantSQL = `
SELECT t.kind = 'grant' AND a.email = $2 AND t.currency = $3 AND t.amount = $4
  FROM credit_transfer t JOIN credit_account a ON a.id = t.to_id
 WHERE t.key = $1`

func (l *Ledger) sameGrant(ctx context.Context, key string, email string, a Amount) error {
	var same bool
	if err := l.db.QueryRow(ctx, sameGrantSQL, key, email, a.Currency, a.Minor).Scan(&same); err != nil {
		return fmt.Errorf("credit: look for the first answer: %w", err)
	}
	if !same {
		return ErrDiffers
	}
	return nil
}

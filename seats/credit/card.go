package credit

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

// A voucher pays at the box office by its code, without an address. Its credit is loaded into an account of the card, and what a sale
// leaves stays there under the same code. A person who redeems the code gets the rest (moveSQL).

// The amount of a card that no sale used is that of its voucher.
const cardSQL = `
SELECT v.id, v.currency, coalesce(a.balance, v.amount), v.voided_at IS NOT NULL, coalesce(v.expires_at <= clock_timestamp(), false), v.redeemed_at IS NOT NULL AND a.id IS NULL
  FROM credit_voucher v LEFT JOIN credit_account a ON a.kind = 'card' AND a.email = 'card-' || v.id AND a.currency = v.currency
 WHERE v.code = $1`

// cardAccount begins the name of a card's account, which is no address.
const cardAccount = "card-"

// IsCard is part of payments.Cards.
func (Payments) IsCard(code string) bool { return voucherHash(code) != nil }

// Card is part of payments.Cards.
func (p Payments) Card(ctx context.Context, code string) (c payments.GiftCard, err error) {
	var voucher int64
	var voided, expired, redeemed bool
	err = p.Ledger.db.QueryRow(ctx, cardSQL, voucherHash(code)).Scan(&voucher, &c.Currency, &c.Balance, &voided, &expired, &redeemed)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return c, refuseCard(text.Mark("There is no gift card with this code. Nothing was sold. Check the code."))
	case err != nil:
		return c, fmt.Errorf("credit: find a card: %w", err)
	case voided:
		return c, refuseCard(text.Mark("This gift card was paid back. Nothing was sold."))
	case redeemed:
		return c, refuseCard(text.Mark("This gift card was loaded into an account of the shop. Nothing was sold. Its owner can pay with it there."))
	case expired:
		return c, refuseCard(text.Mark("This gift card has expired. Nothing was sold."))
	case c.Balance == 0:
		return c, refuseCard(text.Mark("There is nothing left on this gift card. Nothing was sold."))
	}
	c.Account = fmt.Sprint(cardAccount, voucher)
	c.Short = func(ctx context.Context, err error) error { return p.short(ctx, code, err) }
	c.Spend = func(q *pgx.Batch, payment, order seats.ID, minor int64) {
		q.Queue(loadCardSQL, voucher)
		q.Queue(spendSQL, voucher, minor, payment, order)
	}
	c.Reserve = func(q *pgx.Batch, payment, order seats.ID, minor int64) {
		q.Queue(loadCardSQL, voucher)
		q.Queue(reserveSQL, voucher, minor, payment, order, mostHeld.Seconds())
	}
	return c, p.Ledger.ready(ctx, Amount{c.Balance, c.Currency})
}

func refuseCard(message string) *seats.Conflict {
	return &seats.Conflict{Code: payments.CodeCard, Message: message}
}

// A card is loaded by its first sale.
const loadCardSQL = `
WITH used AS (
    UPDATE credit_voucher SET redeemed_at = clock_timestamp()
     WHERE id = $1 AND redeemed_at IS NULL AND voided_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
    RETURNING id, currency, amount
), account AS (
    INSERT INTO credit_account (kind, email, currency, balance) SELECT 'card', 'card-' || id, currency, amount FROM used RETURNING id
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, voucher_id)
SELECT 'load', issued.id, account.id, used.currency, used.amount, used.id
  FROM used, account, credit_account issued
 WHERE issued.kind = 'issued' AND issued.email IS NULL AND issued.currency = used.currency`

// A card that has less meanwhile makes a hold of nothing, which a constraint refuses.
const takeCard = `
WITH taken AS (
    UPDATE credit_account a SET balance = balance - $2
      FROM credit_voucher v
     WHERE v.id = $1 AND a.kind = 'card' AND a.email = 'card-' || v.id AND a.currency = v.currency AND a.balance >= $2
       AND (v.expires_at IS NULL OR v.expires_at > clock_timestamp())
    RETURNING a.id
), `

const reserveSQL = takeCard + `reserved AS (
    INSERT INTO credit_hold (id, account_id, currency, order_id, amount, expires_at)
    SELECT $3, coalesce((SELECT id FROM taken), held.id), held.currency, $4, CASE WHEN EXISTS (SELECT FROM taken) THEN $2::bigint ELSE 0 END, clock_timestamp() + make_interval(secs => $5)
      FROM credit_account held
     WHERE held.kind = 'held' AND held.email IS NULL AND held.currency = (SELECT currency FROM credit_voucher WHERE id = $1)
    RETURNING account_id, currency, amount
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, hold_id)
SELECT 'hold', reserved.account_id, held.id, reserved.currency, reserved.amount, $3
  FROM reserved, credit_account held WHERE held.kind = 'held' AND held.email IS NULL AND held.currency = reserved.currency`

const spendSQL = takeCard + `spent AS (
    INSERT INTO credit_hold (id, account_id, currency, order_id, amount, state, captured, expires_at)
    SELECT $3, coalesce((SELECT id FROM taken), held.id), held.currency, $4, n, CASE WHEN n > 0 THEN 'captured' ELSE 'open' END, n, clock_timestamp()
      FROM credit_account held, LATERAL (SELECT CASE WHEN EXISTS (SELECT FROM taken) THEN $2::bigint ELSE 0 END AS n) x
     WHERE held.kind = 'held' AND held.email IS NULL AND held.currency = (SELECT currency FROM credit_voucher WHERE id = $1)
    RETURNING account_id, currency, captured
)
INSERT INTO credit_transfer (kind, from_id, to_id, currency, amount, hold_id)
SELECT 'hold', spent.account_id, held.id, spent.currency, spent.captured, $3
  FROM spent, credit_account held WHERE held.kind = 'held' AND held.email IS NULL AND held.currency = spent.currency
 UNION ALL
SELECT 'capture', held.id, sales.id, spent.currency, spent.captured, $3
  FROM spent, credit_account held, credit_account sales
 WHERE held.kind = 'held' AND held.email IS NULL AND held.currency = spent.currency
   AND sales.kind = 'sales' AND sales.email IS NULL AND sales.currency = spent.currency`

// short returns what is said of a sale that failed because the card did not pay at that moment, as it is now; nil for other errors.
func (p Payments) short(ctx context.Context, code string, err error) error {
	if !seats.IsConstraint(err, "what is held is more than nothing") {
		return nil
	}
	if _, why := p.Card(ctx, code); why != nil {
		return why
	}
	return refuseCard(text.Mark("This gift card was used at the same moment, and has less left. Nothing was sold. Check the new amount, then sell again."))
}

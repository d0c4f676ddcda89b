package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Concern is a payment somebody has to look at, or money somebody has to pay out.
type Concern struct {
	Code      string // of the order, which may never have come to be
	Event     string // slug
	Method    string
	Reference string // the provider's name of the payment; empty if there is none
	Amount    int64  // minor units
	Currency  string // ISO 4217
	State     string
	Why       string
}

// ByHand is the state of a Concern that is money to be paid out.
const ByHand = "to pay out"

// What was noted, steps that failed again and again, and what goes back by hand.
const attentionSQL = `
SELECT p.code, e.slug, p.method, p.reference, p.amount, p.currency, p.state, CASE p.attention WHEN '' THEN stuck.words ELSE p.attention END AS why, p.created_at
  FROM payment p JOIN event e ON e.id = p.event_id
       LEFT JOIN LATERAL (SELECT 'It was tried to ' || step || ' ' || tries || ' times: ' || error AS words
                            FROM intention WHERE payment_id = p.id AND done_at IS NULL AND tries >= 5 AND error <> '' ORDER BY id LIMIT 1) stuck ON true
 WHERE p.attention <> '' OR stuck.words IS NOT NULL
 UNION ALL
SELECT coalesce(o.code, p.code), e.slug, coalesce(o.method, p.method), coalesce(p.reference, ''), r.amount, coalesce(o.currency, p.currency), 'to pay out',
       CASE r.failed WHEN '' THEN r.reason ELSE r.failed END, r.created_at
  FROM refund r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.id = r.payment_id
       JOIN event e ON e.id = coalesce(o.event_id, p.event_id)
 WHERE r.by_hand AND r.done_at IS NULL
 ORDER BY 9 DESC`

// Attention lists what somebody has to look at, the latest first.
func (o *Orders) Attention(ctx context.Context) (list []Concern, err error) {
	rows, err := o.db.Query(ctx, attentionSQL)
	if err == nil {
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Concern, err error) {
			return c, row.Scan(&c.Code, &c.Event, &c.Method, &c.Reference, &c.Amount, &c.Currency, &c.State, &c.Why, nil)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("orders: what needs attention: %w", err)
	}
	return list, nil
}

// ErrNotDue says that there is nothing to mark as paid.
var ErrNotDue = errors.New("nothing is due that is paid at the door or by invoice")

const markPaidSQL = `
WITH was AS (
    SELECT id, (SELECT coalesce(sum(price + fee), 0)::bigint FROM ticket WHERE order_id = orders.id AND revoked_at IS NULL) + kept - paid - waived AS due
      FROM orders WHERE code = $1 FOR NO KEY UPDATE
)
UPDATE orders SET paid = paid + was.due, received = received + was.due FROM was
 WHERE orders.id = was.id AND state = 'confirmed' AND method IN ('door', 'invoice') AND was.due > 0
RETURNING was.due, currency`

// MarkPaid notes that what is due for an order was paid outside of this program. It returns how much that was, in minor
// units. ErrNoOrder, ErrNotDue.
func (o *Orders) MarkPaid(ctx context.Context, code string) (amount int64, currency string, err error) {
	return o.MarkPaidAnd(ctx, code, nil)
}

// MarkPaidAnd is MarkPaid with something that commits with it.
func (o *Orders) MarkPaidAnd(ctx context.Context, code string, also seats.Also) (amount int64, currency string, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, markPaidSQL, code).Scan(&amount, &currency); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if !errors.Is(err, pgx.ErrNoRows) {
		o.happened()
		return amount, currency, err
	}
	if _, err := o.Find(ctx, code); err != nil {
		return 0, "", err
	}
	return 0, "", ErrNotDue
}

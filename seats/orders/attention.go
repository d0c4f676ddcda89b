package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// What somebody has to look at: what was noted, and steps that failed again and again.
const attentionSQL = paymentColumns + `
 WHERE p.attention <> ''
    OR EXISTS (SELECT FROM intention i WHERE i.payment_id = p.id AND i.done_at IS NULL AND i.tries >= 5 AND i.error <> '')
 ORDER BY p.created_at DESC`

const stuckSQL = `
SELECT 'It was tried to ' || step || ' ' || tries || ' times: ' || error
  FROM intention WHERE payment_id = $1 AND done_at IS NULL ORDER BY id LIMIT 1`

// Attention lists the payments somebody has to look at, the latest first.
func (o *Orders) Attention(ctx context.Context) ([]Payment, error) {
	rows, err := o.db.Query(ctx, attentionSQL)
	if err != nil {
		return nil, fmt.Errorf("orders: what needs attention: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Payment, err error) { return p, p.scan(row) })
	if err != nil {
		return nil, fmt.Errorf("orders: what needs attention: %w", err)
	}
	for i := range list {
		if list[i].Attention != "" {
			continue
		}
		err := o.db.QueryRow(ctx, stuckSQL, list[i].ID).Scan(&list[i].Attention)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) { // it may have got on meanwhile
			return nil, fmt.Errorf("orders: what needs attention: %w", err)
		}
	}
	return list, nil
}

// ErrNotDue says that there is nothing to mark as paid.
var ErrNotDue = errors.New("nothing is due that is paid at the door or by invoice")

const markPaidSQL = `
WITH was AS (
    SELECT id, (SELECT coalesce(sum(price), 0)::bigint FROM ticket WHERE order_id = orders.id AND revoked_at IS NULL) - paid AS due
      FROM orders WHERE code = $1 FOR NO KEY UPDATE
)
UPDATE orders SET paid = paid + was.due FROM was
 WHERE orders.id = was.id AND state = 'confirmed' AND method IN ('door', 'invoice') AND was.due > 0
RETURNING was.due, currency`

// MarkPaid notes that what is due for an order was paid outside of this program. It returns how much that was, in minor
// units. ErrNoOrder, ErrNotDue.
func (o *Orders) MarkPaid(ctx context.Context, code string) (amount int64, currency string, err error) {
	err = o.db.QueryRow(ctx, markPaidSQL, code).Scan(&amount, &currency)
	if !errors.Is(err, pgx.ErrNoRows) {
		return amount, currency, err
	}
	if _, err := o.Find(ctx, code); err != nil {
		return 0, "", err
	}
	return 0, "", ErrNotDue
}

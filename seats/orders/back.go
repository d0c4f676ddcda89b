package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
)

// ErrNotPaid says that an order has not so much to give back.
var ErrNotPaid = errors.New("so much was not paid for this order, or went back already")

const waiveSQL = `
WITH told AS (
    INSERT INTO mail (order_id, kind) SELECT id, 'refund' FROM orders WHERE id = $1 AND paid >= $2 AND email <> ''
)
UPDATE orders SET paid = paid - $2, waived = waived + $2 WHERE id = $1 AND paid >= $2`

// Refund gives back a part of what was paid for an order with valid tickets, in minor units, and mail about it is on its
// way. A repeat with its key gives nothing more.
//
// Errors: ErrNotPaid; idempotency.ErrNoKey; a *seats.Refusal if the key was used for something else; the database's.
func (o *Orders) Refund(ctx context.Context, order Order, key string, amount int64, reason string) error {
	return o.RefundAnd(ctx, order, key, amount, reason, nil)
}

// RefundAnd is Refund with something that commits with it.
func (o *Orders) RefundAnd(ctx context.Context, order Order, key string, amount int64, reason string, also seats.Also) error {
	k, err := keyOf(order.ID, key, "refund", amount)
	if err != nil {
		return err
	}
	if amount <= 0 {
		return ErrNotPaid
	}
	first, err := o.once(ctx, k, func(tx pgx.Tx) error {
		var q pgx.Batch
		q.Queue(oneAtATimeSQL, order.ID)
		q.Queue(waiveSQL, order.ID, amount).Exec(func(tag pgconn.CommandTag) error {
			if tag.RowsAffected() == 0 {
				return ErrNotPaid
			}
			return nil
		})
		payments.QueueRefund(&q, order.ID, reason, nil)
		if err := tx.SendBatch(ctx, &q).Close(); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("orders: refund: %w", err)
	}
	if first {
		o.mailWritten()
		o.Payments.Wake()
	}
	return nil
}

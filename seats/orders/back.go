package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
)

// What came for an order and is neither in it nor on its way back goes back. It is the one statement that makes a refund:
// whoever takes money out of an order, or takes money for none, queues it next in the same transaction. What a provider
// took goes back by the provider, the rest by hand.
const goBackSQL = `
WITH owed AS (
    SELECT p.id AS payment_id, coalesce(p.captured, o.received, 0) - coalesce(o.paid, 0)
           - (SELECT coalesce(sum(amount), 0)::bigint FROM refund WHERE order_id = $1) AS amount
      FROM (SELECT $1::uuid AS id) this LEFT JOIN payment p ON p.order_id = this.id AND p.method NOT IN ('free', 'door', 'invoice') LEFT JOIN orders o ON o.id = this.id
), back AS (
    INSERT INTO refund (id, order_id, payment_id, amount, reason, cancellation_id, by_hand)
    SELECT $2, $1, payment_id, amount, $3, $4, payment_id IS NULL FROM owed WHERE amount > 0
    RETURNING id, payment_id
)
INSERT INTO intention (payment_id, step, refund_id) SELECT payment_id, 'refund', id FROM back WHERE payment_id IS NOT NULL`

// queueBack queues the refund of what an order does not keep. cancellation is nil if tickets hold.
func queueBack(q *pgx.Batch, order seats.ID, reason string, cancellation *seats.ID) {
	q.Queue(goBackSQL, order, seats.NewID(), reason, cancellation)
}

// ErrNotPaid says that an order has not so much to give back.
var ErrNotPaid = errors.New("so much was not paid for this order, or went back already")

const waiveSQL = `
WITH told AS (
    INSERT INTO mail (order_id, kind) SELECT id, 'refund' FROM orders WHERE id = $1 AND paid >= $2 AND email <> ''
)
UPDATE orders SET paid = paid - $2, waived = waived + $2 WHERE id = $1 AND paid >= $2`

// Refund gives back a part of what was paid for an order whose tickets hold, in minor units, and mail about it is on its
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
		queueBack(&q, order.ID, reason, nil)
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
		o.jobs.payments.Wake()
	}
	return nil
}

const paidOutSQL = `
WITH done AS (
    UPDATE refund SET done_at = clock_timestamp()
     WHERE by_hand AND done_at IS NULL
       AND order_id IN (SELECT id FROM orders WHERE code = $1 UNION SELECT order_id FROM payment WHERE code = $1)
    RETURNING order_id, amount
)
SELECT coalesce(sum(done.amount), 0)::bigint, coalesce(min(o.currency), min(p.currency), '')
  FROM done LEFT JOIN orders o ON o.id = done.order_id LEFT JOIN payment p ON p.order_id = done.order_id`

// PaidOut notes that the refunds by hand of an order or payment were paid out, and commits also with it. It returns their
// sum in minor units, 0 if there were none. ErrNoOrder if there is no such code.
func (o *Orders) PaidOut(ctx context.Context, code string, also seats.Also) (amount int64, currency string, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, paidOutSQL, code).Scan(&amount, &currency); err != nil || amount == 0 {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return 0, "", fmt.Errorf("orders: note what was paid out: %w", err)
	}
	if amount > 0 {
		o.happened()
		return amount, currency, nil
	}
	if _, err = o.Find(ctx, code); errors.Is(err, ErrNoOrder) {
		if _, err = o.Payment(ctx, code); errors.Is(err, ErrNoPayment) {
			return 0, "", ErrNoOrder
		}
	}
	return 0, "", err
}

package orders

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

// News of a payment whose money was taken makes us look at it: somebody may have given money back at the provider, or a
// refund may have failed there after all.
const lookAgainSQL = `
INSERT INTO intention (payment_id, step) SELECT id, 'look' FROM payment WHERE id = $1 AND captured > 0
    ON CONFLICT (payment_id, step) WHERE step <> 'refund' DO UPDATE SET done_at = NULL, next_try = clock_timestamp(), tries = intention.tries + 1`

// lookAt asks how a payment stands whose money was taken, and puts our books right where they differ.
func (o *Orders) lookAt(ctx context.Context, p Payment, i intention) (again bool, err error) {
	standing, err := o.call(ctx, p, i.key(), 0, Payments.Lookup)
	if err != nil {
		return false, err
	}
	return true, pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		var q pgx.Batch
		q.Queue(oneAtATimeSQL, p.Order)
		for _, f := range standing.Failed {
			queueFailed(&q, p, f)
		}
		q.Queue(elsewhereSQL, p.ID, standing.Elsewhere, seats.NewID(), p.Currency, pricing.Decimals(p.Currency))
		q.Queue(lookedSQL, i.id, i.tries)
		return tx.SendBatch(ctx, &q).Close()
	})
}

// News that came since this look began made another one due (lookAgainSQL).
const lookedSQL = `UPDATE intention SET done_at = clock_timestamp() WHERE id = $1 AND tries = $2`

// What was given back elsewhere leaves the order, whose tickets hold: the organizer decides about them. What exceeds the
// order's money is of refunds that are on their way, which meet it there (refund).
const elsewhereSQL = `
WITH fresh AS (
    SELECT p.id, p.order_id, o.id AS ordered, least($2 - known.amount, coalesce(o.paid, 0)) AS amount
      FROM payment p LEFT JOIN orders o ON o.id = p.order_id,
           LATERAL (SELECT coalesce(sum(amount), 0)::bigint AS amount FROM refund WHERE payment_id = p.id AND elsewhere) known
     WHERE p.id = $1 AND least($2 - known.amount, coalesce(o.paid, 0)) > 0
), less AS (
    UPDATE orders SET paid = paid - fresh.amount, waived = waived + fresh.amount FROM fresh WHERE orders.id = fresh.ordered
), back AS (
    INSERT INTO refund (id, order_id, payment_id, amount, reason, elsewhere, done_at)
    SELECT $3, order_id, id, amount, 'It was given back at the provider.', true, clock_timestamp() FROM fresh
)
UPDATE payment SET attention = format('%s %s were given back at the provider, not here. The tickets of %s hold: cancel them at the desk.',
       $4::text, round(fresh.amount / 10::numeric ^ $5::integer, $5::integer), payment.code)
  FROM fresh WHERE payment.id = fresh.id`

// A refund that failed after all is paid out by hand. Its payment is not kept open for that.
const failedSQL = `
WITH failed AS (
    UPDATE refund SET by_hand = true, done_at = NULL, failed = $3
     WHERE payment_id = $1 AND NOT by_hand AND id = (SELECT refund_id FROM intention WHERE payment_id = $1 AND 'usher-refund-' || id = $2)
    RETURNING id
), done AS (
    UPDATE intention SET done_at = clock_timestamp() WHERE refund_id = (SELECT id FROM failed) AND done_at IS NULL
)
UPDATE payment SET state = 'closed', page = ''
 WHERE id = $1 AND state = 'lost' AND NOT EXISTS (SELECT FROM refund WHERE payment_id = $1 AND done_at IS NULL AND NOT by_hand AND id <> (SELECT id FROM failed))`

func queueFailed(q *pgx.Batch, p Payment, f Failure) {
	q.Queue(failedSQL, p.ID, f.Key, fmt.Sprintf("The %s provider could not give it back: %s", p.Method, f.Reason))
}

const metElsewhereSQL = `
UPDATE refund SET elsewhere = true, done_at = clock_timestamp()
 WHERE id = $2 AND done_at IS NULL AND amount <= $3 - (SELECT coalesce(sum(amount), 0) FROM refund WHERE payment_id = $1 AND elsewhere)`

// refusedRefund is what becomes of a refund that the provider did not make: it failed for good, somebody made it there
// already, or it is tried again.
func (o *Orders) refusedRefund(ctx context.Context, p Payment, i intention, s Standing) (settled bool, err error) {
	if at := slices.IndexFunc(s.Failed, func(f Failure) bool { return f.Key == i.key() }); at >= 0 {
		var q pgx.Batch
		queueFailed(&q, p, s.Failed[at])
		return true, o.db.SendBatch(ctx, &q).Close()
	}
	tag, err := o.db.Exec(ctx, metElsewhereSQL, p.ID, i.refundID, s.Elsewhere)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	_, err = o.db.Exec(ctx, refundedSQL, p.ID, i.refundID)
	return true, err
}

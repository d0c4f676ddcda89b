package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

// Money that came for an order, is not in it, and is not in a refund goes back, each part the way it came. Only this statement
// makes a refund. Whatever takes money out of an order, or gives up a payment, queues it next in the same transaction. The provider
// refunds what it captured; the organizer pays out the rest.
const refundSQL = sources + `, owed AS (
    SELECT payment_id, least(rest, greatest(0, sum(rest) OVER () - coalesce((SELECT paid FROM orders WHERE id = $1), 0) - coalesce(sum(rest) OVER before, 0)))::bigint AS amount
      FROM source WINDOW before AS (ORDER BY place, payer ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), way AS (
    SELECT payment_id, sum(amount)::bigint AS amount, row_number() OVER (ORDER BY payment_id) AS n FROM owed GROUP BY payment_id HAVING sum(amount) > 0
), back AS (
    INSERT INTO refund (id, order_id, payment_id, amount, reason, cancellation_id, by_hand)
    SELECT CASE n WHEN 1 THEN $2 ELSE gen_random_uuid() END, $1, payment_id, amount, $3, $4, payment_id IS NULL FROM way
    RETURNING id, payment_id
)
INSERT INTO intention (payment_id, step, refund_id) SELECT payment_id, 'refund', id FROM back WHERE payment_id IS NOT NULL`

// QueueRefund queues the refund of what an order does not keep. cancellation is nil if its tickets stay valid.
func QueueRefund(q *pgx.Batch, order seats.ID, reason string, cancellation *seats.ID) {
	q.Queue(refundSQL, order, seats.NewID(), reason, cancellation)
}

const refundedSQL = `
WITH refunded AS (UPDATE refund SET done_at = clock_timestamp() WHERE id = $2 AND done_at IS NULL)
   , done AS (UPDATE intention SET done_at = clock_timestamp() WHERE refund_id = $2)
UPDATE payment
   SET state = 'closed', page = ''
 WHERE id = $1 AND state = 'lost' AND NOT EXISTS (SELECT FROM refund WHERE payment_id = $1 AND done_at IS NULL AND NOT by_hand AND id <> $2)`

const refundStuckSQL = `UPDATE payment SET attention = $2 WHERE id = $1`

// refund gives money back. It belongs to the attendee from the moment its row exists: a provider that refuses is asked
// again, and the organizer is told.
func (ps *Payments) refund(ctx context.Context, p Payment, a attempt) (again bool, err error) {
	p.before = a.before
	s, err := ps.call(ctx, p, a.key(), a.amount, Provider.Refund)
	if err != nil {
		return false, err
	}
	if s.Stand == Declined || s.Refunded-s.Elsewhere < a.before+a.amount {
		if settled, err := ps.refused(ctx, p, a, s); settled || err != nil {
			return settled, err
		}
		err := fmt.Errorf("payments: a refund of %d %s was refused: it is %s. %s", a.amount, p.Currency, s.Stand, s.Reason)
		_, e := ps.db.Exec(ctx, refundStuckSQL, p.ID, strings.TrimPrefix(err.Error(), "payments: "))
		return false, errors.Join(&downError{err}, e)
	}
	_, err = ps.db.Exec(ctx, refundedSQL, p.ID, a.refundID)
	ps.Changed()
	return false, err
}

const metElsewhereSQL = `
UPDATE refund SET elsewhere = true, done_at = clock_timestamp()
 WHERE id = $2 AND done_at IS NULL AND amount <= $3 - (SELECT coalesce(sum(amount), 0) FROM refund WHERE payment_id = $1 AND elsewhere)`

// refused handles a refund that the provider did not make. It reports false if the refund is to be tried again: it did not
// fail for good, and was not made at the provider already.
func (ps *Payments) refused(ctx context.Context, p Payment, a attempt, s Standing) (settled bool, err error) {
	if at := slices.IndexFunc(s.Failed, func(f Failure) bool { return f.Key == a.key() }); at >= 0 {
		var q pgx.Batch
		queueFailed(&q, p, s.Failed[at])
		return true, ps.db.SendBatch(ctx, &q).Close()
	}
	tag, err := ps.db.Exec(ctx, metElsewhereSQL, p.ID, a.refundID, s.Elsewhere)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	_, err = ps.db.Exec(ctx, refundedSQL, p.ID, a.refundID)
	return true, err
}

// A refund that failed later is paid out by hand, without what credit gave back of it. Its payment does not stay open for that.
const failedSQL = `
WITH part AS (
    SELECT coalesce((SELECT amount FROM credit_transfer WHERE kind = 'refund' AND key = $2 || '-credit'), 0) AS credit
), failed AS (
    UPDATE refund SET by_hand = true, done_at = NULL, failed = $3, by_credit = part.credit FROM part
     WHERE payment_id = $1 AND NOT by_hand AND amount > part.credit AND id = (SELECT refund_id FROM intention WHERE payment_id = $1 AND 'usher-refund-' || id = $2)
    RETURNING id
), done AS (
    UPDATE intention SET done_at = clock_timestamp() WHERE refund_id = (SELECT id FROM failed) AND done_at IS NULL
)
UPDATE payment SET state = 'closed', page = ''
 WHERE id = $1 AND state = 'lost' AND NOT EXISTS (SELECT FROM refund WHERE payment_id = $1 AND done_at IS NULL AND NOT by_hand AND id <> (SELECT id FROM failed))`

func queueFailed(q *pgx.Batch, p Payment, f Failure) {
	q.Queue(failedSQL, p.ID, f.Key, fmt.Sprintf("The %s provider could not give it back: %s", p.Method, f.Reason))
}

// Money that was refunded at the provider leaves the order. Its tickets stay valid: the organizer decides about them. An
// amount beyond the order's money belongs to refunds that are due, which meet it there (refused).
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
    SELECT $3, order_id, id, amount, 'Refunded at the provider.', true, clock_timestamp() FROM fresh
)
UPDATE payment SET attention = format('%s %s were given back at the provider, not here. The tickets of %s are still valid: cancel them at the desk.',
       $4::text, round(fresh.amount / 10::numeric ^ $5::integer, $5::integer), payment.code)
  FROM fresh WHERE payment.id = fresh.id`

// An event that came since this look began made another one due (lookAgainSQL).
const lookedSQL = `UPDATE intention SET done_at = clock_timestamp() WHERE id = $1 AND tries = $2`

// look asks for the state of a captured payment, and corrects our books where they differ.
func (ps *Payments) look(ctx context.Context, p Payment, a attempt) (again bool, err error) {
	s, err := ps.call(ctx, p, a.key(), 0, Provider.Lookup)
	if err != nil {
		return false, err
	}
	return true, pgx.BeginFunc(ctx, ps.db, func(tx pgx.Tx) error {
		var q pgx.Batch
		q.Queue(lockOrdersSQL, p.orders())
		for _, f := range s.Failed {
			queueFailed(&q, p, f)
		}
		q.Queue(elsewhereSQL, p.ID, s.Elsewhere, seats.NewID(), p.Currency, pricing.Decimals(p.Currency))
		q.Queue(lookedSQL, a.id, a.tries)
		return tx.SendBatch(ctx, &q).Close()
	})
}

const paidOutSQL = `
WITH orders_of AS (SELECT id FROM orders WHERE code = $1 UNION SELECT order_id FROM payment WHERE code = $1)
   , done AS (
    UPDATE refund SET done_at = clock_timestamp() WHERE by_hand AND done_at IS NULL AND order_id IN (SELECT id FROM orders_of)
    RETURNING order_id, amount - by_credit AS amount
)
SELECT coalesce(sum(done.amount), 0)::bigint, coalesce(min(o.currency), min(p.currency), ''), EXISTS (SELECT FROM orders_of)
  FROM done LEFT JOIN orders o ON o.id = done.order_id LEFT JOIN payment p ON p.order_id = done.order_id`

// PaidOut notes that the organizer paid out what is due by hand for the order or payment with this code, and commits it
// with also. It returns the amount in minor units, 0 if nothing was due. ErrNoPayment if the code is unknown.
func (ps *Payments) PaidOut(ctx context.Context, code string, also seats.TxHook) (amount int64, currency string, err error) {
	known := false
	err = pgx.BeginFunc(ctx, ps.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, paidOutSQL, code).Scan(&amount, &currency, &known); err != nil || amount == 0 {
			return err
		}
		return also.Run(ctx, tx)
	})
	switch {
	case err != nil:
		return 0, "", fmt.Errorf("payments: note a payout: %w", err)
	case !known:
		return 0, "", ErrNoPayment
	case amount > 0:
		ps.Changed()
	}
	return amount, currency, nil
}

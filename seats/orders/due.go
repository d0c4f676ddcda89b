package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// remindSQL writes the mail to the attendee of an order that is due within a day.
const remindSQL = `
WITH due AS (
    SELECT id, email FROM orders WHERE id = $1 AND due_at IS NOT NULL AND remind_at <= clock_timestamp() FOR NO KEY UPDATE SKIP LOCKED
), told AS (
    INSERT INTO mail (order_id, kind) SELECT id, 'reminder' FROM due WHERE email <> ''
)
UPDATE orders SET remind_at = NULL FROM due WHERE orders.id = due.id`

const overdueSQL = `SELECT code FROM orders WHERE id = $1 AND due_at <= clock_timestamp()`

// remindOrExpire sends the reminder of an unpaid order, or cancels the order. The statement of the reminder takes its time
// away, and an order is cancelled once, so that several nodes may do it. It returns 0 if neither is due.
func (o *Orders) remindOrExpire(ctx context.Context, order string) (n int, err error) {
	tag, err := o.db.Exec(ctx, remindSQL, order)
	if err != nil {
		return 0, fmt.Errorf("orders: remind: %w", err)
	}
	if tag.RowsAffected() > 0 {
		o.mailWritten()
		n = 1
	}
	var code string
	err = o.db.QueryRow(ctx, overdueSQL, order).Scan(&code)
	if errors.Is(err, pgx.ErrNoRows) {
		return n, nil
	}
	if err == nil {
		err = o.expire(ctx, code)
	}
	if err != nil {
		return n, fmt.Errorf("orders: end an unpaid order: %w", err)
	}
	return 1, nil
}

// Nothing is due any more of an order that was paid or checked in.
const notDueSQL = `UPDATE orders SET due_at = NULL, remind_at = NULL WHERE id = $1`

// expire cancels an order that was not paid in time. Its seats are free again, for those who wait first. An order with a
// ticket that was checked in stays: the attendee is there, and the door sees what is due. Joining an online event is not coming.
func (o *Orders) expire(ctx context.Context, code string) error {
	order, err := o.Find(ctx, code)
	if err != nil {
		return err
	}
	ids, idxs, err := order.chosen(nil)
	if err != nil {
		return err
	}
	s, err := o.office.Sale(ctx, order.Event)
	if err != nil {
		return err
	}
	online := s.Event.Online.On
	if len(ids) == 0 || order.Due() == 0 || len(order.used(idxs)) > 0 && !online {
		_, err := o.db.Exec(ctx, notDueSQL, order.ID)
		return err
	}
	return o.cancel(ctx, s, cancelling{order: order.ID, holder: order.Holder, code: order.Code, tickets: ids, seats: idxs, keys: order.keys, overdue: true, used: online, reason: "The order was not paid in time."})
}

// The order is locked by a statement of its own: the next one sees marks of cancellations that were written before.
const (
	lockByCodeSQL = `SELECT FROM orders WHERE code = $1 FOR NO KEY UPDATE`
	leavingSQL    = `
SELECT EXISTS (SELECT FROM ticket t JOIN orders o ON o.id = t.order_id WHERE o.code = $1 AND t.revoked_at IS NULL AND t.leaving_until > clock_timestamp())`
)

// lockStaying locks an order, and refuses it while tickets of it are being cancelled. A cancellation of an unpaid order
// marks its tickets, then sees whether it is unpaid still (stillDue): one of the two sees the other.
func lockStaying(ctx context.Context, tx pgx.Tx, code string) error {
	if _, err := tx.Exec(ctx, lockByCodeSQL, code); err != nil {
		return err
	}
	var leaving bool
	if err := tx.QueryRow(ctx, leavingSQL, code).Scan(&leaving); err != nil || !leaving {
		return err
	}
	return &seats.Refusal{Code: CodeCancelled, Message: "Tickets of this order are being cancelled at this moment. Nothing was noted. Look at the order again in two minutes."}
}

// stillDueSQL waits for who marks the order as paid in this moment.
const stillDueSQL = `
SELECT due_at <= clock_timestamp() AND state = 'confirmed' AND paid = 0 FROM orders WHERE id = $1 FOR NO KEY UPDATE`

const extendDueSQL = `
UPDATE orders SET due_at = $2, remind_at = CASE WHEN $2 - interval '1 day' > clock_timestamp() + interval '1 hour' THEN $2 - interval '1 day' END
 WHERE code = $1 AND state = 'confirmed' AND method IN ('door', 'invoice') AND due_at IS NOT NULL AND $2 > clock_timestamp()`

// ExtendDue gives an unpaid order until another time, with what is to commit with it. ErrNotDue if nothing is to be paid
// later for it, or the time has passed; a *seats.Refusal while tickets of the order are being cancelled.
func (o *Orders) ExtendDue(ctx context.Context, code string, until time.Time, also seats.Also) error {
	extended := false
	err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if err := lockStaying(ctx, tx, code); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, extendDueSQL, code, until)
		if extended = err == nil && tag.RowsAffected() > 0; !extended {
			return err
		}
		return also.Run(ctx, tx)
	})
	switch {
	case err != nil:
		return fmt.Errorf("orders: extend: %w", err)
	case !extended:
		return ErrNotDue
	}
	o.jobs.unpaid.Wake()
	o.happened()
	return nil
}

// stillDue reports whether an order that is to be cancelled is overdue and unpaid still.
func (o *Orders) stillDue(ctx context.Context, order seats.ID) (is bool, err error) {
	err = o.db.QueryRow(ctx, stillDueSQL, order).Scan(&is)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return is, err
}

// ErrNotDue says that there is nothing to mark as paid.
var ErrNotDue = errors.New("nothing is due that is paid at the door or by invoice")

const markPaidSQL = `
WITH was AS (
    SELECT id, (SELECT coalesce(sum(price + fee), 0)::bigint FROM ticket WHERE order_id = orders.id AND revoked_at IS NULL) + kept - paid - waived AS due
      FROM orders WHERE code = $1 FOR NO KEY UPDATE
)
UPDATE orders SET paid = paid + was.due, received = received + was.due, due_at = NULL, remind_at = NULL FROM was
 WHERE orders.id = was.id AND state = 'confirmed' AND method IN ('door', 'invoice') AND was.due > 0
RETURNING was.due, currency`

// MarkPaid notes a payment outside of this program, and commits also with it. It returns the amount that was due, in minor
// units. ErrNoOrder, ErrNotDue; a *seats.Refusal while tickets of the order are being cancelled.
func (o *Orders) MarkPaid(ctx context.Context, code string, also seats.Also) (amount int64, currency string, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if err := lockStaying(ctx, tx, code); err != nil {
			return err
		}
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

package orders

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Later reports whether an order with this method is paid after it is placed.
func Later(method string) bool { return method == Door || method == Invoice }

const (
	dueAtMost = 5 * time.Minute // a look is made at least this often, for orders that other nodes placed
	dueAtOnce = 50              // orders between two looks
)

// remindSQL writes the mail to those whose time to pay ends within a day.
const remindSQL = `
WITH due AS (
    SELECT id, email FROM orders
     WHERE due_at IS NOT NULL AND least(remind_at, due_at) <= statement_timestamp() AND remind_at <= statement_timestamp()
     LIMIT 500 FOR NO KEY UPDATE SKIP LOCKED
), told AS (
    INSERT INTO mail (order_id, kind) SELECT id, 'reminder' FROM due WHERE email <> ''
)
UPDATE orders SET remind_at = NULL FROM due WHERE orders.id = due.id`

// $2 are orders that could not be cancelled and come again later; $1 of the others are taken.
const overdueSQL = `
SELECT code FROM orders WHERE due_at IS NOT NULL AND least(remind_at, due_at) <= statement_timestamp() AND due_at <= statement_timestamp() AND code <> ALL($2::text[])
 ORDER BY least(remind_at, due_at) LIMIT $1`

const nextToPaySQL = `
SELECT extract(epoch FROM min(least(remind_at, due_at)) - clock_timestamp())::float8 FROM orders WHERE due_at IS NOT NULL AND code <> ALL($1::text[])`

// retry says when an order that could not be cancelled is tried again.
type retry struct {
	tries int
	at    time.Time
}

// retries are those of this node, by code.
type retries struct {
	mu sync.Mutex
	by map[string]retry
}

// waiting lists the orders whose time has not come, and how long it is until the first of them.
func (r *retries) waiting() (codes []string, next time.Duration) {
	codes, next = []string{}, dueAtMost
	for code, order := range r.by {
		switch left := time.Until(order.at); {
		case left > 0:
			codes, next = append(codes, code), min(next, left)
		case left < -2*dueAtMost: // it was cancelled or paid since
			delete(r.by, code)
		}
	}
	return codes, next
}

// failed puts an order off: for two seconds, then twice as long each time.
func (r *retries) failed(code string) {
	if r.by == nil {
		r.by = map[string]retry{}
	}
	tries := r.by[code].tries
	r.by[code] = retry{tries + 1, time.Now().Add(min(2*time.Second<<min(tries, 10), dueAtMost))}
}

// RunDue reminds people of orders that are to be paid later, and cancels those that were not, until ctx is done. Safe on
// all nodes at once: a reminder is written by the statement that takes its time away, and an order is cancelled once.
func (o *Orders) RunDue(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.due:
		case <-timer.C:
		}
		wait, err := o.PayDue(ctx)
		if err != nil && ctx.Err() == nil {
			o.pay.log.Warn("orders that are to be paid could not be looked at; the next try is in a second", "error", err)
			wait = time.Second
		}
		timer.Reset(wait)
	}
}

// PayDue reminds and cancels once. It returns how long until there is more to do. An order that cannot be cancelled comes
// again later, and holds up no other.
func (o *Orders) PayDue(ctx context.Context) (time.Duration, error) {
	o.later.mu.Lock()
	defer o.later.mu.Unlock()
	tag, err := o.db.Exec(ctx, remindSQL)
	if err != nil {
		return 0, fmt.Errorf("orders: remind: %w", err)
	}
	if tag.RowsAffected() > 0 {
		o.mailWritten()
	}
	waiting, _ := o.later.waiting()
	codes, err := texts(ctx, o.db, overdueSQL, dueAtOnce, waiting)
	if err != nil {
		return 0, fmt.Errorf("orders: find unpaid orders: %w", err)
	}
	for _, code := range codes {
		if err := o.expire(ctx, code); err != nil {
			o.later.failed(code)
			o.pay.log.Warn("an unpaid order could not be cancelled; it is tried again", "error", err)
		}
	}
	waiting, again := o.later.waiting()
	var next *float64
	if err := o.db.QueryRow(ctx, nextToPaySQL, waiting).Scan(&next); err != nil {
		return 0, fmt.Errorf("orders: find what is to be paid next: %w", err)
	}
	if next == nil {
		return again, nil
	}
	return min(max(time.Duration(*next*float64(time.Second)), 10*time.Millisecond), again), nil
}

// Nothing is due any more of an order whose people came, or that was paid.
const notDueSQL = `UPDATE orders SET due_at = NULL, remind_at = NULL WHERE id = $1`

// expire cancels an order that was not paid in time. Its seats are free again, for those who wait first. An order whose
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
	s, err := o.pay.office.Sale(ctx, order.Event)
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
	o.wakeDue()
	o.happened()
	return nil
}

// wakeDue makes this node look at what is to be paid.
func (o *Orders) wakeDue() {
	select {
	case o.due <- struct{}{}:
	default: // it is awake already
	}
}

// stillDue reports whether an order that is to be cancelled is overdue and unpaid still.
func (o *Orders) stillDue(ctx context.Context, order seats.ID) (is bool, err error) {
	err = o.db.QueryRow(ctx, stillDueSQL, order).Scan(&is)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return is, err
}

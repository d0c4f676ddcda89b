package orders

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

// UnpaidLimits bound the orders of an event that are not paid yet. 0 is no limit.
type UnpaidLimits struct {
	PerEmail   int // of one email address
	PerNetwork int // of one network, before its visitors do work first
}

// Why an order that is paid later is not placed.
var (
	ErrUnpaid    = errors.New("this email address has too many unpaid orders for this event")
	ErrUnpaidNet = errors.New("this network has many unpaid orders for this event, so its visitors do work first")
)

// What is to be confirmed counts as well, so that confirming it changes no count.
const unpaidOfKey = `(
  (SELECT count(*) FROM orders WHERE event_id = $1 AND keys[1] = $2 AND method IN ('door', 'invoice') AND state = 'confirmed' AND due_at IS NOT NULL)
+ (SELECT count(*) FROM payment WHERE event_id = $1 AND keys[1] = $2 AND method IN ('door', 'invoice') AND state IN ('open', 'authorized')))`

const unpaidSQL = `
SELECT ` + unpaidOfKey + `,
       (SELECT count(*) FROM orders WHERE event_id = $1 AND network = $3 AND network <> '' AND state = 'confirmed' AND due_at IS NOT NULL)
     + (SELECT count(*) FROM payment WHERE event_id = $1 AND form->>'network' = $3 AND $3 <> '' AND method IN ('door', 'invoice') AND state IN ('open', 'authorized'))`

// limitUnpaid refuses an order that is paid later if too many of its kind are unpaid. The bound of an email is held by
// queueUnpaid; this is the answer before anything is locked. Orders of a network that are on their way at this node count
// until leave is called, so that those sent at once do not all pass. Other nodes do not know of them.
func (o *Orders) limitUnpaid(ctx context.Context, s *seats.Sale, p placed) (leave func(), err error) {
	f := p.form
	if !p.unpaid() || f.Unpaid == (UnpaidLimits{}) {
		return func() {}, nil
	}
	beside, leave := o.unpaid.comes(networkKey{s.Event.ID, f.Network}, f.Hold)
	var email, network int
	err = o.db.QueryRow(ctx, unpaidSQL, s.Event.ID, p.keys[0], f.Network).Scan(&email, &network)
	switch {
	case err != nil:
		return leave, fmt.Errorf("orders: count what is unpaid: %w", err)
	case f.Unpaid.PerEmail > 0 && email >= f.Unpaid.PerEmail:
		return leave, ErrUnpaid
	case f.Unpaid.PerNetwork > 0 && f.Network != "" && network+beside >= f.Unpaid.PerNetwork:
		return leave, ErrUnpaidNet
	}
	return leave, nil
}

// unpaid reports whether the order will be paid later.
func (p placed) unpaid() bool { return p.total > 0 && payments.Later(p.form.Method) }

// unpaidOrders are the orders on their way at this node that will be paid later, by the key of their email.
type unpaidOrders struct {
	mu   sync.Mutex
	of   map[unpaidKey]map[*unpaidOrder]struct{}
	from map[networkKey]map[seats.ID]int // those of a network: how often each hold is posted
}

type networkKey struct {
	event   int64
	network string
}

// comes counts an order of a network until leave is called, and returns how many of other holds there are beside it.
func (u *unpaidOrders) comes(key networkKey, hold seats.ID) (beside int, leave func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.from == nil {
		u.from = map[networkKey]map[seats.ID]int{}
	}
	if u.from[key] == nil {
		u.from[key] = map[seats.ID]int{}
	}
	u.from[key][hold]++
	return len(u.from[key]) - 1, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.from[key][hold]--; u.from[key][hold] == 0 {
			delete(u.from[key], hold)
		}
		if len(u.from[key]) == 0 {
			delete(u.from, key)
		}
	}
}

type unpaidKey struct {
	event int64
	email seats.ID
}

// unpaidOrder is one of them. Its booleans are guarded by the lock of unpaidOrders.
type unpaidOrder struct {
	all     *unpaidOrders
	key     unpaidKey
	passed  bool // the guard let it through in the batch that is being written
	tooMany bool // it may not be placed
}

// enter makes an order known that is bounded, until leave is called.
func (u *unpaidOrders) enter(s *seats.Sale, p *placed) (leave func()) {
	if !p.unpaid() || p.form.Unpaid.PerEmail == 0 {
		return func() {}
	}
	one := &unpaidOrder{all: u, key: unpaidKey{s.Event.ID, p.keys[0]}}
	p.bounded = one
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[unpaidKey]map[*unpaidOrder]struct{}{}
	}
	if u.of[one.key] == nil {
		u.of[one.key] = map[*unpaidOrder]struct{}{}
	}
	u.of[one.key][one] = struct{}{}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if delete(u.of[one.key], one); len(u.of[one.key]) == 0 {
			delete(u.of, one.key)
		}
	}
}

// met notes whether the guard let the order through. If not, those that wait behind it have no place either.
func (one *unpaidOrder) met(passed bool) {
	one.all.mu.Lock()
	defer one.all.mu.Unlock()
	if one.passed = passed; passed {
		return
	}
	for other := range one.all.of[one.key] {
		other.tooMany = other.tooMany || !other.passed
	}
}

// The transaction has the lock of the key (seats/allowance.go), so no other transaction counts or adds unpaid orders of it. Too many
// of them make the count of tickets null, which undoes the batch.
const guardUnpaidSQL = `UPDATE purchase_key SET tickets = NULL WHERE event_id = $1 AND key = $2 AND $3 <= ` + unpaidOfKey

// queueUnpaid holds the bound on unpaid orders of an email in the transaction that adds one. The batch that was undone
// comes again, and check refuses the purchase then.
func (p placed) queueUnpaid(q *pgx.Batch, s *seats.Sale) {
	if p.bounded == nil {
		return
	}
	q.Queue(guardUnpaidSQL, s.Event.ID, p.keys[0], p.form.Unpaid.PerEmail).QueryRow(func(row pgx.Row) error {
		err := row.Scan()
		var pg *pgconn.PgError
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			p.bounded.met(true)
			return nil
		case errors.As(err, &pg) && pg.TableName == "purchase_key" && pg.ColumnName == "tickets":
			p.bounded.met(false)
		}
		return err
	})
}

// checkUnpaid refuses an order that met too many unpaid ones under the lock.
func (p placed) checkUnpaid() error {
	if p.bounded == nil {
		return nil
	}
	p.bounded.all.mu.Lock()
	defer p.bounded.all.mu.Unlock()
	if p.bounded.passed = false; p.bounded.tooMany {
		return ErrUnpaid
	}
	return nil
}

const fromNetworkSQL = `UPDATE orders SET network = $2 WHERE id = $1`

// queueNetwork notes where an order came from that is paid later.
func (p placed) queueNetwork(q *pgx.Batch) {
	if p.form.Network != "" && p.unpaid() {
		q.Queue(fromNetworkSQL, p.id, p.form.Network)
	}
}

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

// A deposit that the order took over stays with the team once it is not refundable any more. Another one goes back.
const retainedSQL = `
SELECT coalesce(sum(d.amount), 0)::bigint FROM deposit d JOIN orders o ON o.id = d.order_id
 WHERE o.id = $1 AND (d.refundable_until IS NULL OR d.refundable_until < o.due_at)`

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
	var kept int64
	if err := o.db.QueryRow(ctx, retainedSQL, order.ID).Scan(&kept); err != nil {
		return err
	}
	return o.cancel(ctx, s, cancelling{order: order.ID, holder: order.Holder, code: order.Code, tickets: ids, seats: idxs, keys: order.keys, fee: kept, overdue: true, used: online, reason: text.Mark("The order was not paid in time.")})
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
	return &seats.Conflict{Code: CodeCancelled, Message: text.Mark("Tickets of this order are being cancelled at this moment. Nothing was noted. Look at the order again in two minutes.")}
}

// stillDueSQL waits for an organizer who marks the order as paid in this moment. An order that got too little is not paid.
const stillDueSQL = `
WITH locked AS (SELECT id, state, due_at, kept - paid - waived AS beside FROM orders WHERE id = $1 FOR NO KEY UPDATE)
SELECT due_at <= clock_timestamp() AND state = 'confirmed'
       AND beside + (SELECT coalesce(sum(price + fee), 0)::bigint FROM ticket WHERE order_id = $1 AND revoked_at IS NULL) > 0 FROM locked`

const extendDueSQL = `
UPDATE orders SET due_at = $2, remind_at = CASE WHEN $2 - interval '1 day' > clock_timestamp() + interval '1 hour' THEN $2 - interval '1 day' END
 WHERE code = $1 AND state = 'confirmed' AND method IN ('door', 'invoice') AND due_at IS NOT NULL AND $2 > clock_timestamp()`

// ExtendDue gives an unpaid order until another time, with what is to commit with it. ErrNotDue if nothing is to be paid
// later for it, or the time has passed; a *seats.Conflict while tickets of the order are being cancelled.
func (o *Orders) ExtendDue(ctx context.Context, code string, until time.Time, also seats.TxHook) error {
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

package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Codes of refusals about an order that is there.
const (
	CodeStarted   = "started"    // the event has begun
	CodePaid      = "paid"       // it was paid at the door or by invoice, which nothing here can give back
	CodeCancelled = "cancelled"  // there is nothing left to cancel
	CodeOften     = "too_often"  // asked again and again
	CodeAdmitted  = "checked_in" // the ticket was checked in
	CodePolicy    = "policy"     // the policy lets attendees cancel no more, or never did
	CodeOffer     = "offer"      // the offer ends with these tickets, and the rest is not paid
	CodeNoAddress = "no_address" // it was sold at the box office, to a person who gave none
)

// Cancel gives tickets of an order up, all of it or nothing: they are revoked, their seats are free again, what was paid
// for them goes back the way it came, and mail about it is on its way. No ticket named means all that are live. A repeat
// with its key changes nothing more.
//
// Errors: ErrNoOrder, ErrNoTicket, idempotency.ErrNoKey; a *seats.Conflict that says why not; the database's.
func (o *Orders) Cancel(ctx context.Context, s *seats.Sale, order Order, key string, tickets ...seats.ID) error {
	chosen, idxs, err := order.chosen(tickets)
	if err != nil {
		return err
	}
	k, err := keyOf(order.ID, key, "cancel", tickets)
	if err != nil {
		return err
	}
	if done, err := o.wasDone(ctx, k); err != nil || done {
		return err
	}
	if refusal := order.refuseCancel(idxs); refusal != nil {
		return refusal
	}
	if err := order.refuseSent(chosen); err != nil {
		return err
	}
	if order.CancelOver {
		return order.refusePolicy(text.Say("Your tickets are still valid. Contact the organizer if you cannot come."))
	}
	if refusal := order.refuseRest(s, chosen); refusal != nil {
		return refusal
	}
	return o.cancel(ctx, s, cancelling{
		order: order.ID, holder: order.Holder, code: order.Code, tickets: chosen, seats: idxs, keys: order.keys, fee: order.keeps(chosen),
		difference: order.difference(chosen), rest: order.rest(s, chosen), key: &k, reason: text.Mark("Tickets were cancelled."),
	})
}

// Revoke is Cancel by the organizer, who may do it at any time and whatever the order was paid with: what came at the door
// or by invoice goes back by hand. With used, also tickets that were checked in. A repeat is refused: there is
// nothing left to cancel.
func (o *Orders) Revoke(ctx context.Context, s *seats.Sale, order Order, used bool, tickets ...seats.ID) error {
	return o.RevokeAnd(ctx, s, order, used, nil, tickets...)
}

// RevokeAnd is Revoke with something that commits with it.
func (o *Orders) RevokeAnd(ctx context.Context, s *seats.Sale, order Order, used bool, also seats.TxHook, tickets ...seats.ID) error {
	return o.RevokeBy(ctx, s, order, Revoking{Used: used, Override: true, Also: also}, tickets...)
}

// Revoking says how an organizer cancels tickets.
type Revoking struct {
	Used     bool     // also tickets that were checked in
	Override bool     // although the organizer's policy lets attendees cancel no more, and without the fee of the policy
	Block    seats.ID // that their seats came from, and go back to; zero: they are on sale again
	Also     seats.TxHook
}

// RevokeBy is Revoke by an organizer who keeps to the policy of the organizer, or overrides it knowingly.
func (o *Orders) RevokeBy(ctx context.Context, s *seats.Sale, order Order, r Revoking, tickets ...seats.ID) error {
	used, also := r.Used, r.Also
	chosen, idxs, err := order.chosen(tickets)
	if err != nil {
		return err
	}
	if len(idxs) == 0 {
		return refuseGone()
	}
	if in := order.used(idxs); len(in) > 0 && !used {
		return refuseUsed(in)
	}
	fee, difference := int64(0), order.difference(chosen)
	if r.Override {
		difference = min(0, difference)
	} else {
		if order.CancelOver {
			return order.refusePolicy(text.Say("Nothing was cancelled. To cancel all the same, say that you override the policy."))
		}
		fee = order.keeps(chosen)
	}
	return o.cancel(ctx, s, cancelling{order: order.ID, holder: order.Holder, code: order.Code, tickets: chosen, seats: idxs, keys: order.keys, fee: fee, difference: difference, used: used, also: also, block: r.Block, reason: text.Mark("The organizer cancelled tickets.")})
}

// cancelling is a cancellation about to be written.
type cancelling struct {
	id      seats.ID
	order   seats.ID
	holder  seats.ID // the visitor with the limit that the tickets count against; zero for none
	code    string   // of the order
	tickets []seats.ID
	seats   []int      // of the tickets
	keys    []seats.ID // of the order
	fee     int64      // of the policy, kept of what was paid
	rest    []seats.ID // the other live tickets, if they must still be these; nil: whatever they are
	overdue bool       // only if it is unpaid and overdue still
	used    bool       // also tickets that were checked in
	reason  string
	block   seats.ID // that the seats go back to; zero: they are free

	difference int64 // that the rest costs more without its offer; kept as well

	key  *idempotency.Key // of the attendee's form; nil for an organizer
	also seats.TxHook
}

// While a ticket is leaving no door lets it in (admitSQL). It outlasts a batch with all its tries. The mark is of the
// cancellation that set it; that of two at once is not taken back, and stays until its time is over.
const leaveSQL = `
UPDATE ticket
   SET leaving_by = CASE WHEN leaving_until > clock_timestamp() THEN NULL ELSE $3::uuid END,
       leaving_until = clock_timestamp() + interval '2 minutes'
 WHERE id = ANY($1::uuid[]) AND revoked_at IS NULL AND ($2 OR NOT EXISTS (SELECT FROM scan WHERE ticket_id = ticket.id AND admitted))`

const stayedSQL = `UPDATE ticket SET leaving_until = NULL, leaving_by = NULL WHERE id = ANY($1::uuid[]) AND leaving_by = $2 AND revoked_at IS NULL`

// cancel writes a cancellation in the transaction that frees its seats. That one carries other people's commands as well,
// which fail with it: what can go wrong is found before, and kept from going wrong.
func (o *Orders) cancel(ctx context.Context, s *seats.Sale, c cancelling) error {
	ctx = context.WithoutCancel(ctx) // the sender may leave; the change goes on
	c.id = seats.NewID()
	left, err := o.leave(ctx, c)
	if err != nil {
		return err
	}
	if !left {
		return o.refuseLeft(ctx, c)
	}
	if c.overdue {
		if still, err := o.stillDue(ctx, c.order); err != nil || !still {
			return errors.Join(err, o.stay(ctx, c))
		}
	}
	err = s.GiveBackTo(ctx, c.block, c.holder, c.order, c.seats, c.keys, func(q *pgx.Batch) { c.queue(q, s.Event.ID) })
	var refusal *seats.Conflict
	switch {
	case err == nil:
		o.mailWritten()
		o.Payments.Wake()
		return o.freeUses(ctx, s.Event.ID)
	case errors.As(err, &refusal):
		err = o.cancelled(ctx, c.order, c.tickets, refusal)
	default:
		err = fmt.Errorf("orders: cancel: %w", err)
	}
	return errors.Join(err, o.stay(ctx, c))
}

const (
	lockUsesSQL = `
SELECT FROM allowance a WHERE event_id = $1 AND key IN (SELECT unnest(uses) FROM orders WHERE event_id = $1 AND state = 'cancelled' AND uses <> '{}')
 ORDER BY key FOR NO KEY UPDATE`
	freeUsesSQL = `
WITH gone AS (
    SELECT id, uses FROM orders WHERE event_id = $1 AND state = 'cancelled' AND uses <> '{}' FOR NO KEY UPDATE
), freed AS (
    UPDATE orders o SET uses = '{}' FROM gone WHERE o.id = gone.id
), counted AS (
    SELECT key, count(*) AS n FROM gone, unnest(uses) AS key GROUP BY key
)
UPDATE allowance a SET used = a.used - counted.n FROM counted WHERE a.event_id = $1 AND a.key = counted.key`
)

// freeUses takes cancelled orders of an event off the counts of their codes. A node that dies before leaves that to the
// next one who finds a code used up.
func (o *Orders) freeUses(ctx context.Context, event int64) error {
	err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockUsesSQL, event); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, freeUsesSQL, event)
		return err
	})
	if err != nil {
		return fmt.Errorf("orders: free the uses of codes: %w", err)
	}
	return nil
}

// stay takes the mark of a cancellation back that came to nothing. If that fails, doors let the tickets in when its time
// is over.
func (o *Orders) stay(ctx context.Context, c cancelling) error {
	if _, err := o.db.Exec(ctx, stayedSQL, c.tickets, c.id); err != nil {
		return fmt.Errorf("orders: stay: %w", err)
	}
	return nil
}

const whyNotLeftSQL = `
SELECT count(*) FILTER (WHERE revoked_at IS NULL) = 0 AND NOT bool_or(moved_to IS NOT NULL),
       NOT $2 AND bool_or(revoked_at IS NULL AND EXISTS (SELECT FROM scan WHERE ticket_id = ticket.id AND admitted))
  FROM ticket WHERE id = ANY($1::uuid[])`

// refuseLeft says why tickets could not leave; nothing if another request cancelled all of them.
func (o *Orders) refuseLeft(ctx context.Context, c cancelling) error {
	var gone, used bool
	if err := o.db.QueryRow(ctx, whyNotLeftSQL, c.tickets, c.used).Scan(&gone, &used); err != nil {
		return fmt.Errorf("orders: see why tickets do not leave: %w", err)
	}
	switch {
	case gone:
		return nil
	case used:
		return refuseUsed(c.seats)
	}
	return refuseOtherTickets(c.seats)
}

// leave keeps doors from letting the tickets in from now on, all of them or none. A door that looks at one of them in this
// moment is waited for.
func (o *Orders) leave(ctx context.Context, c cancelling) (left bool, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, oneAtATimeSQL, c.order); err != nil {
			return err
		}
		if err := o.refuseOtherRest(ctx, tx, c); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, theseTicketsSQL, c.tickets); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, leaveSQL, c.tickets, c.used, c.id)
		if left = int(tag.RowsAffected()) == len(c.tickets); err == nil && !left {
			err = pgx.ErrTxCommitRollback
		}
		if err != nil {
			return err
		}
		return c.refuseOtherPerson(ctx, tx)
	})
	var refusal *seats.Conflict
	switch {
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return false, nil
	case errors.As(err, &refusal):
		return false, err
	case err != nil:
		return false, fmt.Errorf("orders: leave: %w", err)
	}
	return left, nil
}

const sameKeysSQL = `SELECT keys = $2::uuid[] FROM orders WHERE id = $1`

// refuseOtherPerson refuses a cancellation of an order that got another email since it was read: its tickets count for another
// person. The tickets are marked, so it gets none until they are cancelled (email.go).
func (c cancelling) refuseOtherPerson(ctx context.Context, tx pgx.Tx) error {
	if len(c.keys) == 0 {
		return nil
	}
	var same bool
	if err := tx.QueryRow(ctx, sameKeysSQL, c.order, c.keys).Scan(&same); err != nil || same {
		return err
	}
	return &seats.Conflict{Code: seats.CodeChanged, Seats: c.seats, Message: text.Mark("The email address of this order was changed in this moment. Nothing else was changed. Look at the order again.")}
}

const otherRestSQL = `
SELECT count(*) = cardinality($3::uuid[]) AND coalesce(bool_and(id = ANY($3::uuid[]) AND coalesce(leaving_until <= clock_timestamp(), true)), true)
  FROM ticket WHERE order_id = $1 AND revoked_at IS NULL AND id <> ALL($2::uuid[])`

// refuseOtherRest refuses a cancellation if the tickets that stay are others than those by which it was computed, or are being
// cancelled in this moment. The order is locked, so of two cancellations at once the second one sees the marks of the first.
func (o *Orders) refuseOtherRest(ctx context.Context, tx pgx.Tx, c cancelling) error {
	if c.rest == nil {
		return nil
	}
	var same bool
	if err := tx.QueryRow(ctx, otherRestSQL, c.order, c.tickets, c.rest).Scan(&same); err != nil || same {
		return err
	}
	return refuseOtherTickets(c.seats)
}

func refuseOtherTickets(idxs []int) error {
	return &seats.Conflict{Code: seats.CodeChanged, Seats: idxs, Message: text.Mark("The tickets of this order changed since the page was shown. Nothing else was changed. Look at the order again.")}
}

// refuseSent refuses what the buyer asks for about tickets that they sent to a friend.
func (o Order) refuseSent(tickets []seats.ID) error {
	for _, id := range tickets {
		if err := o.holds(id); err != nil {
			return err
		}
	}
	return nil
}

// chosen are the live ones of these tickets, and their seats.
func (o Order) chosen(tickets []seats.ID) (ids []seats.ID, idxs []int, err error) {
	for _, id := range tickets {
		if !slices.ContainsFunc(o.Tickets, func(t Ticket) bool { return t.ID == id }) {
			return nil, nil, ErrNoTicket
		}
	}
	for _, t := range o.Tickets {
		if !t.Revoked && (len(tickets) == 0 || slices.Contains(tickets, t.ID)) {
			ids, idxs = append(ids, t.ID), append(idxs, t.Idx)
		}
	}
	return ids, idxs, nil
}

// used are the seats with tickets that were checked in.
func (o Order) used(idxs []int) (in []int) {
	for _, t := range o.Tickets {
		if t.In != nil && slices.Contains(idxs, t.Idx) {
			in = append(in, t.Idx)
		}
	}
	return in
}

func refuseGone() error {
	return &seats.Conflict{Code: CodeCancelled, Message: text.Mark("These tickets were cancelled before. Nothing else was changed.")}
}

func refuseUsed(in []int) error {
	return &seats.Conflict{Code: CodeAdmitted, Seats: in, Message: text.Mark("A ticket that you marked was already used, so it cannot be cancelled any more. Nothing was cancelled. Mark only unused tickets.")}
}

func (o Order) refuseCancel(idxs []int) error {
	in := o.used(idxs)
	switch {
	case len(idxs) == 0:
		return refuseGone()
	case o.Started:
		return &seats.Conflict{Code: CodeStarted, Seats: idxs, Message: text.Mark("The event has begun, so its tickets can no longer be cancelled. They are still valid.")}
	case len(in) > 0:
		return refuseUsed(in)
	case o.PaidOutside():
		return &seats.Conflict{Code: CodePaid, Seats: idxs, Message: text.Mark("This order was paid outside of this page, so only the organizer can cancel it. Your tickets are still valid. Write to the organizer.")}
	}
	return nil
}

// refusePolicy says that the policy of the organizer does not let attendees cancel now.
func (o Order) refusePolicy(next text.Message) error {
	why := text.Say("Tickets for this event cannot be cancelled.")
	if o.CancelEnds != nil {
		why = text.Say("The time for cancelling is over.")
	}
	return &seats.Conflict{Code: CodePolicy, Message: "%s %s", Args: []any{why, next}}
}

// keeps is what the policy keeps of the price of tickets that an attendee cancels.
func (o Order) keeps(tickets []seats.ID) (fee int64) {
	for _, t := range o.Tickets {
		if slices.Contains(tickets, t.ID) {
			fee += pricing.Kept(o.Policy, t.Price)
		}
	}
	return fee
}

// GoesBack is what goes back when its attendee cancels these of its live tickets, in minor units: what cancelSQL gives.
func (o Order) GoesBack(tickets ...seats.ID) int64 {
	return o.goesBack(o.keeps(tickets)+o.difference(tickets), tickets...)
}

// goesBack is what goes back of these live tickets if so much is kept beside the fees.
func (o Order) goesBack(keeps int64, tickets ...seats.ID) int64 {
	kept, rest := o.Kept+keeps, int64(0)
	for _, t := range o.Tickets {
		switch {
		case t.Revoked:
		case !slices.Contains(tickets, t.ID):
			rest += t.Price + t.Fee
		case o.FeeKept:
			kept += t.Fee
		}
	}
	paid := o.Paid
	if payments.Ahead(o.Method) && o.Paid == 0 && o.Back == 0 {
		paid = o.Total // it is being charged
	}
	return max(0, paid-rest-max(0, kept))
}

// A change of an order's money or tickets takes these locks first, so that one sees what the other did.
const (
	oneAtATimeSQL   = `SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE`
	theseTicketsSQL = `SELECT FROM ticket WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE`
)

func (c cancelling) queue(q *pgx.Batch, event int64) {
	if c.key != nil {
		c.key.Insert(q, nil)
	}
	q.Queue(oneAtATimeSQL, c.order)
	q.Queue(theseTicketsSQL, c.tickets)
	q.Queue(cancelSQL, c.order, c.tickets, c.id, event, c.used, c.fee, c.difference, false)
	payments.QueueRefund(q, c.order, c.reason, &c.id)
	q.Queue(tellFriendsSQL, c.tickets)
	if c.also != nil {
		c.also(q)
	}
}

// What the order keeps of its money is what the live tickets cost with their fees, what the buyer added, and of cancelled ones the
// fee if it is one that does not go back. Both go back if the event was called off. What was added is still due with the rest. Money that is taken later knows of it (capturedSQL).
// Tickets that are exchanged ($8) keep no other fee than that of the exchange, and the other order has the mail.
// Every part sees the rows as they were. A ticket that was used meets an amount that may not be null, and nothing is
// cancelled, nor anything that travels with it: leaveSQL keeps it from coming to that.
const cancelSQL = `
WITH revoked AS (
    UPDATE ticket SET revoked_at = clock_timestamp() WHERE order_id = $1 AND id = ANY($2::uuid[]) AND revoked_at IS NULL
    RETURNING id, price + fee AS cost, fee
), rest AS (
    SELECT count(*) AS n, coalesce(sum(price + fee), 0)::bigint AS cost
      FROM ticket WHERE order_id = $1 AND revoked_at IS NULL AND id <> ALL ($2::uuid[])
), over AS (
    SELECT o.id, rest.n, rest.cost, CASE WHEN e.status <> 'cancelled' THEN $6::bigint ELSE 0 END AS policy,
           CASE WHEN e.status <> 'cancelled' THEN $7::bigint ELSE least(0, $7) END AS difference, greatest(0, o.paid - rest.cost) AS paid,
           o.kept - CASE WHEN rest.n = 0 AND e.status = 'cancelled' THEN least(o.extra, o.kept) ELSE 0 END
           + CASE WHEN o.fee_kept AND NOT $8 AND e.status <> 'cancelled' THEN (SELECT coalesce(sum(fee), 0)::bigint FROM revoked) ELSE 0 END AS fee,
           CASE WHEN rest.n > 0 THEN least(o.extra, o.kept) ELSE 0 END AS extra
      FROM rest, orders o JOIN event e ON e.id = o.event_id WHERE o.id = $1
), less AS (
    SELECT id, n, cost, policy, difference, greatest(extra, least(paid, greatest(0, fee + policy + difference))) AS kept,
           CASE WHEN NOT $5 AND EXISTS (SELECT FROM scan WHERE ticket_id = ANY($2::uuid[]) AND admitted) THEN NULL
                ELSE greatest(0, paid - greatest(0, fee + policy + difference)) END AS back
      FROM over
), noted AS (
    INSERT INTO cancellation (id, event_id, order_id, tickets, amount, back, fee, difference)
    SELECT $3, $4, id, (SELECT array_agg(id) FROM revoked), (SELECT sum(revoked.cost) FROM revoked), back, policy, difference FROM less
), told AS (
    INSERT INTO mail (order_id, kind) SELECT id, 'cancellation' FROM orders WHERE id = $1 AND email <> '' AND NOT $8
)
UPDATE orders SET paid = paid - back, kept = less.kept, state = CASE n WHEN 0 THEN 'cancelled' ELSE state END,
       due_at = CASE WHEN less.cost + less.kept > 0 THEN due_at END, remind_at = CASE WHEN less.cost + less.kept > 0 THEN remind_at END
  FROM less WHERE orders.id = less.id`

const liveTicketsSQL = `SELECT count(*) FROM ticket WHERE order_id = $1 AND id = ANY($2::uuid[]) AND revoked_at IS NULL`

// cancelled is the answer to a cancellation of seats that are not the order's any more: another one was there in between.
func (o *Orders) cancelled(ctx context.Context, order seats.ID, tickets []seats.ID, why error) error {
	var live int
	if err := o.db.QueryRow(ctx, liveTicketsSQL, order, tickets).Scan(&live); err != nil {
		return fmt.Errorf("orders: look for tickets: %w", err)
	}
	if live > 0 {
		return why
	}
	return nil
}

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
// Errors: ErrNotPaid; idempotency.ErrNoKey; a *seats.Conflict if the key was used for something else; the database's.
func (o *Orders) Refund(ctx context.Context, order Order, key string, amount int64, reason string) error {
	return o.RefundAnd(ctx, order, key, amount, reason, nil)
}

// RefundAnd is Refund with something that commits with it.
func (o *Orders) RefundAnd(ctx context.Context, order Order, key string, amount int64, reason string, also seats.TxHook) error {
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

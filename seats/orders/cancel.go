package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Codes of refusals about an order that is there.
const (
	CodeStarted   = "started"    // the event has begun
	CodePaid      = "paid"       // it was paid at the door or by invoice, which nothing here can give back
	CodeCancelled = "cancelled"  // there is nothing left to cancel
	CodeOften     = "too_often"  // asked again and again
	CodeAdmitted  = "checked_in" // somebody went in with the ticket
)

// ErrNoKey is a form without a key, or with one that is too long.
var ErrNoKey = errors.New("the form has no key")

// Cancel gives tickets of an order up, all of it or nothing: they are revoked, their seats are free again, what was paid
// for them goes back the way it came, and mail about it is on its way. No ticket named means all that are live. A repeat
// with its key changes nothing more.
//
// Errors: ErrNoOrder, ErrNoTicket, ErrNoKey; a *seats.Refusal that says why not; the database's.
func (o *Orders) Cancel(ctx context.Context, s *seats.Sale, order Order, key string, tickets ...seats.ID) error {
	chosen, idxs, err := order.chosen(tickets)
	if err != nil {
		return err
	}
	switch fresh, err := o.useKey(ctx, order.ID, key, "cancel", tickets); {
	case err != nil:
		return err
	case !fresh && len(idxs) == 0:
		return nil // it was done
	}
	if refusal := order.refuseCancel(idxs); refusal != nil {
		return refusal
	}
	err = s.GiveBack(ctx, order.ID, idxs, func(q *pgx.Batch) { queueCancel(q, order.ID, chosen, s.Event.ID) })
	var refusal *seats.Refusal
	switch {
	case errors.As(err, &refusal):
		return o.cancelled(ctx, order.ID, chosen, refusal)
	case err != nil:
		return o.interrupted(ctx, order.Code, tickets, fmt.Errorf("orders: cancel: %w", err))
	}
	o.mailWritten()
	o.wakeReckoner()
	return nil
}

// interrupted is the answer to a cancellation that failed: why it may not be, if that came in between.
func (o *Orders) interrupted(ctx context.Context, code string, tickets []seats.ID, why error) error {
	order, err := o.Find(ctx, code)
	if err != nil {
		return errors.Join(why, err)
	}
	chosen, idxs, err := order.chosen(tickets)
	if err != nil || len(chosen) == 0 {
		return errors.Join(why, err)
	}
	if refusal := order.refuseCancel(idxs); refusal != nil {
		return refusal
	}
	return why
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

func (o Order) refuseCancel(idxs []int) error {
	var in []int
	for _, t := range o.Tickets {
		if t.In != nil && slices.Contains(idxs, t.Idx) {
			in = append(in, t.Idx)
		}
	}
	switch {
	case len(idxs) == 0:
		return &seats.Refusal{Code: CodeCancelled, Message: "These tickets were cancelled before. Nothing else was changed."}
	case o.Started:
		return &seats.Refusal{Code: CodeStarted, Seats: idxs, Message: "The event has begun, so its tickets cannot be cancelled any more. Your tickets hold."}
	case len(in) > 0:
		return &seats.Refusal{Code: CodeAdmitted, Seats: in, Message: "Somebody went in with a ticket that you marked, so it cannot be cancelled any more. Nothing was cancelled. Mark only tickets that nobody used."}
	case o.Paid > 0 && !Ahead(o.Method):
		return &seats.Refusal{Code: CodePaid, Seats: idxs, Message: "This order was paid outside of this page, so only the organizer can cancel it. Your tickets hold. Write to the organizer."}
	}
	return nil
}

// Whoever changes what an order has of money or tickets takes these first, so that one sees what the other did.
const (
	oneAtATimeSQL   = `SELECT FROM orders WHERE id = $1 FOR NO KEY UPDATE`
	theseTicketsSQL = `SELECT FROM ticket WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE`
)

func queueCancel(q *pgx.Batch, order seats.ID, tickets []seats.ID, event int64) {
	q.Queue(oneAtATimeSQL, order)
	q.Queue(theseTicketsSQL, tickets)
	q.Queue(cancelSQL, order, tickets, seats.NewID(), event, seats.NewID())
}

// What goes back of the money paid is what the live tickets no longer cost: money that is taken later knows of it
// (capturedSQL). Every part sees the rows as they were. A ticket that was used, or an order that was paid at the door,
// since it was looked at meets an amount that may not be null, and nothing is cancelled.
const cancelSQL = `
WITH revoked AS (
    UPDATE ticket SET revoked_at = clock_timestamp() WHERE order_id = $1 AND id = ANY($2::uuid[]) AND revoked_at IS NULL
    RETURNING id, price
), rest AS (
    SELECT count(*) AS n, coalesce(sum(price), 0)::bigint AS price
      FROM ticket WHERE order_id = $1 AND revoked_at IS NULL AND id <> ALL ($2::uuid[])
), less AS (
    SELECT o.id, rest.n, CASE WHEN o.paid > 0 AND o.method NOT IN ('card', 'demo', 'credit') THEN NULL
                              WHEN EXISTS (SELECT FROM scan WHERE ticket_id = ANY($2::uuid[]) AND admitted) THEN NULL
                              ELSE greatest(0, o.paid - rest.price) END AS back
      FROM orders o, rest WHERE o.id = $1
), noted AS (
    INSERT INTO cancellation (id, event_id, order_id, tickets, amount, back)
    SELECT $3, $4, id, (SELECT array_agg(id) FROM revoked), (SELECT sum(price) FROM revoked), back FROM less
), told AS (
    INSERT INTO mail (order_id, kind) VALUES ($1, 'cancellation')
), refunds AS (
    INSERT INTO refund (id, payment_id, amount, reason, cancellation_id)
    SELECT $5, p.id, back, 'Tickets were cancelled.', $3 FROM less JOIN payment p ON p.order_id = less.id WHERE back > 0
    RETURNING id, payment_id
), meant AS (
    INSERT INTO intention (payment_id, step, refund_id) SELECT payment_id, 'refund', id FROM refunds
)
UPDATE orders SET paid = paid - back, state = CASE n WHEN 0 THEN 'cancelled' ELSE state END
  FROM less WHERE orders.id = less.id`

const liveTicketsSQL = `SELECT count(*) FROM ticket WHERE order_id = $1 AND id = ANY($2::uuid[]) AND revoked_at IS NULL`

// cancelled is the answer to a cancellation whose seats are not the order's any more: another one was there in between.
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

package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/text"
)

// Moving is tickets that move to other seats, one by one.
type Moving struct {
	Key     string
	Tickets []seats.ID
	To      []int // a seat for each ticket
}

// Move gives tickets of an order other seats, all of them or none, at the price they have: the old codes open no door any
// more, and mail with the new ones is on its way. A repeat with its key changes nothing more.
//
// Errors: ErrNoTicket, idempotency.ErrNoKey; *seats.ValidationError; a *seats.Conflict that says why not; the database's.
func (o *Orders) Move(ctx context.Context, s *seats.Sale, order Order, m Moving, also seats.TxHook) error {
	if len(m.Tickets) == 0 || len(m.To) != len(m.Tickets) {
		return &seats.ValidationError{Message: text.Mark("Each ticket moves to one seat. Nothing was moved.")}
	}
	froms := make([]int, len(m.Tickets))
	live := true
	for i, id := range m.Tickets {
		at := slices.IndexFunc(order.Tickets, func(t Ticket) bool { return t.ID == id })
		if at < 0 { // a repeat: an order does not show what moved away
			live = false
			continue
		}
		froms[i], live = order.Tickets[at].Idx, live && !order.Tickets[at].Revoked
	}
	key, err := keyOf(order.ID, m.Key, "move", m.Tickets, m.To)
	if err != nil {
		return err
	}
	if done, err := o.wasDone(ctx, key); err != nil || done {
		return err
	}
	if !live {
		return ErrNoTicket
	}
	if in := order.used(froms); len(in) > 0 {
		return &seats.Conflict{Code: CodeAdmitted, Seats: in, Message: text.Mark("This ticket was already used, so it stays where it is. Nothing was moved.")}
	}
	for _, t := range order.Tickets {
		if t.OfferedBack && slices.Contains(m.Tickets, t.ID) {
			return &seats.Conflict{Code: seats.CodeResale, Seats: []int{t.Idx}, Message: text.Mark("This ticket is offered back for sale, so it stays where it is. Nothing was moved. Its buyer can choose “Keep this ticket” on the page of the order. Then it can be moved.")}
		}
	}
	return o.move(ctx, s, order, m, key, froms, also)
}

// move writes new tickets in the transaction that gives the seats. Doors let the old ones in no more from before on.
func (o *Orders) move(ctx context.Context, s *seats.Sale, order Order, m Moving, key idempotency.Key, froms []int, also seats.TxHook) error {
	ctx = context.WithoutCancel(ctx) // the sender may leave; the change goes on
	c := cancelling{id: seats.NewID(), order: order.ID, code: order.Code, tickets: m.Tickets, seats: froms}
	left, err := o.leave(ctx, c)
	if err != nil {
		return err
	}
	if !left {
		return o.refuseLeft(ctx, c)
	}
	fresh, tos := make([]seats.ID, len(m.To)), make([]int32, len(m.To))
	for i, idx := range m.To {
		fresh[i], tos[i] = seats.NewID(), int32(idx)
	}
	err = s.Move(ctx, order.ID, froms, m.To, func(q *pgx.Batch) {
		key.Insert(q, nil)
		q.Queue(oneAtATimeSQL, order.ID)
		q.Queue(theseTicketsSQL, m.Tickets)
		q.Queue(newTicketsSQL, order.ID, m.Tickets, fresh, tos)
		q.Queue(moveSQL, order.ID, m.Tickets, fresh)
		q.Queue(followSQL, m.Tickets, fresh)
		if also != nil {
			also(q)
		}
	})
	var refusal *seats.Conflict
	var nonsense *seats.ValidationError
	switch {
	case err == nil:
		o.mailWritten()
		return nil
	case errors.As(err, &refusal):
		err = o.cancelled(ctx, order.ID, m.Tickets, refusal)
	case !errors.As(err, &nonsense):
		err = fmt.Errorf("orders: move: %w", err)
	}
	return errors.Join(err, o.stay(ctx, c))
}

const moveSQL = `
WITH told AS (
    INSERT INTO mail (order_id, kind)
    SELECT id, 'moved' FROM orders
     WHERE id = $1 AND email <> '' AND EXISTS (SELECT FROM unnest($2::uuid[]) AS t(id) WHERE NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = t.id AND f.accepted_at IS NOT NULL))
)
UPDATE ticket t SET revoked_at = clock_timestamp(), moved_to = m.fresh
  FROM unnest($2::uuid[], $3::uuid[]) AS m(old, fresh)
 WHERE t.id = m.old AND t.order_id = $1 AND t.revoked_at IS NULL`

const newTicketsSQL = `
INSERT INTO ticket (id, event_id, order_id, idx, price, fee, discount, tax, fee_tax, tax_rate, fee_rate, type, name)
SELECT m.fresh, t.event_id, t.order_id, m.idx, t.price, t.fee, t.discount, t.tax, t.fee_tax, t.tax_rate, t.fee_rate, t.type, t.name
  FROM unnest($2::uuid[], $3::uuid[], $4::integer[]) AS m(old, fresh, idx) JOIN ticket t ON t.id = m.old AND t.order_id = $1`

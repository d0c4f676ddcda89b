package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

// A buyer may offer tickets back at face value, where the event's policy allows it. The seat is for sale again, at the price that
// it has for anyone and to the waitlist first (seats/resale.go), and the ticket is valid until another order has the seat. In the
// transaction of that order the ticket is cancelled, and what was paid for it goes back, less the fee of the policy. What is not
// sold by the end that the policy sets goes back to the buyer. Doors admit no ticket that is offered: they take it back first.

// Resalable are the tickets that may be offered back.
func (o Order) Resalable() []Ticket {
	if o.RefuseResale() != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.Tickets), func(t Ticket) bool {
		return t.Revoked || t.In != nil || t.Friend != nil || t.Offer != nil || t.OfferedBack
	})
}

// RefuseResale says why the buyer may not offer tickets of the order back now; nil if they may.
func (o Order) RefuseResale() *seats.Conflict {
	refuse := func(code, message string) *seats.Conflict { return &seats.Conflict{Code: code, Message: message} }
	switch {
	case o.ResaleEnds == nil || o.Received != nil:
		return refuse(CodePolicy, text.Mark("Tickets for this event cannot be offered back. Your tickets are still valid."))
	case o.State == Cancelled:
		return refuse(CodeCancelled, text.Mark("This order was cancelled, so there is nothing to offer back."))
	case o.ResaleOver || o.Started:
		return refuse(CodePolicy, text.Mark("The time for offering tickets back is over. Your tickets are still valid."))
	case o.Repriced():
		return refuse(CodeOffer, text.Mark("Your tickets were sold together at a reduced price, so they cannot be offered back one by one. Your tickets are still valid."))
	case o.PaidOutside() || o.AtOffice:
		return refuse(CodePaid, text.Mark("This order was paid outside of this page, so its tickets cannot be offered back. Your tickets are still valid. Write to the organizer."))
	case o.Due() > 0:
		return refuse(CodeUnpaid, text.Mark("This order is not paid yet, so its tickets cannot be offered back. Your tickets are still valid."))
	}
	return nil
}

// resaleFee is what is kept of a ticket that is sold again: no more than its price.
func (o Order) resaleFee(t Ticket) int64 { return min(o.Policy.ResaleFee, t.Price) }

// BackOnResale is what goes back when one of its live tickets is sold again, in minor units.
func (o Order) BackOnResale(t Ticket) int64 { return o.goesBack(o.resaleFee(t), t.ID) }

const sentOfferSQL = `SELECT EXISTS (SELECT FROM ticket_transfer WHERE ticket_id = ANY($1::uuid[]) AND withdrawn_at IS NULL)`

const offeredBackSQL = `
UPDATE ticket t SET resale_id = r.resale, leaving_until = NULL, leaving_by = NULL
  FROM unnest($1::uuid[], $2::uuid[]) AS r(ticket, resale) WHERE t.id = r.ticket`

// OfferBack offers tickets of an order back, all of them or none. A repeat with its key changes nothing more.
//
// Errors: ErrNoTicket, idempotency.ErrNoKey; a *seats.Conflict that says why not; the database's.
func (o *Orders) OfferBack(ctx context.Context, s *seats.Sale, order Order, key string, tickets []seats.ID) error {
	if len(tickets) == 0 {
		return ErrNoTicket
	}
	chosen, idxs, err := order.chosen(tickets)
	if err != nil {
		return err
	}
	k, err := keyOf(order.ID, key, "offer back", tickets)
	if err != nil {
		return err
	}
	if done, err := o.wasDone(ctx, k); err != nil || done {
		return err
	}
	if refusal := order.RefuseResale(); refusal != nil {
		return refusal
	}
	if refusal := order.refuseResaleOf(s, chosen); refusal != nil {
		return refusal
	}
	ctx = context.WithoutCancel(ctx) // the sender may leave; the change goes on
	c := cancelling{id: seats.NewID(), order: order.ID, code: order.Code, tickets: chosen, seats: idxs}
	left, err := o.leave(ctx, c) // no door admits them and no friend gets them meanwhile
	if err != nil {
		return err
	}
	if !left {
		return o.refuseLeft(ctx, c)
	}
	var offers []seats.Resale
	resales := make([]seats.ID, len(chosen))
	for i, id := range chosen {
		t, _ := order.ticket(id)
		resales[i] = seats.NewID()
		offers = append(offers, seats.Resale{ID: resales[i], Seat: t.Idx, Ticket: id, Order: order.ID, Keys: order.keys, Fee: order.resaleFee(t)})
	}
	var sent bool
	if err = o.db.QueryRow(ctx, sentOfferSQL, chosen).Scan(&sent); err == nil && sent {
		err = refuseSentResale()
	}
	if err == nil {
		err = s.OfferBack(ctx, order.Holder, offers, func(q *pgx.Batch) {
			k.Insert(q, nil)
			q.Queue(offeredBackSQL, chosen, resales)
		})
	}
	var refusal *seats.Conflict
	switch {
	case err == nil:
		o.jobs.resales.Wake()
		o.happened()
		return nil
	case !errors.As(err, &refusal):
		err = fmt.Errorf("orders: offer tickets back: %w", err)
	}
	return errors.Join(err, o.stay(ctx, c))
}

func refuseSentResale() error {
	return &seats.Conflict{Code: CodeSent, Message: text.Mark("A ticket that you chose is offered to another person. Nothing was changed. Take it back first.")}
}

// refuseResaleOf says why these tickets may not be offered back; nil if they may.
func (o Order) refuseResaleOf(s *seats.Sale, tickets []seats.ID) error {
	if len(tickets) == 0 {
		return refuseGone()
	}
	for _, id := range tickets {
		t, _ := o.ticket(id)
		switch {
		case t.In != nil:
			return &seats.Conflict{Code: CodeAdmitted, Seats: []int{t.Idx}, Message: text.Mark("A ticket that you chose was already used, so it cannot be offered back. Nothing was changed.")}
		case t.Friend != nil || t.Offer != nil:
			return refuseSentResale()
		case t.OfferedBack:
			return &seats.Conflict{Code: seats.CodeResale, Seats: []int{t.Idx}, Message: text.Mark("A ticket that you chose is offered back already. Nothing was changed.")}
		}
	}
	if refusal := o.refuseRest(s, tickets); refusal != nil {
		return &seats.Conflict{Code: refusal.Code, Message: text.Mark("Your other tickets are valid only together with these. Nothing was changed. Offer all of them back, or others.")}
	}
	return nil
}

const takenBackSQL = `UPDATE ticket SET resale_id = NULL WHERE id = $1`

// TakeBack takes a ticket back that its buyer offered. A repeat with its key changes nothing more.
//
// Errors: ErrNoTicket, idempotency.ErrNoKey; a *seats.Conflict if it was sold, or if another visitor is about to buy the seat; the database's.
func (o *Orders) TakeBack(ctx context.Context, s *seats.Sale, order Order, key string, ticket seats.ID) error {
	t, ok := order.ticket(ticket)
	if !ok {
		return ErrNoTicket
	}
	k, err := keyOf(order.ID, key, "take back", ticket)
	if err != nil {
		return err
	}
	if done, err := o.wasDone(ctx, k); err != nil || done {
		return err
	}
	return o.takeBack(ctx, s, order, t, func(q *pgx.Batch) { k.Insert(q, nil) })
}

func (o *Orders) takeBack(ctx context.Context, s *seats.Sale, order Order, t Ticket, also seats.TxHook) error {
	err := s.TakeBack(context.WithoutCancel(ctx), order.Holder, order.ID, []int{t.Idx}, func(q *pgx.Batch) {
		if also != nil {
			also(q)
		}
		q.Queue(takenBackSQL, t.ID)
	})
	var refusal *seats.Conflict
	switch {
	case err == nil:
		o.happened()
		return nil
	case errors.As(err, &refusal):
		return err
	}
	return fmt.Errorf("orders: take a ticket back from sale: %w", err)
}

// resold ends a ticket and gives its price back, in the transaction that sells its seat again.
func (o *Orders) resold(q *pgx.Batch, event int64, r seats.Resale) (done func()) {
	id, tickets := seats.NewID(), []seats.ID{r.Ticket}
	q.Queue(oneAtATimeSQL, r.Order)
	q.Queue(theseTicketsSQL, tickets)
	q.Queue(cancelSQL, r.Order, tickets, id, event, true, r.Fee, int64(0), false)
	payments.QueueRefund(q, r.Order, text.Mark("A ticket was sold to another person."), &id)
	return func() {
		o.mailWritten()
		o.Payments.Wake()
	}
}

// The policy may have changed since: what was offered while it allowed it is sold until the start at the latest.
const (
	dueResalesSQL = `
SELECT r.id::text, e.starts_at - coalesce(e.resale_until, '0') FROM resale r JOIN event e ON e.id = r.event_id WHERE r.ended_at IS NULL AND e.status <> 'cancelled'`
	endingResaleSQL = `
SELECT o.code, r.ticket_id FROM resale r JOIN event e ON e.id = r.event_id JOIN orders o ON o.id = r.order_id
 WHERE r.id = $1 AND r.ended_at IS NULL AND e.status <> 'cancelled' AND e.starts_at - coalesce(e.resale_until, '0') <= clock_timestamp()`
)

// endResale gives a seat that was not sold in time back to its buyer. While another visitor holds it, it is tried again.
func (o *Orders) endResale(ctx context.Context, id string) (n int, err error) {
	var code string
	var ticket seats.ID
	err = o.db.QueryRow(ctx, endingResaleSQL, id).Scan(&code, &ticket)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err == nil {
		err = o.takeBackOf(ctx, code, ticket)
	}
	if err != nil {
		return 0, fmt.Errorf("orders: end a resale: %w", err)
	}
	return 1, nil
}

// takeBackOf takes a ticket of an order back from sale.
func (o *Orders) takeBackOf(ctx context.Context, code string, ticket seats.ID) error {
	order, err := o.Find(ctx, code)
	if err != nil {
		return err
	}
	t, ok := order.ticket(ticket)
	if !ok {
		return ErrNoTicket
	}
	s, err := o.office.Sale(ctx, order.Event)
	if err != nil {
		return err
	}
	return o.takeBack(ctx, s, order, t, nil)
}

const orderOfTicketSQL = `SELECT o.code FROM ticket t JOIN orders o ON o.id = t.order_id WHERE t.id = $1`

// takeBackAtDoor takes a ticket back from sale that its holder came with. It returns what the door says instead of admitting it;
// empty if it may.
func (o *Orders) takeBackAtDoor(ctx context.Context, t Ticket) (word string, err error) {
	var code string
	if err = o.db.QueryRow(ctx, orderOfTicketSQL, t.ID).Scan(&code); err == nil {
		err = o.takeBackOf(ctx, code, t.ID)
	}
	var refusal *seats.Conflict
	switch {
	case err == nil:
		return "", nil
	case !errors.As(err, &refusal):
		return "", fmt.Errorf("orders: let a ticket in that is offered back: %w", err)
	case refusal.Code == seats.CodeTaken:
		return ScanSelling, nil
	}
	return ScanRevoked, nil // it was sold in this moment
}

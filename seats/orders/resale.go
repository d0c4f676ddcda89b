package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
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
	case o.Repriced() || o.subscribed:
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

// mostResales is how many tickets of one order are offered back in a day: each changes the map, and wakes the waitlist.
const mostResales = 20

const mayOfferSQL = `
SELECT EXISTS (SELECT FROM ticket_transfer WHERE ticket_id = ANY($2::uuid[]) AND withdrawn_at IS NULL),
       (SELECT count(*) FROM resale WHERE order_id = $1 AND offered_at > clock_timestamp() - interval '1 day') + cardinality($2) > $3`

// refuseOffered refuses tickets that a friend may get in this moment, and orders that offer too often.
func (o *Orders) refuseOffered(ctx context.Context, order seats.ID, tickets []seats.ID) error {
	var sent, often bool
	if err := o.db.QueryRow(ctx, mayOfferSQL, order, tickets, mostResales).Scan(&sent, &often); err != nil {
		return err
	}
	switch {
	case sent:
		return refuseSentResale()
	case often:
		return &seats.Conflict{Code: CodeOften, Message: text.Mark("Tickets of this order were offered too often within a day. Nothing was changed. Try again tomorrow.")}
	}
	return nil
}

const offeredBackSQL = `
UPDATE ticket t SET resale_id = r.resale, leaving_until = CASE WHEN leaving_by IS DISTINCT FROM $3 THEN leaving_until END, leaving_by = nullif(leaving_by, $3)
  FROM unnest($1::uuid[], $2::uuid[]) AS r(ticket, resale) WHERE t.id = r.ticket`

// OfferBack offers tickets of an order back, all of them or none. A repeat with its key changes nothing more.
//
// Errors: ErrNoTicket, idempotency.ErrNoKey; a *seats.Conflict that says why not; the database's.
func (o *Orders) OfferBack(ctx context.Context, s *seats.Sale, order Order, key string, tickets []seats.ID) error {
	k, err := keyOf(order.ID, key, "offer back", tickets)
	if err != nil {
		return err
	}
	return o.offerBack(ctx, s, order, k, tickets, "")
}

// offerBack offers tickets back, to a friend first if friend is the address of one.
func (o *Orders) offerBack(ctx context.Context, s *seats.Sale, order Order, k idempotency.Key, tickets []seats.ID, friend string) error {
	if len(tickets) == 0 {
		return ErrNoTicket
	}
	chosen, idxs, err := order.chosen(tickets)
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
	var to *resaleOffer
	if err = o.refuseOffered(ctx, order.ID, chosen); err == nil && friend != "" {
		to, err = o.newResaleOffer(ctx, s.Event.ID, order.ID, resales, friend)
	}
	if err == nil {
		err = s.OfferBack(ctx, order.Holder, offers, to.first(), func(q *pgx.Batch) {
			k.Insert(q, nil)
			q.Queue(offeredBackSQL, chosen, resales, c.id)
			to.insert(q)
		})
	}
	var refusal *seats.Conflict
	switch {
	case err == nil:
		o.jobs.resales.Wake()
		o.mailWritten()
		o.happened()
		return nil
	case !errors.As(err, &refusal):
		err = fmt.Errorf("orders: offer tickets back: %w", err)
	}
	err = errors.Join(err, o.stay(ctx, c))
	if done, e := o.wasDone(ctx, k); refusal != nil && e == nil && done { // by an equal request at the same time
		return nil
	}
	return err
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
	ruled := func(t Ticket) bool {
		kind := s.Prices.Types[t.line.Type]
		return !t.Revoked && (kind.Least > 1 || kind.With != (seats.With{}))
	}
	if slices.ContainsFunc(o.Tickets, ruled) { // each is sold for itself
		return &seats.Conflict{Code: pricing.CodeTypes, Message: text.Mark("Tickets of this order are valid only together, so they cannot be offered back one by one. Your tickets are still valid.")}
	}
	return nil
}

const takenBackSQL = `UPDATE ticket SET resale_id = NULL WHERE id = ANY($1::uuid[])`

// TakeBack takes a ticket back that its buyer offered, with all tickets of its row if that is sold whole. A repeat with its key changes nothing more.
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
	err = o.takeBack(ctx, s, order, t, func(q *pgx.Batch) { k.Insert(q, nil) })
	if done, e := o.wasDone(ctx, k); errors.As(err, new(*seats.Conflict)) && e == nil && done { // by an equal request at the same time
		return nil
	}
	return err
}

func (o *Orders) takeBack(ctx context.Context, s *seats.Sale, order Order, t Ticket, also seats.TxHook) error {
	ctx = context.WithoutCancel(ctx)
	idxs, tickets := s.Whole(t.Idx), []seats.ID{}
	for _, other := range order.Tickets {
		if !other.Revoked && slices.Contains(idxs, other.Idx) {
			tickets = append(tickets, other.ID)
		}
	}
	friend, err := o.friendOf(ctx, t.ID)
	for err == nil {
		err = s.TakeBack(ctx, order.Holder, order.ID, friend, idxs, func(q *pgx.Batch) {
			if also != nil {
				also(q)
			}
			q.Queue(takenBackSQL, tickets)
		})
		now, e := o.friendOf(ctx, t.ID)
		if err == nil || e != nil || now == friend {
			break
		}
		friend, err = now, nil // a browser took the offer to the friend in this moment
	}
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

// resold ends tickets of an order and gives back what was paid for them, in the transaction that sells their seats again.
func (o *Orders) resold(q *pgx.Batch, event int64, order seats.ID, sold []seats.Resale) (done func()) {
	id, tickets, fee := seats.NewID(), make([]seats.ID, len(sold)), int64(0)
	for i, r := range sold {
		tickets[i], fee = r.Ticket, fee+r.Fee
	}
	q.Queue(oneAtATimeSQL, order)
	q.Queue(theseTicketsSQL, tickets)
	q.Queue(cancelSQL, order, tickets, id, event, true, fee, int64(0), false)
	payments.QueueRefund(q, order, text.Mark("A ticket was sold to another person."), &id)
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
	var refusal *seats.Conflict
	switch {
	case errors.As(err, &refusal) && refusal.Code == seats.CodeTaken:
		return 0, nil // another visitor holds the seat; it is due as long as it is offered
	case err != nil:
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

const isOfferedSQL = `SELECT revoked_at IS NOT NULL, resale_id IS NOT NULL FROM ticket WHERE id = $1`

// takeBackAtDoor takes a ticket back from sale that its holder came with. It returns what the door says instead of admitting it;
// empty if it may.
func (o *Orders) takeBackAtDoor(ctx context.Context, t Ticket) (word string, err error) {
	var code string
	if err = o.db.QueryRow(ctx, orderOfTicketSQL, t.ID).Scan(&code); err == nil {
		err = o.takeBackOf(ctx, code, t.ID)
	}
	if err != nil && !errors.As(err, new(*seats.Conflict)) {
		return "", fmt.Errorf("orders: let a ticket in that is offered back: %w", err)
	}
	var revoked, offered bool
	if err := o.db.QueryRow(ctx, isOfferedSQL, t.ID).Scan(&revoked, &offered); err != nil {
		return "", fmt.Errorf("orders: see what became of a ticket that is offered back: %w", err)
	}
	switch {
	case revoked:
		return ScanRevoked, nil
	case offered:
		return ScanSelling, nil
	}
	return "", nil // it, or another request in the same moment, took the ticket back
}

package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// A ticket is sent to a friend in two steps. Its holder offers it, by email or by a link that they pass on. Until the friend
// accepts, the holder's ticket is valid, and they may take the offer back. Accepting replaces the ticket by another one of its
// order, for the same seat: from then on the old code opens no door, and the friend alone has the new one. Money stays with the
// order: if the organizer cancels the ticket, its price goes back to the buyer.

// Transfer is a ticket that its holder sends to a friend.
type Transfer struct {
	ID         seats.ID
	Code       string // of the link by which it is accepted
	SentTo     string // the address that the link was mailed to; empty: the sender passes it on
	Ticket     seats.ID
	TicketCode string // of the link to the friend's ticket; empty until it is accepted
	Withdrawn  bool
	Name       string // of the friend, once they accepted
	Email      string
	From       string // the name of the sender
	Order      string // code of the order
	Language   string // of the friend, as BCP 47 writes it; empty: not known
}

// Open reports whether the ticket may be accepted.
func (t Transfer) Open() bool { return t.TicketCode == "" && !t.Withdrawn }

// Kinds of mail about a ticket that is sent.
const (
	MailTicketOffer = "ticket-offer"
	MailTicket      = "ticket"      // the friend's ticket
	MailTicketVoid  = "ticket-void" // the organizer cancelled it
)

// Codes of refusals.
const (
	CodeAccepted  = "accepted"  // the ticket was accepted before
	CodeWithdrawn = "withdrawn" // the sender took the ticket back
	CodeSent      = "sent"      // the ticket is that of a friend
)

// ErrNoTransfer is a link that no ticket was sent by.
var ErrNoTransfer = errors.New("no ticket was sent by this link")

const transferColumns = `
SELECT f.id, f.code, f.sent_to, f.ticket_id, coalesce(f.ticket_code, ''), f.withdrawn_at IS NOT NULL, f.name, f.email, coalesce(s.name, o.name), o.code, coalesce(nullif(f.language, ''), nullif(o.language, ''), '')
  FROM ticket_transfer f JOIN orders o ON o.id = f.order_id LEFT JOIN ticket_transfer s ON s.id = f.sender_id`

const (
	offeredSQL      = transferColumns + ` WHERE f.code = $1`
	receivedSQL     = transferColumns + ` WHERE f.ticket_code = $1`
	transferByIDSQL = transferColumns + ` WHERE f.id = $1`
)

func (o *Orders) transfer(ctx context.Context, sql string, of any) (t Transfer, err error) {
	err = o.db.QueryRow(ctx, sql, of).Scan(&t.ID, &t.Code, &t.SentTo, &t.Ticket, &t.TicketCode, &t.Withdrawn, &t.Name, &t.Email, &t.From, &t.Order, &t.Language)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, ErrNoTransfer
	}
	if err != nil {
		return t, fmt.Errorf("orders: find a sent ticket: %w", err)
	}
	return t, nil
}

// Offered returns the ticket that a link offers, and its order. ErrNoTransfer if there is none.
func (o *Orders) Offered(ctx context.Context, code string) (Transfer, Order, error) {
	return o.transferAnd(ctx, offeredSQL, code)
}

// TransferByID is Offered by the id of a transfer.
func (o *Orders) TransferByID(ctx context.Context, id seats.ID) (Transfer, Order, error) {
	return o.transferAnd(ctx, transferByIDSQL, id)
}

func (o *Orders) transferAnd(ctx context.Context, sql string, of any) (t Transfer, order Order, err error) {
	if t, err = o.transfer(ctx, sql, of); err == nil {
		order, err = o.Find(ctx, t.Order)
	}
	return t, order, err
}

// ReceivedTicket returns the order of a sent ticket as the friend sees it, by the code of their link: with that ticket and its price, and
// without its buyer and the other tickets. ErrNoOrder if there is none.
func (o *Orders) ReceivedTicket(ctx context.Context, code string) (Order, error) {
	t, order, err := o.transferAnd(ctx, receivedSQL, code)
	if errors.Is(err, ErrNoTransfer) {
		return order, ErrNoOrder
	}
	if err != nil {
		return order, err
	}
	return order.receivedBy(t), nil
}

// receivedBy is the order as the friend sees it. A ticket that they sent on is not theirs any more.
func (o Order) receivedBy(t Transfer) Order {
	seen := Order{
		ID: o.ID, Code: t.TicketCode, Event: o.Event, State: Confirmed, Name: t.Name, Email: t.Email, Method: o.Method, Currency: o.Currency, CreatedAt: o.CreatedAt, Started: o.Started,
		TransferEnds: o.TransferEnds, TransferOver: o.TransferOver, Rotates: o.Rotates, Received: &t,
	}
	ticket, ok := o.ticket(t.Ticket)
	if !ok || ticket.Revoked {
		seen.State = Cancelled
	}
	if ok {
		if ticket.Friend, ticket.Offer = nil, ticket.onward; !ticket.Revoked {
			ticket.Code, ticket.Rotation = ticket.code, ticket.turns
		}
		seen.Total, seen.Paid, seen.Tickets = ticket.Cost(), ticket.Cost(), []Ticket{ticket}
	}
	return seen
}

// Sendable are the tickets that their holder may offer to a friend now.
func (o Order) Sendable() []Ticket {
	if o.State == Cancelled || o.TransferOver || o.Started || o.Due() > 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.Tickets), func(t Ticket) bool {
		return t.Revoked || t.In != nil || t.Friend != nil || t.Offer != nil || t.OfferedBack
	})
}

// The ticket is locked: it is not cancelled, moved, scanned or accepted until the transaction ends.
const mayTransferSQL = `
SELECT CASE WHEN t.revoked_at IS NOT NULL OR t.leaving_until >= clock_timestamp() THEN 'gone'
            WHEN t.resale_id IS NOT NULL THEN 'resale'
            WHEN EXISTS (SELECT FROM scan WHERE ticket_id = t.id AND admitted) THEN 'used'
            WHEN e.status = 'cancelled' THEN 'called off' WHEN e.transfer_until IS NULL THEN 'never'
            WHEN least(e.starts_at, e.starts_at - e.transfer_until) <= clock_timestamp() THEN 'over'
            WHEN o.kept - o.paid - o.waived + (SELECT coalesce(sum(price + fee), 0) FROM ticket WHERE order_id = o.id AND revoked_at IS NULL) > 0 THEN 'unpaid' ELSE '' END
  FROM ticket t JOIN event e ON e.id = t.event_id JOIN orders o ON o.id = t.order_id
 WHERE t.id = $1 FOR NO KEY UPDATE OF t`

// mayTransfer locks a ticket, and refuses to send it if that may not be.
func mayTransfer(ctx context.Context, tx pgx.Tx, ticket seats.ID) error {
	if _, err := tx.Exec(ctx, theseTicketsSQL, []seats.ID{ticket}); err != nil { // the next statement sees what was done until then
		return err
	}
	var why string
	if err := tx.QueryRow(ctx, mayTransferSQL, ticket).Scan(&why); err != nil {
		return err
	}
	refuse := func(code, message string) error { return &seats.Conflict{Code: code, Message: message} }
	switch why {
	case "gone":
		return refuse(CodeCancelled, text.Mark("This ticket is no longer valid, so it cannot be sent. Nothing was changed."))
	case "resale":
		return refuse(seats.CodeResale, text.Mark("This ticket is offered back for sale, so it cannot be sent. Nothing was changed. Choose “Keep this ticket” first, then send it."))
	case "used":
		return refuse(CodeAdmitted, text.Mark("This ticket was already used, so it cannot be sent any more. Nothing was changed."))
	case "called off":
		return refuse(CodeCancelled, text.Mark("This event was cancelled, so its tickets cannot be sent. Nothing was changed."))
	case "never":
		return refuse(CodePolicy, text.Mark("Tickets for this event cannot be sent to another person. Nothing was changed."))
	case "over":
		return refuse(CodePolicy, text.Mark("The time for sending tickets is over. Nothing was changed."))
	case "unpaid":
		return refuse(CodeUnpaid, text.Mark("This order is not paid yet, so its tickets cannot be sent. Nothing was changed. Pay first, then send them."))
	}
	return nil
}

// mostOffers is how many offers of tickets of one order one person makes in a day, and mostOfOrder all who have tickets of it: each
// may be a mail to any address.
const (
	mostOffers  = 20
	mostOfOrder = 60
)

const offersSQL = `SELECT count(*) FILTER (WHERE sender_id IS NOT DISTINCT FROM $2), count(*) FROM ticket_transfer WHERE order_id = $1 AND offered_at > clock_timestamp() - interval '1 day'`

const offerSQL = `
WITH made AS (
    INSERT INTO ticket_transfer (id, event_id, order_id, ticket_id, sender_id, code, sent_to)
    SELECT $1, event_id, order_id, id, $3, $4, $5 FROM ticket WHERE id = $2
        ON CONFLICT DO NOTHING
    RETURNING id, sent_to
), told AS (
    INSERT INTO mail (transfer_id, kind) SELECT id, 'ticket-offer' FROM made WHERE sent_to <> ''
)
SELECT count(*) FROM made`

// Offer offers a ticket to a friend; email is where the link is mailed to, or empty if the holder passes it on. The holder's
// ticket is valid until the friend accepts. A repeat with its key changes nothing more.
//
// Errors: ErrNoTicket, idempotency.ErrNoKey; Mistakes; a *seats.Conflict that says why not; the database's.
func (o *Orders) Offer(ctx context.Context, order Order, key string, ticket seats.ID, email string) error {
	email = strings.TrimSpace(email)
	if wrong := wrongEmail(email); email != "" && wrong != "" {
		return Mistakes{{FieldEmail, wrong}}
	}
	k, err := keyOf(order.ID, key, "offer", ticket, email)
	if err != nil {
		return err
	}
	if done, err := o.wasDone(ctx, k); err != nil || done {
		return err
	}
	if err := order.holds(ticket); err != nil {
		return err
	}
	var sender *seats.ID
	if order.Received != nil {
		sender = &order.Received.ID
	}
	first, err := o.once(ctx, k, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, oneAtATimeSQL, order.ID); err != nil {
			return err
		}
		if err := mayTransfer(ctx, tx, ticket); err != nil {
			return err
		}
		var recent, all, made int
		if err := tx.QueryRow(ctx, offersSQL, order.ID, sender).Scan(&recent, &all); err != nil {
			return err
		}
		if recent >= mostOffers || all >= mostOfOrder {
			return &seats.Conflict{Code: CodeOften, Message: text.Mark("Tickets of this order were offered too often within a day. Nothing was changed. Try again tomorrow.")}
		}
		if err := tx.QueryRow(ctx, offerSQL, seats.NewID(), ticket, sender, seal.NewCode(), email).Scan(&made); err != nil {
			return err
		}
		if made == 0 {
			return &seats.Conflict{Code: CodeSent, Message: text.Mark("This ticket is already offered to another person. Nothing was changed. Take it back first.")}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("orders: offer a ticket: %w", err)
	}
	if first {
		o.mailWritten()
	}
	return nil
}

// holds refuses a request about a ticket that is not the requester's.
func (o Order) holds(ticket seats.ID) error {
	t, ok := o.ticket(ticket)
	switch {
	case !ok:
		return ErrNoTicket
	case t.Friend != nil:
		return &seats.Conflict{Code: CodeSent, Seats: []int{t.Idx}, Message: text.Mark("This ticket was sent to %s, and is theirs now. Nothing was changed. Only the organizer can cancel it."), Args: []any{t.Friend.Name}}
	}
	return nil
}

const withdrawSQL = `
UPDATE ticket_transfer SET withdrawn_at = clock_timestamp()
 WHERE ticket_id = $1 AND accepted_at IS NULL AND withdrawn_at IS NULL`

// Withdraw takes back a ticket that its holder offered. A repeat with its key changes nothing more.
//
// Errors: ErrNoTicket, idempotency.ErrNoKey; a *seats.Conflict if it was accepted; the database's.
func (o *Orders) Withdraw(ctx context.Context, order Order, key string, ticket seats.ID) error {
	k, err := keyOf(order.ID, key, "withdraw", ticket)
	if err != nil {
		return err
	}
	if done, err := o.wasDone(ctx, k); err != nil || done {
		return err
	}
	if err := order.holds(ticket); err != nil {
		return err
	}
	first, err := o.once(ctx, k, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, withdrawSQL, ticket)
		if err == nil && tag.RowsAffected() == 0 {
			err = &seats.Conflict{Code: CodeAccepted, Message: text.Mark("This ticket is not offered any more: it was accepted or taken back. Nothing was changed. Look at the order again.")}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("orders: take a ticket back: %w", err)
	}
	if first {
		o.happened()
	}
	return nil
}

// Acceptance is what a friend sends who accepts a ticket.
type Acceptance struct {
	Key      string
	Name     string
	Email    string
	Language string // that they read; empty: not known
}

const stillOfferedSQL = `SELECT ticket_id, accepted_at IS NULL, withdrawn_at IS NULL FROM ticket_transfer WHERE id = $1 FOR NO KEY UPDATE`

// The old ticket ends before the new one begins: a seat has one live ticket.
const (
	endTicketSQL   = `UPDATE ticket SET revoked_at = clock_timestamp() WHERE id = $1`
	ticketMovesSQL = `UPDATE ticket SET moved_to = $2 WHERE id = $1`
	sameSeatSQL    = `INSERT INTO ticket (id, event_id, order_id, idx, price, fee, discount, tax, fee_tax, tax_rate, fee_rate, type)
SELECT $2, event_id, order_id, idx, price, fee, discount, tax, fee_tax, tax_rate, fee_rate, type FROM ticket WHERE id = $1`
	acceptedSQL = `
WITH told AS (
    INSERT INTO mail (transfer_id, kind) VALUES ($1, 'ticket')
)
UPDATE ticket_transfer SET accepted_at = clock_timestamp(), ticket_id = $2, ticket_code = $3, name = $4, email = $5, language = $6 WHERE id = $1`
)

// Accept accepts a ticket: it is replaced by another one for its seat, and the old code opens no door any more. It returns the
// code of the link to it. Of many who accept at once, one gets it. A repeat with its key gets the same code.
//
// Errors: ErrNoTransfer, idempotency.ErrNoKey; Mistakes; a *seats.Conflict that says why not; the database's.
func (o *Orders) Accept(ctx context.Context, code string, a Acceptance) (ticketCode string, err error) {
	t, err := o.transfer(ctx, offeredSQL, code)
	if err != nil {
		return "", err
	}
	a.Name, a.Email = strings.Join(strings.Fields(a.Name), " "), strings.TrimSpace(a.Email)
	var m Mistakes
	for _, one := range []Mistake{{FieldName, wrongName(a.Name)}, {FieldEmail, wrongEmail(a.Email)}} {
		if one.Message != "" {
			m = append(m, one)
		}
	}
	if len(m) > 0 {
		return "", m
	}
	key, err := idempotency.New("transfer/"+t.ID.String(), a.Key, a.Name, a.Email)
	if err != nil {
		return "", err
	}
	ticketCode = seal.NewCode()
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		first, earlier, err := key.Take(ctx, tx, []byte(ticketCode))
		if ticketCode = string(earlier); err != nil || !first {
			return err
		}
		return accept(ctx, tx, t, ticketCode, a)
	})
	if err != nil {
		return "", fmt.Errorf("orders: accept a ticket: %w", refuseOther(err))
	}
	o.mailWritten()
	return ticketCode, nil
}

// accept locks the ticket before its offer, as a move does.
func accept(ctx context.Context, tx pgx.Tx, t Transfer, ticketCode string, a Acceptance) error {
	if _, err := tx.Exec(ctx, theseTicketsSQL, []seats.ID{t.Ticket}); err != nil {
		return err
	}
	var ticket seats.ID
	var open, offered bool
	if err := tx.QueryRow(ctx, stillOfferedSQL, t.ID).Scan(&ticket, &open, &offered); err != nil {
		return err
	}
	switch {
	case !open:
		return &seats.Conflict{Code: CodeAccepted, Message: text.Mark("This ticket was accepted already. Nothing was changed. If that was you, open the link in the email that we sent you then.")}
	case !offered:
		return &seats.Conflict{Code: CodeWithdrawn, Message: text.Mark("This ticket was taken back by the person who sent it. Nothing was changed.")}
	}
	if ticket != t.Ticket {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This ticket got another seat in this moment. Nothing was changed. Send the form again.")}
	}
	if err := mayTransfer(ctx, tx, ticket); err != nil {
		return err
	}
	fresh := seats.NewID()
	var q pgx.Batch
	q.Queue(endTicketSQL, ticket)
	q.Queue(sameSeatSQL, ticket, fresh)
	q.Queue(ticketMovesSQL, ticket, fresh)
	q.Queue(acceptedSQL, t.ID, fresh, ticketCode, a.Name, a.Email, a.Language)
	return tx.SendBatch(ctx, &q).Close()
}

// A ticket that moves to another seat is sent on with it, and its holder gets mail.
const followSQL = `
WITH moved AS (
    UPDATE ticket_transfer f SET ticket_id = m.fresh
      FROM unnest($1::uuid[], $2::uuid[]) AS m(old, fresh)
     WHERE f.ticket_id = m.old AND f.withdrawn_at IS NULL
    RETURNING f.id, f.accepted_at, f.email
)
INSERT INTO mail (transfer_id, kind) SELECT id, 'ticket' FROM moved WHERE accepted_at IS NOT NULL AND email <> ''`

const tellFriendsSQL = `
INSERT INTO mail (transfer_id, kind)
SELECT id, 'ticket-void' FROM ticket_transfer WHERE ticket_id = ANY($1::uuid[]) AND accepted_at IS NOT NULL AND email <> ''`

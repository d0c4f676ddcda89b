package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// MailJoin tells who ordered an online event that they can join now.
const MailJoin = "join"

// CodeNotYet is the refusal of a ticket that cannot be used to join: it is too early, or there is no link yet.
const CodeNotYet = "not_yet"

// CodeNotPaid refuses a ticket of an order that is to be paid later and is not paid yet.
const CodeNotPaid = "not_paid"

// joinable is a ticket that may be used to join its online event now. $1 is the order, $2 the ticket.
const joinable = `
  FROM ticket t JOIN event e ON e.id = t.event_id JOIN orders o ON o.id = t.order_id
 WHERE t.order_id = $1 AND t.id = $2 AND t.revoked_at IS NULL AND t.resale_id IS NULL AND o.due_at IS NULL
   AND e.online AND e.join_link <> '' AND e.status <> 'cancelled' AND (e.join_early IS NULL OR clock_timestamp() >= e.starts_at - e.join_early)`

// The guard is that of a door: a ticket that was cancelled, or is being cancelled in this moment, does not pass. The key is
// the ticket's, so that a repeat is the same check-in. Who was let in by a door before stays so.
const attendSQL = `
WITH joining AS (
    SELECT t.id, t.event_id, e.join_link` + joinable + ` AND (t.leaving_until IS NULL OR t.leaving_until < clock_timestamp())
       FOR NO KEY UPDATE OF t
), checked_in AS (
    INSERT INTO scan (event_id, ticket_id, key, place, scanned_at, admitted)
    SELECT event_id, id, 'online ' || id, 'Online', clock_timestamp(), true FROM joining
        ON CONFLICT DO NOTHING
)
SELECT join_link FROM joining`

// Attend checks a ticket of an online event in and returns the link to join. A repeat changes nothing and returns the link
// again. ErrNoTicket; a *seats.Conflict that says why the ticket cannot be used now; the database's.
func (o *Orders) Attend(ctx context.Context, order Order, ticket seats.ID) (link string, err error) {
	if t, ok := order.ticket(ticket); !ok || t.Friend != nil {
		return "", ErrNoTicket
	}
	err = o.db.QueryRow(ctx, attendSQL, order.ID, ticket).Scan(&link)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", o.refuseJoining(ctx, order, ticket)
	}
	if err != nil {
		return "", fmt.Errorf("orders: attend: %w", err)
	}
	o.happened()
	return link, nil
}

const whyNotJoinSQL = `
SELECT CASE WHEN t.revoked_at IS NOT NULL THEN 'revoked' WHEN t.leaving_until >= clock_timestamp() THEN 'leaving' WHEN t.resale_id IS NOT NULL THEN 'resale' WHEN e.status = 'cancelled' THEN 'called off'
            WHEN NOT e.online THEN 'place' WHEN o.due_at IS NOT NULL THEN 'unpaid' ELSE '' END
  FROM ticket t JOIN event e ON e.id = t.event_id JOIN orders o ON o.id = t.order_id
 WHERE t.order_id = $1 AND t.id = $2`

// refuseJoining says why a ticket cannot be used to join now.
func (o *Orders) refuseJoining(ctx context.Context, order Order, ticket seats.ID) error {
	var why string
	if err := o.db.QueryRow(ctx, whyNotJoinSQL, order.ID, ticket).Scan(&why); err != nil {
		return fmt.Errorf("orders: see why a ticket does not join: %w", err)
	}
	switch why {
	case "revoked":
		return &seats.Conflict{Code: CodeCancelled, Message: text.Mark("This ticket was cancelled, so it no longer opens the event.")}
	case "leaving":
		return &seats.Conflict{Code: CodeCancelled, Message: text.Mark("This ticket is being cancelled, so you can't join with it now. Open this page again in two minutes to see if it is still valid.")}
	case "resale":
		return &seats.Conflict{Code: seats.CodeResale, Message: text.Mark("This ticket is offered back for sale, so you can't join with it. Keep it first: this page has a button for that.")}
	case "called off":
		return &seats.Conflict{Code: CodeCancelled, Message: text.Mark("This event was cancelled, so you can't join it.")}
	case "place":
		return &seats.Conflict{Code: CodeNotYet, Message: text.Mark("You can't join this event online. Your ticket is valid at the place of the event.")}
	case "unpaid":
		return &seats.Conflict{Code: CodeNotPaid, Message: text.Mark("You can join once your order is paid. This page says how much is due and by when. If you have paid, ask the organizer to note it.")}
	}
	return &seats.Conflict{Code: CodeNotYet, Message: text.Mark("You can't join yet. Your ticket is valid. This page says when joining opens.")}
}

const joinLinkSQL = `
SELECT e.join_link` + joinable + ` AND EXISTS (SELECT FROM scan s WHERE s.ticket_id = t.id AND s.admitted)`

// JoinLink returns the link to join of a ticket that is checked in. ErrNoTicket if it is not, or not valid any more.
func (o *Orders) JoinLink(ctx context.Context, order Order, ticket seats.ID) (link string, err error) {
	if t, ok := order.ticket(ticket); !ok || t.Friend != nil {
		return "", ErrNoTicket
	}
	err = o.db.QueryRow(ctx, joinLinkSQL, order.ID, ticket).Scan(&link)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNoTicket
	}
	if err != nil {
		return "", fmt.Errorf("orders: read the link to join: %w", err)
	}
	return link, nil
}

// ticket returns the order's ticket with this id.
func (o Order) ticket(id seats.ID) (Ticket, bool) {
	for _, t := range o.Tickets {
		if t.ID == id {
			return t, true
		}
	}
	return Ticket{}, false
}

// toldToJoin holds for orders that get the mail when the link opens.
const toldToJoin = `
   AND o.state = 'confirmed' AND o.due_at IS NULL AND o.email <> '' AND o.created_at < opens.at
   AND EXISTS (SELECT FROM ticket t WHERE t.order_id = o.id AND t.revoked_at IS NULL AND NOT EXISTS (SELECT FROM ticket_transfer f WHERE f.ticket_id = t.id AND f.accepted_at IS NOT NULL))
   AND NOT EXISTS (SELECT FROM mail m WHERE m.order_id = o.id AND m.kind = 'join')`

// friendsToJoin holds for tickets that were sent to a friend, as toldToJoin does for orders.
const friendsToJoin = `
   AND f.accepted_at < opens.at AND f.email <> '' AND EXISTS (SELECT FROM ticket t WHERE t.id = f.ticket_id AND t.revoked_at IS NULL)
   AND NOT EXISTS (SELECT FROM mail m WHERE m.transfer_id = f.id AND m.kind = 'join')`

// Orders that were placed while the link was open already got it with their confirmation.
const mailJoinSQL = `
INSERT INTO mail (order_id, transfer_id, kind)
SELECT told.order_id, told.transfer_id, 'join'
  FROM event e CROSS JOIN LATERAL (SELECT greatest(e.starts_at - e.join_early, e.join_link_at) AS at) opens
  CROSS JOIN LATERAL (
       SELECT o.id AS order_id, NULL::uuid AS transfer_id, o.created_at AS since FROM orders o WHERE o.event_id = e.id` + toldToJoin + `
        UNION ALL
       SELECT NULL, f.id, f.accepted_at FROM ticket_transfer f WHERE f.event_id = e.id` + friendsToJoin + `) told
 WHERE e.online AND e.join_link <> '' AND e.status <> 'cancelled' AND opens.at <= clock_timestamp() AND clock_timestamp() < e.starts_at + interval '1 day'
 ORDER BY told.since LIMIT 500
    ON CONFLICT DO NOTHING`

// MailJoin writes the mails that say "you can join now" of the online events with a link that opened, 500 at most. It reports
// whether there were any.
func (o *Orders) MailJoin(ctx context.Context) (more bool, err error) {
	tag, err := o.db.Exec(ctx, mailJoinSQL)
	if err != nil {
		return false, fmt.Errorf("orders: write mail about joining: %w", err)
	}
	if tag.RowsAffected() > 0 {
		o.mailWritten()
	}
	return tag.RowsAffected() > 0, nil
}

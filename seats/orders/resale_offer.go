package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// Tickets may be offered back to a friend. The seats are a hold then, made as an offer of the waitlist is: the friend takes it to their
// browser by a private link, and buys them at the price of the moment in which they were offered. Until a time no other person may. Then
// they are on sale for everyone, as other tickets that are offered back. The buyer may keep a ticket while it is not being paid for.

// ResaleOffer is tickets that their buyer offers back to a friend.
type ResaleOffer struct {
	ID     seats.ID
	Code   string // of the friend's link
	SentTo string
	From   string // the name of the buyer
	Event  string // slug
	Until  time.Time
	Holder seats.ID // of the seats: ID, until a browser took them
	State  string
}

// States of an offer to a friend.
const (
	ResaleOpen      = "open"   // the friend may buy
	ResalePaying    = "paying" // they are paying
	ResaleSold      = "sold"
	ResaleWithdrawn = "withdrawn" // the buyer keeps the tickets
	ResaleOver      = "over"      // its time is over, or the friend gave the seats back: anyone may buy what is still on sale
)

// MailResaleOffer is the kind of mail with the friend's link.
const MailResaleOffer = "resale-offer"

// ErrNoResaleOffer is a link by which nothing was offered to a friend.
var ErrNoResaleOffer = errors.New("no ticket was offered by this link")

// FieldFriend is the field with the address of a friend.
const FieldFriend = "friend"

// OfferedTo is whom a ticket is offered back to, while no other person may buy it.
type OfferedTo struct {
	Email string
	Until time.Time
}

// OfferToFriend is OfferBack for a friend alone, until a time: a day, or half of the time until offering ends. The link goes to email.
//
// Errors: those of OfferBack; Mistakes.
func (o *Orders) OfferToFriend(ctx context.Context, s *seats.Sale, order Order, key string, tickets []seats.ID, email string) error {
	email = strings.TrimSpace(email)
	if wrong := wrongEmail(email); wrong != "" {
		return Mistakes{{FieldFriend, wrong}}
	}
	k, err := keyOf(order.ID, key, "offer to a friend", tickets, email)
	if err != nil {
		return err
	}
	return o.offerBack(ctx, s, order, k, tickets, email)
}

// resaleOffer is an offer to a friend that is about to be made.
type resaleOffer struct {
	seats.Friend
	order   seats.ID
	resales []seats.ID
	email   string
}

const friendUntilSQL = `SELECT clock_timestamp() + least(interval '1 day', (starts_at - resale_until - clock_timestamp()) / 2) FROM event WHERE id = $1`

func (o *Orders) newResaleOffer(ctx context.Context, event int64, order seats.ID, resales []seats.ID, email string) (*resaleOffer, error) {
	to := &resaleOffer{seats.Friend{ID: seats.NewID()}, order, resales, email}
	return to, o.db.QueryRow(ctx, friendUntilSQL, event).Scan(&to.Until)
}

// first is for whom the seats are held; nil for everyone.
func (to *resaleOffer) first() *seats.Friend {
	if to == nil {
		return nil
	}
	return &to.Friend
}

const insertResaleOfferSQL = `
WITH made AS (
    INSERT INTO resale_offer (id, event_id, order_id, resales, code, sent_to, holder, hold_id, until)
    SELECT $1, event_id, id, $3, $4, $5, $1, $1, $6 FROM orders WHERE id = $2
    RETURNING id
)
INSERT INTO mail (resale_offer_id, kind) SELECT id, 'resale-offer' FROM made`

func (to *resaleOffer) insert(q *pgx.Batch) {
	if to != nil {
		q.Queue(insertResaleOfferSQL, to.ID, to.order, to.resales, seal.NewCode(), to.email, to.Until)
	}
}

// Seats of an offer are those of its hold that are held now. The states of a seat are those of package seats.
const resaleOfferColumns = `
SELECT f.id, f.code, f.sent_to, o.name, e.slug, f.until, f.holder,
       CASE WHEN s.paying THEN 'paying' WHEN s.held THEN 'open' WHEN s.sold THEN 'sold' WHEN s.ended THEN 'withdrawn' ELSE 'over' END
  FROM resale_offer f JOIN orders o ON o.id = f.order_id JOIN event e ON e.id = f.event_id
  LEFT JOIN hold h ON h.event_id = f.event_id AND h.holder = f.holder AND h.id = f.hold_id,
       LATERAL (SELECT coalesce(bool_or(z.holder = h.holder AND z.state = 1 /* held */ AND z.expires_at > clock_timestamp()), false) AS held,
                       coalesce(bool_or(r.ended_at IS NULL AND z.state = 3 /* paying */), false) AS paying,
                       bool_and(r.sold_to IS NOT NULL) AS sold, bool_and(r.ended_at IS NOT NULL) AS ended
                  FROM resale r JOIN seat_state z ON z.event_id = r.event_id AND z.idx = r.idx WHERE r.id = ANY(f.resales)) s`

const (
	resaleOfferSQL     = resaleOfferColumns + ` WHERE f.code = $1`
	resaleOfferByIDSQL = resaleOfferColumns + ` WHERE f.id = $1`
)

func (o *Orders) resaleOffer(ctx context.Context, sql string, of any) (f ResaleOffer, err error) {
	err = o.db.QueryRow(ctx, sql, of).Scan(&f.ID, &f.Code, &f.SentTo, &f.From, &f.Event, &f.Until, &f.Holder, &f.State)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, ErrNoResaleOffer
	}
	if err != nil {
		return f, fmt.Errorf("orders: find an offer to a friend: %w", err)
	}
	return f, nil
}

// ResaleOffer returns what a link offers to a friend. ErrNoResaleOffer if there is nothing.
func (o *Orders) ResaleOffer(ctx context.Context, code string) (ResaleOffer, error) {
	return o.resaleOffer(ctx, resaleOfferSQL, code)
}

// ResaleOfferByID is ResaleOffer by the id of an offer.
func (o *Orders) ResaleOfferByID(ctx context.Context, id seats.ID) (ResaleOffer, error) {
	return o.resaleOffer(ctx, resaleOfferByIDSQL, id)
}

const resaleTakenSQL = `UPDATE resale_offer SET holder = $2, hold_id = $3 WHERE id = $1`

// TakeResaleOffer moves the seats to a browser of the friend, for the checkout. Each browser that opens the link may take them; the last
// one has them.
//
// Errors: ErrNoResaleOffer; a *seats.Conflict that says why not; the database's.
func (o *Orders) TakeResaleOffer(ctx context.Context, s *seats.Sale, code string, to seats.ID) (seats.Hold, error) {
	for range 3 { // another browser may take them between both statements
		f, err := o.ResaleOffer(ctx, code)
		if err == nil && f.State != ResaleOpen && f.State != ResalePaying {
			err = f.Refuse()
		}
		if err != nil {
			return seats.Hold{}, err
		}
		hold, err := s.Take(ctx, seats.Taking{From: f.Holder, To: to, Fresh: f.Holder == f.ID, Write: func(q *pgx.Batch, hold seats.ID) {
			q.Queue(resaleTakenSQL, f.ID, to, hold)
		}})
		var refusal *seats.Conflict
		switch {
		case errors.Is(err, seats.ErrNoHold):
			continue
		case errors.As(err, &refusal) && refusal.Code == seats.CodeExpired:
			f.State = ResaleOver
			return hold, f.Refuse()
		case err != nil && refusal == nil:
			return hold, fmt.Errorf("orders: take an offer to a friend: %w", err)
		}
		return hold, err
	}
	return seats.Hold{}, ResaleOffer{State: ResalePaying}.Refuse()
}

// Refuse says why the friend may not buy; nil if they may.
func (f ResaleOffer) Refuse() *seats.Conflict {
	switch f.State {
	case ResaleOpen:
		return nil
	case ResaleSold:
		return &seats.Conflict{Code: seats.CodeTaken, Message: text.Mark("This was bought already. If that was you, open the link in the confirmation that we emailed to you.")}
	case ResaleWithdrawn:
		return &seats.Conflict{Code: CodeWithdrawn, Message: text.Mark("The person who offered you this keeps it. Nothing was changed.")}
	case ResalePaying:
		return &seats.Conflict{Code: seats.CodePaying, Message: text.Mark("These seats are being paid for in another browser. Finish there, or stop the payment on its page.")}
	}
	return &seats.Conflict{Code: seats.CodeExpired, Message: text.Mark("This offer is over. Look at the event: seats that are still available can be bought by anyone.")}
}

const friendOfSQL = `
SELECT h.holder FROM ticket t JOIN resale_offer f ON f.order_id = t.order_id AND t.resale_id = ANY(f.resales)
  JOIN hold h ON h.event_id = f.event_id AND h.holder = f.holder AND h.id = f.hold_id
 WHERE t.id = $1`

// friendOf returns the holder of the seat of a ticket that is offered to a friend; zero if there is none.
func (o *Orders) friendOf(ctx context.Context, ticket seats.ID) (holder seats.ID, err error) {
	err = o.db.QueryRow(ctx, friendOfSQL, ticket).Scan(&holder)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return holder, fmt.Errorf("orders: find the friend whom a ticket is offered to: %w", err)
	}
	return holder, nil
}

const offeredToSQL = `
SELECT r.ticket_id, f.sent_to, z.expires_at
  FROM resale_offer f JOIN resale r ON r.id = ANY(f.resales) AND r.ended_at IS NULL
  JOIN hold h ON h.event_id = f.event_id AND h.holder = f.holder AND h.id = f.hold_id
  JOIN seat_state z ON z.event_id = r.event_id AND z.idx = r.idx AND z.holder = h.holder AND z.expires_at > clock_timestamp()
 WHERE f.order_id = $1`

// noteFriends notes which tickets of an order are offered to friends.
func (o *Orders) noteFriends(ctx context.Context, order seats.ID, tickets []Ticket) error {
	rows, err := o.db.Query(ctx, offeredToSQL, order)
	if err != nil {
		return err
	}
	var id seats.ID
	var to OfferedTo
	_, err = pgx.ForEachRow(rows, []any{&id, &to.Email, &to.Until}, func() error {
		for i := range tickets {
			if found := to; tickets[i].ID == id {
				tickets[i].OfferedTo = &found
			}
		}
		return nil
	})
	return err
}

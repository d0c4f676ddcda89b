package mail

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/tracing"
)

const (
	atOnce  = 20              // mails that a node takes at a time
	taken   = 5 * time.Minute // how long a taken mail belongs to its node
	deliver = 2 * time.Minute // the most that one delivery may take
)

var backoff = jobs.Backoff{First: 20 * time.Second, Most: 4 * time.Hour}

// Mail is a row of the outbox.
type Mail struct {
	ID    int64
	Order string // code of the order, or of the payment that led to none; empty if the mail is about neither
	Email string // the receiver, if no order names one
	Entry string // code of the entry in a waitlist, if the mail is about one
	Kind  string
	tries int

	Invitation int64  // the invitation that the mail is about, or 0
	Room       string // slug of the waiting room that it invites to, or empty
	About      string // the text of a security notice
	GiftCard   string // the id of the gift card that the mail is about, or empty
	Transfer   string // the id of the ticket that was sent to a friend, or empty
	NewEmail   string // the id of the request to change the email of an order, or empty
	Resale     string // the id of the offer of tickets to a friend, or empty
	Language   string // of its reader, as BCP 47 writes it; empty: not known
}

// Transport hands letters over.
type Transport interface {
	// Deliver returns nil once the letter was handed over, a *Refused if it never will be, and any other error if a later
	// try may succeed.
	Deliver(ctx context.Context, l Letter) error
	Rest() // tells that no delivery follows for now
}

// Outbox is the job that sends mail.
type Outbox struct {
	*jobs.Job
	Write func(ctx context.Context, m Mail) (Letter, error) // composes the letter, for each try anew

	db seats.DB
	by Transport
}

const dueMailSQL = `SELECT '', next_try FROM mail WHERE sent_at IS NULL AND refused_at IS NULL`

// New returns the outbox of a node, which sends by a transport. Set Write before it runs.
func New(db seats.DB, by Transport) *Outbox {
	o := &Outbox{db: db, by: by}
	o.Job = jobs.New("mail", dueMailSQL, func(ctx context.Context, _ string) (int, error) { return o.Send(ctx) })
	o.Idle = by.Rest
	return o
}

// Taken rows are due for other nodes again once their node seems to be dead. Mail that goes to many waits for mail that a
// person waits for; that of a turn, which thousands get at once, is between them.
const takeMailSQL = `
WITH due AS (
    SELECT id FROM mail
     WHERE sent_at IS NULL AND refused_at IS NULL AND next_try <= clock_timestamp()
     ORDER BY CASE WHEN kind IN ('message', 'upcoming', 'thanks', 'code') THEN 2 WHEN kind = 'turn' THEN 1 ELSE 0 END, next_try LIMIT $1
       FOR UPDATE SKIP LOCKED
)
UPDATE mail m SET tries = m.tries + 1, next_try = clock_timestamp() + make_interval(secs => $2)
  FROM due
 WHERE m.id = due.id
RETURNING m.id, coalesce((SELECT code FROM orders WHERE id = m.order_id), (SELECT code FROM payment WHERE id = m.payment_id), ''), coalesce(m.email, ''), coalesce((SELECT code FROM entry WHERE id = m.entry_id), ''), m.kind, m.tries, coalesce(m.invitation_id, 0),
          coalesce((SELECT slug FROM room WHERE id = m.room_id), ''), m.about, coalesce(m.gift_card_id::text, ''), coalesce(m.transfer_id::text, ''), coalesce(m.email_change_id::text, ''), coalesce(m.resale_offer_id::text, ''),
          coalesce(CASE m.kind WHEN 'turn' THEN nullif(m.language, '') END,
                   (SELECT coalesce(nullif(o.language, ''), e.language) FROM orders o JOIN event e ON e.id = o.event_id WHERE o.id = m.order_id),
                   (SELECT coalesce(nullif(p.form->>'language', ''), e.language) FROM payment p JOIN event e ON e.id = p.event_id WHERE p.id = m.payment_id),
                   (SELECT coalesce(nullif(n.language, ''), e.language) FROM entry n JOIN event e ON e.id = n.event_id WHERE n.id = m.entry_id),
                   (SELECT language FROM event WHERE room_id = m.room_id ORDER BY id LIMIT 1),
                   (SELECT language FROM gift_card WHERE id = m.gift_card_id),
                   (SELECT coalesce(nullif(f.language, ''), nullif(o.language, ''), e.language) FROM ticket_transfer f JOIN orders o ON o.id = f.order_id JOIN event e ON e.id = f.event_id WHERE f.id = m.transfer_id),
                   (SELECT coalesce(nullif(o.language, ''), e.language) FROM email_change c JOIN orders o ON o.id = c.order_id JOIN event e ON e.id = c.event_id WHERE c.id = m.email_change_id),
                   (SELECT coalesce(nullif(o.language, ''), e.language) FROM resale_offer f JOIN orders o ON o.id = f.order_id JOIN event e ON e.id = f.event_id WHERE f.id = m.resale_offer_id),
                   (SELECT nullif(language, '') FROM organizer WHERE email = m.email AND m.kind IN ('invitation', 'security', 'password', 'alert', 'books')), m.language)`

const releaseMailSQL = `UPDATE mail SET next_try = clock_timestamp() WHERE id = ANY($1) AND sent_at IS NULL AND refused_at IS NULL`

// Send takes some mail that is due and hands it over. It returns how many mails it took. If ctx ends meanwhile, it
// releases the others.
func (o *Outbox) Send(ctx context.Context) (int, error) {
	rows, err := o.db.Query(ctx, takeMailSQL, atOnce, taken.Seconds())
	if err != nil {
		return 0, fmt.Errorf("mail: take: %w", err)
	}
	due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Mail, err error) {
		return m, row.Scan(&m.ID, &m.Order, &m.Email, &m.Entry, &m.Kind, &m.tries, &m.Invitation, &m.Room, &m.About, &m.GiftCard, &m.Transfer, &m.NewEmail, &m.Resale, &m.Language)
	})
	if err != nil {
		return 0, fmt.Errorf("mail: take: %w", err)
	}
	until := time.Now().Add(taken - deliver)
	for i, m := range due {
		if time.Now().After(until) {
			break // the others are due again soon
		}
		if err = o.one(ctx, m); ctx.Err() != nil {
			return i, errors.Join(ctx.Err(), o.release(ctx, due[i:]))
		}
		if err != nil {
			return i, err
		}
	}
	return len(due), nil
}

func (o *Outbox) release(ctx context.Context, list []Mail) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	ids := make([]int64, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	_, err := o.db.Exec(ctx, releaseMailSQL, ids)
	return err
}

// A visitor who asked to be told of their turn is told by one mail, and their address forgotten with it.
const mailSentSQL = `UPDATE mail SET sent_at = clock_timestamp(), error = '', email = CASE kind WHEN 'turn' THEN '' ELSE email END WHERE id = $1`

const mailRefusedSQL = `
UPDATE mail SET refused_at = clock_timestamp(), error = CASE kind WHEN 'turn' THEN '' ELSE $2 END, email = CASE kind WHEN 'turn' THEN '' ELSE email END
 WHERE id = $1 AND sent_at IS NULL`

const mailLaterSQL = `UPDATE mail SET next_try = clock_timestamp() + make_interval(secs => $3), error = $2 WHERE id = $1 AND sent_at IS NULL`

// one hands one mail over and stores the result.
func (o *Outbox) one(ctx context.Context, m Mail) error {
	within, span := tracing.Start(ctx, "mail")
	err := o.deliver(within, m)
	span.SetAttributes(tracing.Kind.String(m.Kind), tracing.Tries.Int(m.tries))
	tracing.End(span, err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var no *Refused
	switch {
	case err == nil:
		_, err = o.db.Exec(ctx, mailSentSQL, m.ID)
	case errors.As(err, &no) || errors.Is(err, ErrHeader):
		o.Log().Warn("a mail was refused and is not tried again", "mail", m.ID, "reason", err)
		_, err = o.db.Exec(ctx, mailRefusedSQL, m.ID, brief(err))
	default:
		after := backoff.After(m.tries)
		if errors.Is(err, errMany) {
			after = time.Hour / 4
		}
		o.Failed(m.ID, m.tries, after, err)
		_, err = o.db.Exec(ctx, mailLaterSQL, m.ID, brief(err), after.Seconds())
	}
	if err != nil {
		return fmt.Errorf("mail: store the result of %d: %w", m.ID, err)
	}
	return nil
}

func (o *Outbox) deliver(ctx context.Context, m Mail) error {
	ctx, cancel := context.WithTimeout(ctx, deliver)
	defer cancel()
	l, err := o.Write(ctx, m)
	if err != nil {
		return fmt.Errorf("write it: %w", err)
	}
	if m.Order != "" || m.Entry != "" || m.Transfer != "" || m.NewEmail != "" || m.Resale != "" || m.Kind == kindTurn { // mail that attendees cause; links to sign in have limits of their own
		if err := o.count(ctx, m, l.Email); err != nil {
			return err
		}
	}
	return o.by.Deliver(ctx, l)
}

// PerHour is how many mails about orders and waitlists one address gets within an hour. Further ones wait.
const PerHour = 20

// TurnsPerHour is how many mails one address gets within an hour that tell of a turn: it was typed, and not confirmed.
const TurnsPerHour = 3

const kindTurn = "turn"

var errMany = errors.New("this address got many mails within the hour")

const countMailSQL = `
WITH many AS (
    SELECT count(*) FILTER (WHERE kind = 'turn') >= $4 AND $5 = 'turn' OR count(*) >= $3 AND $5 <> 'turn' AS yes
      FROM mail WHERE sent_to = $2 AND sent_at > clock_timestamp() - interval '1 hour'
)
UPDATE mail SET sent_to = $2 FROM many WHERE id = $1 AND NOT many.yes`

// count stores the receiver of a mail. It returns errMany if the address had PerHour mails within the hour, or TurnsPerHour.
func (o *Outbox) count(ctx context.Context, m Mail, to string) error {
	sum := sha256.Sum256([]byte(strings.ToLower(to)))
	tag, err := o.db.Exec(ctx, countMailSQL, m.ID, sum[:], PerHour, TurnsPerHour, m.Kind)
	if err != nil {
		return fmt.Errorf("count the mails of an address: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errMany
	}
	return nil
}

// brief returns the text of an error, cut to what a row keeps.
func brief(err error) string {
	text := []rune(err.Error())
	return string(text[:min(len(text), 500)])
}

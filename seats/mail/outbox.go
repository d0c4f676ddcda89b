package mail

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const (
	atOnce  = 20               // how many mails a node takes
	taken   = 5 * time.Minute  // how long they are its own
	deliver = 2 * time.Minute  // the most one may take
	least   = 20 * time.Second // before a second try; doubled each time
	most    = 4 * time.Hour
	rounds  = time.Minute // how often a node looks for mail of nodes that died
)

// Mail is a row of the outbox.
type Mail struct {
	ID    int64
	Order string // its code, or that of a payment of which no order came; empty if it is about neither
	Email string // where it goes, if no order says it
	Entry string // code of a place in a wait list, if it is about one
	Kind  string
	tries int

	Invitation int64  // that it is about; 0 if it is about none
	Room       string // slug of the waiting room that it invites to; empty if it does not
	About      string // what a security notice tells
}

// Transport hands letters over.
type Transport interface {
	// Deliver returns nil if the letter is in other hands, a *Refused if it never will be, and any other error if it
	// may be another time.
	Deliver(ctx context.Context, l Letter) error
	Rest() // there is nothing more to deliver for now
}

// Outbox sends mail. Any number of nodes may, at once.
type Outbox struct {
	DB    seats.DB
	Log   *slog.Logger
	Wake  <-chan struct{} // mail was written on this node
	By    Transport
	Write func(ctx context.Context, m Mail) (Letter, error) // asked again for each try
}

// Run sends what there is, then waits until there is more: mail of this node wakes it, other mail has its time.
func (o *Outbox) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		n, err := o.Send(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			o.Log.Error("mail waits: the outbox cannot be read", "error", err)
		case n > 0:
			continue
		}
		o.By.Rest()
		o.wait(ctx, err)
	}
	o.By.Rest()
	return ctx.Err()
}

const nextMailSQL = `
SELECT coalesce(extract(epoch FROM min(next_try) - clock_timestamp()), 3600)::float8
  FROM mail WHERE sent_at IS NULL AND refused_at IS NULL`

func (o *Outbox) wait(ctx context.Context, failed error) {
	pause := rounds
	if failed == nil {
		var next float64
		if err := o.DB.QueryRow(ctx, nextMailSQL).Scan(&next); err == nil {
			pause = min(pause, time.Duration(max(0, next)*float64(time.Second))+10*time.Millisecond)
		}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-o.Wake:
	}
}

// Taken rows are nobody else's until their time is up; then their taker is thought dead.
const takeMailSQL = `
WITH due AS (
    SELECT id FROM mail
     WHERE sent_at IS NULL AND refused_at IS NULL AND next_try <= clock_timestamp()
     ORDER BY next_try LIMIT $1
       FOR UPDATE SKIP LOCKED
)
UPDATE mail m SET tries = m.tries + 1, next_try = clock_timestamp() + make_interval(secs => $2)
  FROM due
 WHERE m.id = due.id
RETURNING m.id, coalesce((SELECT code FROM orders WHERE id = m.order_id), (SELECT code FROM payment WHERE id = m.payment_id), ''), coalesce(m.email, ''), coalesce((SELECT code FROM entry WHERE id = m.entry_id), ''), m.kind, m.tries, coalesce(m.invitation_id, 0),
          coalesce((SELECT slug FROM room WHERE id = m.room_id), ''), m.about`

// Send takes some mail that is due and hands it over. It returns how many it took.
func (o *Outbox) Send(ctx context.Context) (int, error) {
	rows, err := o.DB.Query(ctx, takeMailSQL, atOnce, taken.Seconds())
	if err != nil {
		return 0, fmt.Errorf("mail: take: %w", err)
	}
	due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Mail, err error) {
		return m, row.Scan(&m.ID, &m.Order, &m.Email, &m.Entry, &m.Kind, &m.tries, &m.Invitation, &m.Room, &m.About)
	})
	if err != nil {
		return 0, fmt.Errorf("mail: take: %w", err)
	}
	until := time.Now().Add(taken - deliver)
	for _, m := range due {
		if ctx.Err() != nil || time.Now().After(until) {
			break // the rest is taken again when its time is up
		}
		if err := o.one(ctx, m); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

const mailSentSQL = `UPDATE mail SET sent_at = clock_timestamp(), error = '' WHERE id = $1`

const mailRefusedSQL = `UPDATE mail SET refused_at = clock_timestamp(), error = $2 WHERE id = $1 AND sent_at IS NULL`

const mailLaterSQL = `UPDATE mail SET next_try = clock_timestamp() + make_interval(secs => $3), error = $2 WHERE id = $1 AND sent_at IS NULL`

// one hands one mail over and writes down what became of it.
func (o *Outbox) one(ctx context.Context, m Mail) error {
	err := o.deliver(ctx, m)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var no *Refused
	switch {
	case err == nil:
		_, err = o.DB.Exec(ctx, mailSentSQL, m.ID)
	case errors.As(err, &no) || errors.Is(err, ErrHeader):
		o.Log.Warn("a mail was refused and is not tried again", "mail", m.ID, "reason", err)
		_, err = o.DB.Exec(ctx, mailRefusedSQL, m.ID, brief(err))
	default:
		after := later(m.tries)
		if errors.Is(err, errMany) {
			after = time.Hour / 4
		}
		o.Log.Warn("a mail has to wait", "mail", m.ID, "tries", m.tries, "next", after, "reason", err)
		_, err = o.DB.Exec(ctx, mailLaterSQL, m.ID, brief(err), after.Seconds())
	}
	if err != nil {
		return fmt.Errorf("mail: write down what became of %d: %w", m.ID, err)
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
	if m.Order != "" || m.Entry != "" { // what attendees cause: links to sign in have limits of their own
		if err := o.count(ctx, m, l.Email); err != nil {
			return err
		}
	}
	return o.By.Deliver(ctx, l)
}

// PerHour is how many mails about orders and waiting lists one address gets within an hour. More wait.
const PerHour = 20

var errMany = errors.New("this address got many mails within the hour")

const countMailSQL = `
WITH many AS (
    SELECT count(*) >= $3 AS yes FROM mail WHERE sent_to = $2 AND sent_at > clock_timestamp() - interval '1 hour'
)
UPDATE mail SET sent_to = $2 FROM many WHERE id = $1 AND NOT many.yes`

// count notes to whom a mail goes. It returns errMany if the address got as many mails within the hour as one may.
func (o *Outbox) count(ctx context.Context, m Mail, to string) error {
	sum := sha256.Sum256([]byte(strings.ToLower(to)))
	tag, err := o.DB.Exec(ctx, countMailSQL, m.ID, sum[:], PerHour)
	if err != nil {
		return fmt.Errorf("count the mails of an address: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errMany
	}
	return nil
}

// later is how long a mail waits after so many tries.
func later(tries int) time.Duration {
	return min(most, least<<min(tries-1, 10))
}

// brief is an error as a row keeps it.
func brief(err error) string {
	text := []rune(err.Error())
	return string(text[:min(len(text), 500)])
}

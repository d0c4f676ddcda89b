package bookings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
)

// Confirming says how a booking is paid.
type Confirming struct {
	Due     time.Time       // until when the invoice is to be paid
	Billing *orders.Billing // the company on the invoice; nil: the contact
	Seller  orders.Seller   // the team
	Total   *int64          // as the page showed it, minor units; nil: the page showed none
}

const confirmedSQL = `UPDATE booking SET order_id = $2, remind_at = NULL WHERE id = $1`

// Confirm makes an order of an option: its seats are sold, with tickets, to be paid by invoice. It returns the order's code; a booking
// that was confirmed before has the one it made.
//
// Errors: ErrNone; orders.Mistakes; *seats.ValidationError; a *seats.Conflict if the option is over, or costs something else; those of
// a form that is done once; the database's.
func (b *Bookings) Confirm(ctx context.Context, m organizers.Member, key string, s *seats.Sale, id seats.ID, c Confirming) (code string, err error) {
	act := organizers.Action{Key: key, Form: []any{"confirm", s.Event.Slug, id, c}, What: text.Mark("confirmed the booking of a group of"), Subject: subjectOf(s, id)}
	err = b.alone(ctx, id, func(ctx context.Context) error {
		err := b.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
			k, err := b.Find(ctx, m, s.Event.ID, id)
			if err != nil {
				return err
			}
			if k.State == Confirmed {
				return nil
			}
			if k, err = b.open(ctx, m, s.Event.ID, id); err != nil {
				return err
			}
			return b.sell(ctx, s, k, c, also)
		})
		if err != nil {
			return err
		}
		k, err := b.Find(ctx, m, s.Event.ID, id)
		code = k.Order
		return err
	})
	return code, wrap("confirm", err)
}

// sell makes the order of an option.
func (b *Bookings) sell(ctx context.Context, s *seats.Sale, k Booking, c Confirming, also seats.TxHook) error {
	if s.Event.TestOf != 0 {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("A test sale sends no invoices. Nothing was sold.")}
	}
	if !c.Due.After(k.now) {
		return &seats.ValidationError{Message: text.Mark("The due date of the invoice is over already. Nothing was sold.")}
	}
	f, err := k.form(s)
	if err != nil {
		return err
	}
	f.Key, f.Total = "booking."+k.ID.String(), c.Total
	f.Account = &orders.Account{Due: c.Due, Billing: c.Billing, Seller: c.Seller}
	if _, cost, err := f.Quote(s); err == nil && cost.Total == 0 && k.Deposit.Paid() {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("The group paid a deposit, and its tickets cost nothing now. Nothing was sold. Change their prices, or cancel the option and pay the deposit back.")}
	}
	f.Entry = func(q *pgx.Batch, order seats.ID, _ int64) {
		q.Queue(confirmedSQL, k.ID, order)
		takeOver(q, k.ID, order)
	}
	_, err = b.orders.SellAtOffice(ctx, s, f, also)
	return err
}

// The bookings with a reminder that is to go out, of an option that ends or of a deposit that is due, for package jobs.
const remindersSQL = `
SELECT id::text, min(at) FROM (
    SELECT id, remind_at FROM booking WHERE remind_at IS NOT NULL UNION ALL SELECT booking_id, remind_at FROM deposit WHERE remind_at IS NOT NULL) r (id, at)
 GROUP BY id`

const remindSQL = `
WITH due AS (
    UPDATE booking b SET remind_at = NULL FROM block k WHERE b.id = $1 AND k.id = b.id AND b.remind_at <= clock_timestamp()
    RETURNING b.id, b.event_id, b.email, k.ends_at > clock_timestamp() AND b.order_id IS NULL AND b.cancelled_at IS NULL AS lasts
)
INSERT INTO mail (kind, email, about, language) SELECT $2, due.email, due.id::text, e.language FROM due JOIN event e ON e.id = due.event_id WHERE lasts AND due.email <> ''`

const remindDepositSQL = `
WITH due AS (
    UPDATE deposit d SET remind_at = NULL, reminded_at = clock_timestamp() FROM booking b, block k, event e
     WHERE d.booking_id = $1 AND b.id = d.booking_id AND k.id = b.id AND e.id = b.event_id AND d.remind_at <= clock_timestamp()
    RETURNING b.id, b.email, e.language, d.paid_at IS NULL AND d.withdrawn_at IS NULL AND d.due_at > clock_timestamp() AND e.status <> 'cancelled'
              AND k.ends_at > clock_timestamp() AND k.ended_at IS NULL AND b.order_id IS NULL AND b.cancelled_at IS NULL AS lasts
)
INSERT INTO mail (kind, email, about, language) SELECT $2, due.email, due.id::text, due.language FROM due WHERE lasts AND due.email <> ''`

// sendReminder writes the email that an option ends soon, and the one that a deposit is due, each once: it takes the time of the reminder away.
func (b *Bookings) sendReminder(ctx context.Context, booking string) (int, error) {
	written := 0
	for _, mail := range []struct{ sql, kind string }{{remindSQL, MailEnds}, {remindDepositSQL, MailOption}} {
		tag, err := b.db.Exec(ctx, mail.sql, booking, mail.kind)
		if err != nil {
			return written, fmt.Errorf("bookings: remind: %w", err)
		}
		written += int(tag.RowsAffected())
	}
	if written > 0 {
		b.MailWritten()
	}
	return written, nil
}

// Job is the job that reminds contacts of options that end.
func (b *Bookings) Job() *jobs.Job { return b.remind }

// OnlineJob is the job that settles deposits paid online, and pays them back.
func (b *Bookings) OnlineJob() *jobs.Job { return b.online }

const eventSQL = `SELECT e.id, e.slug FROM booking b JOIN event e ON e.id = b.event_id WHERE b.id = $1`

// About returns the booking that a mail is about, and its event. ErrNone if there is none.
func (b *Bookings) About(ctx context.Context, id string) (event string, k Booking, err error) {
	booking, err := seats.ParseID(id)
	if err != nil {
		return "", k, fmt.Errorf("bookings: find %q: %w", id, err)
	}
	var number int64
	err = b.db.QueryRow(ctx, eventSQL, booking).Scan(&number, &event)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", k, ErrNone
	}
	var list []Booking
	if err == nil {
		list, err = collect(ctx, b.db, number, &booking, paging.Page{Limit: 1})
	}
	if err != nil {
		return "", k, fmt.Errorf("bookings: find %s: %w", id, err)
	}
	return event, list[0], nil
}

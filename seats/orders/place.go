package orders

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/seal"
)

// ErrUnconfirmed is the answer to an order with an email that has to be confirmed first: begin it with Pay.
var ErrUnconfirmed = errors.New("the email has to be confirmed first")

// CodeKey is the code of a refusal: the hold made an order already, with other details.
const CodeKey = "key"

// Place makes an order of a hold: the seats are sold, the tickets made and the mail about it is on its way, all of it or
// nothing. It returns the order's code; a repeat of the same form gets the same one.
//
// Errors: Mistakes; ErrUnconfirmed; ErrUnpaid and ErrUnpaidNet; seats.ErrNoHold; a *seats.Refusal if the hold is not what the form shows or was used with other
// details; the database's.
func (o *Orders) Place(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (code string, err error) {
	return withoutEarlier(ctx, o, s, holder, f, o.place)
}

func (o *Orders) place(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (code string, err error) {
	p, err := o.prepare(ctx, s, holder, f)
	if err != nil {
		return "", err
	}
	if payments.Ahead(p.form.Method) {
		return "", Mistakes{{FieldMethod, "This is paid ahead: begin a payment."}}
	}
	needs, err := o.needsConfirmation(ctx, s, p)
	if err != nil {
		return "", err
	}
	if needs {
		return o.first(ctx, holder, p.form, ErrUnconfirmed)
	}
	leave, err := o.limitUnpaid(ctx, s, p)
	defer leave()
	if err != nil {
		return o.first(ctx, holder, p.form, err)
	}
	defer o.unpaid.enter(s, &p)()
	_, err = s.Sell(ctx, o.deal(s, p))
	var refusal *seats.Refusal
	switch {
	case err == nil:
		o.mailWritten()
		if payments.Later(p.form.Method) {
			o.jobs.unpaid.Wake()
		}
		return p.code, nil
	case errors.As(err, &refusal) && refusal.Code == seats.CodePaying: // maybe the same form: its email was confirmed in this moment
		if before, e := o.underWay(ctx, p); e == nil && before.ID != (seats.ID{}) && before.Confirms() {
			return "", ErrUnconfirmed
		}
		return o.first(ctx, holder, p.form, err)
	case errors.Is(err, seats.ErrNoHold) || errors.Is(err, ErrUnpaid) || errors.As(err, &refusal):
		return o.first(ctx, holder, p.form, err)
	}
	return "", fmt.Errorf("orders: place: %w", err)
}

// prepare finds everything that may be wrong with a form before anything is written.
func (o *Orders) prepare(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (placed, error) {
	for _, idx := range f.Seats {
		if idx < 0 || idx >= len(s.Plan.Seats) {
			return placed{}, &seats.Nonsense{Unknown: true, Message: "This event has no such seat. Nothing was sold."}
		}
	}
	if len(f.Seats) == 0 || f.Hold == (seats.ID{}) {
		return placed{}, seats.ErrNoHold
	}
	total := pricing.Of(s, f.Seats).Total
	keys := personKeys(f.Email, f.Account)
	f = f.tidy(s.Event, total)
	today, err := o.today(ctx, s.Event)
	if err != nil {
		return placed{}, fmt.Errorf("orders: prepare: %w", err)
	}
	born, err := f.check(s.Event, o.Methods(s.Event, total), today)
	if err != nil {
		return placed{}, err
	}
	return placed{id: seats.NewID(), code: seal.NewCode(), holder: holder, form: f, born: born, total: total, keys: keys}, nil
}

// deal is what is agreed with the seats. The hold is named in it, and is sold at most once.
func (o *Orders) deal(s *seats.Sale, p placed) seats.Deal {
	d := seats.Deal{Holder: p.holder, Order: p.id, Hold: p.form.Hold, Seats: p.form.Seats, Keys: p.keys, Check: p.check}
	d.Write = func(q *pgx.Batch, sold []int) { p.queueUnpaid(q, s); p.queue(q, s, sold) }
	return d
}

// placed is an order about to be written.
type placed struct {
	id     seats.ID
	code   string
	holder seats.ID
	form   Form
	born   *time.Time
	total  int64      // minor units
	keys   []seats.ID // the first is that of the email

	bounded *unpaidOrder // nil: it is not, or not by its email (unpaid.go)
}

// What is paid later is due by the event's policy. What was typed at the checkout is in the order then, and is kept nowhere else.
const placeSQL = `
WITH due AS (
    SELECT greatest(clock_timestamp() + interval '15 minutes', least(clock_timestamp() + pay_later, starts_at - pay_before)) AS at
      FROM event WHERE id = $2 AND $10::text IN ('door', 'invoice')
), forgotten AS (
    DELETE FROM typed WHERE event_id = $2 AND holder = $4
), placed AS (
    INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, born, method, currency, total, answers, fee, fee_kept, keys, due_at, remind_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, coalesce($16::jsonb, '{}'), $18, $19, $20,
            (SELECT at FROM due), (SELECT at - interval '1 day' FROM due WHERE at > clock_timestamp() + interval '25 hours'))
    RETURNING id
), tickets AS (
    INSERT INTO ticket (id, event_id, order_id, idx, price, fee)
    SELECT t.id, $2, $1, t.idx, t.price, t.fee
      FROM unnest($13::uuid[], $14::integer[], $15::bigint[], $17::bigint[]) AS t(id, idx, price, fee)
)
INSERT INTO mail (order_id, kind) SELECT id, 'confirmation' FROM placed`

// queue writes the order, a ticket for each seat sold and the mail, in one statement. Nothing in it can fail for reasons
// of this one attendee: form.go checked what they typed, and the seats are sold once by the guard.
func (p placed) queue(q *pgx.Batch, s *seats.Sale, sold []int) {
	ids, idxs := newTickets(sold)
	cost := pricing.Of(s, sold)
	q.Queue(placeSQL, p.id, s.Event.ID, p.code, p.holder, p.form.Hold, p.form.hash(), p.form.Name, p.form.Email, p.born,
		p.form.Method, s.Event.Currency, cost.Total, ids, idxs, cost.Prices, p.form.Answers, cost.Shares, cost.Fee, s.Event.Fees.Kept, p.keys)
	p.queueNetwork(q)
}

// newTickets are the ids of tickets for these seats, and the seats as a statement takes them.
func newTickets(sold []int) (ids []seats.ID, idxs []int32) {
	ids, idxs = make([]seats.ID, len(sold)), make([]int32, len(sold))
	for i, idx := range sold {
		ids[i], idxs[i] = seats.NewID(), int32(idx)
	}
	return ids, idxs
}

const madeSQL = `SELECT o.code FROM hold h JOIN orders o ON o.hold_id = h.id AND o.holder = h.holder WHERE h.event_id = $1 AND h.holder = $2`

// Made is the code of the order that was made of what the visitor held last; empty if none was.
func (o *Orders) Made(ctx context.Context, event int64, holder seats.ID) (code string, err error) {
	err = o.db.QueryRow(ctx, madeSQL, event, holder).Scan(&code)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("orders: look for the order of a hold: %w", err)
	}
	return code, nil
}

const firstSQL = `SELECT code, wish FROM orders WHERE hold_id = $1 AND holder = $2`

// first is the answer to a form without a hold any more: the order it made, if it did. Otherwise it is why.
func (o *Orders) first(ctx context.Context, holder seats.ID, f Form, why error) (code string, err error) {
	var wish []byte
	err = o.db.QueryRow(ctx, firstSQL, f.Hold, holder).Scan(&code, &wish)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", why
	case err != nil:
		return "", fmt.Errorf("orders: look for the first answer: %w", err)
	case !bytes.Equal(wish, f.hash()):
		return "", &seats.Refusal{Code: CodeKey, Message: "These seats were ordered a moment ago with other details. That order holds; nothing else was sold. Look at the mail about it."}
	}
	return code, nil
}

// Methods lists how an order of this total for an event may be paid, the best first.
func (o *Orders) Methods(e seats.Event, total int64) (methods []string) {
	if total == 0 {
		return []string{payments.Free}
	}
	for _, m := range []struct {
		method string
		there  bool
	}{
		{payments.Demo, e.Demo && o.Payments.Accepts(payments.Demo)},
		{payments.Card, !e.Demo && o.Payments.Accepts(payments.Card)},
		{payments.Credit, o.Payments.Accepts(payments.Credit)},
		{payments.Door, e.PayAtDoor && events.CanPayLater(e, time.Now())},
		{payments.Invoice, e.Invoices && events.CanPayLater(e, time.Now())},
	} {
		if m.there {
			methods = append(methods, m.method)
		}
	}
	return methods
}

// needsConfirmation reports whether the email of an order has to be confirmed before the order is placed. It has not if
// the visitor showed before that they read this mailbox.
func (o *Orders) needsConfirmation(ctx context.Context, s *seats.Sale, p placed) (needs bool, err error) {
	switch {
	case !payments.Later(p.form.Method) && !events.ConfirmsFree(s.Event):
		return false, nil
	case p.form.Verified != "" && payments.PersonKey("email", normalEmail(p.form.Verified)) == p.keys[0]:
		return false, nil
	}
	confirmed, err := o.Payments.HasConfirmed(ctx, p.holder, p.keys[0])
	return !confirmed && err == nil, err
}

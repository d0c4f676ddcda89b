package orders

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// CodeUnderWay is the code of a refusal: the hold is being paid for with other details.
const CodeUnderWay = "under_way"

// Pay begins the payment of a hold: its seats are kept for the payment, and the intention is written, both or nothing.
// Then the provider is asked. An order whose email is to be confirmed begins like that as well (confirm.go). It returns the payment as it stands then; a repeat of the same form gets the same one.
//
// Errors: those of Place.
func (o *Orders) Pay(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (Payment, error) {
	return withoutEarlier(ctx, o, s, holder, f, o.begin)
}

const earlierSQL = `SELECT code FROM payment WHERE event_id = $1 AND holder = $2 AND hold_id <> $3 AND state = 'open'`

// withoutEarlier does something that is subject to the limits of a person. Open payments of seats that the visitor had
// before and took anew, because their time ran out, are given up if they are what exceeds a limit; then it is done again.
func withoutEarlier[T any](ctx context.Context, o *Orders, s *seats.Sale, holder seats.ID, f Form, do func(context.Context, *seats.Sale, seats.ID, Form) (T, error)) (T, error) {
	answer, err := do(ctx, s, holder, f)
	if refusal := (*seats.Refusal)(nil); !errors.Is(err, ErrUnpaid) && !(errors.As(err, &refusal) && refusal.Code == seats.CodePerson) {
		return answer, err
	}
	codes, e := texts(ctx, o.db, earlierSQL, s.Event.ID, holder, f.Hold)
	if e != nil {
		return answer, fmt.Errorf("orders: find earlier payments: %w", e)
	}
	ended := false
	for _, code := range codes {
		p, e := o.Stop(ctx, code)
		if e != nil {
			return answer, e
		}
		ended = ended || p.Over()
	}
	if !ended {
		return answer, err
	}
	return do(ctx, s, holder, f)
}

func (o *Orders) begin(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (Payment, error) {
	placed, err := o.prepare(ctx, s, holder, f)
	if err != nil {
		return Payment{}, err
	}
	if p, err := o.underWay(ctx, placed); err != nil || p.ID != (seats.ID{}) {
		return p, err
	}
	leave, err := o.limitUnpaid(ctx, s, placed)
	defer leave()
	if err != nil { // maybe because of an equal form that came at the same time
		if p, e := o.underWay(ctx, placed); e != nil || p.ID != (seats.ID{}) {
			return p, e
		}
		return Payment{}, err
	}
	defer o.unpaid.enter(s, &placed)()
	id := seats.NewID()
	d := seats.Deal{Holder: holder, Order: placed.id, Hold: placed.form.Hold, Seats: placed.form.Seats, Keys: placed.keys, Check: placed.check}
	d.Write = func(q *pgx.Batch, _ []int) { placed.queueUnpaid(q, s); placed.queuePayment(q, s, id) }
	_, err = s.Pay(ctx, d)
	var refusal *seats.Refusal
	switch {
	case errors.Is(err, ErrUnpaid), errors.As(err, &refusal) && refusal.Code == seats.CodePerson: // maybe because of an equal form that came at the same time
		if p, e := o.underWay(ctx, placed); e != nil || p.ID != (seats.ID{}) {
			return p, e
		}
		return Payment{}, err
	case errors.Is(err, seats.ErrNoHold) || errors.As(err, &refusal):
		if _, e := o.first(ctx, holder, placed.form, err); e != nil {
			return Payment{}, e
		}
		return o.PaymentOf(ctx, holder, placed.form.Hold)
	case err != nil:
		return Payment{}, fmt.Errorf("orders: pay: %w", err)
	}
	if !Ahead(placed.form.Method) {
		o.mailWritten()
	}
	p, err := o.underWay(ctx, placed)
	if err != nil || p.ID != id {
		return p, err // another one was first
	}
	if err := o.work(ctx, p.ID); err != nil {
		return p, err
	}
	return o.onePayment(ctx, paymentByIDSQL, id)
}

// underWay finds the payment of a form that was sent before; an empty one if there is none. Other details are refused.
func (o *Orders) underWay(ctx context.Context, form placed) (Payment, error) {
	p, err := o.PaymentOf(ctx, form.holder, form.form.Hold)
	switch {
	case errors.Is(err, ErrNoPayment) || err == nil && p.Over():
		return Payment{}, nil
	case err != nil:
		return Payment{}, err
	case !bytes.Equal(p.Form.hash(), form.form.hash()):
		if p.Confirms() {
			return Payment{}, &seats.Refusal{Code: CodeUnderWay, Message: "You ordered these seats with other details, and that order waits for its email to be confirmed. Nothing was changed. Confirm it, or change it first."}
		}
		return Payment{}, &seats.Refusal{Code: CodeUnderWay, Message: "These seats are being paid for with other details. Nothing was changed. Go on with that payment, or stop it and send this again."}
	}
	return p, nil
}

// The index "one hold has one payment under way" lets one of many equal ones pass. Only that one's call is meant, and only
// its seats count.
const payIntentionSQL = `
WITH begun AS (
    INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, mandate, keys, counted)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, true)
        ON CONFLICT DO NOTHING
    RETURNING id
), again AS (
    UPDATE purchase_key SET tickets = tickets - jsonb_array_length($7::jsonb->'seats')
     WHERE event_id = $2 AND key = ANY($12::uuid[]) AND NOT EXISTS (SELECT FROM begun)
), asked AS (
    INSERT INTO mail (payment_id, kind) SELECT id, 'confirm' FROM begun WHERE $8 IN ('free', 'door', 'invoice')
)
INSERT INTO intention (payment_id, step, next_try) SELECT id, 'authorize', clock_timestamp() + interval '15 seconds' FROM begun`

// queuePayment writes the payment and the intention to authorize it. This node makes the call at once; the time of the
// next try is for others, if it dies.
func (p placed) queuePayment(q *pgx.Batch, s *seats.Sale, id seats.ID) {
	mandate := &p.form.Mandate
	if p.form.Mandate == (seats.ID{}) {
		mandate = nil
	}
	q.Queue(payIntentionSQL, id, s.Event.ID, p.id, p.code, p.holder, p.form.Hold, p.form, p.form.Method, s.Event.Currency, p.total, mandate, p.keys)
}

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
// Then the provider is asked. It returns the payment as it stands then; a repeat of the same form gets the same one.
//
// Errors: those of Place.
func (o *Orders) Pay(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (Payment, error) {
	placed, err := o.prepare(ctx, s, holder, f)
	if err != nil {
		return Payment{}, err
	}
	if p, err := o.underWay(ctx, placed); err != nil || p.ID != (seats.ID{}) {
		return p, err
	}
	reached(PointPay)
	id := seats.NewID()
	if planted("no intention") {
		_, _ = o.call(ctx, Payment{ID: id, Method: f.Method, Amount: placed.total, Currency: s.Event.Currency}, id.String(), 0, Payments.Authorize)
		reached(PointAuthorizing)
	}
	d := seats.Deal{Holder: holder, Order: placed.id, Hold: placed.form.Hold, Seats: placed.form.Seats}
	d.Write = func(q *pgx.Batch, _ []int) { placed.queuePayment(q, s, id) }
	_, err = s.Pay(ctx, d)
	var refusal *seats.Refusal
	switch {
	case errors.Is(err, seats.ErrNoHold) || errors.As(err, &refusal):
		if _, e := o.first(ctx, holder, placed.form, err); e != nil {
			return Payment{}, e
		}
		return o.PaymentOf(ctx, holder, placed.form.Hold)
	case err != nil:
		return Payment{}, fmt.Errorf("orders: pay: %w", err)
	}
	reached(PointIntended)
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
		return Payment{}, &seats.Refusal{Code: CodeUnderWay, Message: "These seats are being paid for with other details. Nothing was changed. Go on with that payment, or stop it and send this again."}
	}
	return p, nil
}

// The index "one hold has one payment under way" lets one of many equal ones pass. Only that one's call is meant.
const payIntentionSQL = `
WITH begun AS (
    INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, mandate)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT DO NOTHING
    RETURNING id
)
INSERT INTO intention (payment_id, step, next_try) SELECT id, 'authorize', clock_timestamp() + interval '15 seconds' FROM begun`

// queuePayment writes the payment and the intention to authorize it. This node makes the call at once; the time of the
// next try is for others, if it dies.
func (p placed) queuePayment(q *pgx.Batch, s *seats.Sale, id seats.ID) {
	mandate := &p.form.Mandate
	if p.form.Mandate == (seats.ID{}) {
		mandate = nil
	}
	q.Queue(payIntentionSQL, id, s.Event.ID, p.id, p.code, p.holder, p.form.Hold, p.form, p.form.Method, s.Event.Currency, p.total, mandate)
}

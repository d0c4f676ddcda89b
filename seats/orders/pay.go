package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
)

// CodeUnderWay is the code of a refusal: the hold is being paid for with other details.
const CodeUnderWay = "under_way"

// Pay begins the payment of a hold: its seats are kept for the payment, and the intention is written, both or nothing.
// Then the provider is asked. An order with an email to be confirmed begins in the same way (seats/payments/confirm.go).
// Pay returns the payment in its state after that. A repeat of the same form gets the same payment.
//
// Errors: those of Place.
func (o *Orders) Pay(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (payments.Payment, error) {
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
		p, e := o.Payments.Stop(ctx, code)
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

func (o *Orders) begin(ctx context.Context, s *seats.Sale, holder seats.ID, f Form) (payments.Payment, error) {
	placed, err := o.prepare(ctx, s, holder, f)
	if err != nil {
		return payments.Payment{}, err
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
		return payments.Payment{}, err
	}
	defer o.unpaid.enter(s, &placed)()
	id := seats.NewID()
	d := seats.Deal{Holder: holder, Order: placed.id, Hold: placed.form.Hold, Seats: placed.form.Seats, Keys: placed.keys, Check: placed.check}
	d.Write = func(q *pgx.Batch, _ []int) { placed.queueUnpaid(q, s); placed.payment(s, id).Queue(q) }
	_, err = s.Pay(ctx, d)
	var refusal *seats.Refusal
	switch {
	case errors.Is(err, ErrUnpaid), errors.As(err, &refusal) && refusal.Code == seats.CodePerson: // maybe because of an equal form that came at the same time
		if p, e := o.underWay(ctx, placed); e != nil || p.ID != (seats.ID{}) {
			return p, e
		}
		return payments.Payment{}, err
	case errors.Is(err, seats.ErrNoHold) || errors.As(err, &refusal):
		if _, e := o.first(ctx, holder, placed.form, err); e != nil {
			return payments.Payment{}, e
		}
		return o.Payments.FindByHold(ctx, holder, placed.form.Hold)
	case err != nil:
		return payments.Payment{}, fmt.Errorf("orders: pay: %w", err)
	}
	if !payments.Ahead(placed.form.Method) {
		o.mailWritten()
	}
	p, err := o.underWay(ctx, placed)
	if err != nil || p.ID != id {
		return p, err // another one was first
	}
	return o.Payments.Start(ctx, p)
}

// underWay finds the payment of a form that was sent before; an empty one if there is none. Other details are refused.
func (o *Orders) underWay(ctx context.Context, form placed) (payments.Payment, error) {
	p, err := o.Payments.FindByHold(ctx, form.holder, form.form.Hold)
	switch {
	case errors.Is(err, payments.ErrNoPayment) || err == nil && p.Over():
		return payments.Payment{}, nil
	case err != nil:
		return payments.Payment{}, err
	}
	begun, err := FormOf(p)
	switch {
	case err != nil:
		return payments.Payment{}, err
	case !bytes.Equal(begun.hash(), form.form.hash()):
		if p.Confirms() {
			return payments.Payment{}, &seats.Refusal{Code: CodeUnderWay, Message: "You ordered these seats with other details, and that order waits for its email to be confirmed. Nothing was changed. Confirm it, or change it first."}
		}
		return payments.Payment{}, &seats.Refusal{Code: CodeUnderWay, Message: "These seats are being paid for with other details. Nothing was changed. Go on with that payment, or stop it and send this again."}
	}
	return p, nil
}

// payment returns the payment of an order about to be written.
func (p placed) payment(s *seats.Sale, id seats.ID) payments.Payment {
	form, _ := json.Marshal(p.form) // texts and numbers always marshal
	f := p.form
	return payments.Payment{
		ID: id, EventID: s.Event.ID, Order: p.id, Code: p.code, Holder: p.holder, Form: form, Details: payments.Details{Hold: f.Hold, Mandate: f.Mandate},
		Method: f.Method, Currency: s.Event.Currency, Amount: p.total, Keys: p.keys,
	}
}

// FormOf returns the form of a payment.
func FormOf(p payments.Payment) (f Form, err error) {
	if err = json.Unmarshal(p.Form, &f); err != nil {
		err = fmt.Errorf("orders: read the form of a payment: %w", err)
	}
	return f, err
}

// ofPayment returns what writes the order of a payment that sells its seats.
func (o *Orders) ofPayment(p payments.Payment) (write func(q *pgx.Batch, s *seats.Sale, sold []int), err error) {
	form, err := FormOf(p)
	if err != nil {
		return nil, err
	}
	order := placed{id: p.Order, code: p.Code, holder: p.Holder, form: form, total: p.Amount, keys: p.AllKeys()}
	if form.Born != "" {
		born, _ := birth(form.Born, time.Time{}) // it was checked when it came
		order.born = &born
	}
	return order.queue, nil
}

// paymentPlaced is called after the order of a payment was placed.
func (o *Orders) paymentPlaced(p payments.Payment) {
	o.mailWritten()
	if payments.Later(p.Method) {
		o.jobs.unpaid.Wake()
	}
}

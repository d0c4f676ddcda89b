package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

// What an attendee reads when a payment came to nothing.
const (
	reasonTime    = "Your time for paying is over. Nothing was charged."
	reasonTaken   = "Your seats were taken by somebody else after your time ran out. Nothing was charged."
	reasonStopped = "You stopped the payment. Nothing was charged."
	reasonEnded   = "The payment was ended before it was finished. Nothing was charged."
	reasonOrdered = "These seats were ordered another way. Nothing was charged."
	reasonMail    = "Your email address was not confirmed in time. Nothing was ordered."
	reasonPrice   = "The price changed while you paid. Nothing was charged. Look at your seats again."
)

// patience is how long after its time a payment may still be finished while nobody takes the seats.
const patience = 30 * time.Minute

// authorize asks for the money, or how it stands, and sells the seats once it is promised.
func (o *Orders) authorize(ctx context.Context, p Payment, i intention) (again bool, err error) {
	if p.State == payAuthorized {
		return o.sell(ctx, p)
	}
	ask := Payments.Authorize
	if p.Reference != "" {
		ask = Payments.Lookup
	}
	standing, err := o.call(ctx, p, i.key(), 0, ask)
	if err != nil {
		return false, err
	}
	return o.heard(ctx, p, standing)
}

const knownAsSQL = `
UPDATE payment SET reference = CASE reference WHEN '' THEN $2 ELSE reference END, page = $3 WHERE id = $1 AND (reference, page) <> ($2, $3)`

// knownAs keeps the provider's name of a payment.
func (o *Orders) knownAs(ctx context.Context, p *Payment, s Standing) error {
	p.Reference = s.Reference
	_, err := o.db.Exec(ctx, knownAsSQL, p.ID, s.Reference, s.Page)
	return err
}

// What is on its way back is no longer promised to anyone. Whether the seats count for the person may have changed since the
// payment was read.
const authorizedSQL = `
UPDATE payment SET state = 'authorized', captured = $2, card = coalesce(card, $3)
 WHERE id = $1 AND state = ANY($4::text[]) AND NOT EXISTS (SELECT FROM refund WHERE payment_id = $1)
RETURNING counted`

// authorized notes that the money of a payment in one of these states is promised or there. It reports false if the payment
// is in another state by now: another node sells its seats, or gave it up and voids it.
func (o *Orders) authorized(ctx context.Context, p *Payment, s Standing, from ...string) (is bool, err error) {
	p.knowCard(s)
	err = o.db.QueryRow(ctx, authorizedSQL, p.ID, s.Captured, p.card, from).Scan(&p.counted)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	p.State, p.Captured = payAuthorized, s.Captured
	return err == nil, err
}

// heard acts on what a provider said of a payment that is open.
func (o *Orders) heard(ctx context.Context, p Payment, s Standing) (again bool, err error) {
	if err := o.knownAs(ctx, &p, s); err != nil {
		return false, err
	}
	switch s.Stand {
	case Authorized, Captured:
		if s.Amount != p.Amount || s.Currency != p.Currency {
			p.State = payAuthorized
			return o.lose(ctx, p, s.Captured, reasonEnded, fmt.Sprintf("The provider has %d %s, and the order is %d %s.", s.Amount, s.Currency, p.Amount, p.Currency))
		}
		if is, err := o.authorized(ctx, &p, s, payOpen); err != nil || !is {
			return false, err
		}
		return o.sell(ctx, p)
	case Declined:
		return false, o.close(ctx, p, "Your payment was declined"+because(s.Reason)+" Nothing was charged.", 0)
	case Voided:
		return false, o.close(ctx, p, reasonEnded, 0)
	}
	return o.wait(ctx, p)
}

func because(reason string) string {
	if reason == "" {
		return "."
	}
	return ": " + reason
}

// wait is for an attendee who is at the provider's page. After their time they may go on until the seats are taken; an
// email is confirmed in time.
func (o *Orders) wait(ctx context.Context, p Payment) (again bool, err error) {
	if p.Age < p.Length {
		return false, nil
	}
	s, err := o.pay.office.Sale(ctx, p.Event)
	if err != nil {
		return false, err
	}
	hold, err := s.Hold(ctx, p.Holder)
	if err != nil && !errors.Is(err, seats.ErrNoHold) {
		return false, err
	}
	switch there := containsAll(hold.Seats, p.Form.Seats); {
	case !there && !s.Event.Strict:
		return o.lose(ctx, p, 0, reasonTaken, "")
	case there && !p.Confirms() && p.Age < p.Length+patience:
		return false, nil
	}
	return o.lose(ctx, p, 0, reasonTime, "")
}

func containsAll(list, wanted []int) bool {
	have := make(map[int]bool, len(list))
	for _, idx := range list {
		have[idx] = true
	}
	for _, idx := range wanted {
		if !have[idx] {
			return false
		}
	}
	return true
}

const orderedSQL = `SELECT EXISTS (SELECT FROM orders WHERE hold_id = $1 AND id <> $2)`

// sell gives the seats to the order, for money that is promised or there: the second guard. The order, its tickets and
// the intention to capture are written in the transaction that sells.
func (o *Orders) sell(ctx context.Context, p Payment) (again bool, err error) {
	s, err := o.pay.office.Sale(ctx, p.Event)
	if err != nil {
		return false, err
	}
	var ordered bool
	if err := o.db.QueryRow(ctx, orderedSQL, p.Form.Hold, p.Order).Scan(&ordered); err != nil {
		return false, err
	}
	switch {
	case ordered:
		return o.lose(ctx, p, 0, reasonOrdered, "")
	case pricing.Of(s, p.Form.Seats).Total != p.Amount:
		return o.lose(ctx, p, 0, reasonPrice, "")
	}
	form := placed{id: p.Order, code: p.Code, holder: p.Holder, form: p.Form, total: p.Amount, keys: p.allKeys()}
	if p.Form.Born != "" {
		born, _ := birth(p.Form.Born, time.Time{}) // it was checked when it came
		form.born = &born
	}
	d := seats.Deal{Holder: p.Holder, Order: p.Order, Seats: p.Form.Seats, Late: true, Keys: p.uncounted()}
	d.Write = func(q *pgx.Batch, sold []int) { form.queue(q, s, sold); q.Queue(soldSQL, p.ID, p.counted) }
	_, err = s.Sell(ctx, d)
	var refusal *seats.Refusal
	switch {
	case errors.As(err, &refusal):
		return o.lose(ctx, p, 0, refusal.Message+" Nothing was charged.", "")
	case err != nil:
		return false, err
	}
	o.mailWritten()
	if Later(p.Method) {
		o.jobs.unpaid.Wake()
	}
	return true, nil
}

// The order stands in this transaction already. What was captured before the sale is in it now. A node that was stopped
// for so long that another one gave the payment up meets a state that may not be null, and sells nothing.
const soldSQL = `
WITH sold AS (
    UPDATE payment SET state = CASE WHEN state <> 'authorized' OR counted <> $2 OR EXISTS (SELECT FROM refund WHERE payment_id = $1) THEN NULL WHEN captured > 0 OR method IN ('free', 'door', 'invoice') THEN 'captured' ELSE 'sold' END, reason = '', counted = false
     WHERE id = $1
    RETURNING id, order_id, captured, state
), paid AS (
    UPDATE orders SET paid = sold.captured FROM sold WHERE orders.id = sold.order_id AND sold.captured > 0
), done AS (
    UPDATE intention SET done_at = clock_timestamp() WHERE payment_id = $1 AND done_at IS NULL
)
INSERT INTO intention (payment_id, step) SELECT id, 'capture' FROM sold WHERE state = 'sold'
    ON CONFLICT DO NOTHING`

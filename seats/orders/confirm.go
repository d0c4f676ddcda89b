package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// An order that is paid later, and a free one of an event that asks for it, is placed once its email is confirmed. Until
// then it is a payment without money: its seats are kept, its tickets count for the limit per person, and the click in the
// mail is what authorizes it. The rest is as with a payment: any node carries it on, it makes one order, and its time ends.

// ErrUnconfirmed is the answer to an order whose email has to be confirmed first: begin it with Pay.
var ErrUnconfirmed = errors.New("the email has to be confirmed first")

// ErrNoLink is a link that confirms nothing.
var ErrNoLink = errors.New("this link confirms nothing")

// ErrMailed is the answer to asking for another mail when enough were written, or nothing is to be confirmed.
var ErrMailed = errors.New("no further mail is written for this order")

// How long a click waits for the order that another click, or another node, is placing in this moment.
const (
	confirmPatience = 5 * time.Second
	confirmPause    = 50 * time.Millisecond
)

// mostConfirmMails is how many mails ask to confirm one order.
const mostConfirmMails = 3

const confirmedSQL = `SELECT EXISTS (SELECT FROM payment WHERE holder = $1 AND confirmed_at IS NOT NULL AND keys[1] = $2)`

// needsConfirmation reports whether the email of an order has to be confirmed before the order is placed. It has not if
// the visitor showed before that they read this mailbox.
func (o *Orders) needsConfirmation(ctx context.Context, s *seats.Sale, p placed) (needs bool, err error) {
	switch {
	case !Later(p.form.Method) && !events.ConfirmsFree(s.Event):
		return false, nil
	case p.form.Verified != "" && personKey("email", normalEmail(p.form.Verified)) == p.keys[0]:
		return false, nil
	}
	if err := o.db.QueryRow(ctx, confirmedSQL, p.holder, p.keys[0]).Scan(&needs); err != nil {
		return false, fmt.Errorf("orders: look for a confirmed email: %w", err)
	}
	return !needs, nil
}

// byEmail is the Payments of orders that are confirmed by email. No money moves.
type byEmail struct{ db seats.DB }

const isConfirmedSQL = `SELECT confirmed_at IS NOT NULL FROM payment WHERE id = $1`

func (b byEmail) stands(ctx context.Context, c Charge) (Standing, error) {
	s := Standing{Stand: Pending, Reference: c.Payment.String(), Amount: c.Amount, Currency: c.Currency}
	var confirmed bool
	if err := b.db.QueryRow(ctx, isConfirmedSQL, c.Payment).Scan(&confirmed); err != nil {
		return s, err
	}
	if confirmed {
		s.Stand = Authorized
	}
	return s, nil
}

func (b byEmail) Authorize(ctx context.Context, c Charge) (Standing, error) { return b.stands(ctx, c) }
func (b byEmail) Lookup(ctx context.Context, c Charge) (Standing, error)    { return b.stands(ctx, c) }

// Void ends what was not confirmed. It cannot be confirmed any more: it is lost already.
func (byEmail) Void(_ context.Context, c Charge) (Standing, error) {
	return Standing{Stand: Voided, Reference: c.Payment.String(), Amount: c.Amount, Currency: c.Currency}, nil
}

var errNoMoney = errors.New("no money moves for an order that is confirmed by email")

func (byEmail) Capture(context.Context, Charge) (Standing, error) { return Standing{}, errNoMoney }
func (byEmail) Refund(context.Context, Charge) (Standing, error)  { return Standing{}, errNoMoney }

// Confirms reports whether a payment is an order that waits for its email to be confirmed.
func (p Payment) Confirms() bool { return !Ahead(p.Method) }

const linkSQL = `INSERT INTO confirmation (hash, payment_id) VALUES ($1, $2)`

// ConfirmToken makes the token of a link that confirms an order; only the mail has it. Those made before stay good.
func (o *Orders) ConfirmToken(ctx context.Context, p Payment) (token string, err error) {
	token = newCode()
	if _, err := o.db.Exec(ctx, linkSQL, secretHash(token), p.ID); err != nil {
		return "", fmt.Errorf("orders: make a link that confirms: %w", err)
	}
	return token, nil
}

const paymentByTokenSQL = paymentColumns + ` JOIN confirmation c ON c.payment_id = p.id WHERE c.hash = $1`

// ToConfirm returns the payment that a link confirms, and changes nothing: programs that read mail open links, too.
// ErrNoLink if there is none.
func (o *Orders) ToConfirm(ctx context.Context, token string) (Payment, error) {
	p, err := o.onePayment(ctx, paymentByTokenSQL, secretHash(token))
	if errors.Is(err, ErrNoPayment) {
		return p, ErrNoLink
	}
	return p, err
}

// If this node dies in this moment another one places the order.
const confirmSQL = `
WITH confirmed AS (
    UPDATE payment SET confirmed_at = clock_timestamp() WHERE id = $1 AND state = 'open' AND confirmed_at IS NULL RETURNING id
)
UPDATE intention SET next_try = clock_timestamp() FROM confirmed WHERE payment_id = confirmed.id AND done_at IS NULL`

// Confirm confirms the email of an order, which is placed then. It returns how the payment stands; a repeat changes
// nothing more. ErrNoLink if the link confirms nothing.
func (o *Orders) Confirm(ctx context.Context, token string) (Payment, error) {
	p, err := o.ToConfirm(ctx, token)
	if err != nil || p.Done() || p.Over() {
		return p, err
	}
	if _, err := o.db.Exec(ctx, confirmSQL, p.ID); err != nil {
		return p, fmt.Errorf("orders: confirm an email: %w", err)
	}
	if err := o.Ask(ctx, p); err != nil {
		return p, err
	}
	for end := time.Now().Add(confirmPatience); ; { // another one may be at it
		if p, err = o.onePayment(ctx, paymentByIDSQL, p.ID); err != nil || p.Done() || p.Over() || time.Now().After(end) {
			return p, err
		}
		if err := seats.Sleep(ctx, confirmPause); err != nil {
			return p, err
		}
	}
}

// A mail that is still to be sent is as good as another one.
const mailAgainSQL = `
INSERT INTO mail (payment_id, kind)
SELECT id, 'confirm' FROM payment p
 WHERE id = $1 AND state = 'open' AND method IN ('free', 'door', 'invoice') AND confirmed_at IS NULL
   AND (SELECT count(*) < $2 AND count(*) FILTER (WHERE sent_at IS NULL AND refused_at IS NULL) = 0 FROM mail WHERE payment_id = p.id)`

// ConfirmAgain writes another mail that asks to confirm an order. ErrMailed if none is written.
func (o *Orders) ConfirmAgain(ctx context.Context, p Payment) error {
	tag, err := o.db.Exec(ctx, mailAgainSQL, p.ID, mostConfirmMails)
	switch {
	case err != nil:
		return fmt.Errorf("orders: ask again to confirm: %w", err)
	case tag.RowsAffected() == 0:
		return ErrMailed
	}
	o.mailWritten()
	return nil
}

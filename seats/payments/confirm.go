package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// An order that is paid later is placed once its email is confirmed, and so is a free one if the event asks for it. Until
// then it is a payment without money: its seats are kept, its tickets count for the limit per person, and the click in the
// mail authorizes it. The rest is as with any payment.

// Errors of confirming.
var (
	ErrNoLink = errors.New("this link confirms nothing")
	ErrMailed = errors.New("no further mail is sent for this order") // enough were sent, or it is confirmed
)

// A click waits for the order that another click or node is placing.
const (
	confirmPatience = 5 * time.Second
	confirmPause    = 50 * time.Millisecond
)

const mostConfirmMails = 3 // of one order

// Confirms reports whether the payment is an order that waits for its email to be confirmed.
func (p Payment) Confirms() bool { return !Ahead(p.Method) }

// byEmail is the Provider of orders that are confirmed by email. No money moves.
type byEmail struct{ db seats.DB }

const isConfirmedSQL = `SELECT confirmed_at IS NOT NULL FROM payment WHERE id = $1`

func (b byEmail) Lookup(ctx context.Context, c Charge) (Standing, error) {
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

func (b byEmail) Authorize(ctx context.Context, c Charge) (Standing, error) { return b.Lookup(ctx, c) }

// Void ends an order that was not confirmed. Its payment is lost, so it can no longer be confirmed.
func (byEmail) Void(_ context.Context, c Charge) (Standing, error) {
	return Standing{Stand: Voided, Reference: c.Payment.String(), Amount: c.Amount, Currency: c.Currency}, nil
}

var errNoMoney = errors.New("no money moves for an order that is confirmed by email")

func (byEmail) Capture(context.Context, Charge) (Standing, error) { return Standing{}, errNoMoney }
func (byEmail) Refund(context.Context, Charge) (Standing, error)  { return Standing{}, errNoMoney }

const hasConfirmedSQL = `SELECT EXISTS (SELECT FROM payment WHERE holder = $1 AND confirmed_at IS NOT NULL AND keys[1] = $2)`

// HasConfirmed reports whether a visitor confirmed the email with this key before.
func (ps *Payments) HasConfirmed(ctx context.Context, holder, email seats.ID) (has bool, err error) {
	if err := ps.db.QueryRow(ctx, hasConfirmedSQL, holder, email).Scan(&has); err != nil {
		return false, fmt.Errorf("payments: look for a confirmed email: %w", err)
	}
	return has, nil
}

const linkSQL = `INSERT INTO confirmation (hash, payment_id) VALUES ($1, $2)`

// ConfirmToken makes the token of a link that confirms an order; only the mail has it. Earlier ones stay valid.
func (ps *Payments) ConfirmToken(ctx context.Context, p Payment) (token string, err error) {
	token = seal.NewCode()
	if _, err := ps.db.Exec(ctx, linkSQL, seal.Hash(token), p.ID); err != nil {
		return "", fmt.Errorf("payments: make a link that confirms: %w", err)
	}
	return token, nil
}

const paymentByTokenSQL = paymentColumns + ` JOIN confirmation c ON c.payment_id = p.id WHERE c.hash = $1`

// ToConfirm returns the payment that a link confirms, and changes nothing: mail programs open links, too. ErrNoLink if
// there is none.
func (ps *Payments) ToConfirm(ctx context.Context, token string) (Payment, error) {
	p, err := ps.find(ctx, paymentByTokenSQL, seal.Hash(token))
	if errors.Is(err, ErrNoPayment) {
		return p, ErrNoLink
	}
	return p, err
}

// If this node dies now another one places the order.
const confirmSQL = `
WITH confirmed AS (
    UPDATE payment SET confirmed_at = clock_timestamp() WHERE id = $1 AND state = 'open' AND confirmed_at IS NULL RETURNING id
)
UPDATE intention SET next_try = clock_timestamp() FROM confirmed WHERE payment_id = confirmed.id AND done_at IS NULL`

// Confirm confirms the email of an order, which places it. It returns the payment; a repeat changes nothing. ErrNoLink if
// the link confirms nothing.
func (ps *Payments) Confirm(ctx context.Context, token string) (Payment, error) {
	p, err := ps.ToConfirm(ctx, token)
	if err != nil || p.Done() || p.Over() {
		return p, err
	}
	if _, err := ps.db.Exec(ctx, confirmSQL, p.ID); err != nil {
		return p, fmt.Errorf("payments: confirm an email: %w", err)
	}
	if err := ps.Ask(ctx, p); err != nil {
		return p, err
	}
	for end := time.Now().Add(confirmPatience); ; { // another click or node may place the order
		if p, err = ps.find(ctx, paymentByIDSQL, p.ID); err != nil || p.Done() || p.Over() || time.Now().After(end) {
			return p, err
		}
		if err := seats.Sleep(ctx, confirmPause); err != nil {
			return p, err
		}
	}
}

// A queued mail is as good as another one.
const mailAgainSQL = `
INSERT INTO mail (payment_id, kind)
SELECT id, 'confirm' FROM payment p
 WHERE id = $1 AND state = 'open' AND method IN ('free', 'door', 'invoice') AND confirmed_at IS NULL
   AND (SELECT count(*) < $2 AND count(*) FILTER (WHERE sent_at IS NULL AND refused_at IS NULL) = 0 FROM mail WHERE payment_id = p.id)`

// ConfirmAgain queues another mail that asks to confirm an order. ErrMailed if none is sent.
func (ps *Payments) ConfirmAgain(ctx context.Context, p Payment) error {
	tag, err := ps.db.Exec(ctx, mailAgainSQL, p.ID, mostConfirmMails)
	switch {
	case err != nil:
		return fmt.Errorf("payments: ask again to confirm: %w", err)
	case tag.RowsAffected() == 0:
		return ErrMailed
	}
	ps.MailQueued()
	return nil
}

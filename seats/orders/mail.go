package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// Kinds of mail.
const (
	MailConfirmation = "confirmation"
	MailCancellation = "cancellation" // of all tickets or some
	MailRefund       = "refund"       // money goes back, and the tickets hold
	MailMoved        = "moved"        // other seats
	MailExchanged    = "exchanged"    // tickets of another performance
	MailSubscribed   = "subscribed"   // the orders of a subscription, in one mail about the first
	mailNone         = "none"         // the other orders of a subscription
	MailMessage      = "message"      // words of the organizer's
	MailPaid         = "paid"         // money came by bank transfer
	MailReminder     = "reminder"     // what is to be paid later is due soon
	MailConfirm      = "confirm"      // the email of an order is to be confirmed
	MailLost         = "lost"         // the customer paid and got no seats
)

// WroteMail tells that this node committed a mail.
func (o *Orders) WroteMail() { o.mailWritten() }

func (o *Orders) mailWritten() {
	o.MailWritten()
	o.happened()
}

func (o *Orders) happened() { o.Happened() }

// Sent tells how the latest mail about an order stands.
type Sent struct {
	At      *time.Time // when it went out; nil if it did not
	Refused string     // why the receiver's server does not want it; empty if it may yet
}

const lastMailSQL = `
SELECT sent_at, CASE WHEN refused_at IS NOT NULL THEN error ELSE '' END FROM mail
 WHERE order_id = $1
    OR kind = 'subscribed' AND order_id IN (SELECT x.order_id FROM subscriber_order this JOIN subscriber_order x USING (subscriber_id) WHERE this.order_id = $1)
 ORDER BY id DESC LIMIT 1`

// LastMail returns how the latest mail about an order stands.
func (o *Orders) LastMail(ctx context.Context, order seats.ID) (s Sent, err error) {
	err = o.db.QueryRow(ctx, lastMailSQL, order).Scan(&s.At, &s.Refused)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s, fmt.Errorf("orders: look for mail: %w", err)
	}
	return s, nil
}

// mostResent is how many mails about one order go out in an hour.
const mostResent = 5

const resentSQL = `SELECT count(*) FROM mail WHERE order_id = $1 AND created_at > clock_timestamp() - interval '1 hour'`

const resendSQL = `INSERT INTO mail (order_id, kind) VALUES ($1, 'confirmation')`

// Resend sends the mail about an order once more. A repeat with its key sends nothing.
//
// Errors: idempotency.ErrNoKey; a *seats.Conflict if it was requested too often; the database's.
func (o *Orders) Resend(ctx context.Context, order Order, key string) error {
	return o.ResendAnd(ctx, order, key, nil)
}

// ResendAnd is Resend with something that commits with it.
func (o *Orders) ResendAnd(ctx context.Context, order Order, key string, also seats.TxHook) error {
	k, err := keyOf(order.ID, key, "resend")
	if err != nil {
		return err
	}
	if order.Email == "" {
		return &seats.Conflict{Code: CodeNoAddress, Message: text.Mark("This order has no email address. Nothing was sent. Its tickets are on this page.")}
	}
	first, err := o.once(ctx, k, func(tx pgx.Tx) error {
		var recent int
		if err := tx.QueryRow(ctx, resentSQL, order.ID).Scan(&recent); err != nil {
			return err
		}
		if recent >= mostResent {
			return &seats.Conflict{Code: CodeOften, Message: text.Mark("We sent %d emails about this order within an hour. Look in your spam folder, or try again later. Your tickets are on this page."), Args: []any{recent}}
		}
		if _, err := tx.Exec(ctx, resendSQL, order.ID); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("orders: resend: %w", err)
	}
	if first {
		o.mailWritten()
	}
	return nil
}

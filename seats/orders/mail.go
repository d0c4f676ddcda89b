package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Kinds of mail.
const (
	MailConfirmation = "confirmation"
	MailCancellation = "cancellation" // of all tickets or some
	MailRefund       = "refund"       // money goes back, and the tickets hold
	MailMoved        = "moved"        // other seats
	MailMessage      = "message"      // words of the organizer's
	MailReminder     = "reminder"     // what is to be paid later is due soon
	MailConfirm      = "confirm"      // the email of an order is to be confirmed
	MailLost         = "lost"         // somebody paid and got no seats
)

// mailWritten wakes this node's mailer. Another node's finds the row by itself if this one dies.
func (o *Orders) mailWritten() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
	o.happened()
}

// happened says that there is something to tell to whoever listens (Happened).
func (o *Orders) happened() {
	if o.Happened != nil {
		o.Happened()
	}
}

// WroteMail wakes this node's mailer after somebody else wrote mail.
func (o *Orders) WroteMail() { o.mailWritten() }

// MailWritten has something in it after this node wrote mail.
func (o *Orders) MailWritten() <-chan struct{} { return o.wake }

// Sent tells how the latest mail about an order stands.
type Sent struct {
	At      *time.Time // when it went out; nil if it did not
	Refused string     // why the receiver's server does not want it; empty if it may yet
}

const lastMailSQL = `
SELECT sent_at, CASE WHEN refused_at IS NOT NULL THEN error ELSE '' END FROM mail WHERE order_id = $1 ORDER BY id DESC LIMIT 1`

// LastMail returns how the latest mail about an order stands.
func (o *Orders) LastMail(ctx context.Context, order seats.ID) (s Sent, err error) {
	err = o.db.QueryRow(ctx, lastMailSQL, order).Scan(&s.At, &s.Refused)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s, fmt.Errorf("orders: look for mail: %w", err)
	}
	return s, nil
}

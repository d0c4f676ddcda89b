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
SELECT sent_at, CASE WHEN refused_at IS NOT NULL THEN error ELSE '' END FROM mail WHERE order_id = $1 ORDER BY id DESC LIMIT 1`

// LastMail returns how the latest mail about an order stands.
func (o *Orders) LastMail(ctx context.Context, order seats.ID) (s Sent, err error) {
	err = o.db.QueryRow(ctx, lastMailSQL, order).Scan(&s.At, &s.Refused)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s, fmt.Errorf("orders: look for mail: %w", err)
	}
	return s, nil
}

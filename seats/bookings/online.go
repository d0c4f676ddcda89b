package bookings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Payment is a payment of a deposit on its page.
type Payment struct {
	ID     seats.ID
	Method string // payments.Card or Demo
	Amount int64  // minor units
	State  string
	Page   string // where it is paid, while it is open; may be empty
	Reason string // why it was not paid, or goes back

	booking   seats.ID
	event     string // slug
	currency  string
	code      string // of the deposit
	title     string // of the event
	name      string
	email     string
	language  string // of the payer
	reference string // the provider's name of the payment
	tries     int
	age       time.Duration
	due       bool // the deposit is to be paid, with this amount
}

// States of a payment of a deposit.
const (
	PaymentOpen      = "open"      // it is being paid
	PaymentPaid      = "paid"      // it is the deposit
	PaymentRefunding = "refunding" // the money is going back
	PaymentRefunded  = "refunded"
	PaymentClosed    = "closed" // no money came
)

// online reports whether a method pays deposits on their page.
func online(method string) bool { return method == payments.Card || method == payments.Demo }

// PayableOnline returns how the deposit of an event can be paid on its page; empty: not at all.
func (b *Bookings) PayableOnline(e seats.Event) string {
	methods := b.orders.Methods(e, 1)
	if at := slices.IndexFunc(methods, online); at >= 0 && e.TestOf == 0 {
		return methods[at]
	}
	return ""
}

// isDue says that a deposit d of a booking b with the block k, of the event e, is to be paid.
const isDue = `d.paid_at IS NULL AND d.withdrawn_at IS NULL AND b.order_id IS NULL AND b.cancelled_at IS NULL AND k.ended_at IS NULL AND k.ends_at > clock_timestamp() AND e.status <> 'cancelled'`

const payOnlineSQL = `
INSERT INTO deposit_payment (id, booking_id, event_id, method, currency, amount, rates, language, next_try)
SELECT $2, d.booking_id, d.event_id, $3, e.currency, d.amount, $5, $6, clock_timestamp() + interval '5 seconds' -- its page asks before, and a provider refuses two calls at once
  FROM deposit d JOIN booking b ON b.id = d.booking_id JOIN block k ON k.id = b.id JOIN event e ON e.id = d.event_id
 WHERE d.booking_id = $1 AND d.amount = $4 AND ` + isDue + `
    ON CONFLICT (booking_id) WHERE state = 'open' DO NOTHING`

// PayOnline begins a payment of a deposit with the amount that its page showed, in minor units. If one is under way, it goes on. Its page is asked
// for by Ask, or by the job: a form that is done once has a transaction open, during which no provider is called.
//
// Errors: a *seats.Conflict if it is not to be paid, with this amount or online; the database's.
func (b *Bookings) PayOnline(ctx context.Context, s *seats.Sale, k Booking, shown int64) error {
	method := b.PayableOnline(s.Event)
	switch {
	case method == "":
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("Deposits cannot be paid online here. Nothing was charged. Ask the organizer how to pay.")}
	case k.Deposit == nil || k.Deposit.Withdrawn || k.Deposit.Paid() || k.State != Option || s.Event.Status == seats.Cancelled:
		return errNotDue
	case shown != k.Deposit.Amount:
		return &seats.Conflict{Code: seats.CodePrice, Message: text.Mark("The deposit is %s now, which is not what the page showed. Nothing was charged."), Args: []any{pricing.Sum{Minor: k.Deposit.Amount, Currency: s.Event.Currency}}}
	}
	rates, err := k.rates(s, k.Deposit.Amount)
	if refused(err) {
		return &seats.Conflict{Code: seats.CodePrice, Message: text.Mark("The tickets of this booking have no price at the moment. Nothing was charged. Ask the organizer.")}
	}
	if err != nil {
		return wrap("pay a deposit", err)
	}
	if _, err = b.db.Exec(ctx, payOnlineSQL, k.ID, seats.NewID(), method, k.Deposit.Amount, rates, text.Tag(ctx)); err != nil {
		return wrap("pay a deposit", err)
	}
	b.online.Wake()
	switch p, err := b.LastPayment(ctx, k.ID); {
	case err != nil:
		return err
	case p == nil || p.State != PaymentOpen:
		return errNotDue
	case p.Amount != k.Deposit.Amount:
		if err := b.MakeDue(ctx, p.ID); err != nil { // which ends it
			return err
		}
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("A payment of another amount is just being ended. Nothing was charged. Try again in a minute.")}
	}
	return nil
}

var errNotDue = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This deposit is not to be paid any more. Nothing was charged.")}

const paymentSQL = `
SELECT p.id, p.method, p.amount, p.state, p.page, p.reason, p.booking_id, e.slug, p.currency, d.code, e.name, b.name, b.email, p.language, p.reference, p.tries,
       extract(epoch FROM clock_timestamp() - p.created_at)::float8, d.amount = p.amount AND ` + isDue + `
  FROM deposit_payment p JOIN deposit d ON d.booking_id = p.booking_id JOIN booking b ON b.id = p.booking_id JOIN block k ON k.id = b.id JOIN event e ON e.id = p.event_id`

const (
	paymentByIDSQL = paymentSQL + ` WHERE p.id = $1`
	// The one under way, else the one that paid, else one that goes back, else the latest.
	lastPaymentSQL = paymentSQL + ` WHERE p.booking_id = $1 ORDER BY array_position('{open,paid,refunding}'::text[], p.state) NULLS LAST, p.created_at DESC LIMIT 1`
)

// LastPayment returns the payment of the deposit of a booking that is under way, else the one that paid it, else one that goes back, else the
// latest; nil if there is none.
func (b *Bookings) LastPayment(ctx context.Context, booking seats.ID) (*Payment, error) {
	p, err := b.payment(ctx, lastPaymentSQL, booking)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &p, err
}

func (b *Bookings) payment(ctx context.Context, sql string, id seats.ID) (p Payment, err error) {
	var age float64
	err = b.db.QueryRow(ctx, sql, id).Scan(&p.ID, &p.Method, &p.Amount, &p.State, &p.Page, &p.Reason, &p.booking, &p.event, &p.currency, &p.code, &p.title, &p.name, &p.email, &p.language, &p.reference, &p.tries, &age, &p.due)
	if err != nil {
		return p, fmt.Errorf("bookings: find a payment of a deposit: %w", err)
	}
	p.age = time.Duration(age * float64(time.Second))
	return p, nil
}

// Ask asks the provider about an open payment, for a contact who is to pay it, or returned from its page, and returns it as it is then.
func (b *Bookings) Ask(ctx context.Context, p Payment) (Payment, error) {
	if p.State != PaymentOpen {
		return p, nil
	}
	if err := b.try(ctx, p.ID, 0); err != nil {
		return p, err
	}
	return b.payment(ctx, paymentByIDSQL, p.ID)
}

// A payment that went back is looked at again: its bank may have refused it. The count of tries tells this from a look before.
const makeDueSQL = `
UPDATE deposit_payment SET next_try = clock_timestamp(), tries = CASE state WHEN 'refunded' THEN tries + 1 ELSE tries END
 WHERE id = $1 AND state IN ('open', 'refunding', 'refunded')`

// MakeDue makes a payment of a deposit due: its provider told of it.
func (b *Bookings) MakeDue(ctx context.Context, id seats.ID) error {
	if _, err := b.db.Exec(ctx, makeDueSQL, id); err != nil {
		return fmt.Errorf("bookings: make a payment of a deposit due: %w", err)
	}
	b.online.Wake()
	return nil
}

const onlineDueSQL = `
SELECT id::text, next_try FROM deposit_payment WHERE state IN ('open', 'refunding')
 UNION ALL
SELECT id::text, next_try FROM deposit_payment WHERE state = 'refunded' AND next_try > refunded_at`

const takePaymentSQL = `
UPDATE deposit_payment SET tries = tries + $3, next_try = clock_timestamp() + make_interval(secs => ($2::float8[])[greatest(1, least(tries + $3, cardinality($2)))])
 WHERE id = $1 AND (state IN ('open', 'refunding') OR state = 'refunded' AND next_try > refunded_at)`

const noteErrorSQL = `UPDATE deposit_payment SET error = $2 WHERE id = $1 AND error <> $2`

// work makes the call that is due for a payment.
func (b *Bookings) work(ctx context.Context, key string) (n int, err error) {
	id, err := seats.ParseID(key)
	if err != nil {
		return 0, err
	}
	return 1, b.try(ctx, id, 1)
}

// try makes the call that is due for a payment, stores its answer, and notes what went wrong. It counts so many tries: a look of a page is none.
func (b *Bookings) try(ctx context.Context, id seats.ID, tries int) error {
	ctx = context.WithoutCancel(ctx) // the contact may leave; the payment goes on
	if _, err := b.db.Exec(ctx, takePaymentSQL, id, payments.StandaloneBackoff.Seconds(), tries); err != nil {
		return fmt.Errorf("bookings: take a payment of a deposit: %w", err)
	}
	p, err := b.payment(ctx, paymentByIDSQL, id)
	if err != nil {
		return err
	}
	switch p.State {
	case PaymentOpen:
		err = b.payOnline(ctx, p)
	case PaymentRefunding:
		err = b.payBack(ctx, p)
	case PaymentRefunded:
		err = b.lookBack(ctx, p)
	}
	said := ""
	if payments.IsDown(err) {
		b.online.Failed(p.ID, p.tries, payments.StandaloneBackoff.After(p.tries), err)
		said, err = err.Error(), nil
	}
	if err != nil {
		return err
	}
	if _, err := b.db.Exec(ctx, noteErrorSQL, p.ID, said); err != nil {
		return fmt.Errorf("bookings: note how a call went: %w", err)
	}
	return nil
}

// callKeys are the beginning of the keys of calls for deposits: package payouts finds refunds by them.
const callKeys = "usher-deposit-"

// standalone is a payment as package payments needs to know it.
func (b *Bookings) standalone(ctx context.Context, p Payment) payments.Standalone {
	return payments.Standalone{Method: p.Method, Ended: !p.due, Age: p.age, Charge: payments.Charge{
		Key: callKeys, Payment: p.ID, Order: p.ID, Reference: p.reference, Amount: p.Amount, Currency: p.currency, Name: p.name, Email: p.email,
		What: text.T(text.For(ctx, p.language), "Deposit, %s", p.title), Back: b.orders.Payments.Home(ctx, p.event) + "/deposits/" + p.code,
	}}
}

const referSQL = `UPDATE deposit_payment SET reference = $2, page = $3 WHERE id = $1 AND (reference, page) <> ($2, $3)`

// payOnline brings an open payment on: to its page, to the capture, to its end. What is not due any more is not captured.
func (b *Bookings) payOnline(ctx context.Context, p Payment) error {
	s, err := b.orders.Payments.Advance(ctx, b.standalone(ctx, p), func(s payments.Standing) error {
		if _, err := b.db.Exec(ctx, referSQL, p.ID, s.Reference, s.Page); err != nil {
			return fmt.Errorf("bookings: store the page of a deposit: %w", err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err // its words are part of an alert, as those below
	case s.Stand == payments.Captured:
		return b.settle(ctx, p)
	case s.Stand == payments.Declined, s.Stand == payments.Voided:
		return b.closePayment(ctx, p, s.Reason)
	}
	return nil
}

const closePaymentSQL = `UPDATE deposit_payment SET state = 'closed', reason = $2, page = '' WHERE id = $1 AND state = 'open'`

func (b *Bookings) closePayment(ctx context.Context, p Payment, reason string) error {
	switch {
	case reason != "":
	case !p.due:
		reason = text.Mark("The deposit was not to be paid any more.")
	default:
		reason = text.Mark("The deposit was not paid within an hour.")
	}
	if _, err := b.db.Exec(ctx, closePaymentSQL, p.ID, reason); err != nil {
		return fmt.Errorf("bookings: close a payment of a deposit: %w", err)
	}
	return nil
}

// The lock of the booking is the guard: of several nodes, webhooks and members one finds the deposit due and the payment open.
const (
	settleSQL = `
UPDATE deposit d SET paid_at = clock_timestamp(), method = p.method, rates = p.rates, payment_id = p.id, remind_at = NULL
  FROM deposit_payment p, booking b, block k, event e
 WHERE p.id = $1 AND p.state = 'open' AND d.booking_id = p.booking_id AND b.id = d.booking_id AND k.id = b.id AND e.id = d.event_id AND d.amount = p.amount AND ` + isDue

	capturedSQL = `
UPDATE deposit_payment SET state = $2, reason = $3, captured_at = clock_timestamp(), page = '', tries = 0, next_try = clock_timestamp()
 WHERE id = $1 AND state = 'open'`

	lockOfPaymentSQL = `SELECT FROM booking WHERE id = $1 FOR NO KEY UPDATE`
)

// settle makes money that came the deposit, once. If that is not to be paid any more, the money goes back.
func (b *Bookings) settle(ctx context.Context, p Payment) error {
	err := pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockOfPaymentSQL, p.booking); err != nil {
			return err
		}
		paid, err := tx.Exec(ctx, settleSQL, p.ID)
		if err != nil {
			return err
		}
		if paid.RowsAffected() == 0 {
			_, err := tx.Exec(ctx, capturedSQL, p.ID, PaymentRefunding, text.Mark("The deposit was not to be paid any more."))
			return err
		}
		if _, err := tx.Exec(ctx, capturedSQL, p.ID, PaymentPaid, ""); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, mailSQL, p.booking, MailOption)
		return err
	})
	if err != nil {
		return fmt.Errorf("bookings: settle a deposit: %w", err)
	}
	b.MailWritten()
	b.online.Wake()
	return nil
}

const (
	backOnlineSQL = `UPDATE deposit_payment SET state = 'refunding', tries = 0, next_try = clock_timestamp() WHERE id = (SELECT payment_id FROM deposit WHERE booking_id = $1) AND state = 'paid'`
	wentBackSQL   = `UPDATE deposit_payment SET state = 'refunded', refunded_at = clock_timestamp(), next_try = created_at, reason = '' WHERE id = $1 AND state = 'refunding'`
)

// payBack has the provider give the money back. It is tried until all of it went back.
func (b *Bookings) payBack(ctx context.Context, p Payment) error {
	why, err := b.orders.Payments.GiveBack(ctx, b.standalone(ctx, p))
	if err != nil {
		return err
	}
	if why != "" {
		return payments.Down(why)
	}
	if _, err := b.db.Exec(ctx, wentBackSQL, p.ID); err != nil {
		return fmt.Errorf("bookings: note a refund: %w", err)
	}
	return nil
}

const (
	cameAgainSQL = `UPDATE deposit_payment SET state = 'refunding', refunded_at = NULL, tries = 0, next_try = clock_timestamp() WHERE id = $1 AND state = 'refunded'`
	stayedSQL    = `UPDATE deposit_payment SET next_try = created_at WHERE id = $1 AND state = 'refunded' AND tries = $2` // unless its provider told of it meanwhile
)

// lookBack asks what became of money that went back: a bank may refuse it days later. Then it is on its way again.
func (b *Bookings) lookBack(ctx context.Context, p Payment) error {
	why, err := b.orders.Payments.IsBack(ctx, b.standalone(ctx, p))
	if err != nil {
		return err
	}
	if why == "" {
		_, err = b.db.Exec(ctx, stayedSQL, p.ID, p.tries)
	} else {
		_, err = b.db.Exec(ctx, cameAgainSQL, p.ID)
	}
	switch {
	case err != nil:
		return fmt.Errorf("bookings: note what became of a refund: %w", err)
	case why != "":
		return payments.Down(why)
	}
	return nil
}

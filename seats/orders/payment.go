package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// ErrNoPayment says what is not there.
var ErrNoPayment = errors.New("there is no such payment")

// States of a payment. While it is open, authorized, sold or captured, its hold has no other.
const (
	payOpen       = "open"       // the provider is being asked, or the attendee is
	payAuthorized = "authorized" // the money is promised; the seats come next
	paySold       = "sold"       // the order is there; the money is taken next
	payCaptured   = "captured"   // the order is there, and the money
	payLost       = "lost"       // there will be no order; what is promised or there goes back
	payClosed     = "closed"     // there is no order, and nothing is kept
)

// Payment is a payment under way or done, and the order it is for.
type Payment struct {
	ID        seats.ID
	Event     string // slug
	Order     seats.ID
	Code      string // of the order; who knows it may see how the payment stands
	Holder    seats.ID
	Form      Form // what the order will be made of
	Method    string
	Currency  string // ISO 4217
	Amount    int64  // minor units
	State     string
	Reference string
	Page      string // where the attendee pays; empty if nowhere
	Captured  int64  // minor units, refunds not taken off
	Reason    string // why it came to nothing
	Attention string // why somebody has to look at it
	CreatedAt time.Time

	Title  string        // name of the event
	Age    time.Duration // by the database's clock
	Length time.Duration // how long the seats are kept for a payment

	Confirmed bool // the email was confirmed, if that is what it waits for

	event   int64
	keys    []seats.ID // known before it began
	card    *seats.ID  // key of the card; nil until it was authorized, or if the provider does not name it
	counted bool       // its seats are counted for keys
}

// Done tells that the order is there; Over that there will be none.
func (p Payment) Done() bool { return p.State == paySold || p.State == payCaptured }

// Over tells that no order will come of the payment.
func (p Payment) Over() bool { return p.State == payLost || p.State == payClosed }

const paymentColumns = `
SELECT p.id, e.slug, p.order_id, p.code, p.holder, p.form, p.method, p.currency, p.amount, p.state, p.reference, p.page,
       p.captured, p.reason, p.attention, p.created_at, e.name,
       extract(epoch FROM clock_timestamp() - p.created_at)::float8, extract(epoch FROM e.payment_length)::float8, p.event_id, p.keys, p.card, p.counted, p.confirmed_at IS NOT NULL
  FROM payment p JOIN event e ON e.id = p.event_id`

const (
	paymentByCodeSQL = paymentColumns + ` WHERE p.code = $1`
	paymentByIDSQL   = paymentColumns + ` WHERE p.id = $1`
	// The one under way; else the latest.
	paymentByHoldSQL = paymentColumns + ` WHERE p.hold_id = $1 AND p.holder = $2
 ORDER BY p.state IN ('open', 'authorized', 'sold', 'captured') DESC, p.created_at DESC LIMIT 1`
)

func (p *Payment) scan(row pgx.Row) error {
	var age, length float64
	err := row.Scan(&p.ID, &p.Event, &p.Order, &p.Code, &p.Holder, &p.Form, &p.Method, &p.Currency, &p.Amount,
		&p.State, &p.Reference, &p.Page, &p.Captured, &p.Reason, &p.Attention, &p.CreatedAt, &p.Title, &age, &length, &p.event, &p.keys, &p.card, &p.counted, &p.Confirmed)
	p.Age, p.Length = time.Duration(age*float64(time.Second)), time.Duration(length*float64(time.Second))
	return err
}

func (o *Orders) onePayment(ctx context.Context, sql string, args ...any) (p Payment, err error) {
	err = p.scan(o.db.QueryRow(ctx, sql, args...))
	if errors.Is(err, pgx.ErrNoRows) {
		return p, ErrNoPayment
	}
	if err != nil {
		return p, fmt.Errorf("orders: read a payment: %w", err)
	}
	return p, nil
}

// Payment returns the payment for the order with this code. ErrNoPayment if there is none.
func (o *Orders) Payment(ctx context.Context, code string) (Payment, error) {
	return o.onePayment(ctx, paymentByCodeSQL, code)
}

// PaymentOf returns the payment under way for a hold, or the latest there was. ErrNoPayment if there is none.
func (o *Orders) PaymentOf(ctx context.Context, holder, hold seats.ID) (Payment, error) {
	return o.onePayment(ctx, paymentByHoldSQL, hold, holder)
}

package payments

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// At the box office a gift card pays in the transaction of the sale: its payment is captured from the start. What is paid by hand
// beside it is in the order alone, as of any sale there.

// CodeCard is the code of a refusal: a gift card does not pay this sale, or not so much of it.
const CodeCard = "gift_card"

// Cards is a Provider whose gift cards pay by their codes.
type Cards interface {
	// IsCard reports whether a text has the form of a card's code.
	IsCard(code string) bool
	// Card returns the card with a code. A *seats.Conflict says why it pays nothing.
	Card(ctx context.Context, code string) (GiftCard, error)
}

// GiftCard is a gift card, or a voucher, that pays at the box office.
type GiftCard struct {
	Account  string // its name in the books of credit
	Currency string // ISO 4217
	Balance  int64  // minor units
	// Spend queues that a payment takes so much of it, in the transaction of the sale, which fails if there is less by then. It is to
	// be queued last: sales with one card wait here for each other.
	Spend func(q *pgx.Batch, payment, order seats.ID, minor int64)
	// Reserve queues that so much of it is set aside for a payment that begins, in its transaction, as Spend does. The provider of credit
	// takes it with the payment, or gives it back.
	Reserve func(q *pgx.Batch, payment, order seats.ID, minor int64)
	// Short returns why a sale failed if the card did not pay by then: a *seats.Conflict, or an error of the database. nil if it failed
	// for something else.
	Short func(ctx context.Context, err error) error
}

const spentSQL = `
WITH spent AS (
    INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, state, reference, captured)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'credit', $8, $9, 'captured', $10, $9)
    RETURNING id
)
INSERT INTO intention (payment_id, step, done_at) SELECT id, 'authorize', clock_timestamp() FROM spent`

// QueueSpent queues a payment that the credit of its account made, after its orders.
func QueueSpent(q *pgx.Batch, p Payment) {
	form, _ := json.Marshal(p.Details) // texts and numbers always marshal
	q.Queue(spentSQL, p.ID, p.EventID, p.Order, p.Code, p.Holder, p.Hold, form, p.Currency, p.Amount, p.ID.String())
	p.queueShares(q)
}

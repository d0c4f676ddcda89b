package orders

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
)

const dueSQL = `
SELECT id, (SELECT coalesce(sum(price + fee), 0)::bigint FROM ticket WHERE order_id = orders.id AND revoked_at IS NULL) + kept - paid - waived AS due, currency, state
  FROM orders WHERE code = $1 AND method IN ('door', 'invoice') FOR NO KEY UPDATE`

// What comes beyond what is due is refunded next.
const receiveSQL = `
WITH got AS (
    UPDATE orders SET paid = paid + least($2, $3::bigint), received = received + $2,
           due_at = CASE WHEN $3 > $2 THEN due_at END, remind_at = CASE WHEN $3 > $2 THEN remind_at END
     WHERE id = $1
    RETURNING id, event_id, email
), told AS (
    INSERT INTO mail (order_id, kind) SELECT id, 'paid' FROM got WHERE email <> '' AND $4::uuid IS NOT NULL
)
INSERT INTO receipt (id, event_id, order_id, amount, entry_id) SELECT $5, event_id, id, $2::bigint, $4 FROM got`

// Receipt is money that came for an order outside of this program.
type Receipt struct {
	Amount   int64     // minor units; 0: what is due
	Currency string    // empty: that of the order
	Entry    *seats.ID // of a bank statement; nil: a member saw the money
	Exact    bool      // only if the amount is what is due
}

// Receive notes money for an order that is paid at the box office or by bank transfer, in a transaction. What comes beyond what
// is due, and all of it if the order was cancelled, is a refund by hand. It returns the receipt as it was noted.
//
// Errors: ErrNotDue if the order is paid another way or in another currency, if nothing is due and the receipt has no amount,
// or if it is not exact; a *seats.Conflict while tickets of the order are being cancelled.
func (o *Orders) Receive(ctx context.Context, tx pgx.Tx, code string, r Receipt) (Receipt, error) {
	if err := lockStaying(ctx, tx, code); err != nil {
		return r, err
	}
	var id seats.ID
	var due int64
	var currency, state string
	err := tx.QueryRow(ctx, dueSQL, code).Scan(&id, &due, &currency, &state)
	if due = max(0, due); r.Amount == 0 && state == Confirmed {
		r.Amount = due
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && (r.Amount == 0 || r.Currency != "" && r.Currency != currency || r.Exact && r.Amount != due):
		return r, ErrNotDue
	case err != nil:
		return r, err
	}
	r.Currency = currency
	var q pgx.Batch
	q.Queue(receiveSQL, id, r.Amount, due, r.Entry, seats.NewID())
	payments.QueueRefund(&q, id, text.Mark("More was transferred than was due."), nil)
	return r, tx.SendBatch(ctx, &q).Close()
}

// An order that was just written takes over the deposit that names it (seats/bookings). If that is all it costs, nothing is due.
const depositSQL = `
WITH got AS (
    UPDATE orders o
       SET paid = paid + least(d.amount, o.total - o.paid), received = received + d.amount,
           due_at = CASE WHEN d.amount < o.total - o.paid THEN o.due_at END, remind_at = CASE WHEN d.amount < o.total - o.paid THEN o.remind_at END
      FROM deposit d WHERE o.id = $1 AND d.order_id = o.id
    RETURNING o.id, o.event_id, d.amount, d.booking_id
)
INSERT INTO receipt (id, event_id, order_id, amount, deposit_id) SELECT $2, event_id, id, amount, booking_id FROM got`

// QueueDeposit queues that an order has what was paid as its deposit, in the transaction that makes it. What the order does not cost is a
// refund by hand.
func QueueDeposit(q *pgx.Batch, order seats.ID) {
	q.Queue(depositSQL, order, seats.NewID())
	payments.QueueRefund(q, order, text.Mark("The deposit was more than the tickets cost."), nil)
}

// ByTransfer reports whether the order is paid by bank transfer.
func (o Order) ByTransfer() bool { return o.Method == payments.Invoice }

// Received tells this node that receipts were committed.
func (o *Orders) Received() { o.mailWritten() }

// MarkPaid notes a payment outside of this program, and commits also with it. It returns the amount that was due, in minor
// units. ErrNoOrder, ErrNotDue; a *seats.Conflict while tickets of the order are being cancelled.
func (o *Orders) MarkPaid(ctx context.Context, code string, also seats.TxHook) (amount int64, currency string, err error) {
	var r Receipt
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if r, err = o.Receive(ctx, tx, code, Receipt{}); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if err == nil {
		o.happened()
		return r.Amount, r.Currency, nil
	}
	if errors.Is(err, ErrNotDue) {
		if _, err := o.Find(ctx, code); err != nil {
			return 0, "", err
		}
	}
	return 0, "", err
}

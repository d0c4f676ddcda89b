package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// What is captured is the order's, as far as its live tickets cost it, with the fees that do not go back: what was cancelled meanwhile goes back.
const capturedSQL = `
WITH got AS (
    UPDATE payment SET state = 'captured', captured = $2, attention = $3
     WHERE id = $1 AND state = 'sold'
    RETURNING id, order_id, captured
), due AS (
    SELECT got.order_id, got.captured, coalesce(sum(t.price + t.fee) FILTER (WHERE t.revoked_at IS NULL), 0)::bigint AS cost,
           coalesce(sum(t.fee) FILTER (WHERE t.revoked_at IS NOT NULL AND t.moved_to IS NULL AND o.fee_kept AND e.status <> 'cancelled'), 0)::bigint
           + (SELECT coalesce(sum(fee), 0)::bigint FROM cancellation WHERE order_id = got.order_id) AS fee
      FROM got JOIN ticket t ON t.order_id = got.order_id JOIN orders o ON o.id = got.order_id JOIN event e ON e.id = o.event_id
     GROUP BY got.order_id, got.captured
), paid AS (
    UPDATE orders SET paid = least(due.captured, due.cost + due.fee), kept = greatest(0, least(due.captured - due.cost, due.fee))
      FROM due WHERE orders.id = due.order_id
)
UPDATE intention SET done_at = clock_timestamp() WHERE payment_id = $1 AND step = 'capture'`

const uncapturedSQL = `
WITH closed AS (UPDATE payment SET state = 'closed', attention = $2 WHERE id = $1 AND state = 'sold')
UPDATE intention SET done_at = clock_timestamp() WHERE payment_id = $1 AND step = 'capture'`

// capture takes the money of an order that is there. The order stays, whatever comes of it: if the provider does not have
// the money any more, the organizer has to ask for it.
func (o *Orders) capture(ctx context.Context, p Payment, i intention) (again bool, err error) {
	standing, err := o.call(ctx, p, i.key(), 0, Payments.Capture)
	if err != nil {
		return false, err
	}
	switch standing.Stand {
	case Captured:
		attention := ""
		if standing.Captured != p.Amount || standing.Currency != p.Currency {
			attention = fmt.Sprintf("The provider took %d %s for an order of %d %s.", standing.Captured, standing.Currency, p.Amount, p.Currency)
		}
		err = o.captured(ctx, p, standing.Captured, attention)
		o.happened()
		return true, err
	case Voided, Declined:
		_, err = o.db.Exec(ctx, uncapturedSQL, p.ID, "The order is there, and its money could not be taken: "+string(standing.Stand)+". "+standing.Reason)
		return false, err
	}
	return false, &downError{fmt.Errorf("orders: capture: it stands %s", standing.Stand)}
}

// captured notes that the money is there, and to what it belongs.
func (o *Orders) captured(ctx context.Context, p Payment, amount int64, attention string) error {
	return pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		var q pgx.Batch
		q.Queue(oneAtATimeSQL, p.Order)
		q.Queue(capturedSQL, p.ID, amount, attention)
		queueBack(&q, p.Order, "Tickets were cancelled before the money was taken.", nil)
		return tx.SendBatch(ctx, &q).Close()
	})
}

const refundedSQL = `
WITH refunded AS (UPDATE refund SET done_at = clock_timestamp() WHERE id = $2 AND done_at IS NULL)
   , done AS (UPDATE intention SET done_at = clock_timestamp() WHERE refund_id = $2)
UPDATE payment
   SET state = 'closed', page = ''
 WHERE id = $1 AND state = 'lost' AND NOT EXISTS (SELECT FROM refund WHERE payment_id = $1 AND done_at IS NULL AND NOT by_hand AND id <> $2)`

const refundStuckSQL = `UPDATE payment SET attention = $2 WHERE id = $1`

// refund gives money back. It is the attendee's from the moment its row is there; a provider that refuses is asked again
// and the organizer is told.
func (o *Orders) refund(ctx context.Context, p Payment, i intention) (again bool, err error) {
	standing, err := o.call(ctx, p, i.key(), i.amount, Payments.Refund)
	if err != nil {
		return false, err
	}
	if standing.Stand == Declined || standing.Refunded-standing.Elsewhere < i.before+i.amount {
		if settled, err := o.refusedRefund(ctx, p, i, standing); settled || err != nil {
			return settled, err
		}
		err := fmt.Errorf("orders: a refund of %d %s was refused: it stands %s. %s", i.amount, p.Currency, standing.Stand, standing.Reason)
		_, e := o.db.Exec(ctx, refundStuckSQL, p.ID, strings.TrimPrefix(err.Error(), "orders: "))
		return false, errors.Join(&downError{err}, e)
	}
	_, err = o.db.Exec(ctx, refundedSQL, p.ID, i.refundID)
	o.happened()
	return false, err
}

package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Concern is a payment somebody has to look at, money somebody has to pay out, or a card that a provider does not forget.
type Concern struct {
	Kind      string
	Key       string // the same concern has the same key
	Code      string // of the order, which may never have come to be; empty of a card, as all that names an event or a sum
	Event     string // slug
	Method    string
	Reference string // the provider's name of the payment, or of the page on which a card was given; empty if there is none
	Amount    int64  // minor units
	Currency  string // ISO 4217
	State     string
	Why       string
	At        time.Time
}

// The kinds of Concern.
const (
	OfPayment = "payment" // something was noted about a payment
	OfStep    = "step"    // a call to a provider failed again and again
	OfPayout  = "payout"  // money goes back by hand
	OfCard    = "card"    // a card is of no use any more, and its provider keeps it
)

// ByHand is the state of a Concern that is money to be paid out.
const ByHand = "to pay out"

// What was noted, steps that failed again and again, and what goes back by hand: each by an index.
const concernsSQL = `
(SELECT 'payment', 'payment:' || p.id, p.code, e.slug, p.method, p.reference, p.amount, p.currency, p.state, p.attention, p.created_at AS at
   FROM payment p JOIN event e ON e.id = p.event_id
  WHERE p.attention <> '' AND ($1::bigint = 0 OR p.event_id = $1) ORDER BY p.created_at DESC LIMIT nullif($2::bigint, 0))
UNION ALL
(SELECT 'step', 'step:' || i.id, p.code, e.slug, p.method, p.reference, p.amount, p.currency, p.state,
        'It was tried to ' || i.step || ' ' || i.tries || ' times: ' || i.error, i.created_at
   FROM intention i JOIN payment p ON p.id = i.payment_id JOIN event e ON e.id = p.event_id
  WHERE i.done_at IS NULL AND i.tries >= 5 AND i.error <> '' AND ($1 = 0 OR p.event_id = $1) ORDER BY i.created_at DESC LIMIT nullif($2, 0))
UNION ALL
(SELECT 'payout', 'payout:' || r.id, coalesce(o.code, p.code), e.slug, coalesce(o.method, p.method), coalesce(p.reference, ''), r.amount,
        coalesce(o.currency, p.currency), 'to pay out', CASE r.failed WHEN '' THEN r.reason ELSE r.failed END, r.created_at
   FROM refund r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.id = r.payment_id
        JOIN event e ON e.id = coalesce(o.event_id, p.event_id)
  WHERE r.by_hand AND r.done_at IS NULL AND ($1 = 0 OR e.id = $1) ORDER BY r.created_at DESC LIMIT nullif($2, 0))
 ORDER BY at DESC`

// QueueConcerns queues the question what somebody has to look at, the latest first: for one event or, with 0, for all; of
// each kind most at most or, with 0, everything.
func QueueConcerns(q *pgx.Batch, event int64, most int, visit func(Concern)) {
	q.Queue(concernsSQL, event, most).Query(visitConcerns(visit))
}

func visitConcerns(visit func(Concern)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Concern])
		for _, c := range list {
			visit(c)
		}
		return err
	}
}

// Cards are the operator's concern and no desk's: who saved one is nobody's there to read. An index finds those that end.
const keptCardsSQL = `
SELECT 'card', 'card:' || id, '', '', method, reference, 0::bigint, '', state,
       'A saved card is of no use any more. It was tried ' || tries || ' times to have the provider delete it: ' || error, created_at
  FROM mandate WHERE state = 'ending' AND tries >= 5 AND error <> '' ORDER BY created_at DESC`

// Attention lists what somebody has to look at, the latest first, and then the cards.
func (o *Orders) Attention(ctx context.Context) (list []Concern, err error) {
	var q pgx.Batch
	note := func(c Concern) { list = append(list, c) }
	QueueConcerns(&q, 0, 0, note)
	q.Queue(keptCardsSQL).Query(visitConcerns(note))
	if err := o.db.SendBatch(ctx, &q).Close(); err != nil {
		return nil, fmt.Errorf("orders: what needs attention: %w", err)
	}
	return list, nil
}

// ErrNotDue says that there is nothing to mark as paid.
var ErrNotDue = errors.New("nothing is due that is paid at the door or by invoice")

const markPaidSQL = `
WITH was AS (
    SELECT id, (SELECT coalesce(sum(price + fee), 0)::bigint FROM ticket WHERE order_id = orders.id AND revoked_at IS NULL) + kept - paid - waived AS due
      FROM orders WHERE code = $1 FOR NO KEY UPDATE
)
UPDATE orders SET paid = paid + was.due, received = received + was.due, due_at = NULL, remind_at = NULL FROM was
 WHERE orders.id = was.id AND state = 'confirmed' AND method IN ('door', 'invoice') AND was.due > 0
RETURNING was.due, currency`

// MarkPaid notes a payment outside of this program, and commits also with it. It returns the amount that was due, in minor
// units. ErrNoOrder, ErrNotDue; a *seats.Refusal while tickets of the order are being cancelled.
func (o *Orders) MarkPaid(ctx context.Context, code string, also seats.Also) (amount int64, currency string, err error) {
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if err := lockStaying(ctx, tx, code); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, markPaidSQL, code).Scan(&amount, &currency); err != nil {
			return err
		}
		return also.Run(ctx, tx)
	})
	if !errors.Is(err, pgx.ErrNoRows) {
		o.happened()
		return amount, currency, err
	}
	if _, err := o.Find(ctx, code); err != nil {
		return 0, "", err
	}
	return 0, "", ErrNotDue
}

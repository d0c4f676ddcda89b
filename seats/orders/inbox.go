package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// ErrNotOurs is what a provider told rightly and about no payment of ours.
var ErrNotOurs = errors.New("this is about no payment of ours")

// ErrForged is what did not come from the provider, or too late to be believed.
var ErrForged = errors.New("this is not signed by the provider, or is too old")

// News is what a provider tells by itself. What it says is not believed: it makes us ask.
type News struct {
	Method  string
	Event   string   // the provider's name of it: the same comes once, however often it is told
	Payment seats.ID // which we gave the provider to keep
	Kind    string   // for people who read the inbox
}

const newsSQL = `
INSERT INTO inbox (method, event, payment_id, kind) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING`

// Hear puts news into the inbox. Once it returns, its sender may be told that it arrived: it is acted on whatever dies.
func (o *Orders) Hear(ctx context.Context, n News) error {
	if _, err := o.db.Exec(ctx, newsSQL, n.Method, n.Event, n.Payment, n.Kind); err != nil {
		return fmt.Errorf("orders: hear news: %w", err)
	}
	o.jobs.inbox.Wake()
	return nil
}

const unreadSQL = `
SELECT DISTINCT payment_id, array_agg(event), method FROM inbox WHERE done_at IS NULL GROUP BY payment_id, method LIMIT 64`

const readSQL = `UPDATE inbox SET done_at = clock_timestamp() WHERE method = $1 AND event = ANY($2)`

// The order in which news come does not matter: each makes us ask how the payment stands. One that was given up is voided
// once more, which is how it is found out that its money came late. The payment is locked first, as by everybody: who gives
// it up at this moment has ended its steps. News count as a try: an answer to an older try does not end what they asked for.
// The number never goes back, or the answer to an old try would be taken for the answer to a later one.
const askAgainSQL = `
UPDATE intention i
   SET done_at = CASE WHEN p.anew AND i.step = 'void' THEN NULL ELSE i.done_at END, tries = CASE WHEN p.anew AND i.step = 'void' THEN i.tries + 1 ELSE i.tries END,
       next_try = clock_timestamp()
  FROM (SELECT id, state IN ('lost', 'closed') AND captured = 0 AS anew FROM payment WHERE id = $1 FOR NO KEY UPDATE) p
 WHERE p.id = i.payment_id`

// A payment that was declined was never voided.
const voidAgainSQL = `
INSERT INTO intention (payment_id, step)
SELECT id, 'void' FROM payment WHERE id = $1 AND state = 'closed' AND captured = 0
    ON CONFLICT DO NOTHING`

// readInbox makes the payments in the inbox due, and returns how many there were.
func (o *Orders) readInbox(ctx context.Context) (n int, err error) {
	defer o.jobs.payments.Wake()
	rows, err := o.db.Query(ctx, unreadSQL)
	if err != nil {
		return 0, fmt.Errorf("orders: read the inbox: %w", err)
	}
	type unread struct {
		Payment seats.ID
		Events  []string
		Method  string
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[unread])
	if err != nil {
		return 0, fmt.Errorf("orders: read the inbox: %w", err)
	}
	for _, u := range list {
		if err := o.ask(ctx, u.Payment, u.Method, u.Events); err != nil {
			return 0, fmt.Errorf("orders: read the inbox: %w", err)
		}
	}
	return len(list), nil
}

// ask makes the steps of a payment due and the news about it read, both or nothing.
func (o *Orders) ask(ctx context.Context, payment seats.ID, method string, events []string) error {
	return pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		var q pgx.Batch
		q.Queue(askAgainSQL, payment)
		q.Queue(voidAgainSQL, payment)
		q.Queue(lookAgainSQL, payment)
		q.Queue(readSQL, method, events)
		return tx.SendBatch(ctx, &q).Close()
	})
}

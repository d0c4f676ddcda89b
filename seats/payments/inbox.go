package payments

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/tracing"
)

const recordSQL = `
INSERT INTO inbox (method, event, payment_id, kind) VALUES ($1, $2, $3, $4)
    ON CONFLICT DO NOTHING`

// Record stores a webhook event. Once it returns, the provider may be told that the event arrived: any node acts on it.
func (ps *Payments) Record(ctx context.Context, e WebhookEvent) (err error) {
	ctx, span := tracing.Start(ctx, "payment webhook")
	defer func() { tracing.End(span, err) }()
	span.SetAttributes(tracing.Method.String(e.Method), tracing.Kind.String(e.Kind))
	if _, err := ps.db.Exec(ctx, recordSQL, e.Method, e.Event, e.Payment, e.Kind); err != nil {
		return fmt.Errorf("payments: record a webhook event: %w", err)
	}
	ps.jobs.inbox.Wake()
	return nil
}

const unreadSQL = `
SELECT DISTINCT payment_id, array_agg(event), method FROM inbox WHERE done_at IS NULL GROUP BY payment_id, method LIMIT 64`

const readSQL = `UPDATE inbox SET done_at = clock_timestamp() WHERE method = $1 AND event = ANY($2)`

// The order of events does not matter: each makes us ask for the state of the payment. A payment that was given up is
// voided again, which finds money that came late. The payment is locked first, as everywhere: a transaction that gives it
// up has ended its attempts. An event counts as a try, so the answer to an older try does not end this one. The count
// never falls, or the answer to an old try would pass for that of a later one.
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

// An event about a captured payment makes us look: there may be a refund at the provider, or one of ours that failed.
const lookAgainSQL = `
INSERT INTO intention (payment_id, step) SELECT id, 'look' FROM payment WHERE id = $1 AND captured > 0
    ON CONFLICT (payment_id, step) WHERE step <> 'refund' DO UPDATE SET done_at = NULL, next_try = clock_timestamp(), tries = intention.tries + 1`

// readInbox makes the payments of unread events due, and returns their number.
func (ps *Payments) readInbox(ctx context.Context) (n int, err error) {
	defer ps.Wake()
	type unread struct {
		Payment seats.ID
		Events  []string
		Method  string
	}
	rows, _ := ps.db.Query(ctx, unreadSQL) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[unread])
	if err != nil {
		return 0, fmt.Errorf("payments: read the inbox: %w", err)
	}
	for _, u := range list {
		if err := ps.ask(ctx, u.Payment, u.Method, u.Events); err != nil {
			return 0, fmt.Errorf("payments: read the inbox: %w", err)
		}
	}
	return len(list), nil
}

// ask makes the attempts of a payment due and its events read, both or neither.
func (ps *Payments) ask(ctx context.Context, payment seats.ID, method string, events []string) error {
	if payment == (seats.ID{}) && ps.PayoutsChanged != nil {
		if err := ps.PayoutsChanged(ctx); err != nil {
			return err
		}
	}
	if ps.Other != nil {
		if err := ps.Other(ctx, payment); err != nil {
			return err
		}
	}
	return pgx.BeginFunc(ctx, ps.db, func(tx pgx.Tx) error {
		var q pgx.Batch
		q.Queue(askAgainSQL, payment)
		q.Queue(voidAgainSQL, payment)
		q.Queue(lookAgainSQL, payment)
		q.Queue(readSQL, method, events)
		return tx.SendBatch(ctx, &q).Close()
	})
}

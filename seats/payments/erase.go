package payments

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const underWaySQL = `
SELECT count(*) FROM payment WHERE event_id = ANY($1) AND lower(form->>'email') = $2 AND state IN ('open', 'authorized', 'sold')`

// UnderWay counts a person's payments in some events that are not over.
func UnderWay(ctx context.Context, tx pgx.Tx, events []int64, email string) (n int, err error) {
	if err := tx.QueryRow(ctx, underWaySQL, events, email).Scan(&n); err != nil {
		return 0, fmt.Errorf("payments: count those under way: %w", err)
	}
	return n, nil
}

const changeEmailSQL = `UPDATE payment SET form = jsonb_set(form, '{email}', to_jsonb($2::text)) WHERE order_id = $1 AND form->>'email' <> ''`

// ChangeEmail notes that an order has another email: what is kept of its payment is of the same person.
func ChangeEmail(ctx context.Context, tx pgx.Tx, order seats.ID, email string) error {
	if _, err := tx.Exec(ctx, changeEmailSQL, order, email); err != nil {
		return fmt.Errorf("payments: change an email: %w", err)
	}
	return nil
}

const exportPaymentsSQL = `
SELECT coalesce(json_agg(json_build_object('event', e.name, 'code', p.code, 'name', p.form->>'name', 'email', p.form->>'email', 'paid_by', p.method, 'state', p.state, 'currency', p.currency,
       'amount_in_minor_units', p.amount, 'captured_in_minor_units', p.captured, 'reference_at_the_provider', p.reference, 'network', p.form->>'network', 'created_at', p.created_at,
       'refunds', (SELECT json_agg(json_build_object('amount_in_minor_units', r.amount, 'reason', r.reason, 'created_at', r.created_at, 'done_at', r.done_at)) FROM refund r WHERE r.payment_id = p.id)) ORDER BY p.created_at), '[]')
  FROM payment p JOIN event e ON e.id = p.event_id
 WHERE p.event_id = ANY($1) AND lower(p.form->>'email') = $2`

// Export returns a person's payments in some events, also those that led to no order.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportPaymentsSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("payments: export: %w", err)
	}
	return list, nil
}

// A reason that an organizer typed may name the person, also by a name that the order had before.
const eraseReasonsSQL = `
UPDATE refund r SET reason = '' FROM orders o
 WHERE o.id = r.order_id AND o.event_id = ANY($1) AND r.done_at IS NOT NULL
   AND ($2 = '' OR lower(o.email) = $2)`

const eraseErrorsSQL = `
UPDATE intention i SET error = '' FROM payment p
 WHERE p.id = i.payment_id AND p.event_id = ANY($1) AND ($2 = '' OR lower(p.form->>'email') = $2) AND i.error <> ''`

// A stored card is deleted at the provider as soon as it can be.
const eraseMandatesSQL = `
UPDATE mandate m SET email = '', what = '', back = '', page = '', state = CASE WHEN state IN ('asked', 'given') THEN 'ending' ELSE state END, next_try = clock_timestamp()
 WHERE m.state <> 'ended' AND ($2 = '' OR lower(m.email) = $2)
   AND (EXISTS (SELECT FROM entry n WHERE n.mandate = m.id AND n.event_id = ANY($1)) OR EXISTS (SELECT FROM payment p WHERE p.mandate = m.id AND p.event_id = ANY($1)))`

const erasePaymentsSQL = `
UPDATE payment SET form = jsonb_build_object('hold', form->'hold', 'seats', form->'seats', 'method', form->'method', 'name', '', 'email', '', 'born', ''), keys = '{}', card = NULL, page = ''
 WHERE event_id = ANY($1) AND ($2 = '' OR lower(form->>'email') = $2) AND form->>'email' <> '' AND state NOT IN ('open', 'authorized', 'sold')`

// Erase takes names, emails, answers and networks out of a person's payments in some events, or out of all payments for an
// empty email. Amounts and the provider's references stay. Payments that are not over are left. Call it before orders are erased.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) error {
	for _, sql := range []string{eraseReasonsSQL, eraseErrorsSQL, eraseMandatesSQL, erasePaymentsSQL} {
		if _, err := tx.Exec(ctx, sql, events, email); err != nil {
			return fmt.Errorf("payments: erase: %w", err)
		}
	}
	return nil
}

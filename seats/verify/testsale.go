package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// testSalesSQL asks for money of test sales (seats/testsale).
const testSalesSQL = `
SELECT e.slug, format('order %s… is in till session %s', left(o.code, 6), t.session_id)
  FROM till_entry t JOIN orders o ON o.id = t.order_id JOIN event e ON e.id = o.event_id WHERE e.test_of IS NOT NULL
 UNION ALL
SELECT e.slug, format('payment %s is by %s, with %s of credit', p.id, p.method, coalesce(p.form->>'credit', '0'))
  FROM payment p JOIN event e ON e.id = p.event_id WHERE e.test_of IS NOT NULL AND (p.method NOT IN ('demo', 'free') OR coalesce((p.form->>'credit')::bigint, 0) > 0)
 UNION ALL
SELECT e.slug, format('%s paid %s of order %s…', CASE a.kind WHEN 'card' THEN 'a gift card' ELSE 'credit' END, h.captured, left(o.code, 6))
  FROM credit_hold h JOIN credit_account a ON a.id = h.account_id JOIN orders o ON o.id = h.order_id JOIN event e ON e.id = o.event_id WHERE e.test_of IS NOT NULL
 UNION ALL
SELECT e.slug, format('a group is asked for a deposit of %s', d.amount) FROM deposit d JOIN event e ON e.id = d.event_id WHERE e.test_of IS NOT NULL`

// checkTestSales looks for money of test sales.
func checkTestSales(ctx context.Context, tx pgx.Tx, r *Report) error {
	rows, err := tx.Query(ctx, testSalesSQL)
	if err != nil {
		return fmt.Errorf("test sales: %w", err)
	}
	b := &books{report: r}
	var what string
	if _, err = pgx.ForEachRow(rows, []any{&b.slug, &what}, func() error {
		b.broken(t1, none, "%s", what)
		return nil
	}); err != nil {
		return fmt.Errorf("test sales: %w", err)
	}
	return nil
}

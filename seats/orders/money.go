package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Moved is money that came or went, as organizers list it.
type Moved struct {
	At        time.Time
	Order     string // code
	Name      string
	Kind      string // payment, received, refund
	Method    string
	Reference string // the provider's name of the payment; empty if there is none
	Amount    int64  // minor units; what went back is less than nothing
	Currency  string // ISO 4217
	Standing  string // done, on its way, by hand
}

const movedSQL = `
SELECT p.created_at, p.code, coalesce(o.name, p.form->>'name', ''), 'payment', p.method, p.reference, p.captured, p.currency, p.state
  FROM payment p LEFT JOIN orders o ON o.id = p.order_id
 WHERE p.event_id = $1 AND p.method NOT IN ('free', 'door', 'invoice') AND (p.captured > 0 OR p.state IN ('authorized', 'sold'))
 UNION ALL
SELECT o.created_at, o.code, o.name, 'received', o.method, '', o.received, o.currency, 'done' FROM orders o WHERE o.event_id = $1 AND o.received > 0
 UNION ALL
SELECT r.created_at, coalesce(o.code, p.code), coalesce(o.name, p.form->>'name', ''), 'refund', coalesce(o.method, p.method), coalesce(p.reference, ''), -r.amount,
       coalesce(o.currency, p.currency), CASE WHEN r.done_at IS NOT NULL THEN 'done' WHEN r.by_hand THEN 'by hand' ELSE 'on its way' END
  FROM refund r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.id = r.payment_id
 WHERE o.event_id = $1 OR o.id IS NULL AND p.event_id = $1
 ORDER BY 1, 2`

// Money hands everything that came and went for an event to visit, the first first.
func (o *Orders) Money(ctx context.Context, event int64, visit func(Moved) error) error {
	rows, err := o.db.Query(ctx, movedSQL, event)
	if err != nil {
		return fmt.Errorf("orders: list money: %w", err)
	}
	var m Moved
	_, err = pgx.ForEachRow(rows, []any{&m.At, &m.Order, &m.Name, &m.Kind, &m.Method, &m.Reference, &m.Amount, &m.Currency, &m.Standing}, func() error { return visit(m) })
	if err != nil {
		return fmt.Errorf("orders: list money: %w", err)
	}
	return nil
}

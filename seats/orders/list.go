package orders

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Line is one ticket as an organizer lists them, with its order.
type Line struct {
	Order     string // code
	State     string
	Name      string
	Email     string
	Born      *time.Time // a day
	Method    string
	Currency  string
	Paid      int64 // minor units, of the whole order, without what went back
	Back      int64 // minor units of the whole order that went back or are to go back
	OnItsWay  int64 // minor units of Back that were not seen to be given back yet
	CreatedAt time.Time
	Answers   map[string]string // by number of the event's question, from 1
	Ticket    seats.ID
	Idx       int
	Price     int64
	Fee       int64 // its share of the fees
	Revoked   bool
	In        *time.Time // when it was checked in
	Mail      string     // why mail was refused; empty if it was not
}

const linesSQL = `
SELECT o.code, o.state, o.name, o.email, o.born, o.method, o.currency, o.paid, coalesce(r.back, 0), coalesce(r.on_its_way, 0), o.created_at, o.answers,
       t.id, t.idx, t.price, t.fee, t.revoked_at IS NOT NULL,
       (SELECT scanned_at FROM scan WHERE ticket_id = t.id AND admitted),
       coalesce((SELECT CASE WHEN refused_at IS NOT NULL THEN error ELSE '' END FROM mail WHERE order_id = o.id ORDER BY id DESC LIMIT 1), '')
  FROM orders o JOIN event e ON e.id = o.event_id JOIN ticket t ON t.order_id = o.id AND t.moved_to IS NULL
       LEFT JOIN (SELECT order_id, sum(amount)::bigint AS back, (sum(amount) FILTER (WHERE done_at IS NULL))::bigint AS on_its_way
                    FROM refund GROUP BY order_id) r ON r.order_id = o.id
 WHERE e.slug = $1
 ORDER BY o.created_at, o.id, t.idx`

// Lines hands every ticket of an event to visit, those of one order together, the first order first.
func (o *Orders) Lines(ctx context.Context, event string, visit func(Line) error) error {
	rows, err := o.db.Query(ctx, linesSQL, event)
	if err != nil {
		return fmt.Errorf("orders: list: %w", err)
	}
	var l Line
	_, err = pgx.ForEachRow(rows, []any{
		&l.Order, &l.State, &l.Name, &l.Email, &l.Born, &l.Method, &l.Currency, &l.Paid, &l.Back, &l.OnItsWay, &l.CreatedAt, &l.Answers,
		&l.Ticket, &l.Idx, &l.Price, &l.Fee, &l.Revoked, &l.In, &l.Mail,
	}, func() error {
		one := l
		l.Answers = nil // what was scanned is kept
		return visit(one)
	})
	if err != nil {
		return fmt.Errorf("orders: list: %w", err)
	}
	return nil
}

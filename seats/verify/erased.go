package verify

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// The hash of an address is HMAC-SHA256, with its two pads (seats/privacy).
const erasedSQL = `
WITH known AS (
    SELECT e.team_id, lower(o.email) AS email, o.created_at AS at, 'order ' || o.code AS what FROM orders o JOIN event e ON e.id = o.event_id WHERE o.email <> ''
     UNION ALL
    SELECT e.team_id, lower(p.form->>'email'), p.created_at, 'payment ' || p.code FROM payment p JOIN event e ON e.id = p.event_id WHERE p.form->>'email' <> ''
     UNION ALL
    SELECT e.team_id, n.email, n.joined_at, 'entry ' || n.id FROM entry n JOIN event e ON e.id = n.event_id WHERE n.email <> ''
     UNION ALL
    SELECT e.team_id, lower(m.email), m.created_at, 'mail ' || m.id FROM mail m JOIN event e ON e.room_id = m.room_id WHERE m.kind = 'place'
)
SELECT 1, format('%s has the address that erasure %s is of', known.what, x.id)
  FROM erasure x, erasure_key k, known
 WHERE x.person IS NOT NULL AND known.team_id = x.team_id AND known.at < x.at
   AND x.person = sha256(k.outer_pad || sha256(k.inner_pad || convert_to(known.email, 'UTF8')))
 UNION ALL
SELECT 2, format('order %s was erased and has something of the person', code)
  FROM orders WHERE erased_at IS NOT NULL AND NOT (name = '' AND email = '' AND born IS NULL AND answers = '{}' AND network = '' AND keys = '{}' AND wish = '')
 UNION ALL
SELECT 2, format('order %s was erased, and its payment has the name', o.code)
  FROM orders o JOIN payment p ON p.order_id = o.id WHERE o.erased_at IS NOT NULL AND p.form->>'name' <> ''`

const anyErasedSQL = `SELECT EXISTS (SELECT FROM erasure)`

// checkErased looks for persons who were erased, in all events. Most houses have none, and then it reads no order.
func checkErased(ctx context.Context, tx pgx.Tx, r *Report) error {
	var some bool
	if err := tx.QueryRow(ctx, anyErasedSQL).Scan(&some); err != nil || !some {
		return err
	}
	rows, err := tx.Query(ctx, erasedSQL)
	if err != nil {
		return err
	}
	b := &books{report: r}
	var promise int
	var what string
	_, err = pgx.ForEachRow(rows, []any{&promise, &what}, func() error {
		b.broken(e1+promise-1, none, "%s", what)
		return nil
	})
	return err
}

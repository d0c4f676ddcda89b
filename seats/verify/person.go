package verify

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Counts of purchase keys that are not the live tickets of their orders and the seats of payments under way.
const personSQL = `
WITH had AS (
    SELECT k.key, t.live AS n
      FROM orders o, unnest(o.keys) AS k(key), LATERAL (SELECT count(*) FILTER (WHERE revoked_at IS NULL) AS live FROM ticket WHERE order_id = o.id) t
     WHERE o.event_id = $1
     UNION ALL
    SELECT k.key, jsonb_array_length(p.form->'seats') FROM payment p, unnest(p.keys) AS k(key) WHERE p.event_id = $1 AND p.counted AND NOT p.form ? 'shares'
     UNION ALL
    SELECT k.key, jsonb_array_length(s->'form'->'seats') FROM payment p, unnest(p.keys) AS k(key), jsonb_array_elements(p.form->'shares') s
     WHERE p.form ? 'shares' AND (s->>'event_id')::bigint = $1 AND p.counted
), sums AS (
    SELECT key, sum(n) AS n FROM had GROUP BY key
)
SELECT coalesce(k.tickets, 0)::bigint, coalesce(s.n, 0)::bigint
  FROM (SELECT key, tickets FROM purchase_key WHERE event_id = $1) k FULL JOIN sums s ON s.key = k.key
 WHERE coalesce(k.tickets, 0) <> coalesce(s.n, 0)
 UNION ALL
SELECT 0, jsonb_array_length(form->'seats') FROM payment WHERE event_id = $1 AND NOT counted AND state = 'open' AND keys <> '{}'`

// checkPersons holds O11: what counts for a person is what they have.
func (b *books) checkPersons(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, personSQL, b.id)
	if err != nil {
		return err
	}
	var counted, has int64
	_, err = pgx.ForEachRow(rows, []any{&counted, &has}, func() error {
		b.broken(o11, none, "%d tickets count for a person who has %d", counted, has)
		return nil
	})
	return err
}

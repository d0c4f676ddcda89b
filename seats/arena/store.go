package arena

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Counted is what the database counts of a sale.
type Counted struct {
	Orders  int64
	Refused map[string]int64 // claims, by kind
}

// An order counts once it stands, whether or not it was cancelled later.
const countSQL = `
SELECT '', (SELECT count(*) FROM orders o WHERE o.event_id = e.id) FROM event e WHERE e.slug = $1
UNION ALL SELECT r.code, r.n FROM refusal r JOIN event e ON e.id = r.event_id WHERE e.slug = $1`

// kindOf is the kind of a refused claim by its code.
func kindOf(code string) string {
	switch code {
	case "taken", "sold_out":
		return Taken
	case "limit", "person_limit":
		return Limit
	}
	return Rules
}

// Count reads what the database counts of the sale of an event.
func Count(ctx context.Context, db *pgxpool.Pool, slug string) (Counted, error) {
	c := Counted{Refused: map[string]int64{}}
	rows, err := db.Query(ctx, countSQL, slug)
	if err == nil {
		var code string
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&code, &n}, func() error {
			if code == "" {
				c.Orders = n
			} else {
				c.Refused[kindOf(code)] += n
			}
			return nil
		})
	}
	if err != nil {
		return c, fmt.Errorf("arena: count the sale %s: %w", slug, err)
	}
	return c, nil
}

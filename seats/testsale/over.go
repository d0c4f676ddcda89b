package testsale

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// A test sale is due when the sale of its event starts, and again until what was typed is erased: a payment may be open.
const dueSQL = `
SELECT t.id::text, CASE WHEN t.status IN ('closed', 'cancelled') THEN clock_timestamp() ELSE coalesce(e.opens_at, clock_timestamp()) END
  FROM event t JOIN event e ON e.id = t.test_of
 WHERE CASE WHEN t.status IN ('closed', 'cancelled') THEN NOT EXISTS (SELECT FROM erasure x WHERE x.event_id = t.id AND x.complete) ELSE e.status <> 'draft' END`

const overSQL = `SELECT slug, team_id, status IN ('closed', 'cancelled') FROM event WHERE id = $1 AND test_of IS NOT NULL`

// end ends a test sale, and has what people typed there erased.
func (t *Sales) end(ctx context.Context, key string) (int, error) {
	id, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return 0, err
	}
	var slug string
	var team int64
	var over bool
	err = t.db.QueryRow(ctx, overSQL, id).Scan(&slug, &team, &over)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("testsale: read event %d: %w", id, err)
	}
	if !over {
		if err := t.close(ctx, slug, nil); err != nil {
			return 0, err
		}
	}
	erased, err := t.Erase(ctx, id, team)
	if err != nil || !erased {
		return 0, err // it waits for a payment
	}
	return 1, nil
}

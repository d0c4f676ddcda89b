package waitlist

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const offeredSQL = `SELECT count(*) FROM entry WHERE event_id = ANY($1) AND email = $2 AND state = 'offered'`

// HasOffers counts a person's entries in some events that are offered seats at this moment.
func HasOffers(ctx context.Context, tx pgx.Tx, events []int64, email string) (n int, err error) {
	if err := tx.QueryRow(ctx, offeredSQL, events, email).Scan(&n); err != nil {
		return 0, fmt.Errorf("waitlist: count offers: %w", err)
	}
	return n, nil
}

const exportEntriesSQL = `
SELECT coalesce(json_agg(json_build_object('event', e.name, 'email', n.email, 'name', n.name, 'tickets', n.quantity, 'state', n.state, 'joined_at', n.joined_at, 'until', n.until, 'pays_by', n.method, 'at_most_in_minor_units', n.most, 'accepted_terms', n.terms, 'accepted_at', n.agreed_at,
       'steps', (SELECT json_agg(json_build_object('at', w.at, 'what', w.what, 'detail', w.detail) ORDER BY w.id) FROM wait_step w WHERE w.entry_id = n.id)) ORDER BY n.joined_at), '[]')
  FROM entry n JOIN event e ON e.id = n.event_id
 WHERE n.event_id = ANY($1) AND n.email = $2`

// Export returns a person's entries in the waiting lists of some events.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportEntriesSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("waitlist: export: %w", err)
	}
	return list, nil
}

const eraseEntriesSQL = `
WITH gone AS (
    UPDATE entry SET state = 'left' WHERE event_id = ANY($1) AND email = $2 AND state IN ('new', 'waiting') RETURNING id, event_id
)
INSERT INTO wait_step (event_id, entry_id, what) SELECT event_id, id, 'left' FROM gone`

const eraseWaitersSQL = `
UPDATE entry SET email = '', language = '', name = NULL, method = NULL, most = NULL, terms = NULL, agreed_at = NULL
 WHERE event_id = ANY($1) AND ($2 = '' OR email = $2) AND email <> '' AND state IN ('served', 'left', 'over')`

// Erase takes a person off the waiting lists of some events, and the email and name out of the entries. For an empty email
// it does so to all entries that ended. The list's own record stays.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) error {
	for _, sql := range []string{eraseEntriesSQL, eraseWaitersSQL} {
		if _, err := tx.Exec(ctx, sql, events, email); err != nil {
			return fmt.Errorf("waitlist: erase: %w", err)
		}
	}
	return nil
}

package banktransfer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// An entry that no order was found for has no email, and cannot be known to be of a person.
const exportEntriesSQL = `
SELECT coalesce(json_agg(json_build_object('booked_on', n.booked_on, 'amount_in_minor_units', n.amount, 'currency', n.currency, 'reference', n.reference, 'order', o.code) ORDER BY n.booked_on), '[]')
  FROM statement_entry n JOIN orders o ON o.id = n.order_id WHERE o.event_id = ANY($1) AND lower(o.email) = $2`

// Export returns the entries of bank statements that were applied to a person's orders for some events.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportEntriesSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("banktransfer: export: %w", err)
	}
	return list, nil
}

package invoices

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A document names its buyer for good, also after the order was erased.
const exportInvoicesSQL = `
SELECT coalesce(json_agg(json_build_object('number', label, 'kind', kind, 'issued_at', issued_at, 'currency', currency, 'net_in_minor_units', net, 'tax_in_minor_units', tax,
       'total_in_minor_units', gross, 'content', content) ORDER BY year, number), '[]')
  FROM invoice WHERE event_id = ANY($1) AND lower(content->'buyer'->>'email') = $2`

// Export returns the invoices and credit notes of a person for some events.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportInvoicesSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("invoices: export: %w", err)
	}
	return list, nil
}

package idempotency

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The answer to a form has the page that was sent, in base64.
const eraseAnswersSQL = `
DELETE FROM idempotency_key
 WHERE answer IS NOT NULL
   AND (position(convert_to($1, 'UTF8') IN answer) > 0
     OR position(convert_to($1, 'UTF8') IN CASE WHEN starts_with(scope, 'form/') THEN coalesce(decode(convert_from(answer, 'UTF8')::json->>'Body', 'base64'), '') ELSE '' END) > 0)`

// Erase deletes answers that have a text in them, such as an address. A repeat of such a form is done again.
func Erase(ctx context.Context, tx pgx.Tx, text string) error {
	if _, err := tx.Exec(ctx, eraseAnswersSQL, text); err != nil {
		return fmt.Errorf("idempotency: erase: %w", err)
	}
	return nil
}

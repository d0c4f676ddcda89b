package waitlist

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const mandateSQL = `
UPDATE entry SET mandate = $2 WHERE id = $1 AND state = 'waiting' AND method IS NOT NULL RETURNING event_id`

// Keep has an entry refer to a mandate, which means commits with it: what they agreed to is paid with that. One from before
// ends. Refused if they agreed to nothing any more.
func (l *List) Keep(ctx context.Context, n Entry, mandate seats.ID, means seats.Also) error {
	err := pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		if err := means.Run(ctx, tx); err != nil {
			return err
		}
		var event int64
		if err := tx.QueryRow(ctx, mandateSQL, n.ID, mandate).Scan(&event); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, stepSQL, event, n.ID, "asked to save a card", "", "")
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return refuseGone()
	}
	if err != nil {
		return fmt.Errorf("waitlist: keep a mandate: %w", err)
	}
	return nil
}

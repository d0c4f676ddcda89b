package events

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

// AddCodes makes codes of an event with the terms of one. All nodes know at once that the event has codes.
//
// Errors: seats.ErrNoEvent; *seats.ValidationError; a *seats.Conflict if the event has one of the codes; the database's.
func AddCodes(ctx context.Context, inventory *seats.Inventory, slug string, c pricing.Code, codes []string, also seats.TxHook) error {
	_, err := inventory.ChangeEvent(ctx, slug, also, func(tx pgx.Tx, e seats.Event) (bool, error) {
		return true, pricing.CreateCodes(ctx, tx, e.ID, c, codes)
	})
	if errors.Is(err, pricing.ErrCodeTaken) {
		return pricing.CodeTaken(c.Code)
	}
	return err
}

package desk

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Events lists the events of a member's team with their counts, the next one first.
func (d *Desk) Events(ctx context.Context, m Member) (list []seats.Listing, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		list, err = seats.Events(ctx, tx) // the second wall leaves those of the team
		return err
	})
	return list, err
}

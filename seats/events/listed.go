package events

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

const listSQL = `UPDATE event SET lowest = $2, wheelchair = $3 WHERE id = $1`

// list writes what the programme filters an event by, from its plan and its prices as they are in the transaction.
func list(ctx context.Context, tx pgx.Tx, slug string, p *seats.Plan) error {
	e, err := seats.EventBySlug(ctx, tx, slug)
	if err != nil {
		return err
	}
	prices, err := seats.LoadPrices(ctx, tx, e.ID, p)
	if err != nil {
		return err
	}
	wheelchair := slices.ContainsFunc(p.Seats, func(s seats.Seat) bool { return s.Flags&seats.Accessible != 0 })
	if _, err := tx.Exec(ctx, listSQL, e.ID, lowest(e, prices, len(p.Categories)), wheelchair); err != nil {
		return fmt.Errorf("events: list %q: %w", slug, err)
	}
	return nil
}

// lowest is the least that the programme may ever show as the price of an event: of all phases, those to come included, the
// lowest price that is not 0. A phase in which everything is free makes it 0.
func lowest(e seats.Event, prices *seats.Prices, categories int) int64 {
	least := pricing.Lowest(e, prices, 0, categories)
	for i, phase := range prices.Phases {
		if !phase.Retired {
			least = min(least, pricing.Lowest(e, prices, i+1, categories))
		}
	}
	return least
}

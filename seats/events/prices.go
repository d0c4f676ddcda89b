package events

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
)

// EditPrices gives an event another price list, on all nodes at once, while it is on sale. What is held or sold keeps its price.
//
// Errors: seats.ErrNoEvent; *seats.ValidationError; a *seats.Conflict if the event was cancelled, or a phase has sold more seats
// than its new limit; the database's.
func EditPrices(ctx context.Context, inventory *seats.Inventory, slug string, list *seats.Prices, also seats.TxHook) (seats.Event, error) {
	e, err := inventory.ChangeEvent(ctx, slug, also, func(tx pgx.Tx, e seats.Event) (bool, error) {
		if e.Status == seats.Cancelled {
			return false, &seats.Conflict{Code: seats.CodeChanged, Message: "This event was cancelled, and stays as it was. Nothing was changed."}
		}
		p, err := seats.LoadPlan(ctx, tx, e.ID)
		if err != nil {
			return false, err
		}
		before, err := seats.LoadPrices(ctx, tx, e.ID, p)
		if err != nil {
			return false, err
		}
		next := pricing.Complete(list, p.Categories)
		if err := pricing.Check(before, next, len(p.Categories)); err != nil {
			return false, err
		}
		prices := pricesOf(p)
		for category := range prices {
			if price, sold := next.Price(0, 0, category); sold {
				prices[category] = price
			}
		}
		if !slices.Equal(prices, pricesOf(p)) {
			plan, err := reprice(ctx, tx, e.ID, p, prices)
			if err != nil {
				return false, err
			}
			if _, err := tx.Exec(ctx, drawnFromSQL, e.ID, *plan, len(p.Seats)); err != nil {
				return false, err
			}
		}
		return true, pricing.Save(ctx, tx, e.ID, next)
	})
	if seats.IsConstraint(err, "a phase sells no more than its limit") {
		return e, &seats.Conflict{Code: seats.CodeChanged, Message: "A phase has sold more seats than this limit. Nothing was changed. Choose a higher number, or end the phase."}
	}
	return e, err
}

// relist writes the price list that follows from other prices of the categories.
func relist(ctx context.Context, tx pgx.Tx, event int64, p *seats.Plan, prices []int64) error {
	before, err := seats.LoadPrices(ctx, tx, event, p)
	if err != nil {
		return err
	}
	return pricing.Save(ctx, tx, event, pricing.Reprice(before, p.Categories, prices))
}

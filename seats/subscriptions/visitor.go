package subscriptions

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const hasSQL = `SELECT EXISTS (SELECT FROM subscription_price WHERE event_id = $1)`

// Has reports whether an event is in a subscription, on sale or not.
func (a *All) Has(ctx context.Context, event int64) (has bool, err error) {
	if a == nil {
		return false, nil
	}
	if err := a.db.QueryRow(ctx, hasSQL, event).Scan(&has); err != nil {
		return false, fmt.Errorf("subscriptions: of event %d: %w", event, err)
	}
	return has, nil
}

const performancesSQL = `
SELECT DISTINCT subscription_id, event_id FROM subscription_price WHERE $1::bigint[] IS NULL OR event_id = ANY($1)`

// aliases finds as whom a visitor holds seats of subscriptions with one of these events, or of all: see seats.Inventory. What is kept for
// renewal is not theirs: it ends at its own time.
func (a *All) aliases(ctx context.Context, events []int64) (of func(visitor seats.ID) []seats.Alias, err error) {
	type performance struct{ Subscription, Event int64 }
	rows, err := a.db.Query(ctx, performancesSQL, events)
	if err != nil {
		return nil, fmt.Errorf("subscriptions: find holders: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[performance])
	if err != nil {
		return nil, fmt.Errorf("subscriptions: find holders: %w", err)
	}
	return func(visitor seats.ID) []seats.Alias {
		as := make([]seats.Alias, len(list))
		for i, p := range list {
			as[i] = seats.Alias{Event: p.Event, Holder: Subscription{ID: p.Subscription}.Holder(visitor)}
		}
		return as
	}, nil
}

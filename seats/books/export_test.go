package books

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Most has a node count, and a report read, so many orders at once.
func (b *Books) Most(n int) { b.most = n }

// Count counts what changed.
func (b *Books) Count(ctx context.Context) (int, error) { return b.count(ctx, "") }

// CountSome takes so many notes of changes, and counts their orders.
func (b *Books) CountSome(ctx context.Context, n int) (taken int, err error) {
	err = pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
		taken, err = countSome(ctx, tx, n)
		return err
	})
	return taken, err
}

// CountIn does so in a transaction.
func CountIn(ctx context.Context, tx pgx.Tx, n int) (int, error) { return countSome(ctx, tx, n) }

// MonthsOf says which months and edges a report of months reads for days.
func MonthsOf(from, to time.Time) []any { return monthsOf(from, to) }

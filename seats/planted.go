package seats

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// All are set in programs built with the tag mutants, and nowhere else: a torture plants a bug and must see it caught.
var (
	hasBug    func(string) bool
	atConnect func(*pgxpool.Config)
	countLate func(ctx context.Context, db *pgxpool.Pool, event int64)
)

// Planted tells whether this program was built to have a bug. It never was, unless a torture did it.
func Planted(bug string) bool { return hasBug != nil && hasBug(bug) }

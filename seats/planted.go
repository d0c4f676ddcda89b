package seats

import "github.com/jackc/pgx/v5/pgxpool"

// Both are set in programs built with the tag mutants, and nowhere else: a torture plants a bug and must see it caught.
var (
	hasBug    func(string) bool
	atConnect func(*pgxpool.Config)
)

// Planted tells whether this program was built to have a bug. It never was, unless a torture did it.
func Planted(bug string) bool { return hasBug != nil && hasBug(bug) }

package waitlist

import (
	"context"
	"time"
)

// Round has a node without loops make a round, as after news.
func (l *List) Round(ctx context.Context, slug string) (again bool, err error) {
	defer l.ordering.Wait()
	return l.round(ctx, slug, true)
}

// UntilOf is when an offer made at a time ends.
func UntilOf(now, end time.Time, zone *time.Location) time.Time {
	return until(now, end, zone, Windows)
}

// LockEntries is what offers lock entries with.
var LockEntries = lockEntries

package views

import (
	"cmp"
	"context"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
)

// Change is one thing of an event that changed, in the reader's language.
type Change struct{ Label, Was, Now string }

// Changes lists what changed of an event, of which doors open so long before the start (0: not said). It is empty if was is nil.
func Changes(ctx context.Context, e seats.Event, doors time.Duration, was *orders.Was) (list []Change) {
	if was == nil {
		return nil
	}
	add := func(label, before, now string) {
		if before != now {
			list = append(list, Change{label, cmp.Or(before, text.T(ctx, "not said")), cmp.Or(now, text.T(ctx, "not said"))})
		}
	}
	open := func(start time.Time, before time.Duration) string {
		if before == 0 {
			return ""
		}
		return e.Local(start.Add(-before)).Format("15:04")
	}
	add(text.T(ctx, "Starts"), DayTimeIn(ctx, e, was.StartsAt), WhenIn(ctx, e))
	add(text.T(ctx, "Doors"), open(was.StartsAt, time.Duration(was.Doors)*time.Minute), open(e.StartsAt, doors))
	add(text.T(ctx, "Venue"), was.Venue, e.Venue)
	return list
}

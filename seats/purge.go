package seats

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// purgeEvery is how often rows that nobody will ask for again are deleted.
const purgeEvery = time.Hour

// A key is good for a day.
const purgePostedSQL = `DELETE FROM posted WHERE since < clock_timestamp() - interval '1 day'`

const purgeTypedSQL = `DELETE FROM typed WHERE since < clock_timestamp() - interval '1 day'`

// A hold that ended a day ago, has no seat any more and bought none was kept for its answers only. A row that a batch has
// locked is left to the next time.
const purgeHoldsSQL = `
DELETE FROM hold
 WHERE (event_id, holder) IN (
       SELECT h.event_id, h.holder
         FROM hold h
        WHERE h.lapsed AND h.bought = 0 AND h.expires_at < clock_timestamp() - interval '1 day'
          AND NOT EXISTS (SELECT FROM unnest(h.seats) AS n(idx),
                                 LATERAL (SELECT holder FROM seat_state WHERE event_id = h.event_id AND idx = n.idx OFFSET 0) s
                           WHERE s.holder = h.holder)
          FOR UPDATE SKIP LOCKED)`

// purge deletes sessions that are over and holds that ended long ago, until ctx is done. Safe on all nodes at once.
func (o *Office) purge(ctx context.Context) error {
	ticker := time.NewTicker(purgeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if err := o.Purge(ctx); err != nil && ctx.Err() == nil {
			o.log.Warn("old sessions and holds stay until the next hour", "error", err)
		}
	}
}

// Purge deletes what is over: sessions, with the seats that their visitors did not come back for, keys of forms, what was
// typed into them, and the rows of holds that ended a day ago and have no seat any more. One that fails hinders no other.
func (o *Office) Purge(ctx context.Context) error {
	errs := []error{o.endSessions(ctx)}
	for _, sql := range []string{purgePostedSQL, purgeTypedSQL, purgeHoldsSQL} {
		if _, err := o.db.Exec(ctx, sql); err != nil {
			errs = append(errs, fmt.Errorf("seats: purge: %w", err))
		}
	}
	return errors.Join(errs...)
}

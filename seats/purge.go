package seats

import (
	"context"
	"fmt"
	"time"
)

// purgeEvery is how often rows that nobody will ask for again are deleted.
const purgeEvery = time.Hour

const purgeSessionsSQL = `DELETE FROM session WHERE expires_at < statement_timestamp()`

// A key is good for a day.
const purgePostedSQL = `DELETE FROM posted WHERE since < clock_timestamp() - interval '1 day'`

const purgeTypedSQL = `DELETE FROM typed WHERE since < clock_timestamp() - interval '1 day'`

// A hold that ended a day ago and has no seat any more was kept for its answers only. A row that a batch has locked is
// left to the next time.
const purgeHoldsSQL = `
DELETE FROM hold
 WHERE (event_id, holder) IN (
       SELECT h.event_id, h.holder
         FROM hold h
        WHERE h.lapsed AND h.expires_at < clock_timestamp() - interval '1 day'
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
		if err := Purge(ctx, o.db); err != nil && ctx.Err() == nil {
			o.log.Warn("old sessions and holds stay until the next hour", "error", err)
		}
	}
}

// Purge deletes what is over: sessions, keys of forms, what was typed into them, and the rows of holds that ended a day ago and have no seat any more.
func Purge(ctx context.Context, db DB) error {
	for _, sql := range []string{purgeSessionsSQL, purgePostedSQL, purgeTypedSQL, purgeHoldsSQL} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("seats: purge: %w", err)
		}
	}
	return nil
}

package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/idempotency"
)

// The end of a session releases its visitor's seats, because the visitor cannot come back to them. First the row is marked as
// over, so that no claim of the session succeeds from then on. Then the seats are released, and then the row is deleted. If a
// node dies in between, the holds of the ended session expire, and a purge releases its seats. Seats of a subscription are
// released with the others, though their holder is another one (seats.Alias). Nothing else is locked while a session is. Seats in
// payment stay until the payment ends. Signing in and out only changes the token of a session.

// holderIn reads the visitor from the data of a session, which is JSON.
const holderIn = `substring(encode(data, 'escape') FROM '"holder":"([0-9a-f-]{36})"')::uuid`

// A batch that saw the session keeps it locked until its claim is written.
const lockSessionSQL = `SELECT ` + holderIn + ` FROM session WHERE token = $1 FOR UPDATE`

const overSQL = `UPDATE session SET expires_at = least(expires_at, clock_timestamp()) WHERE token = $1`

// end ends a session, releases its visitor's seats and deletes its row.
func (s *Sessions) end(ctx context.Context, key string) error {
	err := s.shut(ctx, key)
	if err == nil {
		_, err = s.db.Exec(ctx, deleteSessionSQL, key)
	}
	if err != nil {
		return fmt.Errorf("sessions: end session: %w", err)
	}
	return nil
}

// shut ends a session and releases its visitor's seats. Its row stays until the next purge, so that a request which read it before cannot give
// it another token (renameSessionSQL).
func (s *Sessions) shut(ctx context.Context, key string) error {
	s.Forget(key)
	var holder *seats.ID
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, lockSessionSQL, key).Scan(&holder); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, overSQL, key)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil && holder != nil && s.office != nil {
		err = s.office.ReleaseAll(ctx, *holder)
	}
	return err
}

// Visitors with seats that are not in payment, and whether their hold is over.
const leftHoldersSQL = `
SELECT h.event_id, h.holder, h.expires_at < statement_timestamp()
  FROM hold h
 WHERE h.session_ends IS NOT NULL
   AND EXISTS (SELECT FROM unnest(h.seats) AS n(idx),
                      LATERAL (SELECT state, holder FROM seat_state WHERE event_id = h.event_id AND idx = n.idx OFFSET 0) s
                WHERE s.holder = h.holder AND s.state IN (1, 2) /* held, lapsed */)`

const endedSessionsSQL = `SELECT token, ` + holderIn + `, statement_timestamp() FROM session WHERE expires_at < statement_timestamp()`

const purgeSessionsSQL = `DELETE FROM session WHERE expires_at < $1 AND token <> ALL($2)`

// endAll deletes the sessions that are over. It joins them with their seats in memory, because the planner is set up for few
// rows. A session stays if its seats cannot be released, or if a node died and left it with a live hold.
func (s *Sessions) endAll(ctx context.Context) error {
	left := map[seats.ID]bool{} // whether the hold is over
	events := []int64{}         // with one
	aliases := func(seats.ID) []seats.Alias { return nil }
	var event int64
	var holder, of *seats.ID
	var over bool
	var keys []string
	var key string
	var now *time.Time
	stay := []string{}
	rows, err := s.db.Query(ctx, leftHoldersSQL)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&event, &holder, &over}, func() error {
			before, known := left[*holder]
			left[*holder], events = over && (before || !known), append(events, event)
			return nil
		})
	}
	if err == nil && s.office != nil {
		aliases, err = s.office.Aliases(ctx, slices.Compact(slices.Sorted(slices.Values(events))))
	}
	if err == nil {
		rows, err = s.db.Query(ctx, endedSessionsSQL)
	}
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&key, &of, &now}, func() error {
			if of == nil {
				return nil
			}
			switch over, has := leftAs(left, *of, aliases(*of)); {
			case over:
				keys = append(keys, key)
			case has:
				stay = append(stay, key)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("sessions: find sessions that are over: %w", err)
	}
	var failed []error
	for _, key := range keys {
		if err := s.end(ctx, key); err != nil {
			failed, stay = append(failed, err), append(stay, key)
		}
	}
	if _, err := s.db.Exec(ctx, purgeSessionsSQL, now, stay); err != nil { // of none, nothing
		return fmt.Errorf("sessions: purge sessions: %w", err)
	}
	if len(failed) > 0 {
		return fmt.Errorf("sessions: %d sessions stay, the first because of: %w", len(failed), failed[0])
	}
	return nil
}

// leftAs reports whether a visitor has seats, as themselves or as another holder, and whether all of these holds are over.
func leftAs(left map[seats.ID]bool, visitor seats.ID, aliases []seats.Alias) (over, has bool) {
	over, has = left[visitor]
	for _, as := range aliases {
		if ended, there := left[as.Holder]; there {
			over, has = ended && (over || !has), true
		}
	}
	return over, has
}

// Purge deletes sessions that are over, with the seats that their visitors did not come back for, and old idempotency keys.
func (s *Sessions) Purge(ctx context.Context) error {
	return errors.Join(s.endAll(ctx), idempotency.Purge(ctx, s.db))
}

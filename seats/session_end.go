package seats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// The end of a session releases what its visitor holds, because the visitor cannot come back for it, as if they had released it
// themselves. First the row says that the session is over, so that no claim of it wins from then on; then the seats are
// released; then the row is deleted. A node that dies on the way leaves a session that is over, whose holds end by
// themselves and whose seats a purge releases. Nothing else is locked while a session is. Seats in payment stay until that
// ends. Signing in and out gives a session another token and is not its end.

// holderIn reads the visitor from the data of a session, which is JSON.
const holderIn = `substring(encode(data, 'escape') FROM '"holder":"([0-9a-f-]{36})"')::uuid`

// A batch that saw the session has it locked until its claim is written.
const lockSessionSQL = `SELECT ` + holderIn + ` FROM session WHERE token = $1 FOR UPDATE`

const overSQL = `UPDATE session SET expires_at = least(expires_at, clock_timestamp()) WHERE token = $1`

const heldEventsSQL = `
SELECT e.slug
  FROM event e,
       LATERAL (SELECT seats FROM hold WHERE event_id = e.id AND holder = $1 AND cardinality(seats) > 0 OFFSET 0) h
 WHERE EXISTS (SELECT FROM unnest(h.seats) AS n(idx),
                      LATERAL (SELECT state, holder FROM seat_state WHERE event_id = e.id AND idx = n.idx OFFSET 0) s
                WHERE s.holder = $1 AND s.state IN (1, 2) /* held, lapsed */)`

// endSession ends a session, releases its visitor's seats and deletes its row.
func (o *Office) endSession(ctx context.Context, key string) error {
	var holder *ID
	err := pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, lockSessionSQL, key).Scan(&holder); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, overSQL, key)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil && holder != nil {
		err = o.releaseAll(ctx, *holder)
	}
	if err == nil {
		_, err = o.db.Exec(ctx, deleteSessionSQL, key)
	}
	if err != nil {
		return fmt.Errorf("seats: end session: %w", err)
	}
	return nil
}

// releaseAll releases what a visitor holds.
func (o *Office) releaseAll(ctx context.Context, holder ID) error {
	slugs, err := o.heldEvents(ctx, holder)
	if err != nil {
		return err
	}
	for _, slug := range slugs {
		if err := o.releaseIn(ctx, slug, holder); err != nil {
			return err
		}
	}
	return nil
}

func (o *Office) heldEvents(ctx context.Context, holder ID) ([]string, error) {
	rows, err := o.db.Query(ctx, heldEventsSQL, holder)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// releaseIn releases what a visitor holds of an event.
func (o *Office) releaseIn(ctx context.Context, slug string, holder ID) error {
	s, err := o.Sale(ctx, slug)
	if err != nil {
		return err
	}
	c := &command{holder: holder}
	c.decide = func(b *batch) (Hold, error) {
		hold, err := b.release(c, nil)
		if errors.Is(err, ErrNoHold) { // it was released meanwhile
			return Hold{}, nil
		}
		return hold, err
	}
	_, err = s.do(context.WithValue(ctx, visitKey{}, (*visit)(nil)), c) // whichever session the request came from
	return err
}

// Visitors of sessions who have seats that are not in payment, and whether their hold is over: then no other visitor claimed the seats
// since.
const leftHoldersSQL = `
SELECT h.holder, h.expires_at < statement_timestamp()
  FROM hold h
 WHERE h.session_ends IS NOT NULL
   AND EXISTS (SELECT FROM unnest(h.seats) AS n(idx),
                      LATERAL (SELECT state, holder FROM seat_state WHERE event_id = h.event_id AND idx = n.idx OFFSET 0) s
                WHERE s.holder = h.holder AND s.state IN (1, 2) /* held, lapsed */)`

const endedSessionsSQL = `SELECT token, ` + holderIn + `, statement_timestamp() FROM session WHERE expires_at < statement_timestamp()`

const purgeSessionsSQL = `DELETE FROM session WHERE expires_at < $1 AND token <> ALL($2)`

// endSessions deletes the sessions that are over. It joins them with their seats itself: the planner is told to make plans
// for few rows. Those whose seats cannot be released stay, and so do those that a node left with a live hold when it died.
func (o *Office) endSessions(ctx context.Context) error {
	left := map[ID]bool{} // whether the hold is over
	var holder, of *ID
	var over bool
	var keys []string
	var key string
	var now *time.Time
	stay := []string{}
	rows, err := o.db.Query(ctx, leftHoldersSQL)
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&holder, &over}, func() error {
			before, known := left[*holder]
			left[*holder] = over && (before || !known)
			return nil
		})
	}
	if err == nil {
		rows, err = o.db.Query(ctx, endedSessionsSQL)
	}
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&key, &of, &now}, func() error {
			if of == nil {
				return nil
			}
			if over, has := left[*of]; over {
				keys = append(keys, key)
			} else if has {
				stay = append(stay, key)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("seats: find sessions that are over: %w", err)
	}
	var failed []error
	for _, key := range keys {
		if err := o.endSession(ctx, key); err != nil {
			failed, stay = append(failed, err), append(stay, key)
		}
	}
	if _, err := o.db.Exec(ctx, purgeSessionsSQL, now, stay); err != nil { // of none, nothing
		return fmt.Errorf("seats: purge sessions: %w", err)
	}
	if len(failed) > 0 {
		return fmt.Errorf("seats: %d sessions stay, the first because of: %w", len(failed), failed[0])
	}
	return nil
}

// rename is the replacement of a session's token under way.
type rename struct{ from string }

type renameKey struct{}

// Rename prepares the context of a request that gives its session another token. The session manager deletes the session
// and commits it anew; here the row only gets another key, and keeps what it holds.
func (s *Sessions) Rename(ctx context.Context) context.Context {
	return context.WithValue(ctx, renameKey{}, &rename{})
}

func renameOf(ctx context.Context) *rename {
	r, _ := ctx.Value(renameKey{}).(*rename)
	return r
}

// A session that ended meanwhile, or had no row, is written as a new one.
const renameSessionSQL = `
WITH renamed AS (
    UPDATE session SET token = $1, data = $2, expires_at = greatest(expires_at, $3) WHERE token = $4 AND expires_at > clock_timestamp() RETURNING token
)
INSERT INTO session (token, data, expires_at)
SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM renamed) ON CONFLICT (token) DO NOTHING`

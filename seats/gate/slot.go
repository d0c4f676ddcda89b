package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// A slot that has more than this left before its end is left alone by signs of life, so that a busy page writes little.
// It is a part of the idle time of the room.
const slideAfter = 0.8

// A slot moves on with its person, up to the longest stay; seats they hold move it further (package seats does).
const touchSQL = `
UPDATE slot s
   SET expires_at = greatest(s.expires_at, least(clock_timestamp() + r.idle, s.since + r.stay))
  FROM room r
 WHERE s.room_id = $1 AND r.id = $1 AND s.holder = $2 AND s.expires_at > clock_timestamp()
   AND s.expires_at < least(clock_timestamp() + r.idle * $3::float8, s.since + r.stay)`

const insideSQL = `SELECT number, expires_at FROM slot WHERE room_id = $1 AND holder = $2 AND expires_at > clock_timestamp()`

// Inside tells until when a holder is inside, and keeps them there: it is a sign of life. A holder who is not inside has
// the zero time.
func (r *Room) Inside(ctx context.Context, holder seats.ID) (number int64, until time.Time, err error) {
	var q pgx.Batch
	q.Queue(touchSQL, r.ID, holder, slideAfter)
	q.Queue(insideSQL, r.ID, holder).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&number, &until)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err := r.gate.db.SendBatch(ctx, &q).Close(); err != nil {
		return 0, time.Time{}, fmt.Errorf("gate: room %d: who is inside: %w", r.ID, err)
	}
	return number, until, nil
}

// Whoever holds seats stays: they finish, or let them go first.
const leaveSQL = `
WITH gone AS (
    SELECT slot, epoch, number
      FROM slot s
     WHERE s.room_id = $1 AND s.holder = $2
       AND NOT EXISTS (SELECT FROM event e JOIN hold h ON h.event_id = e.id
                        WHERE e.room_id = $1 AND h.holder = s.holder AND NOT h.lapsed AND h.expires_at > clock_timestamp())
       FOR NO KEY UPDATE OF s
), noted AS (
    UPDATE admission a
       SET left_at = clock_timestamp(), outcome = 'gave up'
      FROM gone
     WHERE a.room_id = $1 AND a.epoch = gone.epoch AND a.number = gone.number AND a.outcome IS NULL
)
UPDATE slot s
   SET epoch = NULL, number = NULL, holder = NULL, since = NULL, expires_at = '-infinity'
  FROM gone
 WHERE s.room_id = $1 AND s.slot = gone.slot`

// A number that nobody came in with is used up as well, so that it lets nobody in later.
const giveUpSQL = `
INSERT INTO admission (room_id, epoch, number, holder, entered, left_at, outcome)
VALUES ($1, $2, $3, $4, 0, clock_timestamp(), 'gave up')
    ON CONFLICT (room_id, epoch, number) DO NOTHING`

// Leave gives up what a holder has in the room: their slot, unless they hold seats, and the number of their place, once
// it is known. It tells whether their slot became free. Their next Join gives them a new place.
func (r *Room) Leave(ctx context.Context, holder seats.ID, token string) (left bool, err error) {
	tag, err := r.gate.db.Exec(ctx, leaveSQL, r.ID, holder)
	if err != nil {
		return false, fmt.Errorf("gate: room %d: leave: %w", r.ID, err)
	}
	left = tag.RowsAffected() > 0
	p, err := r.place(ctx, token, holder)
	switch {
	case errors.Is(err, ErrNoPlace):
		return left, nil
	case err != nil:
		return left, err
	}
	if n := r.Number(p); n > 0 {
		if _, err := r.gate.db.Exec(ctx, giveUpSQL, r.ID, p.Epoch, n, holder); err != nil {
			return left, fmt.Errorf("gate: room %d: give a number up: %w", r.ID, err)
		}
	}
	r.mu.Lock()
	delete(r.recent, holder)
	r.mu.Unlock()
	return left, nil
}

package waitingroom

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// A slot that has more than this left before its end is left alone by signs of life, so that a busy page writes little.
// It is a part of the idle time of the room.
const slideAfter = 0.8

// A slot moves on with its person, up to the longest stay; seats they hold move it further (package seats does). Slots are
// locked in the order of their holders, as a batch of claims locks them: a scan by room would meet them by their number.
const touchSQL = `
UPDATE slot s
   SET expires_at = due.ends
  FROM (SELECT by_holder.slot, by_holder.ends
          FROM room r CROSS JOIN unnest($2::uuid[]) AS asked(holder),
               LATERAL (SELECT slot, least(clock_timestamp() + r.idle, since + r.stay) AS ends
                          FROM slot
                         WHERE room_id = $1 AND slot.holder = asked.holder AND expires_at > clock_timestamp()
                           AND expires_at < least(clock_timestamp() + r.idle * $3::float8, since + r.stay)
                           FOR NO KEY UPDATE) by_holder
         WHERE r.id = $1) due
 WHERE s.room_id = $1 AND s.slot = due.slot`

const insideSQL = `SELECT holder, number, expires_at FROM slot WHERE room_id = $1 AND holder = ANY ($2::uuid[]) AND expires_at > clock_timestamp()`

// seeInside tells which people are inside and until when, and keeps them there: it is a sign of life.
func (r *Room) seeInside(ctx context.Context, comers []*comer) error {
	holders := byHolder(comers)
	var q pgx.Batch
	q.Queue(touchSQL, r.ID, holders, slideAfter)
	queueInside(&q, r.ID, holders, comers)
	if err := r.gate.db.SendBatch(ctx, &q).Close(); err != nil {
		return fmt.Errorf("waitingroom: room %d: who is inside: %w", r.ID, err)
	}
	return nil
}

// queueInside notes who of them is inside, which is all that counts then.
func queueInside(q *pgx.Batch, room int64, holders []seats.ID, comers []*comer) {
	of := make(map[seats.ID]*comer, len(comers))
	for _, c := range comers {
		of[c.holder] = c
	}
	q.Queue(insideSQL, room, holders).Query(func(rows pgx.Rows) error {
		var holder seats.ID
		v := Visit{Inside: true}
		_, err := pgx.ForEachRow(rows, []any{&holder, &v.Number, &v.Until}, func() error { of[holder].visit = v; return nil })
		return err
	})
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
		return false, fmt.Errorf("waitingroom: room %d: leave: %w", r.ID, err)
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
			return left, fmt.Errorf("waitingroom: room %d: give a number up: %w", r.ID, err)
		}
	}
	r.mu.Lock()
	delete(r.recent, holder)
	r.mu.Unlock()
	return left, nil
}

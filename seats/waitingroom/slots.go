package waitingroom

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// slots are the slots that one batch of an event locked. A holder may claim while they have a slot, and it does not expire
// before their hold; a sale ends it.
type slots struct {
	room, event int64
	through     bool // the room admits everybody
	ends        map[seats.ID]time.Time
}

// Admission is the part of a waiting room in a batch of one of its events: see seats.Inventory.
func Admission(room, event int64) seats.Admission {
	return &slots{room: room, event: event, ends: map[seats.ID]time.Time{}}
}

const roomSQL = `SELECT phase = 'through' FROM room WHERE id = $1`

const slotsOfHoldersSQL = `
SELECT s.*
  FROM unnest($2::uuid[]) AS by(holder),
       LATERAL (SELECT holder, expires_at FROM slot WHERE room_id = $1 AND slot.holder = by.holder FOR NO KEY UPDATE) s`

// Lock locks the slots of the holders.
func (s *slots) Lock(q *pgx.Batch, holders []seats.ID) {
	q.Queue(roomSQL, s.room).QueryRow(func(r pgx.Row) error { return r.Scan(&s.through) })
	q.Queue(slotsOfHoldersSQL, s.room, holders).Query(func(rows pgx.Rows) error {
		var holder seats.ID
		var end time.Time
		_, err := pgx.ForEachRow(rows, []any{&holder, &end}, func() error { s.ends[holder] = end; return nil })
		return err
	})
}

// Admits reports whether the holder has a slot, or the room admits everybody.
func (s *slots) Admits(holder seats.ID, now time.Time) bool {
	return s.through || s.ends[holder].After(now)
}

const keepSlotsSQL = `
UPDATE slot
   SET expires_at = greatest(slot.expires_at, n.ends)
  FROM unnest($2::uuid[], $3::timestamptz[]) AS n(holder, ends)
 WHERE slot.room_id = $1 AND slot.holder = n.holder`

// A holder who bought and holds no seat in another event of the room leaves.
const leaveSlotsSQL = `
WITH gone AS (
    SELECT s.slot, s.epoch, s.number, by.seats
      FROM unnest($2::uuid[], $4::integer[]) AS by(holder, seats)
      JOIN slot s ON s.room_id = $1 AND s.holder = by.holder
     WHERE NOT EXISTS (SELECT FROM event e JOIN hold h ON h.event_id = e.id
                        WHERE e.room_id = $1 AND e.id <> $3 AND h.holder = s.holder AND NOT h.lapsed)
), noted AS (
    UPDATE admission a
       SET left_at = clock_timestamp(), outcome = 'bought', seats = a.seats + gone.seats
      FROM gone
     WHERE a.room_id = $1 AND a.epoch = gone.epoch AND a.number = gone.number AND a.outcome IS NULL
)
UPDATE slot s
   SET epoch = NULL, number = NULL, holder = NULL, since = NULL, expires_at = '-infinity'
  FROM gone
 WHERE s.room_id = $1 AND s.slot = gone.slot`

// Write renews slots that would expire before the hold of their holder, and ends those of holders who bought.
func (s *slots) Write(q *pgx.Batch, now time.Time, outcomes []seats.Outcome) {
	var holders, leaving []seats.ID
	var ends []time.Time
	var bought []int32
	for _, o := range outcomes {
		end, inside := s.ends[o.Holder]
		switch {
		case inside && o.Bought > 0:
			leaving, bought = append(leaving, o.Holder), append(bought, int32(o.Bought))
		case end.After(now) && o.Until.After(end):
			holders, ends = append(holders, o.Holder), append(ends, o.Until)
		}
	}
	if len(holders) > 0 {
		q.Queue(keepSlotsSQL, s.room, holders, ends)
	}
	if len(leaving) > 0 {
		q.Queue(leaveSlotsSQL, s.room, leaving, s.event, bought)
	}
}

package seats

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// An event may have a waiting room (package waitingroom). Then only who has a slot in it may claim, and the batch itself
// looks: it locks the slots of its holders, after their holds and before the seats, so that none of them ends or
// goes to somebody else before the claim is committed. Events without a room never ask.

const roomSQL = `SELECT phase = 'through' FROM room WHERE id = $1`

const lockSlotsSQL = `
SELECT s.*
  FROM unnest($2::uuid[]) AS by(holder),
       LATERAL (SELECT holder, expires_at FROM slot WHERE room_id = $1 AND slot.holder = by.holder FOR NO KEY UPDATE) s`

// queueSlots locks the slots of the holders, if the event has a room.
func (b *batch) queueSlots(q *pgx.Batch, holders []ID) {
	if b.room == 0 {
		return
	}
	q.Queue(roomSQL, b.room).QueryRow(func(r pgx.Row) error { return r.Scan(&b.through) })
	q.Queue(lockSlotsSQL, b.room, holders).Query(func(rows pgx.Rows) error {
		var holder ID
		var end time.Time
		_, err := pgx.ForEachRow(rows, []any{&holder, &end}, func() error { b.slots[holder] = end; return nil })
		return err
	})
}

// errRoom sends a batch through the lane again: the event has another waiting room than this node knew.
var errRoom = errors.New("the event has another waiting room than this node knew")

// knowRoom notes which room the event has now.
func (b *batch) knowRoom() error {
	if b.terms.room == b.room {
		return nil
	}
	b.sale.room.Store(b.terms.room)
	return errRoom
}

// outside refuses a claim of somebody whom the event's waiting room did not let in; nil if it did, or there is none.
func (b *batch) outside(c *command) error {
	if b.room == 0 || b.through || b.slots[c.holder].After(b.now) {
		return nil
	}
	return &Refusal{Code: CodeWaitingRoom, Message: "This event has a waiting room, and it has not let you in, or your time inside is over. Nothing was changed; seats that you hold are still yours. Go to the waiting room: it shows your number."}
}

const keepSlotsSQL = `
UPDATE slot
   SET expires_at = greatest(slot.expires_at, n.ends)
  FROM unnest($2::uuid[], $3::timestamptz[]) AS n(holder, ends)
 WHERE slot.room_id = $1 AND slot.holder = n.holder`

// Who bought, and holds nothing else in the room's events, has left.
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

// queueStays writes what holds and sales mean for slots: a slot outlasts the hold of its holder, and ends with the
// sale.
func (b *batch) queueStays(q *pgx.Batch) {
	if b.room == 0 {
		return
	}
	var holders []ID
	var ends []time.Time
	for holder, end := range b.slots {
		if h := b.holds[holder]; end.After(b.now) && h != nil && h.touched && len(h.seats) > 0 && h.expiresAt.After(end) {
			holders, ends = append(holders, holder), append(ends, h.expiresAt)
		}
	}
	if len(holders) > 0 {
		q.Queue(keepSlotsSQL, b.room, holders, ends)
	}
	var leaving []ID
	var bought []int32
	for i, c := range b.commands {
		if _, inside := b.slots[c.holder]; c.sells && inside && b.answers[i].err == nil && len(b.holds[c.holder].seats) == 0 {
			leaving, bought = append(leaving, c.holder), append(bought, int32(len(b.answers[i].hold.Seats)))
		}
	}
	if len(leaving) > 0 {
		q.Queue(leaveSlotsSQL, b.room, leaving, b.sale.Event.ID, bought)
	}
}

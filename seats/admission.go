package seats

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Visit is the session of a request that changes seats. The batch looks whether its row is still there, renews it, or writes
// that of a newcomer with the claim that won (package sessions).
type Visit struct {
	Sessions interface { // what its node remembers
		Remember(key string, data []byte)
		Forget(key string)
	}
	Found    string   // the key of its row as it was found; empty if it was not
	Newcomer Newcomer // nothing is stored of the visitor; nil if something is

	fresh *session // of a newcomer
}

// Newcomer makes the session of a visitor with an id made a moment ago: the key of its row, its data and its end.
type Newcomer func() (key string, data []byte, end time.Time)

// SessionLength is how long a session lasts that holds nothing. One that does is renewed.
const SessionLength = 24 * time.Hour

// begin makes the session of a newcomer.
func (v *Visit) begin() {
	if v.isNew() {
		key, data, end := v.Newcomer()
		v.fresh = &session{key, data, end}
	}
}

// isNew reports whether the visitor has no stored session.
func (v *Visit) isNew() bool { return v != nil && v.Newcomer != nil }

// session is a session row.
type session struct {
	key  string
	data []byte
	end  time.Time
}

type visitKey struct{}

// WithVisit is the context of a request of this session; nil for one of no session.
func WithVisit(ctx context.Context, v *Visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// VisitOf is the session that a request comes from; nil if none.
func VisitOf(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

const liveSessionsSQL = `
SELECT live.token, live.expires_at
  FROM unnest($1::text[]) AS asked(token),
       LATERAL (SELECT token, expires_at FROM session WHERE session.token = asked.token AND expires_at > clock_timestamp() FOR KEY SHARE) live`

// queueVisits asks, with the locks, until when the sessions last. One that was found may have been ended since. It does not
// end before the batch is written: who ends it then finds the seats.
func (b *batch) queueVisits(q *pgx.Batch) {
	var keys []string
	for _, c := range b.commands {
		if c.visit != nil && c.visit.Found != "" {
			keys = append(keys, c.visit.Found)
		}
	}
	if len(keys) == 0 {
		return
	}
	b.visits = make(map[string]time.Time, len(keys))
	q.Queue(liveSessionsSQL, keys).Query(func(rows pgx.Rows) error {
		var key string
		var end time.Time
		_, err := pgx.ForEachRow(rows, []any{&key, &end}, func() error {
			b.visits[key] = end
			return nil
		})
		return err
	})
}

// ended tells whether the command's session ended behind this node's back.
func (b *batch) ended(c *command) bool {
	if c.visit == nil || c.visit.Found == "" {
		return false
	}
	if _, there := b.visits[c.visit.Found]; there {
		return false
	}
	c.visit.Sessions.Forget(c.visit.Found)
	return true
}

// bind notes that a hold is written with a new end: least(hold, session). A known session lasts at least as long as the hold
// from now on, and is written once in half of its length; the session of a newcomer stays what their cookie says.
func (b *batch) bind(c *command, h *heldBy) {
	switch end, there := b.visitEnd(c); {
	case !there:
		h.session = nil // that of an earlier hold in this row
	case end.Sub(b.now) < SessionLength/2 || end.Before(h.expiresAt):
		if c.visit.fresh == nil {
			end = b.now.Add(max(SessionLength, h.expiresAt.Sub(b.now)))
			if b.renewed == nil {
				b.renewed = map[string]time.Time{}
			}
			b.visits[c.visit.Found], b.renewed[c.visit.Found] = end, end
		}
		h.session = &end
	default:
		h.session = &end
	}
	if h.session != nil && h.expiresAt.After(*h.session) {
		h.expiresAt = *h.session
	}
	h.touched = true
	b.ends(h)
}

// visitEnd returns when the session of a command ends, if it has one.
func (b *batch) visitEnd(c *command) (end time.Time, there bool) {
	if ends := c.visit.ends(); ends != nil {
		return *ends, true
	}
	if c.visit == nil {
		return end, false
	}
	end, there = b.visits[c.visit.Found]
	return end, there
}

// ends returns when the new session of a newcomer ends; nil if there is none.
func (v *Visit) ends() *time.Time {
	if v == nil || v.fresh == nil {
		return nil
	}
	return &v.fresh.end
}

const renewSessionsSQL = `
UPDATE session SET expires_at = greatest(session.expires_at, n.ends)
  FROM unnest($1::text[], $2::timestamptz[]) AS n(token, ends)
 WHERE session.token = n.token`

// queueRenewals writes until when sessions last now. They are written in one order.
func (b *batch) queueRenewals(q *pgx.Batch) {
	if len(b.renewed) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(b.renewed))
	ends := make([]time.Time, len(keys))
	for i, key := range keys {
		ends[i] = b.renewed[key]
	}
	q.Queue(renewSessionsSQL, keys, ends)
}

const newSessionsSQL = `
INSERT INTO session (token, data, expires_at)
SELECT * FROM unnest($1::text[], $2::bytea[], $3::timestamptz[])`

// A batch before, whose answer was lost, may have written them.
const sessionsAgainSQL = newSessionsSQL + ` ON CONFLICT (token) DO NOTHING`

// queueSessions writes the new sessions of claims that won.
func (b *batch) queueSessions(q *pgx.Batch) {
	sql := newSessionsSQL
	var keys []string
	var data [][]byte
	var ends []time.Time
	for i, c := range b.commands {
		if c.visit == nil || c.visit.fresh == nil || b.answers[i].err != nil {
			continue
		}
		if c.tries > 0 {
			sql = sessionsAgainSQL
		}
		f := c.visit.fresh
		keys, data, ends = append(keys, f.key), append(data, f.data), append(ends, f.end)
	}
	if len(keys) > 0 {
		q.Queue(sql, keys, data, ends)
	}
}

// queueLostSessions writes, before seats are locked, the new sessions of claims whose first try was lost with its connection.
// The server may still be working on that try, which writes its sessions before it locks seats: a batch that did it the
// other way round could wait for it while it waits for the batch.
func (b *batch) queueLostSessions(q *pgx.Batch) {
	var keys []string
	var data [][]byte
	var ends []time.Time
	for _, c := range b.commands {
		if c.lost && c.visit != nil && c.visit.fresh != nil {
			f := c.visit.fresh
			keys, data, ends = append(keys, f.key), append(data, f.data), append(ends, f.end)
		}
	}
	if len(keys) > 0 {
		q.Queue(sessionsAgainSQL, keys, data, ends)
	}
}

// rememberVisits keeps in memory what was just written.
func (b *batch) rememberVisits() {
	for i, c := range b.commands {
		if c.visit != nil && c.visit.fresh != nil && b.answers[i].err == nil {
			c.visit.Sessions.Remember(c.visit.fresh.key, c.visit.fresh.data)
		}
	}
}

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

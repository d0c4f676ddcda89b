package seats

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// batch is one transaction: lock the rows, decide every command in the order it came, write what changed.
// The decisions are plain Go over rows that cannot change meanwhile; the guard in changeSQL checks each of them again.
type batch struct {
	sale     *Sale
	before   *turn // the one being written while this one is decided; nil if none
	room     int64 // the waiting room of the event, as far as this node knew when the batch began; 0 for none
	listed   bool  // somebody waits for seats that come back, as far as it knew; see kept.go
	commands []*command
	answers  []answer // one per command

	// What the lock step read; decide keeps it up to date, so that a later command sees what an earlier one did.
	now       time.Time // the database's clock, read after the last lock was granted
	terms     terms
	rows      map[int]row
	slots     map[ID]time.Time    // when the slot of a holder in the event's room ends; see slot.go
	through   bool                // the room lets everybody claim
	waits     map[int64]time.Time // entries of the wait list that still wait, of those that are offered something, and since when
	was       map[int]row         // rows as they were read, of those that change
	holds     map[ID]*heldBy
	visits    map[string]time.Time // when the sessions of this batch end, of those that are there; see visit.go
	renewed   map[string]time.Time // sessions that last longer from now on
	purchases map[ID]int           // tickets by purchase key, as read and decided since; see purchase.go
	bought    map[ID]int           // what this batch adds to them
	asks      bool                 // a claim found too little on the map
	late      late                 // for those; see left.go
	behind    bool                 // the map lacks versions of other nodes

	// What is to be written.
	extended map[int]bool // seats with a later end
	dirty    map[int]ID   // idx → the one in whose name it changes
	newEnd   *time.Time   // the first end of the holds that are new or were extended
	id       ID
	change   Change // as committed
}

// terms are what the event allows, read with the locks so that a change of them holds on all nodes at once.
type terms struct {
	holdLength time.Duration
	payLength  time.Duration
	limit      int
	extensions int
	strict     bool  // time running out takes seats away
	room       int64 // the waiting room of the event; 0 if it has none
	status     Status
	opensAt    *time.Time // from when on it is on sale; nil: from the beginning
	reason     string     // of the status
	listed     bool       // somebody waits for seats that come back
}

// row is a seat_state row.
type row struct {
	at        pgtype.TID // its place while it is locked
	state     State
	holder    ID
	expiresAt *time.Time // nil where it is null or infinity
}

// open tells whether anybody may claim the seat: it is the guard, in Go.
func (r row) open(now time.Time) bool {
	return r.holder == ID{} || r.expiresAt != nil && !r.expiresAt.After(now)
}

func newBatch(s *Sale, commands []*command, before *turn) *batch {
	n := len(commands)
	b := &batch{
		sale: s, before: before, commands: commands, answers: make([]answer, n), id: NewID(),
		room: s.room.Load(), listed: s.listed.Load(), slots: map[ID]time.Time{}, rows: make(map[int]row, n), was: map[int]row{}, holds: make(map[ID]*heldBy, n),
		dirty: make(map[int]ID, n), extended: map[int]bool{},
	}
	b.choose()
	return b
}

// sharesHolder tells whether one of the commands acts for a holder of this batch, or the wait list has its first
// hold in it.
func (b *batch) sharesHolder(commands []*command) bool {
	if h := b.holds[waitList]; h != nil && !h.stored {
		return true
	}
	for _, c := range commands {
		for _, holder := range []ID{c.holder, c.from} {
			if _, ours := b.holds[holder]; ours && holder != (ID{}) {
				return true
			}
		}
	}
	return false
}

const beginSQL = `BEGIN`

// What the event allows, and then the holders, in one order for everybody: row by row in the order of the array. A
// row's place (ctid) cannot change while it is locked; the write finds it by that.
const lockHoldsSQL = `
SELECT extract(epoch FROM e.hold_length)::float8, extract(epoch FROM e.payment_length)::float8, e.seats_per_holder, e.extensions, e.strict, coalesce(e.room_id, 0), e.wait_list,
       CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.opens_at, e.reason, clock_timestamp(), h.*
  FROM event e
  LEFT JOIN LATERAL (
       SELECT h.*
         FROM unnest($2::uuid[]) AS by(holder),
              LATERAL (SELECT ctid, holder, id, seats, expires_at, extensions, lapsed, answers, bought, best, session_ends
                         FROM hold WHERE event_id = $1 AND hold.holder = by.holder
                          FOR NO KEY UPDATE) h) h ON true
 WHERE e.id = $1`

// Then seats, those that are asked for and those the holders have, by idx. The counter row is locked last, by the
// write. Every writer takes its locks in this order, so no two can wait for each other. The clock is read after each
// lock: what is over by the last one is over.
const lockSeatsSQL = `
SELECT s.*, clock_timestamp()
  FROM (SELECT unnest($2::integer[])
        UNION
        SELECT unnest(h.seats)
          FROM unnest($3::uuid[]) AS by(holder),
               LATERAL (SELECT seats FROM hold WHERE event_id = $1 AND hold.holder = by.holder OFFSET 0) h
        ORDER BY 1) AS n(idx),
       LATERAL (SELECT ctid, idx, state, holder, CASE WHEN isfinite(expires_at) THEN expires_at END
                  FROM seat_state WHERE event_id = $1 AND idx = n.idx
                   FOR NO KEY UPDATE) s`

// lock begins the transaction and takes every row the commands may need, in one round trip.
func (b *batch) lock(ctx context.Context, conn *pgx.Conn) error {
	event := b.sale.Event.ID
	holders, seats := b.wanted()
	var q pgx.Batch
	q.Queue(beginSQL)
	q.Queue(lockHoldsSQL, event, holders).Query(b.readHolds)
	b.queueSlots(&q, holders)
	b.queueEntries(&q)
	b.queueLostSessions(&q)
	q.Queue(lockSeatsSQL, event, seats, holders).Query(b.readSeats)
	b.queuePurchases(&q)
	b.queueVisits(&q)
	b.queueLeft(&q)
	if err := conn.SendBatch(ctx, &q).Close(); err != nil {
		return err
	}
	return errors.Join(b.knowRoom(), b.knowList())
}

// wanted gathers what to lock, each once.
func (b *batch) wanted() (holders []ID, seats []int32) {
	seats = []int32{}
	if b.listed {
		holders = append(holders, waitList)
	}
	for _, c := range b.commands {
		if c.holder != (ID{}) {
			holders = append(holders, c.holder)
		}
		if c.from != (ID{}) {
			holders = append(holders, c.from)
		}
		if c.ofList {
			holders = append(holders, waitList)
		}
		for _, idx := range c.seats {
			seats = append(seats, int32(idx))
		}
	}
	slices.SortFunc(holders, ID.compare)
	holders = slices.Compact(holders)
	slices.Sort(seats)
	return holders, slices.Compact(seats)
}

func (b *batch) readSeats(rows pgx.Rows) error {
	var idx int
	var r row
	_, err := pgx.ForEachRow(rows, []any{&r.at, &idx, &r.state, &r.holder, &r.expiresAt, &b.now}, func() error {
		b.rows[idx] = r
		r.expiresAt = nil
		return nil
	})
	return err
}

// decide answers the commands first come, first served.
func (b *batch) decide() {
	for i, c := range b.commands {
		if b.ended(c) {
			b.answers[i].err = ErrSessionEnded
			continue
		}
		hold, err := c.decide(b)
		b.answers[i] = answer{hold, err}
	}
}

// ends notes when a hold that is new or was extended ends.
func (b *batch) ends(h *heldBy) {
	if b.newEnd == nil || h.expiresAt.Before(*b.newEnd) {
		b.newEnd = &h.expiresAt
	}
}

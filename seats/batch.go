package seats

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// batch is one transaction: lock the rows, decide every command in the order it came, write what changed.
// The decisions are plain Go over rows that cannot change meanwhile; the guard in changeSQL checks each of them again.
type batch struct {
	sale     *Sale
	commands []*command
	answers  []answer // one per command

	// What the lock step read; decide keeps it up to date, so that a later command sees what an earlier one did.
	now      time.Time // the database's clock, read after the last lock was granted
	terms    terms
	rows     map[int]row
	was      map[int]row // rows as they were read, of those that change
	holds    map[ID]*heldBy
	keys     map[keyed]keptClaim
	openings map[scope][]int // what may be claimed in a scope; only read when the map saw too little
	picked   map[int]bool    // seats chosen for claims of this batch or the next

	// What is to be written.
	dirty   map[int]ID // idx → the one in whose name it changes
	kept    []keptClaim
	newHold bool
	id      ID
	change  Change // as committed
}

// terms are what the event allows, read with the locks so that a change of them holds on all nodes at once.
type terms struct {
	holdLength time.Duration
	limit      int
	extensions int
	free       int // seats of the event that were free when the batch began
}

// row is a seat_state row.
type row struct {
	state     State
	holder    ID
	expiresAt *time.Time // nil where it is null or infinity
}

// open tells whether anybody may claim the seat: it is the guard, in Go.
func (r row) open(now time.Time) bool {
	return r.holder == ID{} || r.expiresAt != nil && !r.expiresAt.After(now)
}

func newBatch(s *Sale, commands []*command) *batch {
	b := &batch{
		sale: s, commands: commands, answers: make([]answer, len(commands)), id: NewID(),
		rows: map[int]row{}, was: map[int]row{}, picked: map[int]bool{}, holds: map[ID]*heldBy{}, keys: map[keyed]keptClaim{},
		openings: map[scope][]int{}, dirty: map[int]ID{},
	}
	b.choose()
	return b
}

const beginSQL = `BEGIN`

// Holders first, in one order for everybody.
const lockHoldsSQL = `
SELECT holder, id, seats, expires_at, extensions, lapsed
  FROM hold
 WHERE event_id = $1 AND holder = ANY($2)
 ORDER BY holder
   FOR NO KEY UPDATE`

// Then seats, those that are asked for and those the holders have, by idx. The counter row is locked last, by the
// write. Every writer takes its locks in this order, so no two can wait for each other.
const lockSeatsSQL = `
SELECT idx, state, holder, CASE WHEN isfinite(expires_at) THEN expires_at END
  FROM seat_state
 WHERE event_id = $1
   AND idx = ANY($2 || ARRAY(SELECT unnest(seats) FROM hold WHERE event_id = $1 AND holder = ANY($3)))
 ORDER BY idx
   FOR NO KEY UPDATE`

const lockKeysSQL = `
SELECT holder, key, wish, hold_id, seats, expires_at
  FROM claim
 WHERE event_id = $1 AND (holder, key) IN (SELECT * FROM unnest($2::uuid[], $3::text[]))`

// The clock is read last: what is over by then is over.
const termsSQL = `
SELECT clock_timestamp(), extract(epoch FROM e.hold_length)::float8, e.seats_per_holder, e.extensions,
       (SELECT sum(n) FROM unnest(c.free) n)
  FROM event e JOIN counter c ON c.event_id = e.id
 WHERE e.id = $1`

// lock begins the transaction and takes every row the commands may need, in one round trip.
func (b *batch) lock(ctx context.Context, conn *pgx.Conn) error {
	event := b.sale.Event.ID
	holders, seats, keyHolders, keys := b.wanted()
	var q pgx.Batch
	q.Queue(beginSQL)
	q.Queue(lockHoldsSQL, event, holders).Query(b.readHolds)
	q.Queue(lockSeatsSQL, event, seats, holders).Query(b.readSeats)
	if len(keys) > 0 {
		q.Queue(lockKeysSQL, event, keyHolders, keys).Query(b.readKeys)
	}
	for s := range b.openings {
		q.Queue(openingsSQL, event, s.section, s.category).Query(b.readOpenings(s))
	}
	q.Queue(termsSQL, event).QueryRow(func(r pgx.Row) error {
		var hold float64
		defer func() { b.terms.holdLength = time.Duration(hold * float64(time.Second)) }()
		return r.Scan(&b.now, &hold, &b.terms.limit, &b.terms.extensions, &b.terms.free)
	})
	return conn.SendBatch(ctx, &q).Close()
}

// wanted gathers what to lock, each once.
func (b *batch) wanted() (holders []ID, seats []int32, keyHolders []ID, keys []string) {
	seats = []int32{}
	for _, c := range b.commands {
		if c.holder != (ID{}) {
			holders = append(holders, c.holder)
		}
		for _, idx := range c.seats {
			seats = append(seats, int32(idx))
		}
		if c.key != "" {
			keyHolders, keys = append(keyHolders, c.holder), append(keys, c.key)
		}
	}
	slices.SortFunc(holders, func(a, b ID) int { return slices.Compare(a[:], b[:]) })
	holders = slices.Compact(holders)
	slices.Sort(seats)
	return holders, slices.Compact(seats), keyHolders, keys
}

func (b *batch) readSeats(rows pgx.Rows) error {
	var idx int
	var r row
	_, err := pgx.ForEachRow(rows, []any{&idx, &r.state, &r.holder, &r.expiresAt}, func() error {
		b.rows[idx] = r
		r.expiresAt = nil
		return nil
	})
	return err
}

// decide answers the commands first come, first served.
func (b *batch) decide() {
	for i, c := range b.commands {
		hold, err := c.decide(b)
		b.answers[i] = answer{hold, err}
	}
}

// set gives a seat another state in somebody's name. When several commands of a batch change one seat, the guard asks
// whether the first of them might: it is the one that met the row.
func (b *batch) set(idx int, by ID, to row) {
	if _, dirty := b.dirty[idx]; !dirty {
		b.was[idx], b.dirty[idx] = b.rows[idx], by
	}
	b.rows[idx] = to
}

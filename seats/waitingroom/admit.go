package waitingroom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
)

// Visit is the state of a visitor in a room.
type Visit struct {
	Inside bool
	Until  time.Time // inside: when the slot ends without activity; called: until when the number may be used
	Place  Place     // the zero place if there is none
	Number int64     // 0 while it is not known, or without a place
	Token  string    // for the browser to store; empty: its stored one is invalid
	Why    string    // not inside: one of the Why constants, or empty without a place
}

// Enter admits a visitor if they may come in now, and returns their state if not. token is the one that the browser stored.
// In a room that lets every visitor through it gives them a place as well. Call it for visitors with a stored session, or, in
// through only, with the claim that makes the session.
//
// It fails closed: without the database it returns an error and admits no visitor. Look still returns the state then.
func (r *Room) Enter(ctx context.Context, holder seats.ID, token string) (Visit, error) {
	v := Visit{}
	p, err := r.place(ctx, token, holder)
	switch {
	case err == nil:
		v.Place, v.Token = p, token
	case !errors.Is(err, ErrNoPlace):
		return v, err
	case r.state.Load().Phase == PhaseThrough && r.state.Load().Entry == EntryBrowser:
		if v.Place, v.Token, err = r.Join(ctx, holder, ""); err != nil {
			return v, err
		}
	}
	if v.Place != (Place{}) {
		v.Number = r.Number(v.Place)
	}
	if s := r.state.Load(); v.Place != (Place{}) && s.Phase != PhaseThrough && (v.Number == 0 || v.Number > s.Serving) {
		v.Why = WhyNotCalled // without a question to the database
		return v, nil
	}
	inside, err := r.requestAdmission(ctx, holder, v.Place.Epoch, v.Number)
	if inside.Inside {
		v.Number = inside.Number
	}
	v.Inside, v.Until, v.Why = inside.Inside, inside.Until, inside.Why
	return v, err
}

// Look returns the state of a visitor without admitting them. It works without the database.
func (r *Room) Look(ctx context.Context, holder seats.ID, token string) Visit {
	p, err := r.place(ctx, token, holder)
	if err != nil {
		return Visit{}
	}
	return Visit{Place: p, Number: r.Number(p), Token: token}
}

// Again gives a visitor a new place at the end of the line, if the number of the old one was used or not used in time. A place
// that is still valid stays.
func (r *Room) Again(ctx context.Context, holder seats.ID, token string) (Place, string, error) {
	return r.rejoin(ctx, &joinRequest{holder: holder}, token)
}

func (r *Room) rejoin(ctx context.Context, j *joinRequest, token string) (Place, string, error) {
	v, err := r.Enter(ctx, j.holder, token)
	if err != nil && !errors.Is(err, ErrWork) {
		return Place{}, "", err
	}
	if v.Place != (Place{}) && v.Why != WhyLate && v.Why != WhyLeft {
		return v.Place, v.Token, nil
	}
	if err := r.state.Load().joinError(); err != nil && j.person == nil {
		return Place{}, "", err
	}
	j.again = v.Place != (Place{})
	return r.join(ctx, j)
}

// Why a visitor is not admitted.
const (
	WhyNotCalled = "not called" // the number is not called yet, or the room is paused
	WhyFull      = "full"       // the number is called, but every slot is taken: the visitor is next
	WhyLate      = "late"       // the number was called too long ago
	WhyLeft      = "left"       // the visitor was inside, and bought or gave up
	WhyUsed      = "used"       // another visitor is inside with this number
)

// Admissions are batched: all requests that come while one transaction runs are in the next one. The search for an available
// slot costs as much as there are slots, so a crowd must not pay it one by one.

// maxAdmissions is the most requests in one transaction.
const maxAdmissions = 1024

// admissionRequest is a visitor who asks to come in.
type admissionRequest struct {
	holder seats.ID
	epoch  int32
	number int64 // 0: there is none, and the question is whether the visitor is inside
	again  bool  // the first try found no available slot
	visit  Visit // the result
	answer chan error
}

// requestAdmission admits a visitor if they may come in.
func (r *Room) requestAdmission(ctx context.Context, holder seats.ID, epoch int32, number int64) (Visit, error) {
	c := &admissionRequest{holder: holder, epoch: epoch, number: number, answer: make(chan error, 1)}
	r.admissions.Come(c)
	select {
	case err := <-c.answer:
		return c.visit, err
	case <-ctx.Done():
		return Visit{}, fmt.Errorf("waitingroom: room %d: wait for admission: %w", r.ID, ctx.Err())
	}
}

// answerAdmissions answers one batch of requests. A request that found no available slot is tried once more, because another
// transaction may have locked the last one without taking it.
func (r *Room) answerAdmissions(ctx context.Context, requests []*admissionRequest) {
	requests, again := distinct(requests)
	err := r.findInside(ctx, requests)
	outside := slices.DeleteFunc(slices.Clone(requests), func(c *admissionRequest) bool { return c.visit.Inside || c.number == 0 })
	if err == nil && len(outside) > 0 {
		err = r.admit(ctx, outside)
	}
	for _, c := range requests {
		if err == nil && c.visit.Why == WhyFull && !c.again {
			c.again = true
			again = append(again, c)
			continue
		}
		if c.visit.Inside {
			c.answer <- nil
			continue
		}
		c.answer <- err
	}
	r.admissions.Come(again...)
}

// distinct takes one request of each visitor and number; the others go into the next batch.
func distinct(requests []*admissionRequest) (once, again []*admissionRequest) {
	holders, numbers := map[seats.ID]bool{}, map[int64]bool{}
	for _, c := range requests {
		if holders[c.holder] || c.number > 0 && numbers[c.number] {
			again = append(again, c)
			continue
		}
		holders[c.holder], numbers[c.number] = true, true
		once = append(once, c)
	}
	return once, again
}

// The lock keeps the phase until the admission is done: Pause waits for it.
const lockRoomKeySQL = `SELECT phase FROM room WHERE id = $1 FOR KEY SHARE`

// The next statements change some of these slots each. All of them are locked first, in the order of their holders, as a batch
// of claims locks them.
const lockSlotsSQL = `
SELECT FROM unnest($2::uuid[]) AS asked(holder),
       LATERAL (SELECT FROM slot WHERE room_id = $1 AND slot.holder = asked.holder FOR NO KEY UPDATE) s`

// An expired slot stays with its visitor until another one takes it.
const renewSQL = `
UPDATE slot s
   SET expires_at = least(clock_timestamp() + r.idle, s.since + r.stay)
  FROM room r
 WHERE r.id = $1 AND r.phase IN ('through', 'open')
   AND s.room_id = $1 AND s.holder = ANY ($2::uuid[]) AND s.expires_at <= clock_timestamp()
   AND s.slot <= r.slots AND least(clock_timestamp() + r.idle, s.since + r.stay) > clock_timestamp()`

// A slot that cannot be renewed is released, so that its visitor has one at most.
const clearSQL = `
UPDATE slot s
   SET epoch = NULL, number = NULL, holder = NULL, since = NULL, expires_at = '-infinity'
  FROM room r
 WHERE r.id = $1 AND r.phase IN ('through', 'open')
   AND s.room_id = $1 AND s.holder = ANY ($2::uuid[]) AND s.expires_at <= clock_timestamp()`

// Each admitted number is written into the ledger, which takes it once, and gets an available slot that no other transaction
// has locked. The lowest numbers come first. The available slots are searched once for all requests.
const admitSQL = `
WITH here AS MATERIALIZED (
    SELECT epoch, serving, slots, valid, idle, stay FROM room WHERE id = $1 AND phase IN ('through', 'open')
), asked AS MATERIALIZED (
    SELECT a.holder, a.number, c.until, coalesce(c.until > clock_timestamp(), false) AS called, m.holder IS NOT NULL AS known,
           coalesce(m.holder = a.holder, false) AS mine, coalesce(m.outcome IS NULL AND m.admitted_at + here.stay > clock_timestamp(), false) AS good
      FROM here
     CROSS JOIN unnest($2::uuid[], $3::integer[], $4::bigint[]) AS a(holder, epoch, number)
      LEFT JOIN LATERAL (SELECT at + here.valid AS until FROM called
                          WHERE room_id = $1 AND epoch = a.epoch AND serving >= a.number ORDER BY serving LIMIT 1) c ON true
      LEFT JOIN LATERAL (SELECT holder, outcome, admitted_at FROM admission
                          WHERE room_id = $1 AND epoch = a.epoch AND number = a.number LIMIT 1) m ON true
     WHERE a.epoch = here.epoch AND a.number <= here.serving
), want AS MATERIALIZED (
    SELECT holder, number, row_number() OVER (ORDER BY number) AS turn
      FROM asked
     WHERE CASE WHEN known THEN mine AND good ELSE called END
       AND NOT EXISTS (SELECT FROM slot WHERE room_id = $1 AND slot.holder = asked.holder)
), free AS MATERIALIZED (
    SELECT slot
      FROM slot
     WHERE room_id = $1 AND slot <= (SELECT slots FROM here) AND expires_at <= clock_timestamp()
     LIMIT (SELECT count(*) FROM want)
       FOR NO KEY UPDATE SKIP LOCKED
), found AS MATERIALIZED (
    SELECT array_agg(slot) AS slots FROM free
), pair AS MATERIALIZED (
    SELECT holder, number, slots[turn] AS slot FROM want, found WHERE turn <= cardinality(slots)
), ledger AS (
    INSERT INTO admission AS a (room_id, epoch, number, holder)
    SELECT $1, here.epoch, number, holder FROM here, pair ORDER BY number
        ON CONFLICT (room_id, epoch, number) DO UPDATE
       SET entered = a.entered + 1
     WHERE a.holder = excluded.holder AND a.outcome IS NULL
    RETURNING number
), given AS MATERIALIZED ( -- in the order of slots
    SELECT array_agg(slot ORDER BY slot) AS slots, array_agg(holder ORDER BY slot) AS holders, array_agg(number ORDER BY slot) AS numbers
      FROM pair WHERE number = ANY (ARRAY(SELECT number FROM ledger))
), taken AS (
    UPDATE slot
       SET epoch = here.epoch, since = clock_timestamp(), expires_at = clock_timestamp() + here.idle,
           number = given.numbers[width_bucket(slot, given.slots)], holder = given.holders[width_bucket(slot, given.slots)]
      FROM here, given
     WHERE room_id = $1 AND slot = ANY ((SELECT slots FROM given)::integer[])
)
SELECT number, until, called, known, mine, good FROM asked`

// The slots are full, so visitors wait from now on. If a slot became available meanwhile, the phase stays.
const fullSQL = `
UPDATE room r
   SET version = version + 1, phase = 'open'
 WHERE id = $1 AND phase = 'through'
   AND NOT EXISTS (SELECT FROM slot s WHERE s.room_id = r.id AND s.slot <= r.slots AND s.expires_at <= clock_timestamp())
RETURNING version`

// admit admits visitors with valid called numbers while slots are available. It is idempotent: a repeat returns the same slot.
func (r *Room) admit(ctx context.Context, requests []*admissionRequest) (err error) {
	for range 3 {
		if err = r.tryAdmit(ctx, requests); !collided(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("waitingroom: room %d: admit %d: %w", r.ID, len(requests), err)
	}
	full := func(c *admissionRequest) bool { return c.visit.Why == WhyFull }
	if r.state.Load().Phase == PhaseThrough && slices.ContainsFunc(requests, full) {
		return r.move(ctx, fullSQL, r.ID)
	}
	return nil
}

// collided reports whether one visitor was admitted on two nodes at once, or a deadlock happened.
func collided(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.ConstraintName == "a person has one slot of a room" || pg.Code == "40P01")
}

// tryAdmit admits in one transaction and one round trip.
func (r *Room) tryAdmit(ctx context.Context, requests []*admissionRequest) error {
	holders := sortByHolder(requests)
	epochs, numbers := make([]int32, len(requests)), make([]int64, len(requests))
	of := map[int64]*admissionRequest{}
	for i, c := range requests {
		epochs[i], numbers[i], of[c.number] = c.epoch, c.number, c
		c.visit.Why = WhyNotCalled
	}
	var q pgx.Batch
	q.Queue(lockRoomKeySQL, r.ID)
	q.Queue(lockSlotsSQL, r.ID, holders)
	q.Queue(renewSQL, r.ID, holders)
	q.Queue(clearSQL, r.ID, holders)
	q.Queue(admitSQL, r.ID, holders, epochs, numbers).Query(func(rows pgx.Rows) error {
		var number int64
		var until *time.Time
		var called, known, mine, good bool
		_, err := pgx.ForEachRow(rows, []any{&number, &until, &called, &known, &mine, &good}, func() error {
			v := &of[number].visit
			if v.Why = whyOutside(called, known, mine, good); until != nil {
				v.Until = *until
			}
			until = nil
			return nil
		})
		return err
	})
	queueFindInside(&q, r.ID, holders, requests)
	return r.rooms.db.SendBatch(ctx, &q).Close()
}

// whyOutside returns why a visitor with a called number is not inside, unless queueFindInside finds that they are.
func whyOutside(called, known, mine, good bool) string {
	switch {
	case known && !mine:
		return WhyUsed
	case known && !good:
		return WhyLeft
	case !known && !called:
		return WhyLate
	}
	return WhyFull
}

// sortByHolder sorts requests in the order of slot locks, and returns their holders.
func sortByHolder(requests []*admissionRequest) []seats.ID {
	slices.SortFunc(requests, func(a, b *admissionRequest) int { return bytes.Compare(a.holder[:], b.holder[:]) })
	holders := make([]seats.ID, len(requests))
	for i, c := range requests {
		holders[i] = c.holder
	}
	return holders
}

// slideAfter is a share of the idle time. A slot with more time left is not renewed, so that a busy page writes little.
const slideAfter = 0.8

// Activity renews a slot, up to the longest stay. Package seats renews it further while its visitor holds seats. Slots are
// locked in the order of their holders, as a batch of claims locks them: a scan by room would lock them by number.
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

// findInside finds the visitors who are inside, and renews their slots.
func (r *Room) findInside(ctx context.Context, requests []*admissionRequest) error {
	holders := sortByHolder(requests)
	var q pgx.Batch
	q.Queue(touchSQL, r.ID, holders, slideAfter)
	queueFindInside(&q, r.ID, holders, requests)
	if err := r.rooms.db.SendBatch(ctx, &q).Close(); err != nil {
		return fmt.Errorf("waitingroom: room %d: find admitted visitors: %w", r.ID, err)
	}
	return nil
}

// queueFindInside queues a query that completes the requests of visitors who are inside.
func queueFindInside(q *pgx.Batch, room int64, holders []seats.ID, requests []*admissionRequest) {
	of := make(map[seats.ID]*admissionRequest, len(requests))
	for _, c := range requests {
		of[c.holder] = c
	}
	q.Queue(insideSQL, room, holders).Query(func(rows pgx.Rows) error {
		var holder seats.ID
		v := Visit{Inside: true}
		_, err := pgx.ForEachRow(rows, []any{&holder, &v.Number, &v.Until}, func() error { of[holder].visit = v; return nil })
		return err
	})
}

// A visitor with held seats stays inside until they release or buy them.
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

// A number that was never used is marked as used, so that it admits no visitor later.
const giveUpSQL = `
INSERT INTO admission (room_id, epoch, number, holder, entered, left_at, outcome)
VALUES ($1, $2, $3, $4, 0, clock_timestamp(), 'gave up')
    ON CONFLICT (room_id, epoch, number) DO NOTHING`

// Leave gives up a visitor's slot, unless they hold seats, and the number of their place, once it is known. It reports whether
// the slot became available. The visitor's next Join gives a new place.
func (r *Room) Leave(ctx context.Context, holder seats.ID, token string) (left bool, err error) {
	tag, err := r.rooms.db.Exec(ctx, leaveSQL, r.ID, holder)
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
		if _, err := r.rooms.db.Exec(ctx, giveUpSQL, r.ID, p.Epoch, n, holder); err != nil {
			return left, fmt.Errorf("waitingroom: room %d: give a number up: %w", r.ID, err)
		}
	}
	r.mu.Lock()
	delete(r.recent, holder)
	r.mu.Unlock()
	return left, nil
}

// A visitor with a slot, or with an expired one that may be renewed, has not gone away. A number that was admitted before the
// longest stay admits no visitor again. It waits for no sale, which locks admissions in another order: what a sale has is left to the next time.
const departuresSQL = `
WITH departed AS (
    SELECT a.epoch, a.number
      FROM admission a, room r
     WHERE r.id = $1 AND a.room_id = $1 AND a.outcome IS NULL AND a.admitted_at < clock_timestamp() - r.stay
       AND NOT EXISTS (SELECT FROM slot s
                        WHERE s.room_id = $1 AND s.holder = a.holder AND s.epoch = a.epoch AND s.number = a.number
                          AND (s.expires_at > clock_timestamp() OR s.since + r.stay > clock_timestamp()))
       FOR NO KEY UPDATE OF a SKIP LOCKED
)
UPDATE admission a
   SET outcome = 'went away', left_at = clock_timestamp()
  FROM departed d
 WHERE a.room_id = $1 AND a.epoch = d.epoch AND a.number = d.number`

// recordDepartures records visitors who went away: their slot ended, and their time to return is over.
func (r *Room) recordDepartures(ctx context.Context) error {
	if _, err := r.rooms.db.Exec(ctx, departuresSQL, r.ID); err != nil {
		return fmt.Errorf("waitingroom: room %d: record departures: %w", r.ID, err)
	}
	return nil
}

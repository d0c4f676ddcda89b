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

// Why somebody is not let in.
const (
	WhyNotCalled = "not called" // their number is not called yet, or nobody is let in now
	WhyFull      = "full"       // their number is called, and every slot is taken: they are next
	WhyLate      = "late"       // their number was called too long ago
	WhyLeft      = "left"       // they were inside, and bought or gave up
	WhyUsed      = "used"       // somebody else is inside with this number
)

// People come in as they join: all who ask while one transaction runs are in the next. To find a free slot among those
// that are taken costs as much as there are slots, and a crowd that was called at once would pay it one by one.

// mostComers is how many people ask to come in with one transaction.
const mostComers = 1024

// comer is somebody who asks to come in.
type comer struct {
	holder seats.ID
	epoch  int32
	number int64 // 0: they have none, and ask whether they are inside
	again  bool  // they met no free slot before
	visit  Visit // what becomes of it
	answer chan error
}

// ask has somebody come in, if they may.
func (r *Room) ask(ctx context.Context, holder seats.ID, epoch int32, number int64) (Visit, error) {
	c := &comer{holder: holder, epoch: epoch, number: number, answer: make(chan error, 1)}
	r.comers.Come(c)
	select {
	case err := <-c.answer:
		return c.visit, err
	case <-ctx.Done():
		return Visit{}, fmt.Errorf("waitingroom: room %d: wait to be let in: %w", r.ID, ctx.Err())
	}
}

// letIn answers everybody who asked while the transaction before ran. Who met no free slot is asked for once more: others
// may have locked the last one for nothing, and nobody is to be told "full" for that.
func (r *Room) letIn(ctx context.Context, comers []*comer) {
	comers, again := apart(comers)
	err := r.seeInside(ctx, comers)
	outside := slices.DeleteFunc(slices.Clone(comers), func(c *comer) bool { return c.visit.Inside || c.number == 0 })
	if err == nil && len(outside) > 0 {
		err = r.admit(ctx, outside)
	}
	for _, c := range comers {
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
	r.comers.Come(again...)
}

// apart takes each holder and each number once; the others come again.
func apart(comers []*comer) (once, again []*comer) {
	holders, numbers := map[seats.ID]bool{}, map[int64]bool{}
	for _, c := range comers {
		if holders[c.holder] || c.number > 0 && numbers[c.number] {
			again = append(again, c)
			continue
		}
		holders[c.holder], numbers[c.number] = true, true
		once = append(once, c)
	}
	return once, again
}

// Whoever relies on the room keeps it as it is: Pause waits for them.
const keepRoomSQL = `SELECT phase FROM room WHERE id = $1 FOR KEY SHARE`

// The next statements take some of these slots each. They are locked at once, in the order of their holders, as a batch of
// claims locks them.
const theirSlotsSQL = `
SELECT FROM unnest($2::uuid[]) AS asked(holder),
       LATERAL (SELECT FROM slot WHERE room_id = $1 AND slot.holder = asked.holder FOR NO KEY UPDATE) s`

// Who has a slot has it still, even if its time is up, while nobody took it.
const renewSQL = `
UPDATE slot s
   SET expires_at = least(clock_timestamp() + r.idle, s.since + r.stay)
  FROM room r
 WHERE r.id = $1 AND r.phase IN ('through', 'open')
   AND s.room_id = $1 AND s.holder = ANY ($2::uuid[]) AND s.expires_at <= clock_timestamp()
   AND s.slot <= r.slots AND least(clock_timestamp() + r.idle, s.since + r.stay) > clock_timestamp()`

// Another one that they had is nobody's from now on, so that they have one at most.
const clearSQL = `
UPDATE slot s
   SET epoch = NULL, number = NULL, holder = NULL, since = NULL, expires_at = '-infinity'
  FROM room r
 WHERE r.id = $1 AND r.phase IN ('through', 'open')
   AND s.room_id = $1 AND s.holder = ANY ($2::uuid[]) AND s.expires_at <= clock_timestamp()`

// Each number that may come in is written into the ledger, which takes it once, together with a slot that is free and
// that nobody else is about to take: the lowest numbers first, while there are any. The free ones are looked for once for
// all of them.
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

// The slots are full: from now on people wait. A slot that became free meanwhile leaves the room as it is.
const fullSQL = `
UPDATE room r
   SET version = version + 1, phase = 'open'
 WHERE id = $1 AND phase = 'through'
   AND NOT EXISTS (SELECT FROM slot s WHERE s.room_id = r.id AND s.slot <= r.slots AND s.expires_at <= clock_timestamp())
RETURNING version`

// admit lets those in whose number was called and is good, while slots are free. It is idempotent: who comes again has
// what they had.
func (r *Room) admit(ctx context.Context, comers []*comer) (err error) {
	for range 3 {
		if err = r.tryAdmit(ctx, comers); !collided(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("waitingroom: room %d: let %d in: %w", r.ID, len(comers), err)
	}
	full := func(c *comer) bool { return c.visit.Why == WhyFull }
	if r.state.Load().Phase == PhaseThrough && slices.ContainsFunc(comers, full) {
		return r.move(ctx, fullSQL, r.ID)
	}
	return nil
}

// collided tells of tries at once by one holder on two nodes, of which the other one won, or of a deadlock.
func collided(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.ConstraintName == "a person has one slot of a room" || pg.Code == "40P01")
}

// tryAdmit is one transaction, in one round trip.
func (r *Room) tryAdmit(ctx context.Context, comers []*comer) error {
	holders := byHolder(comers)
	epochs, numbers := make([]int32, len(comers)), make([]int64, len(comers))
	of := map[int64]*comer{}
	for i, c := range comers {
		epochs[i], numbers[i], of[c.number] = c.epoch, c.number, c
		c.visit.Why = WhyNotCalled
	}
	var q pgx.Batch
	q.Queue(keepRoomSQL, r.ID)
	q.Queue(theirSlotsSQL, r.ID, holders)
	q.Queue(renewSQL, r.ID, holders)
	q.Queue(clearSQL, r.ID, holders)
	q.Queue(admitSQL, r.ID, holders, epochs, numbers).Query(func(rows pgx.Rows) error {
		var number int64
		var until *time.Time
		var called, known, mine, good bool
		_, err := pgx.ForEachRow(rows, []any{&number, &until, &called, &known, &mine, &good}, func() error {
			v := &of[number].visit
			if v.Why = outside(called, known, mine, good); until != nil {
				v.Until = *until
			}
			until = nil
			return nil
		})
		return err
	})
	queueInside(&q, r.ID, holders, comers)
	return r.gate.db.SendBatch(ctx, &q).Close()
}

// outside says why somebody with a called number is not inside, if they are not.
func outside(called, known, mine, good bool) string {
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

// byHolder puts people in the order in which everybody locks slots, and returns their holders.
func byHolder(comers []*comer) []seats.ID {
	slices.SortFunc(comers, func(a, b *comer) int { return bytes.Compare(a.holder[:], b.holder[:]) })
	holders := make([]seats.ID, len(comers))
	for i, c := range comers {
		holders[i] = c.holder
	}
	return holders
}

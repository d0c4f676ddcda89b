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

// Visit is what somebody who comes to an event of a room is told.
type Visit struct {
	Inside bool
	Until  time.Time // inside: when the slot ends, if nothing happens; called: until when the number may be used
	Place  Place     // the zero place if they have none
	Number int64     // 0 while it is not known, or there is no place
	Token  string    // what their browser is to keep now; empty: what it keeps is worth nothing
	Why    string    // not inside: one of the reasons above, or empty if they have no place yet
}

// Enter lets a holder in if they may come in now, and says where they stand if not. token is what their browser kept. In
// a room that lets everybody through it gives them a place as well. Call it for holders whose session came back, or, in
// through only, with the claim that makes their session.
//
// It fails closed: with the database gone it is an error, and nobody is let in. Look tells where they stand then.
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
		v.Why = WhyNotCalled // it costs the database nothing
		return v, nil
	}
	inside, err := r.ask(ctx, holder, v.Place.Epoch, v.Number)
	if inside.Inside {
		v.Number = inside.Number
	}
	v.Inside, v.Until, v.Why = inside.Inside, inside.Until, inside.Why
	return v, err
}

// Look tells where a holder stands without letting them in. It asks nobody, so that it is answered while the database is
// gone.
func (r *Room) Look(ctx context.Context, holder seats.ID, token string) Visit {
	p, err := r.place(ctx, token, holder)
	if err != nil {
		return Visit{}
	}
	return Visit{Place: p, Number: r.Number(p), Token: token}
}

// Again gives somebody a new place, at the end of the line, whose number let them in or was not used in time. Whoever has
// a place that is still worth something keeps that.
func (r *Room) Again(ctx context.Context, holder seats.ID, token string) (Place, string, error) {
	return r.again(ctx, &joiner{holder: holder}, token)
}

func (r *Room) again(ctx context.Context, j *joiner, token string) (Place, string, error) {
	v, err := r.Enter(ctx, j.holder, token)
	if err != nil && !errors.Is(err, ErrWork) {
		return Place{}, "", err
	}
	if v.Place != (Place{}) && v.Why != WhyLate && v.Why != WhyLeft {
		return v.Place, v.Token, nil
	}
	if err := r.state.Load().asks(); err != nil && j.person == nil {
		return Place{}, "", err
	}
	j.again = v.Place != (Place{})
	return r.join(ctx, j)
}

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

// Whoever has a slot, or may still take their old one again, has not gone away. Nobody can be let in again with a number
// that was let in so long ago, unless they held seats all the time.
const goneSQL = `
UPDATE admission a
   SET outcome = 'went away', left_at = clock_timestamp()
  FROM room r
 WHERE r.id = $1 AND a.room_id = $1 AND a.outcome IS NULL AND a.admitted_at < clock_timestamp() - r.stay
   AND NOT EXISTS (SELECT FROM slot s
                    WHERE s.room_id = $1 AND s.holder = a.holder AND s.epoch = a.epoch AND s.number = a.number
                      AND (s.expires_at > clock_timestamp() OR s.since + r.stay > clock_timestamp()))`

// noteGone writes into the ledger who went away: their slot ended, and their time to come back is over as well.
func (r *Room) noteGone(ctx context.Context) error {
	if _, err := r.gate.db.Exec(ctx, goneSQL, r.ID); err != nil {
		return fmt.Errorf("waitingroom: room %d: note who went away: %w", r.ID, err)
	}
	return nil
}

package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
)

// Admission is what became of the try to come in with a number.
type Admission struct {
	Inside bool
	Until  time.Time // inside: when the slot ends, if nothing happens; else: until when the number may be used, if it was called
	Why    string    // not inside: why
}

// Why somebody is not let in.
const (
	WhyNotCalled = "not called" // their number is not called yet, or nobody is let in now
	WhyFull      = "full"       // their number is called, and every slot is taken: they are next
	WhyLate      = "late"       // their number was called too long ago
	WhyLeft      = "left"       // they were inside, and bought or gave up
	WhyUsed      = "used"       // somebody else is inside with this number
)

// One statement, in this order: whoever relies on the room keeps it as it is (Pause waits for them); who has a slot has it
// still, even if its time is up and nobody took it; else the number is written into the ledger, which takes it once,
// together with a slot that is free and that nobody else is about to take.
const admitSQL = `
WITH here AS MATERIALIZED (
    SELECT slots, valid, idle, stay
      FROM room
     WHERE id = $1 AND epoch = $2 AND phase IN ('through', 'open') AND serving >= $3
       FOR KEY SHARE
), call AS MATERIALIZED (
    SELECT at + valid AS until, at + valid > clock_timestamp() AS good
      FROM here, LATERAL (SELECT at FROM called WHERE room_id = $1 AND epoch = $2 AND serving >= $3 ORDER BY serving LIMIT 1) c
), own AS (
    UPDATE slot s
       SET expires_at = greatest(s.expires_at, least(clock_timestamp() + here.idle, s.since + here.stay))
      FROM here
     WHERE s.room_id = $1 AND s.holder = $4 AND (s.slot <= here.slots OR s.expires_at > clock_timestamp())
       AND least(clock_timestamp() + here.idle, s.since + here.stay) > clock_timestamp()
    RETURNING s.slot, s.expires_at
), known AS MATERIALIZED (
    SELECT holder = $4 AS mine, outcome IS NULL AND admitted_at + stay > clock_timestamp() AS good
      FROM here, admission
     WHERE room_id = $1 AND epoch = $2 AND number = $3
), free AS (
    SELECT s.slot
      FROM here, slot s
     WHERE s.room_id = $1 AND s.slot <= here.slots AND s.expires_at <= clock_timestamp()
       AND s.slot = coalesce((SELECT slot FROM slot WHERE room_id = $1 AND holder = $4), s.slot) -- one they had comes first
       AND NOT EXISTS (SELECT FROM own)
       AND (EXISTS (SELECT FROM known WHERE mine AND good) OR EXISTS (SELECT FROM call WHERE good) AND NOT EXISTS (SELECT FROM known))
     LIMIT 1
       FOR NO KEY UPDATE OF s SKIP LOCKED
), ledger AS (
    INSERT INTO admission AS a (room_id, epoch, number, holder)
    SELECT $1, $2, $3, $4 FROM free
        ON CONFLICT (room_id, epoch, number) DO UPDATE
       SET entered = a.entered + 1
     WHERE a.holder = excluded.holder AND a.outcome IS NULL
    RETURNING number
), taken AS (
    UPDATE slot s
       SET epoch = $2, number = $3, holder = $4, since = clock_timestamp(), expires_at = clock_timestamp() + here.idle
      FROM here, free, ledger
     WHERE s.room_id = $1 AND s.slot = free.slot
    RETURNING s.expires_at
)
SELECT coalesce((SELECT expires_at FROM own), (SELECT expires_at FROM taken)),
       EXISTS (SELECT FROM here), (SELECT until FROM call), coalesce((SELECT good FROM call), false),
       EXISTS (SELECT FROM known), coalesce((SELECT mine FROM known), false), coalesce((SELECT good FROM known), false)`

// admit lets the holder of a number in, if that may be. It is idempotent: the holder of a slot is told until when they
// have it. A try that met another one of the same moment is made once more, so that nobody is told "full" for nothing.
func (r *Room) admit(ctx context.Context, epoch int32, number int64, holder seats.ID) (a Admission, err error) {
	select {
	case r.enter <- struct{}{}:
		defer func() { <-r.enter }()
	case <-ctx.Done():
		return Admission{}, ctx.Err()
	}
	for try := range 3 {
		a, err = r.tryAdmit(ctx, epoch, number, holder)
		if err == nil && (a.Inside || a.Why != WhyFull || try > 0) || err != nil && !collided(err) {
			break
		}
	}
	if err != nil {
		return Admission{}, fmt.Errorf("gate: room %d: let number %d in: %w", r.ID, number, err)
	}
	return a, nil
}

// collided tells of two tries at once by one holder, of which the other one won, or of a deadlock.
func collided(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.ConstraintName == "a person has one slot of a room" || pg.Code == "40P01")
}

func (r *Room) tryAdmit(ctx context.Context, epoch int32, number int64, holder seats.ID) (Admission, error) {
	var end, until *time.Time
	var here, called, known, mine, good bool
	err := r.gate.db.QueryRow(ctx, admitSQL, r.ID, epoch, number, holder).Scan(&end, &here, &until, &called, &known, &mine, &good)
	if err != nil {
		return Admission{}, err
	}
	a := Admission{}
	if until != nil {
		a.Until = *until
	}
	switch {
	case end != nil:
		return Admission{Inside: true, Until: *end}, nil
	case !here:
		a.Why = WhyNotCalled
	case known && !mine:
		a.Why = WhyUsed
	case known && !good:
		a.Why = WhyLeft
	case !known && !called:
		a.Why = WhyLate
	default:
		a.Why = WhyFull
	}
	return a, nil
}

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
	number, until, err := r.Inside(ctx, holder)
	if err != nil || !until.IsZero() {
		return Visit{Inside: err == nil, Until: until, Place: v.Place, Number: number, Token: v.Token}, err
	}
	if v.Number == 0 {
		return v, nil
	}
	a, err := r.admit(ctx, v.Place.Epoch, v.Number, holder)
	v.Inside, v.Until, v.Why = a.Inside, a.Until, a.Why
	if err == nil && v.Why == WhyFull && r.state.Load().Phase == PhaseThrough {
		err = r.move(ctx, fullSQL, r.ID)
	}
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

// The slots are full: from now on people wait. A slot that became free meanwhile leaves the room as it is.
const fullSQL = `
UPDATE room r
   SET version = version + 1, phase = 'open'
 WHERE id = $1 AND phase = 'through'
   AND NOT EXISTS (SELECT FROM slot s WHERE s.room_id = r.id AND s.slot <= r.slots AND s.expires_at <= clock_timestamp())
RETURNING version`

// Again gives somebody a new place, at the end of the line, whose number let them in or was not used in time. Whoever has
// a place that is still worth something keeps that.
func (r *Room) Again(ctx context.Context, holder seats.ID, token string) (Place, string, error) {
	v, err := r.Enter(ctx, holder, token)
	if err != nil {
		return Place{}, "", err
	}
	if v.Place != (Place{}) && v.Why != WhyLate && v.Why != WhyLeft {
		return v.Place, v.Token, nil
	}
	if r.state.Load().Entry == EntryEmail {
		return Place{}, "", ErrEmail
	}
	return r.join(ctx, &joiner{holder: holder, again: v.Place != (Place{})})
}

package waitingroom

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/seal"
)

// Control is an organizer's hand on rooms. What it does is written down with its name, and rung to all nodes as it
// commits.
type Control struct {
	DB  seats.DB
	Who string // the account, or the name of a shell's user

	Box  *seal.Box  // what the keys of places are sealed with; nil: they are not
	Also seats.Also // commits with what is done; may be nil
}

// Control is somebody's hand on the rooms of this node's database.
func (g *Gate) Control(who string) Control { return Control{DB: g.db, Who: who, Box: g.keys.box} }

const noteSQL = `
WITH noted AS (INSERT INTO control (room_id, who, what, detail) VALUES ($1, $2, $3, $4) RETURNING room_id)
SELECT pg_notify('usher_room', room_id || ':0') FROM noted`

func (c Control) note(ctx context.Context, db seats.DB, room int64, what, detail string) error {
	_, err := db.Exec(ctx, noteSQL, room, c.Who, what, detail)
	return err
}

// change runs a guarded change of a room and notes it, in one transaction. refused says why the guard did not let it.
func (c Control) change(ctx context.Context, what, detail, refused, sql string, args ...any) error {
	err := pgx.BeginFunc(ctx, c.DB, func(tx pgx.Tx) error {
		var room int64
		if err := tx.QueryRow(ctx, sql, args...).Scan(&room); err != nil {
			return err
		}
		if err := c.note(ctx, tx, room, what, detail); err != nil {
			return err
		}
		return c.Also.Run(ctx, tx)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return c.refuse(ctx, args[0].(string), refused)
	}
	if err != nil {
		return fmt.Errorf("waitingroom: %s room %q: %w", what, args[0], err)
	}
	return nil
}

const phaseSQL = `SELECT phase FROM room WHERE slug = $1`

func (c Control) refuse(ctx context.Context, slug, refused string) error {
	var phase Phase
	err := c.DB.QueryRow(ctx, phaseSQL, slug).Scan(&phase)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNoRoom
	}
	if err != nil {
		return fmt.Errorf("waitingroom: look at room %q: %w", slug, err)
	}
	return &seats.Nonsense{Message: fmt.Sprintf("%s It is %s. Nothing was changed.", refused, said[phase])}
}

// said is a phase in a sentence: "It is …".
var said = map[Phase]string{
	PhaseThrough: "letting everybody through", PhaseLobby: "gathering people in its lobby", PhaseDrawing: "drawing numbers",
	PhaseOpen: "open", PhasePaused: "paused", PhaseEnded: "ended",
}

const openSQL = `
UPDATE room
   SET version = version + 1, opens_at = coalesce($2, clock_timestamp()),
       lobby_opens_at = CASE WHEN lobby_opens_at < coalesce($2, clock_timestamp()) THEN lobby_opens_at END,
       phase = CASE WHEN phase = 'through' THEN 'open' ELSE phase END
 WHERE slug = $1 AND (phase = 'lobby' OR phase = 'through' AND $2::timestamptz IS NULL)
RETURNING id`

// Open closes the lobby of a room now, or at another time than was said; then its numbers are drawn and called. A room
// that lets everybody through has people wait in line from now on.
func (c Control) Open(ctx context.Context, slug string, at *time.Time) error {
	detail := "now"
	if at != nil {
		detail = at.UTC().Format(time.RFC3339)
	}
	return c.change(ctx, "open", detail, "Only a room with a lobby, or one that lets everybody through, can be opened.", openSQL, slug, at)
}

const pauseSQL = `
UPDATE room SET version = version + 1, phase = 'paused', note = $2 WHERE slug = $1 AND phase IN ('open', 'through', 'paused') RETURNING id`

// Whoever is being let in relies on the row until it is done.
const drainSQL = `SELECT id FROM room WHERE slug = $1 FOR UPDATE`

// Pause stops calling and letting in, on all nodes: when it returns, nobody is let in any more. Everybody who waits reads
// the reason. Who is inside stays there and buys; places and numbers stay what they are.
func (c Control) Pause(ctx context.Context, slug, reason string) error {
	if utf8.RuneCountInString(reason) > 500 {
		return &seats.Nonsense{Message: "A reason has 500 letters at most. Nothing was changed."}
	}
	if err := c.change(ctx, "pause", reason, "Only an open room can be paused.", pauseSQL, slug, reason); err != nil {
		return err
	}
	if _, err := c.DB.Exec(ctx, drainSQL, slug); err != nil {
		return fmt.Errorf("waitingroom: room %q is paused; wait for those who were being let in: %w", slug, err)
	}
	return nil
}

const resumeSQL = `UPDATE room SET version = version + 1, phase = 'open', note = '' WHERE slug = $1 AND phase = 'paused' RETURNING id`

// Resume goes on where Pause stopped.
func (c Control) Resume(ctx context.Context, slug string) error {
	return c.change(ctx, "resume", "", "Only a paused room can go on.", resumeSQL, slug)
}

const rateSQL = `UPDATE room SET version = version + 1, rate = nullif($2::float8, 0) WHERE slug = $1 AND phase <> 'ended' RETURNING id`

// isRate tells whether a room may be limited to so many numbers in a second; 0 is no limit.
func isRate(rate float64) bool { return rate == 0 || rate >= 0.001 && rate <= 1e6 }

// Rate limits how many numbers are called in a second; 0 takes the limit away.
func (c Control) Rate(ctx context.Context, slug string, rate float64) error {
	if !isRate(rate) {
		return &seats.Nonsense{Message: fmt.Sprintf("%g is not a number of people a second: from 0.001 to 1,000,000, or 0 for no limit. Nothing was changed.", rate)}
	}
	return c.change(ctx, "rate", fmt.Sprintf("%g", rate), "A room that has ended calls nobody.", rateSQL, slug, rate)
}

const workSQL = `UPDATE room SET version = version + 1, work = $2 WHERE slug = $1 AND phase <> 'ended' AND entry = 'browser' RETURNING id`

// Work has browsers do some work before they join from now on: so many rounds in each of about 4,096 tries; 0: none any
// more. Who has a place keeps it.
func (c Control) Work(ctx context.Context, slug string, rounds int) error {
	if rounds < 0 || rounds > mostWork {
		return &seats.Nonsense{Message: fmt.Sprintf("%d is not a number of rounds between 0 and 100,000. Nothing was changed.", rounds)}
	}
	return c.change(ctx, "work", fmt.Sprint(rounds), "Only a room that browsers enter, and that has not ended, asks for work.", workSQL, slug, rounds)
}

const slotsSQL = `
WITH room AS (
    UPDATE room SET version = version + 1, slots = $2 WHERE slug = $1 AND phase <> 'ended' RETURNING id
), more AS (
    INSERT INTO slot (room_id, slot) SELECT id, generate_series(1, $2::integer) FROM room ON CONFLICT DO NOTHING
)
SELECT id FROM room`

// Slots changes how many people are inside at once. Nobody has to leave: if more are inside, nobody else is let in until
// enough of them left.
func (c Control) Slots(ctx context.Context, slug string, slots int) error {
	if slots < 1 || slots > 100_000 {
		return &seats.Nonsense{Message: fmt.Sprintf("%d is not a number of slots between 1 and 100,000. Nothing was changed.", slots)}
	}
	return c.change(ctx, "slots", fmt.Sprint(slots), "A room that has ended has no slots.", slotsSQL, slug, slots)
}

const endSQL = `UPDATE room SET version = version + 1, phase = 'ended', note = $2 WHERE slug = $1 AND phase <> 'ended' RETURNING id`

// End closes a room for good: nobody joins, is called or let in any more. Who is inside may finish.
func (c Control) End(ctx context.Context, slug, reason string) error {
	if utf8.RuneCountInString(reason) > 500 {
		return &seats.Nonsense{Message: "A reason has 500 letters at most. Nothing was changed."}
	}
	if err := c.change(ctx, "end", reason, "It has ended already.", endSQL, slug, reason); err != nil {
		return err
	}
	_, err := c.DB.Exec(ctx, drainSQL, slug)
	return err
}

const beaconSQL = `
UPDATE room SET version = version + 1, beacon_value = convert_to($2::text, 'UTF8') WHERE slug = $1 AND phase = 'drawing' AND beacon = 'manual' AND beacon_value IS NULL RETURNING id`

// SetBeacon gives the draw of a closed lobby the public words that it waits for, such as the numbers of a lottery.
func (c Control) SetBeacon(ctx context.Context, slug, words string) error {
	if words == "" || utf8.RuneCountInString(words) > 500 {
		return &seats.Nonsense{Message: "The words of a beacon have 1 to 500 letters. Nothing was changed."}
	}
	return c.change(ctx, "beacon", words, "Only a draw that waits for a manual beacon takes one.", beaconSQL, slug, words)
}

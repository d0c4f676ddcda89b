package waitingroom

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// Control is what organizers do to rooms. Each action is recorded with their name, and all nodes are notified as it commits.
type Control struct {
	DB  seats.DB
	Who string // the account, or the name of a shell's user

	Box  *seal.Box    // seals the keys of places; nil: they are not sealed
	Also seats.TxHook // commits with each action; may be nil
}

// Control returns the control of the rooms of this node's database, for an organizer.
func (rs *Rooms) Control(who string) Control { return Control{DB: rs.db, Who: who, Box: rs.keys.box} }

const noteSQL = `
WITH noted AS (INSERT INTO control (room_id, who, what, detail) VALUES ($1, $2, $3, $4) RETURNING room_id)
SELECT pg_notify(house_channel('usher_room'), room_id || ':0') FROM noted`

func (c Control) note(ctx context.Context, db seats.DB, room int64, what, detail string) error {
	_, err := db.Exec(ctx, noteSQL, room, c.Who, what, detail)
	return err
}

// change runs a guarded change of a room and records it, in one transaction. refused is the message if the guard refuses it.
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
	return &seats.ValidationError{Message: "%s %s %s", Args: []any{text.Say(refused), text.Say(said[phase]), text.Say("Nothing was changed.")}}
}

// said is the sentence about each phase.
var said = map[Phase]string{
	PhaseThrough: text.Mark("The waiting room lets everybody through."), PhaseLobby: text.Mark("The waiting room gathers people in its lobby."), PhaseDrawing: text.Mark("The waiting room is drawing numbers."),
	PhaseOpen: text.Mark("The waiting room is open."), PhasePaused: text.Mark("The waiting room is paused."), PhaseEnded: text.Mark("The waiting room has ended."),
}

const openSQL = `
UPDATE room
   SET version = version + 1, opens_at = coalesce($2, clock_timestamp()),
       lobby_opens_at = CASE WHEN lobby_opens_at < coalesce($2, clock_timestamp()) THEN lobby_opens_at END,
       phase = CASE WHEN phase = 'through' THEN 'open' ELSE phase END
 WHERE slug = $1 AND (phase = 'lobby' OR phase = 'through' AND $2::timestamptz IS NULL)
RETURNING id`

// Open closes the lobby of a room now, or at a new time; then its numbers are drawn and called. In a room that lets every
// visitor through, visitors wait in line from now on.
func (c Control) Open(ctx context.Context, slug string, at *time.Time) error {
	detail := "now"
	if at != nil {
		detail = at.UTC().Format(time.RFC3339)
	}
	return c.change(ctx, "open", detail, text.Mark("Only a room with a lobby, or one that lets everybody through, can be opened."), openSQL, slug, at)
}

const pauseSQL = `
UPDATE room SET version = version + 1, phase = 'paused', note = $2 WHERE slug = $1 AND phase IN ('open', 'through', 'paused') RETURNING id`

// Admissions lock the row until they are done.
const drainSQL = `SELECT id FROM room WHERE slug = $1 FOR UPDATE`

// Pause stops calls and admissions on all nodes. After it returns no visitor is admitted. Every waiting visitor reads the
// reason. Admitted visitors stay inside and buy; places and numbers stay the same.
func (c Control) Pause(ctx context.Context, slug, reason string) error {
	if utf8.RuneCountInString(reason) > 500 {
		return &seats.ValidationError{Message: text.Mark("A reason has 500 letters at most. Nothing was changed.")}
	}
	if err := c.change(ctx, "pause", reason, text.Mark("Only an open room can be paused."), pauseSQL, slug, reason); err != nil {
		return err
	}
	if _, err := c.DB.Exec(ctx, drainSQL, slug); err != nil {
		return fmt.Errorf("waitingroom: room %q is paused; wait for admissions under way: %w", slug, err)
	}
	return nil
}

const resumeSQL = `UPDATE room SET version = version + 1, phase = 'open', note = '' WHERE slug = $1 AND phase = 'paused' RETURNING id`

// Resume ends a pause.
func (c Control) Resume(ctx context.Context, slug string) error {
	return c.change(ctx, "resume", "", text.Mark("Only a paused room can go on."), resumeSQL, slug)
}

const rateSQL = `UPDATE room SET version = version + 1, rate = nullif($2::float8, 0) WHERE slug = $1 AND phase <> 'ended' RETURNING id`

// isRate reports whether a rate is valid; 0 is no limit.
func isRate(rate float64) bool { return rate == 0 || rate >= 0.001 && rate <= 1e6 }

// Rate limits how many numbers are called per second; 0 removes the limit.
func (c Control) Rate(ctx context.Context, slug string, rate float64) error {
	if !isRate(rate) {
		return noRate(rate)
	}
	return c.change(ctx, "rate", fmt.Sprintf("%g", rate), text.Mark("A room that has ended calls no visitor."), rateSQL, slug, rate)
}

const workSQL = `UPDATE room SET version = version + 1, work = $2 WHERE slug = $1 AND phase <> 'ended' AND entry = 'browser' RETURNING id`

// Work sets the proof of work for joins from now on: so many rounds in each of about 4,096 tries; 0: none. Existing places
// stay.
func (c Control) Work(ctx context.Context, slug string, rounds int) error {
	if rounds < 0 || rounds > maxWork {
		return noRounds(rounds)
	}
	return c.change(ctx, "work", fmt.Sprint(rounds), text.Mark("Only a room that browsers enter, and that has not ended, asks for work."), workSQL, slug, rounds)
}

const slotsSQL = `
WITH room AS (
    UPDATE room SET version = version + 1, slots = $2 WHERE slug = $1 AND phase <> 'ended' RETURNING id
), more AS (
    INSERT INTO slot (room_id, slot) SELECT id, generate_series(1, $2::integer) FROM room ON CONFLICT DO NOTHING
)
SELECT id FROM room`

// Slots changes how many visitors are inside at once. No visitor has to leave: if more are inside, no other one is admitted
// until enough of them left.
func (c Control) Slots(ctx context.Context, slug string, slots int) error {
	if slots < 1 || slots > 100_000 {
		return noSlots(slots)
	}
	return c.change(ctx, "slots", fmt.Sprint(slots), text.Mark("A room that has ended has no slots."), slotsSQL, slug, slots)
}

const endSQL = `UPDATE room SET version = version + 1, phase = 'ended', note = $2 WHERE slug = $1 AND phase <> 'ended' RETURNING id`

// End closes a room for good: there are no joins, calls or admissions any more. Admitted visitors may finish.
func (c Control) End(ctx context.Context, slug, reason string) error {
	if utf8.RuneCountInString(reason) > 500 {
		return &seats.ValidationError{Message: text.Mark("A reason has 500 letters at most. Nothing was changed.")}
	}
	if err := c.change(ctx, "end", reason, text.Mark("It cannot be ended again."), endSQL, slug, reason); err != nil {
		return err
	}
	_, err := c.DB.Exec(ctx, drainSQL, slug)
	return err
}

const beaconSQL = `
UPDATE room SET version = version + 1, beacon_value = convert_to($2::text, 'UTF8') WHERE slug = $1 AND phase = 'drawing' AND beacon = 'manual' AND beacon_value IS NULL RETURNING id`

// SetBeacon sets the public words that a draw waits for, such as the numbers of a lottery.
func (c Control) SetBeacon(ctx context.Context, slug, words string) error {
	if words == "" || utf8.RuneCountInString(words) > 500 {
		return &seats.ValidationError{Message: text.Mark("The words of a beacon have 1 to 500 letters. Nothing was changed.")}
	}
	return c.change(ctx, "beacon", words, text.Mark("Only a draw that waits for a manual beacon takes one."), beaconSQL, slug, words)
}

// How a room opens.
const (
	ModeAuto      = "auto"      // when the slots are full
	ModeScheduled = "scheduled" // at a time, with a draw of the lobby
)

// NewRoom is the settings of a new room; zero values stand for the defaults named here.
type NewRoom struct {
	Slug         string // made from Name
	Name         string
	Events       []string      // slugs of its events
	OpensAt      *time.Time    // nil: it opens when the slots are full
	LobbyOpensAt *time.Time    // at once
	Slots        int           // visitors inside at once: 500
	Rate         float64       // numbers called per second at most: no limit
	Entry        string        // EntryBrowser
	Work         int           // rounds in each try of the proof of work: none
	Beacon       string        // BeaconNone
	BeaconURL    string        // of drand: https://api.drand.sh/<quicknet>
	BeaconWait   time.Duration // 30 seconds; of a manual beacon 10 minutes
	Valid        time.Duration // 10 minutes
	Idle         time.Duration // 5 minutes
	Stay         time.Duration // 30 minutes
}

// drandURL is the API of drand's quicknet chain.
const drandURL = "https://api.drand.sh/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"

func (n NewRoom) withDefaults() NewRoom {
	n.Slug = or(n.Slug, events.Slug(n.Name, "room"))
	n.Slots = or(n.Slots, 500)
	n.Entry = or(n.Entry, EntryBrowser)
	n.Beacon = or(n.Beacon, BeaconNone)
	if n.Beacon == BeaconDrand {
		n.BeaconURL = or(n.BeaconURL, drandURL)
	}
	if n.Beacon == BeaconManual {
		n.BeaconWait = or(n.BeaconWait, 10*time.Minute)
	}
	n.BeaconWait = or(n.BeaconWait, 30*time.Second)
	n.Valid, n.Idle, n.Stay = or(n.Valid, 10*time.Minute), or(n.Idle, 5*time.Minute), or(n.Stay, 30*time.Minute)
	return n
}

func or[T comparable](value, otherwise T) T {
	if value == *new(T) {
		return otherwise
	}
	return value
}

func noSlots(n int) error {
	return seats.Unchanged(text.Say("%d is not a number of slots between 1 and 100,000.", n))
}

func noRate(rate float64) error {
	return seats.Unchanged(text.Say("%s is not a number of people a second: from 0.001 to 1,000,000, or 0 for no limit.", fmt.Sprintf("%g", rate)))
}

func noRounds(n int) error {
	return seats.Unchanged(text.Say("%d is not a number of rounds between 0 and 100,000.", n))
}

// check returns what is wrong with the settings.
func (n *NewRoom) check() error {
	address, err := url.Parse(n.BeaconURL)
	switch {
	case strings.TrimSpace(n.Name) == "" || utf8.RuneCountInString(n.Name) > 200:
		return seats.Unchanged(text.Say("A waiting room needs a name of up to 200 letters."))
	case n.Slug != events.Slug(n.Slug, ""):
		return seats.Unchanged(text.Say("“%s” is no word of an address; use lower case letters, digits and single dashes, such as night-out-2.", n.Slug))
	case n.Slots < 1 || n.Slots > 100_000:
		return noSlots(n.Slots)
	case !isRate(n.Rate):
		return noRate(n.Rate)
	case n.Entry != EntryBrowser && n.Entry != EntryEmail:
		return seats.Unchanged(text.Say("A waiting room is entered by browser or by email, not by “%s”.", n.Entry))
	case n.Work < 0 || n.Work > maxWork:
		return noRounds(n.Work)
	case n.Work > 0 && n.Entry != EntryBrowser:
		return seats.Unchanged(text.Say("Work is asked of browsers; this waiting room is entered by verified addresses."))
	case n.Beacon != BeaconNone && n.Beacon != BeaconManual && n.Beacon != BeaconDrand:
		return seats.Unchanged(text.Say("There is no beacon “%s”; there are none, manual and drand.", n.Beacon))
	case n.Beacon == BeaconDrand && (err != nil || address.Host == "" || !strings.HasPrefix(address.Scheme, "http")):
		return seats.Unchanged(text.Say("“%s” is not the address of a beacon.", n.BeaconURL))
	case n.LobbyOpensAt != nil && (n.OpensAt == nil || !n.LobbyOpensAt.Before(*n.OpensAt)):
		return seats.Unchanged(text.Say("The lobby opens before the sale does: say when that is, too."))
	case !between(n.BeaconWait) || !between(n.Valid) || !between(n.Idle) || !between(n.Stay) || n.Stay < n.Idle:
		return seats.Unchanged(text.Say("Times of a waiting room are between a second and a day, and a stay is not shorter than the idle time."))
	}
	return nil
}

func between(d time.Duration) bool { return d >= time.Second && d <= 24*time.Hour }

const createRoomSQL = `
INSERT INTO room (slug, name, mode, entry, phase, lobby_opens_at, opens_at, slots, rate, valid, idle, stay, beacon, beacon_url, beacon_wait, work)
VALUES ($1, $2, 'auto', $3, 'through', $4, $5, $6, nullif($7, 0), make_interval(secs => $8), make_interval(secs => $9), make_interval(secs => $10),
        $11, nullif($12, ''), make_interval(secs => $13), $14)
RETURNING id, epoch`

// From here on the secret is fixed, and its commitment is public.
const commitSQL = `
UPDATE room SET mode = 'scheduled', phase = 'lobby', commitment = $2, committed_at = clock_timestamp(), sealed = $3, sealed_by = $4 WHERE id = $1`

const createSlotsSQL = `INSERT INTO slot (room_id, slot) SELECT $1, generate_series(1, $2::integer)`

// Why a room cannot be made.
var (
	ErrSlugTaken = errors.New("another waiting room has this slug")
	ErrCovered   = errors.New("one of the events is not there, or has a waiting room already")
)

// Create makes a room. From then on only admitted visitors claim in its events; with a lobby there are none before it closes.
// Errors: *seats.ValidationError, ErrSlugTaken, ErrCovered, or the database's.
func (c Control) Create(ctx context.Context, n NewRoom) (slug string, err error) {
	n = n.withDefaults()
	if err := n.check(); err != nil {
		return "", err
	}
	k, err := newKeys(c.DB, c.Box).signing(ctx)
	if err != nil {
		return "", err
	}
	err = pgx.BeginFunc(ctx, c.DB, func(tx pgx.Tx) error {
		var d Draw
		err := tx.QueryRow(ctx, createRoomSQL, n.Slug, n.Name, n.Entry, n.LobbyOpensAt, n.OpensAt, n.Slots, n.Rate,
			n.Valid.Seconds(), n.Idle.Seconds(), n.Stay.Seconds(), n.Beacon, n.BeaconURL, n.BeaconWait.Seconds(), n.Work).Scan(&d.Room, &d.Epoch)
		if err != nil {
			return err
		}
		if n.OpensAt != nil {
			d.Secret = [32]byte(newSecret())
			commitment := d.Commitment()
			if _, err := tx.Exec(ctx, commitSQL, d.Room, commitment[:], k.seal(d.Secret[:], commitment[:]), k.id); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, createSlotsSQL, d.Room, n.Slots); err != nil {
			return err
		}
		covered, err := events.SetRoom(ctx, tx, d.Room, n.Events)
		if err != nil {
			return err
		}
		if covered != len(n.Events) {
			return ErrCovered
		}
		if err := c.note(ctx, tx, d.Room, "create", strings.Join(n.Events, ", ")); err != nil {
			return err
		}
		return c.Also.Run(ctx, tx)
	})
	if seats.IsConstraint(err, "room_slug_key") {
		return "", ErrSlugTaken
	}
	if err != nil {
		return "", fmt.Errorf("waitingroom: create room %q: %w", n.Slug, err)
	}
	return n.Slug, nil
}

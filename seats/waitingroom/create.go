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
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
)

// How a room opens.
const (
	ModeAuto      = "auto"      // nobody waits until the slots are full
	ModeScheduled = "scheduled" // there is a lobby, and its numbers are drawn at a time
)

// NewRoom is what an organizer says of a room; zero values stand for the defaults named here.
type NewRoom struct {
	Slug         string // made from Name
	Name         string
	Events       []string      // slugs of those it covers
	OpensAt      *time.Time    // nil: it opens by itself when the slots are full
	LobbyOpensAt *time.Time    // at once
	Slots        int           // people inside at once: 500
	Rate         float64       // numbers called in a second at most: no limit
	Entry        string        // EntryBrowser
	Work         int           // rounds in each try of a browser before it joins: none
	Beacon       string        // BeaconNone
	BeaconURL    string        // of drand: https://api.drand.sh/<quicknet>
	BeaconWait   time.Duration // 30 seconds; of a manual beacon 10 minutes
	Valid        time.Duration // 10 minutes
	Idle         time.Duration // 5 minutes
	Stay         time.Duration // 30 minutes
}

// drandURL is the quicknet chain at its operators.
const drandURL = "https://api.drand.sh/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"

func (n NewRoom) withDefaults() NewRoom {
	n.Slug = or(n.Slug, seats.Slug(n.Name, "room"))
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

// check says in a sentence what makes no sense.
func (n *NewRoom) check() error {
	nonsense := func(format string, args ...any) error {
		return &seats.Nonsense{Message: fmt.Sprintf(format, args...) + " Nothing was changed."}
	}
	address, err := url.Parse(n.BeaconURL)
	switch {
	case strings.TrimSpace(n.Name) == "" || utf8.RuneCountInString(n.Name) > 200:
		return nonsense("A waiting room needs a name of up to 200 letters.")
	case n.Slug != seats.Slug(n.Slug, ""):
		return nonsense("%q is no word of an address; use lower case letters, digits and single dashes, such as night-out-2.", n.Slug)
	case n.Slots < 1 || n.Slots > 100_000:
		return nonsense("%d is not a number of slots between 1 and 100,000.", n.Slots)
	case !isRate(n.Rate):
		return nonsense("%g is not a number of people a second: from 0.001 to 1,000,000, or 0 for no limit.", n.Rate)
	case n.Entry != EntryBrowser && n.Entry != EntryEmail:
		return nonsense("A waiting room is entered by browser or by email, not by %q.", n.Entry)
	case n.Work < 0 || n.Work > mostWork:
		return nonsense("%d is not a number of rounds between 0 and 100,000.", n.Work)
	case n.Work > 0 && n.Entry != EntryBrowser:
		return nonsense("Work is asked of browsers; this waiting room is entered by verified addresses.")
	case n.Beacon != BeaconNone && n.Beacon != BeaconManual && n.Beacon != BeaconDrand:
		return nonsense("There is no beacon %q; there are none, manual and drand.", n.Beacon)
	case n.Beacon == BeaconDrand && (err != nil || address.Host == "" || !strings.HasPrefix(address.Scheme, "http")):
		return nonsense("%q is not the address of a beacon.", n.BeaconURL)
	case n.LobbyOpensAt != nil && (n.OpensAt == nil || !n.LobbyOpensAt.Before(*n.OpensAt)):
		return nonsense("The lobby opens before the sale does: say when that is, too.")
	case !between(n.BeaconWait) || !between(n.Valid) || !between(n.Idle) || !between(n.Stay) || n.Stay < n.Idle:
		return nonsense("Times of a waiting room are between a second and a day, and a stay is not shorter than the idle time.")
	}
	return nil
}

func between(d time.Duration) bool { return d >= time.Second && d <= 24*time.Hour }

const createRoomSQL = `
INSERT INTO room (slug, name, mode, entry, phase, lobby_opens_at, opens_at, slots, rate, valid, idle, stay, beacon, beacon_url, beacon_wait, work)
VALUES ($1, $2, 'auto', $3, 'through', $4, $5, $6, nullif($7, 0), make_interval(secs => $8), make_interval(secs => $9), make_interval(secs => $10),
        $11, nullif($12, ''), make_interval(secs => $13), $14)
RETURNING id, epoch`

// From here on the secret is fixed, and everybody may know to what.
const commitSQL = `
UPDATE room SET mode = 'scheduled', phase = 'lobby', commitment = $2, committed_at = clock_timestamp(), sealed = $3, sealed_by = $4 WHERE id = $1`

const createSlotsSQL = `INSERT INTO slot (room_id, slot) SELECT $1, generate_series(1, $2::integer)`

const coverSQL = `UPDATE event SET room_id = $1 WHERE slug = ANY($2) AND room_id IS NULL`

// Why a room cannot be made.
var (
	ErrSlugTaken = errors.New("another waiting room has this slug")
	ErrCovered   = errors.New("one of the events is not there, or has a waiting room already")
)

// Create makes a room. From then on nobody claims in its events who was not let in; with a lobby, nobody is before it
// closed. Errors: *seats.Nonsense, ErrSlugTaken, ErrCovered, or the database's.
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
		covered, err := tx.Exec(ctx, coverSQL, d.Room, n.Events)
		if err == nil && covered.RowsAffected() != int64(len(n.Events)) {
			return ErrCovered
		}
		if err != nil {
			return err
		}
		return c.note(ctx, tx, d.Room, "create", strings.Join(n.Events, ", "))
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName == "room_slug_key" {
		return "", ErrSlugTaken
	}
	if err != nil {
		return "", fmt.Errorf("waitingroom: create room %q: %w", n.Slug, err)
	}
	return n.Slug, nil
}

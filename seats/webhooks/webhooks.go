package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/text"
)

// Kind is something that can be told.
type Kind string

// The kinds. Test is sent on request.
const (
	Confirmed Kind = "order.confirmed" // an order was placed
	Paid      Kind = "order.paid"      // money came for it; paid says how much in all
	Cancelled Kind = "order.cancelled" // some or all of its tickets; amount is what they cost, back what goes back of it
	Refunded  Kind = "order.refunded"  // money went back
	Exchanged Kind = "order.exchanged" // tickets of it, for those of another order; amount pays that one
	Moved     Kind = "ticket.moved"    // to another seat or to a friend: another ticket is in its place
	Scanned   Kind = "ticket.scanned"  // it was checked in

	Offered   Kind = "transfer.offered" // a ticket was offered to a friend
	Accepted  Kind = "transfer.accepted"
	Withdrawn Kind = "transfer.withdrawn"

	HoldExpired Kind = "hold.expired" // one for each hold: many in a rush

	EventCreated     Kind = "event.created"
	EventChanged     Kind = "event.changed"     // name, venue, time or status
	PerformanceAdded Kind = "performance.added" // an event became one of a series

	WaitJoined  Kind = "waitlist.joined"  // and confirmed the address
	WaitOffered Kind = "waitlist.offered" // seats
	WaitMissed  Kind = "waitlist.missed"  // an offer, and waits on
	WaitLeft    Kind = "waitlist.left"    // with tickets or without
	RoomChanged Kind = "room.changed"     // its phase

	PayoutCreated Kind = "payout.created"
	PayoutChanged Kind = "payout.changed" // its status

	Alert Kind = "alert.raised" // something needs a person of the team
	Test  Kind = "test"
)

// Kinds are those that a hook chooses from.
func Kinds() []Kind {
	return []Kind{
		Confirmed, Paid, Cancelled, Refunded, Exchanged, Moved, Scanned, Offered, Accepted, Withdrawn, HoldExpired, EventCreated, EventChanged, PerformanceAdded,
		WaitJoined, WaitOffered, WaitMissed, WaitLeft, RoomChanged, PayoutCreated, PayoutChanged, Alert,
	}
}

const mostHooks = 20 // of a team

// Fields that may be wrong in a form.
const (
	FieldURL   = "url"
	FieldKinds = "kinds"
)

// Hooks are the hooks of all teams, for one node.
type Hooks struct {
	db     *pgxpool.Pool
	desk   *organizers.Desk
	inside bool // deliveries also go to addresses that are not public, and by http
	client *http.Client
	box    *seal.Box // nil: secrets are not sealed

	sending *jobs.Job
}

// New returns the webhooks of a database. With inside, deliveries also go to this machine and the networks around it.
func New(db *pgxpool.Pool, d *organizers.Desk, inside bool) *Hooks {
	h := &Hooks{db: db, desk: d, inside: inside, client: NewClient(inside)}
	h.sending = jobs.New("webhooks", dueDeliveriesSQL, h.send)
	h.sending.AtOnce = hooksAtOnce
	return h
}

// Secrets is the table of the secrets that sign deliveries.
var Secrets = seal.Table{Name: "hook_secret", Select: sealedSecretsSQL, Update: sealSecretSQL}

const sealedSecretsSQL = `SELECT hook_id::text, secret FROM hook_secret ORDER BY hook_id, since FOR UPDATE`

const sealSecretSQL = `UPDATE hook_secret SET secret = $2 WHERE hook_id = $1::text::bigint AND secret = $3`

// SealWith has secrets sealed with a key outside the database. Call it before anything else.
func (h *Hooks) SealWith(box *seal.Box) { h.box = box }

// Webhook is an address that is told what happens to a team's events, orders and money.
type Webhook struct {
	ID           int64
	URL          string
	Kinds        []Kind
	CreatedAt    time.Time
	OffAt        *time.Time // nothing is told to it since
	OffWhy       string     // empty: an owner wanted it
	Failures     int        // in a row
	FailingSince *time.Time // no answer was a good one since
	RestsUntil   *time.Time // it is left alone until then; nil if it is not
	FormerUntil  *time.Time // until when deliveries are also signed with the secret before this one
	Waiting      int        // deliveries that were not taken yet, a hundred at most
}

const hookColumns = `
SELECT h.id, h.url, h.kinds, h.created_at, h.off_at, h.off_why, h.failures, h.failing_since,
       CASE WHEN h.rests_until > clock_timestamp() THEN h.rests_until END,
       (SELECT max(until) FROM hook_secret WHERE hook_id = h.id AND until > clock_timestamp()),
       (SELECT count(*) FROM (SELECT FROM notice WHERE hook_id = h.id AND sent_at IS NULL AND ended_at IS NULL LIMIT 100) n)
  FROM hook h`

const hooksSQL = hookColumns + ` WHERE h.team_id = $1 AND h.removed_at IS NULL ORDER BY h.id`

const oneHookSQL = hookColumns + ` WHERE h.team_id = $1 AND h.id = $2 AND h.removed_at IS NULL`

// List is the hooks of a member's team.
func (h *Hooks) List(ctx context.Context, m organizers.Member) (list []Webhook, err error) {
	err = h.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, hooksSQL, m.Team)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Webhook])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("webhooks: list: %w", err)
	}
	return list, nil
}

// Find returns a hook of a member's team. organizers.ErrNotYours if there is none.
func (h *Hooks) Find(ctx context.Context, m organizers.Member, id int64) (one Webhook, err error) {
	err = h.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, oneHookSQL, m.Team, id)
		if err != nil {
			return err
		}
		one, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Webhook])
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return one, organizers.ErrNotYours
	}
	if err != nil {
		return one, fmt.Errorf("webhooks: find: %w", err)
	}
	return one, nil
}

// check finds what is wrong with an address and what it is to be told of.
func (h *Hooks) check(address string, kinds []Kind) (string, []Kind, error) {
	var wrong organizers.Mistakes
	address = strings.TrimSpace(address)
	if words := h.wrongURL(address); words != "" {
		wrong = append(wrong, organizers.Mistake{Field: FieldURL, Message: words})
	}
	kinds = slices.Compact(slices.Sorted(slices.Values(kinds)))
	if len(kinds) == 0 || slices.ContainsFunc(kinds, func(k Kind) bool { return !slices.Contains(Kinds(), k) }) {
		wrong = append(wrong, organizers.Mistake{Field: FieldKinds, Message: text.Mark("Choose what it is notified of.")})
	}
	if len(wrong) > 0 {
		return "", nil, wrong
	}
	return address, kinds, nil
}

// wrongURL says what is wrong with an address before anybody calls it; empty for nothing. What its name leads to is looked
// at with each call.
func (h *Hooks) wrongURL(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Hostname() == "", len(address) > 500, u.Scheme != "https" && u.Scheme != "http":
		return text.Mark("This is not an address such as https://example.org/usher.")
	case u.Scheme == "http" && !h.inside:
		return text.Mark("The address begins with https://.")
	case u.User != nil, u.Fragment != "":
		return text.Mark("The address has no name, no password and no # in it: what is sent is signed.")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !h.inside && !public(ip) {
		return text.Mark("This address is not on the public internet.")
	}
	return ""
}

const newHookSQL = `
INSERT INTO hook (team_id, url, kinds) SELECT $1, $2, $3 WHERE (SELECT count(*) FROM hook WHERE team_id = $1 AND removed_at IS NULL) < $4 RETURNING id`

const secretStart = "whsec_" // as Standard Webhooks writes a secret

// newSecret makes the secret that signs a hook's deliveries.
func newSecret() []byte {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: crypto/rand ends the program instead
	return secret
}

// shown is a secret as its owner copies it.
func shown(secret []byte) string { return secretStart + base64.StdEncoding.EncodeToString(secret) }

const newSecretSQL = `INSERT INTO hook_secret (hook_id, secret) VALUES ($1, $2)`

// Make makes a hook and returns its secret, which can be had only now. A repeat of the form makes no other, and returns
// the zero id.
//
// Errors: organizers.Mistakes; those of organizers.Once; the database's.
func (h *Hooks) Make(ctx context.Context, m organizers.Member, address string, kinds []Kind, form string) (id int64, secret string, err error) {
	if address, kinds, err = h.check(address, kinds); err != nil {
		return 0, "", err
	}
	err = h.desk.Change(ctx, m, form, []any{"hook", address, kinds}, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, newHookSQL, m.Team, address, kinds, mostHooks).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return organizers.Mistakes{{Field: FieldURL, Message: text.Mark("A team has %d webhooks at most. Remove one first."), Args: []any{mostHooks}}}
		}
		if err != nil {
			return fmt.Errorf("webhooks: make: %w", err)
		}
		fresh := newSecret()
		if _, err := tx.Exec(ctx, newSecretSQL, id, h.box.Seal(fresh, Secrets.Context(id))); err != nil {
			return fmt.Errorf("webhooks: make a secret: %w", err)
		}
		secret = shown(fresh)
		if err := organizers.TellOwners(m, organizers.NoticeHookMade, address).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("made a webhook"), subject(id), map[string]any{"url": address, "kinds": kinds})
	})
	return id, secret, err
}

// subject is the address of a hook below /desk.
func subject(id int64) string { return fmt.Sprintf("hooks/%d", id) }

// change runs one statement about a hook that is there, once for each form, notes it and tells of it.
func (h *Hooks) change(ctx context.Context, m organizers.Member, id int64, form, what string, detail any, tell seats.TxHook, sql string, args ...any) error {
	return h.desk.Change(ctx, m, form, []any{what, id, detail}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sql, append([]any{m.Team, id}, args...)...)
		if err != nil {
			return fmt.Errorf("webhooks: %s: %w", what, err)
		}
		if tag.RowsAffected() == 0 {
			return organizers.ErrNotYours
		}
		if err := tell.Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, what, subject(id), detail)
	})
}

const changeHookSQL = `UPDATE hook SET url = $3, kinds = $4, rests_until = '-infinity' WHERE team_id = $1 AND id = $2 AND removed_at IS NULL`

// Change gives a hook another address, or other kinds. What waits for it goes there, too.
//
// Errors: organizers.ErrNotYours; organizers.Mistakes; those of organizers.Once; the database's. So are those of the rest.
func (h *Hooks) Change(ctx context.Context, m organizers.Member, id int64, address string, kinds []Kind, form string) error {
	address, kinds, err := h.check(address, kinds)
	if err != nil {
		return err
	}
	defer h.Wake()
	return h.change(ctx, m, id, form, text.Mark("changed a webhook"), map[string]any{"url": address, "kinds": kinds},
		organizers.TellOwners(m, organizers.NoticeHookChanged, address), changeHookSQL, address, kinds)
}

const hookOnSQL = `
UPDATE hook SET off_at = NULL, off_why = '', failures = 0, failing_since = NULL, rests_until = '-infinity' WHERE team_id = $1 AND id = $2 AND removed_at IS NULL`

const hookOffSQL = `UPDATE hook SET off_at = coalesce(off_at, clock_timestamp()) WHERE team_id = $1 AND id = $2 AND removed_at IS NULL`

// Switch turns a hook on or off. What happens while it is off is not told to it later.
func (h *Hooks) Switch(ctx context.Context, m organizers.Member, id int64, on bool, form string) error {
	defer h.Wake()
	if on {
		return h.change(ctx, m, id, form, text.Mark("switched a webhook on"), nil, organizers.TellOwners(m, organizers.NoticeHookOn), hookOnSQL)
	}
	return h.change(ctx, m, id, form, text.Mark("switched a webhook off"), nil, organizers.TellOwners(m, organizers.NoticeHookOff), hookOffSQL)
}

const removeHookSQL = `UPDATE hook SET removed_at = clock_timestamp() WHERE team_id = $1 AND id = $2 AND removed_at IS NULL`

// Remove takes a hook away: nothing is told to it any more.
func (h *Hooks) Remove(ctx context.Context, m organizers.Member, id int64, form string) error {
	return h.change(ctx, m, id, form, text.Mark("removed a webhook"), nil, organizers.TellOwners(m, organizers.NoticeHookRemoved), removeHookSQL)
}

const formerSecretSQL = `
UPDATE hook_secret SET until = clock_timestamp() + interval '1 day'
 WHERE hook_id = $2 AND until IS NULL AND EXISTS (SELECT FROM hook WHERE id = $2 AND team_id = $1 AND removed_at IS NULL)`

// Rotate gives a hook another secret, which can be had only now; for a day the one before signs as well. A repeat of the
// form returns none.
func (h *Hooks) Rotate(ctx context.Context, m organizers.Member, id int64, form string) (secret string, err error) {
	err = h.desk.Change(ctx, m, form, []any{"secret", id}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, formerSecretSQL, m.Team, id)
		if err != nil {
			return fmt.Errorf("webhooks: end a secret: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return organizers.ErrNotYours
		}
		fresh := newSecret()
		if _, err := tx.Exec(ctx, newSecretSQL, id, h.box.Seal(fresh, Secrets.Context(id))); err != nil {
			return fmt.Errorf("webhooks: make a secret: %w", err)
		}
		secret = shown(fresh)
		if err := organizers.TellOwners(m, organizers.NoticeHookSecret).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the secret of a webhook"), subject(id), nil)
	})
	return secret, err
}

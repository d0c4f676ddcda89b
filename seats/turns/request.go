package turns

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/seal"
	"github.com/usherbox/usher/seats/waitingroom"
)

// Turns is the requests to be told, as one node sees them. Any number of nodes may run on one database.
type Turns struct {
	// MailWritten is called after this node wrote mail. It must return at once.
	MailWritten func()
	// Contact is an address at which push services reach the operator: an email, or an https address.
	Contact string
	// Client makes the calls to push services. New sets one that reaches the public internet only.
	Client *http.Client

	db      *pgxpool.Pool
	rooms   *waitingroom.Rooms
	log     *slog.Logger
	box     *seal.Box
	key     atomic.Pointer[key]
	reading sync.Mutex // held by a page while it reads the key
	mails   *jobs.Job  // numbers and mails requests
	pushes  *jobs.Job

	mu    sync.Mutex
	asked map[int64]bool // rooms in which this node took a request
}

// SealWith seals the push key with a key outside the database. Call it before anything else.
func (t *Turns) SealWith(box *seal.Box) { t.box = box }

// Errors of requests.
var (
	ErrEmail   = errors.New("this is not an email address")
	ErrBrowser = errors.New("this is not a push subscription")
	ErrCalled  = errors.New("this number was called already")
	ErrEnded   = errors.New("this entry waits for no offer")
	ErrMany    = errors.New("this entry tells the most browsers that it may")
)

// Request is how a person wants to be told: by an email, or by a push subscription.
type Request struct {
	Email    string
	Endpoint string // of the subscription, an https address with a host name and port 443
	P256dh   string // its public key, in base64url
	Auth     string // its secret, in base64url
	Language string // of the reader, as BCP 47 writes it
	Team     int64  // with the domain where they ask; 0: that of the box office
}

// row is a request as the table has it. Of an email and a subscription it has one.
type row struct {
	email, endpoint, host *string
	p256dh, auth          []byte
}

func (r Request) row() (w row, err error) {
	if r.Endpoint == "" {
		email := strings.ToLower(strings.TrimSpace(r.Email))
		if !seats.IsEmail(email) {
			return w, ErrEmail
		}
		w.email = &email
		return w, nil
	}
	host, err := pushService(r.Endpoint)
	if err != nil {
		return w, err
	}
	decode := base64.RawURLEncoding.Strict().DecodeString
	if w.p256dh, err = decode(strings.TrimRight(r.P256dh, "=")); err != nil {
		return w, ErrBrowser
	}
	if _, err := ecdh.P256().NewPublicKey(w.p256dh); err != nil {
		return w, ErrBrowser
	}
	if w.auth, err = decode(strings.TrimRight(r.Auth, "=")); err != nil || len(w.auth) != 16 {
		return w, ErrBrowser
	}
	w.endpoint, w.host = &r.Endpoint, &host
	return w, nil
}

// pushService returns the name of the push service of an endpoint. Endpoints are what strangers write: only what looks like a
// push service is called, which has a name and the port of https.
func pushService(endpoint string) (host string, err error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.User != nil || len(endpoint) > 2000 || u.Port() != "" && u.Port() != "443" {
		return "", ErrBrowser
	}
	host = strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return "", ErrBrowser
	}
	return host, nil
}

// A repeat, or a correction, takes the place of the request before it.
const askSQL = `
INSERT INTO turn_request (room_id, epoch, kind, index, number, team_id, email, endpoint, host, p256dh, auth, language)
SELECT r.id, $2, $3, $4, nullif($5::bigint, 0), $6, $7, $8, $9, $10, $11, $12
  FROM room r WHERE r.id = $1 AND r.epoch = $2 AND r.phase <> 'ended' AND ($5::bigint = 0 OR $5::bigint > r.serving)
    ON CONFLICT (room_id, epoch, kind, index, (email IS NULL)) WHERE room_id IS NOT NULL
    DO UPDATE SET email = excluded.email, endpoint = excluded.endpoint, host = excluded.host, p256dh = excluded.p256dh, auth = excluded.auth,
       language = excluded.language, team_id = excluded.team_id, number = coalesce(turn_request.number, excluded.number)`

// Ask has a visitor told when their number is called. A place has one email and one push message.
//
// Errors: ErrEmail, ErrBrowser; ErrCalled if their number was called already, or the room has ended.
func (t *Turns) Ask(ctx context.Context, room *waitingroom.Room, p waitingroom.Place, r Request) error {
	w, err := r.row()
	if err != nil {
		return err
	}
	tag, err := t.db.Exec(ctx, askSQL, room.ID, p.Epoch, p.Kind, p.Index, room.Number(p), r.Team, w.email, w.endpoint, w.host, w.p256dh, w.auth, r.Language)
	if err != nil {
		return fmt.Errorf("turns: ask in room %d: %w", room.ID, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrCalled
	}
	t.mu.Lock()
	t.asked[room.ID] = true
	t.mu.Unlock()
	t.look() // the lobby may have been drawn meanwhile
	return nil
}

const forgetSQL = `DELETE FROM turn_request WHERE room_id = $1 AND epoch = $2 AND kind = $3 AND index = $4`

// Forget takes the requests of a place back.
func (t *Turns) Forget(ctx context.Context, p waitingroom.Place) error {
	if _, err := t.db.Exec(ctx, forgetSQL, p.Room, p.Epoch, p.Kind, p.Index); err != nil {
		return fmt.Errorf("turns: forget a place in room %d: %w", p.Room, err)
	}
	return nil
}

// mostBrowsers is how many browsers are told of one entry.
const mostBrowsers = 5

// Browsers of one entry are added one after the other, or two of them would be the fifth. The lock is a statement of its own:
// the next one counts what was added while it waited.
const lockEntrySQL = `SELECT state IN ('new', 'waiting', 'offered') FROM entry WHERE id = $1 FOR NO KEY UPDATE`

const askEntrySQL = `
INSERT INTO turn_request (entry_id, endpoint, host, p256dh, auth, language)
SELECT $1, $2, $3, $4, $5, $6 WHERE (SELECT count(*) FROM turn_request WHERE entry_id = $1 AND endpoint <> $2) < $7
    ON CONFLICT (entry_id, endpoint) WHERE entry_id IS NOT NULL
    DO UPDATE SET p256dh = excluded.p256dh, auth = excluded.auth, language = excluded.language`

// AskEntry has a browser told of the offers to an entry of a waiting list.
//
// Errors: ErrBrowser; ErrMany; ErrEnded.
func (t *Turns) AskEntry(ctx context.Context, entry int64, r Request) error {
	if r.Endpoint == "" {
		return ErrBrowser // emails are sent anyway
	}
	w, err := r.row()
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, t.db, func(tx pgx.Tx) error {
		var open bool
		if err := tx.QueryRow(ctx, lockEntrySQL, entry).Scan(&open); errors.Is(err, pgx.ErrNoRows) || err == nil && !open {
			return ErrEnded
		} else if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, askEntrySQL, entry, w.endpoint, w.host, w.p256dh, w.auth, r.Language, mostBrowsers)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrMany
		}
		return err
	})
	switch {
	case errors.Is(err, ErrEnded) || errors.Is(err, ErrMany):
		return err
	case err != nil:
		return fmt.Errorf("turns: ask for entry %d: %w", entry, err)
	}
	t.pushes.Wake() // an offer may be open
	return nil
}

const forgetEntrySQL = `DELETE FROM turn_request WHERE entry_id = $1`

// ForgetEntry has no browser told of an entry any more.
func (t *Turns) ForgetEntry(ctx context.Context, entry int64) error {
	if _, err := t.db.Exec(ctx, forgetEntrySQL, entry); err != nil {
		return fmt.Errorf("turns: forget entry %d: %w", entry, err)
	}
	return nil
}

const browsersSQL = `SELECT count(*) FROM turn_request WHERE entry_id = $1`

// Browsers is how many browsers are told of an entry.
func (t *Turns) Browsers(ctx context.Context, entry int64) (n int, err error) {
	if err := t.db.QueryRow(ctx, browsersSQL, entry).Scan(&n); err != nil {
		return 0, fmt.Errorf("turns: count the browsers of entry %d: %w", entry, err)
	}
	return n, nil
}

const exportSQL = `
SELECT coalesce(json_agg(json_build_object('room', r.name, 'email', t.email, 'asked_at', t.asked_at, 'language', t.language) ORDER BY t.id), '[]')
  FROM turn_request t JOIN room r ON r.id = t.room_id
 WHERE t.email = $2 AND r.id IN (SELECT room_id FROM event WHERE id = ANY($1))`

// Export returns the requests to be told at an address in the waiting rooms of some events.
func Export(ctx context.Context, tx pgx.Tx, events []int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportSQL, events, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("turns: export: %w", err)
	}
	return list, nil
}

// The push subscription of a place is of the person with the email of the place. Of an empty email it is all requests of the events:
// their sale ended long ago.
const eraseSQL = `
DELETE FROM turn_request t
 WHERE t.room_id IN (SELECT room_id FROM event WHERE id = ANY($1))
   AND ($2 <> '' AND (t.room_id, t.epoch, t.kind, t.index) IN (SELECT room_id, epoch, kind, index FROM turn_request WHERE email = $2)
       OR $2 = '' AND NOT EXISTS (SELECT FROM event WHERE room_id = t.room_id AND id <> ALL($1) AND starts_at > clock_timestamp()))
    OR t.entry_id IN (SELECT id FROM entry WHERE event_id = ANY($1) AND $2 IN ('', email))`

// Erase deletes the requests of a person in the waiting rooms and on the waiting lists of some events; for an empty email,
// those of all persons. Call it once before the waiting lists are erased.
func Erase(ctx context.Context, tx pgx.Tx, events []int64, email string) error {
	if _, err := tx.Exec(ctx, eraseSQL, events, email); err != nil {
		return fmt.Errorf("turns: erase: %w", err)
	}
	return nil
}

const waitingSQL = `SELECT count(*) FROM turn_request WHERE room_id = $1`

// Waiting is how many requests of a room are still to be told.
func (t *Turns) Waiting(ctx context.Context, room int64) (n int, err error) {
	if err := t.db.QueryRow(ctx, waitingSQL, room).Scan(&n); err != nil {
		return 0, fmt.Errorf("turns: count the requests of room %d: %w", room, err)
	}
	return n, nil
}

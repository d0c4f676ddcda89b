package organizers

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// How long a session of an organizer lasts. The statements below say the same.
const (
	SessionIdle  = 12 * time.Hour     // without a request
	SessionMost  = 7 * 24 * time.Hour // in all
	ProofLasts   = 10 * time.Minute   // for changes that need one
	DeviceLength = 180 * 24 * time.Hour
)

const openSession = `s.seen_at > clock_timestamp() - interval '12 hours' AND s.started_at > clock_timestamp() - interval '7 days'`

// Proof is how an organizer proved who they are.
type Proof struct {
	How    string // a word for the events, such as "password"
	Second bool   // it is a second factor, or two in one as a passkey is
}

// The proofs.
var (
	ByPassword = Proof{How: "password"}
	ByPasskey  = Proof{How: "passkey", Second: true}
	ByCode     = Proof{How: "code", Second: true}
	ByRecovery = Proof{How: "recovery code", Second: true}
	ByLink     = Proof{How: "link"}   // of a mail, or from the operator
	ByOpenID   = Proof{How: "openid"} // one factor, whatever the provider asked for
)

const beginSessionSQL = `
WITH old AS (DELETE FROM desk_session WHERE started_at < clock_timestamp() - interval '7 days' OR organizer_id = $1 AND seen_at < clock_timestamp() - interval '12 hours')
   , read AS (UPDATE organizer SET language = $6 WHERE id = $1 AND epoch = $2 AND $6 <> '' AND language <> $6)
INSERT INTO desk_session (organizer_id, agent, network, second) SELECT id, $3, $4, $5 FROM organizer WHERE id = $1 AND epoch = $2 RETURNING id`

const rememberDeviceSQL = `
WITH old AS (DELETE FROM desk_device WHERE used_at < clock_timestamp() - interval '180 days')
INSERT INTO desk_device (token, organizer_id) VALUES ($1, $2) ON CONFLICT (token, organizer_id) DO UPDATE SET used_at = clock_timestamp()`

const isDeviceSQL = `SELECT EXISTS (SELECT FROM desk_device WHERE token = $1), EXISTS (SELECT FROM desk_device WHERE token = $1 AND organizer_id = $2)`

// Enter begins a session of an organizer who proved who they are. It returns the new value of the device cookie.
//
// Errors: ErrSignedOut if they were signed out everywhere in the meantime; the database's.
func (d *Desk) Enter(ctx context.Context, s Session, from Client, by Proof) (_ Session, device string, err error) {
	device = from.Device
	hash := tokenHash(device)
	var known, theirs bool
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, beginSessionSQL, s.Organizer, s.Epoch, from.Agent, from.network(), by.Second, reads(ctx)).Scan(&s.ID); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, isDeviceSQL, hash, s.Organizer).Scan(&known, &theirs); err != nil {
			return err
		}
		if !known { // a token is never chosen by the browser
			device, hash = newToken()
		}
		_, err := tx.Exec(ctx, rememberDeviceSQL, hash, s.Organizer)
		return err
	})
	if isNoRows(err) {
		return s, "", ErrSignedOut
	}
	if err != nil {
		return s, "", fmt.Errorf("organizers: begin a session: %w", err)
	}
	detail := by.How
	if !theirs {
		detail += ", new device"
	}
	d.Report(SecurityEvent{Kind: SignedIn, Organizer: s.Organizer, Network: from.network(), Agent: from.Agent, Detail: detail})
	return s, device, nil
}

// Rows of sessions are noted as used at most every five minutes: a request that finds one younger writes nothing.
const seenSQL = `
WITH read AS (UPDATE organizer SET language = $4 WHERE id = $3 AND $4 <> '' AND language <> $4)
UPDATE desk_session SET seen_at = clock_timestamp(), network = $2 WHERE id = $1 AND seen_at < clock_timestamp() - interval '5 minutes'`

// Seen notes that a member's session is in use, and the language that they read.
func (d *Desk) Seen(ctx context.Context, m Member, from Client) error {
	if !m.stale {
		return nil
	}
	if _, err := d.db.Exec(ctx, seenSQL, m.Session, from.network(), m.Organizer, reads(ctx)); err != nil {
		return fmt.Errorf("organizers: note a session's use: %w", err)
	}
	return nil
}

// DeskSession is a session as its organizer sees it.
type DeskSession struct {
	ID              int64
	Agent, Network  string
	Second          bool
	Started, SeenAt time.Time
	Here            bool // the one that asks
}

const sessionsSQL = `
SELECT s.id, s.agent, s.network, s.second, s.started_at, s.seen_at, s.id = $2 FROM desk_session s
 WHERE s.organizer_id = $1 AND ` + openSession + ` ORDER BY s.id = $2 DESC, s.seen_at DESC, s.id DESC LIMIT 100`

// Sessions lists where a member is signed in, the session that asks first.
func (d *Desk) Sessions(ctx context.Context, m Member) ([]DeskSession, error) {
	rows, err := d.db.Query(ctx, sessionsSQL, m.Organizer, m.Session)
	if err != nil {
		return nil, fmt.Errorf("organizers: list sessions: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DeskSession])
	if err != nil {
		return nil, fmt.Errorf("organizers: list sessions: %w", err)
	}
	return list, nil
}

const endSessionSQL = `DELETE FROM desk_session WHERE organizer_id = $1 AND id = $2`

// EndSession signs one session of an organizer out, on all nodes. ErrNotYours if they have none of this number.
func (d *Desk) EndSession(ctx context.Context, organizer, id int64) error {
	tag, err := d.db.Exec(ctx, endSessionSQL, organizer, id)
	if err != nil {
		return fmt.Errorf("organizers: end a session: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNotYours
	}
	return nil
}

const endSessionsSQL = `DELETE FROM desk_session WHERE organizer_id = $1`

const provedSQL = `UPDATE desk_session SET proved_at = clock_timestamp(), second = second OR $3 WHERE organizer_id = $1 AND id = $2`

// proved notes that a member showed once more who they are.
func (d *Desk) proved(ctx context.Context, m Member, by Proof) error {
	if _, err := d.db.Exec(ctx, provedSQL, m.Organizer, m.Session, by.Second); err != nil {
		return fmt.Errorf("organizers: note a proof: %w", err)
	}
	return nil
}

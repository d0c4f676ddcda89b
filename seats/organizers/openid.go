package organizers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/openid"
	"github.com/usherbox/usher/seats/text"
)

// Why somebody who signed in at the provider is not signed in here.
var (
	ErrNoOpenID   = errors.New("the operator named no provider of OpenID Connect")
	ErrUnverified = errors.New("the provider did not make sure of the address")
	ErrStranger   = errors.New("no organizer and no open invitation has this address")
	ErrOtherOwner = errors.New("this identity signs another organizer in")
	ErrOtherOne   = errors.New("this is not the identity of the organizer who is signed in")
	ErrOnlyWayIn  = errors.New("the organizer has no other way to sign in")
)

// Unconfirmed is an identity with the address of an organizer who has not said yet that it is theirs: they sign in once in
// another way. An address alone opens no account.
type Unconfirmed struct {
	Organizer int64
	Identity  openid.Identity
}

func (u *Unconfirmed) Error() string {
	return "an organizer has this address, and did not confirm the identity"
}

// Why an organizer is sent to the provider.
const (
	ToSignIn  = "sign-in"
	ToProve   = "proof"   // that it is they
	ToConnect = "connect" // their account
)

// OpenIDState is what a session remembers while its browser is at the provider.
type OpenIDState struct {
	openid.Asked
	For       string `json:"for"`
	Organizer int64  `json:"organizer,omitempty"` // who is signed in
	To        string `json:"to"`                  // the page they wanted
}

const clockSQL = `SELECT clock_timestamp()`

// BeginOpenID returns the address at the provider that a browser goes to, and what its session remembers until it comes back
// to redirect. For and To of it are the caller's.
//
// Errors: ErrNoOpenID; ErrOften from one network; openid.ErrDown; the database's.
func (d *Desk) BeginOpenID(ctx context.Context, redirect string, s OpenIDState, from Client) (address, state string, err error) {
	if d.OpenID == nil {
		return "", "", ErrNoOpenID
	}
	if err := d.asking(ctx, from); err != nil {
		return "", "", err
	}
	var now time.Time
	if err := d.db.QueryRow(ctx, clockSQL).Scan(&now); err != nil {
		return "", "", fmt.Errorf("organizers: read the clock: %w", err)
	}
	if address, s.Asked, err = d.OpenID.Begin(ctx, redirect, now, s.For == ToProve); err != nil {
		return "", "", err
	}
	kept, err := json.Marshal(s)
	return address, string(kept), err
}

// AnswerOpenID returns who came back from the provider with an answer, and what was asked. state is what BeginOpenID had
// remembered; it is good for one answer.
//
// Errors: ErrNoOpenID; those of openid.Provider.Check and Finish; the database's.
func (d *Desk) AnswerOpenID(ctx context.Context, state string, answer url.Values, from Client) (id openid.Identity, s OpenIDState, err error) {
	if d.OpenID == nil {
		return id, s, ErrNoOpenID
	}
	_ = json.Unmarshal([]byte(state), &s) // nothing was asked if it cannot be read: no answer fits
	var now time.Time
	if err := d.db.QueryRow(ctx, clockSQL).Scan(&now); err != nil {
		return id, s, fmt.Errorf("organizers: read the clock: %w", err)
	}
	if err = d.OpenID.Check(s.Asked, answer, now); err == nil {
		err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error { return openid.Take(ctx, tx, s.Asked) })
	}
	if err == nil {
		id, err = d.OpenID.Finish(ctx, s.Asked, answer.Get("code"), now)
	}
	if errors.Is(err, openid.ErrAnswer) || errors.Is(err, openid.ErrNotFresh) {
		d.openIDFailed(s, from)
	}
	return id, s, err
}

// openIDFailed reports an answer that opened nothing.
func (d *Desk) openIDFailed(s OpenIDState, from Client) {
	e := SecurityEvent{Kind: SignInFailed, Organizer: s.Organizer, Network: from.network(), Agent: from.Agent, Detail: ByOpenID.How}
	if s.For == ToProve {
		e.Kind = ProofFailed
	}
	d.Report(e)
}

const useOpenIDSQL = `
WITH used AS (UPDATE openid SET used_at = clock_timestamp() WHERE issuer = $1 AND subject = $2 RETURNING organizer_id)
SELECT o.id, o.epoch FROM used JOIN organizer o ON o.id = used.organizer_id`

// SignInByOpenID returns the session of the organizer of an identity; Enter begins it. Who has none yet, but open invitations
// to the address that the provider made sure of, becomes a member by all of them.
//
// Errors: ErrUnverified; an *Unconfirmed if an organizer has the address; ErrStranger; the database's.
func (d *Desk) SignInByOpenID(ctx context.Context, id openid.Identity, from Client) (s Session, err error) {
	err = d.db.QueryRow(ctx, useOpenIDSQL, id.Issuer, id.Subject).Scan(&s.Organizer, &s.Epoch)
	if err == nil {
		return s, nil
	}
	if !isNoRows(err) {
		return s, fmt.Errorf("organizers: look for an identity: %w", err)
	}
	email, ok := seats.NormalEmail(id.Email)
	if err = ErrUnverified; ok && id.Verified {
		s, err = d.joinByOpenID(ctx, id, email)
	}
	if errors.Is(err, errKnown) { // since a moment ago
		return d.SignInByOpenID(ctx, id, from)
	}
	if errors.Is(err, ErrUnverified) || errors.Is(err, ErrStranger) {
		d.openIDFailed(OpenIDState{}, from)
	}
	return s, err
}

const organizerOfSQL = `SELECT id FROM organizer WHERE email = $1`

const acceptAllSQL = `
UPDATE invitation i SET accepted_at = clock_timestamp(), token = NULL FROM team t
 WHERE i.email = $1 AND t.id = i.team_id AND ` + openInvitation + `
RETURNING ` + invitedColumns

// joinByOpenID makes an organizer of somebody who is invited. They have no password.
func (d *Desk) joinByOpenID(ctx context.Context, id openid.Identity, email string) (s Session, err error) {
	n := Newcomer{Name: nameOf(id, email), Email: email}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		var organizer int64
		err := tx.QueryRow(ctx, organizerOfSQL, email).Scan(&organizer)
		if err == nil {
			return &Unconfirmed{organizer, id}
		}
		if !isNoRows(err) {
			return fmt.Errorf("organizers: look for an address: %w", err)
		}
		rows, err := tx.Query(ctx, acceptAllSQL, email)
		if err != nil {
			return fmt.Errorf("organizers: accept invitations: %w", err)
		}
		invited, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i Invited, err error) { return i, i.scan(row) })
		if err != nil {
			return fmt.Errorf("organizers: accept invitations: %w", err)
		}
		if len(invited) == 0 {
			return ErrStranger
		}
		if s, err = create(ctx, tx, n, ""); err != nil {
			return err
		}
		s.Team = invited[0].Team
		for _, i := range invited {
			if err := joined(ctx, tx, Member{Organizer: s.Organizer, Name: n.Name, Email: email}, i); err != nil {
				return err
			}
		}
		return keepOpenID(ctx, tx, s.Organizer, id)
	})
	if err != nil {
		return Session{}, err
	}
	d.wake()
	return s, nil
}

// nameOf is what the provider calls somebody, or what stands before the @ of their address.
func nameOf(id openid.Identity, email string) string {
	if name, wrong := tidyName(id.Name, mostName); wrong == nil {
		return name
	}
	local, _, _ := strings.Cut(email, "@")
	return local
}

const keepOpenIDSQL = `
INSERT INTO openid (organizer_id, issuer, subject, email, used_at) VALUES ($1, $2, $3, $4, clock_timestamp())
    ON CONFLICT (organizer_id, issuer) DO UPDATE
   SET subject = excluded.subject, email = excluded.email, connected_at = clock_timestamp(), used_at = clock_timestamp()`

// keepOpenID connects an organizer with an identity, in place of another one at this provider. ErrOtherOwner if it is
// another organizer's.
func keepOpenID(ctx context.Context, tx pgx.Tx, organizer int64, id openid.Identity) error {
	_, err := tx.Exec(ctx, keepOpenIDSQL, organizer, id.Issuer, id.Subject, id.Email)
	if seats.IsConstraint(err, "one identity is one organizer") {
		return ErrOtherOwner
	}
	if err != nil {
		return fmt.Errorf("organizers: keep an identity: %w", err)
	}
	return nil
}

// ConnectOpenID has an identity sign an organizer in from now on, who proved in another way that they are the organizer.
//
// Errors: ErrOtherOwner; the database's.
func (d *Desk) ConnectOpenID(ctx context.Context, organizer int64, id openid.Identity, from Client) error {
	m := Member{Organizer: organizer, From: from}
	err := pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, ownerOfSQL, organizer).Scan(&m.Name, &m.Email); err != nil {
			return fmt.Errorf("organizers: connect an identity: %w", err)
		}
		if err := keepOpenID(ctx, tx, organizer, id); err != nil {
			return err
		}
		return d.accountChanged(ctx, tx, m, text.Mark("connected a sign-in provider"), "Your account can now be opened with "+d.OpenID.Name+".")
	})
	if err == nil {
		d.changed(m, "provider connected")
	}
	return err
}

const isOpenIDSQL = `SELECT EXISTS (SELECT FROM openid WHERE organizer_id = $1 AND issuer = $2 AND subject = $3)`

// ProveByOpenID has a member show who they are by signing in at the provider anew; their session keeps that they did.
// ErrOtherOne if the identity is not theirs.
func (d *Desk) ProveByOpenID(ctx context.Context, m Member, id openid.Identity) error {
	var theirs bool
	if err := d.db.QueryRow(ctx, isOpenIDSQL, m.Organizer, id.Issuer, id.Subject).Scan(&theirs); err != nil {
		return fmt.Errorf("organizers: look for an identity: %w", err)
	}
	if !theirs {
		d.openIDFailed(OpenIDState{For: ToProve, Organizer: m.Organizer}, m.From)
		return ErrOtherOne
	}
	return d.proved(ctx, m, ByOpenID)
}

// Connection says how a member may sign in besides with passkeys.
type Connection struct {
	Provider    string // its name; empty: the operator named none
	Password    bool   // they have one
	Connected   bool   // the provider signs them in
	Email       string // at the provider, if it named one
	ConnectedAt time.Time
	UsedAt      *time.Time
}

const connectionSQL = `
SELECT o.password <> '', x.organizer_id IS NOT NULL, coalesce(x.email, ''), coalesce(x.connected_at, o.created_at), x.used_at
  FROM organizer o LEFT JOIN openid x ON x.organizer_id = o.id AND x.issuer = $2 WHERE o.id = $1`

// Connection returns how a member may sign in besides with passkeys.
func (d *Desk) Connection(ctx context.Context, m Member) (c Connection, err error) {
	issuer := ""
	if d.OpenID != nil {
		c.Provider, issuer = d.OpenID.Name, d.OpenID.Issuer
	}
	if err := d.db.QueryRow(ctx, connectionSQL, m.Organizer, issuer).Scan(&c.Password, &c.Connected, &c.Email, &c.ConnectedAt, &c.UsedAt); err != nil {
		return c, fmt.Errorf("organizers: read a connection: %w", err)
	}
	return c, nil
}

const removeOpenIDSQL = `
DELETE FROM openid x USING organizer o
 WHERE x.organizer_id = $1 AND x.issuer = $2 AND o.id = x.organizer_id
   AND (o.password <> '' OR EXISTS (SELECT FROM passkey WHERE organizer_id = o.id))`

// RemoveOpenID has the provider sign a member in no more. Errors: ErrNotYours if it does not; ErrOnlyWayIn; the database's.
func (d *Desk) RemoveOpenID(ctx context.Context, m Member) error {
	c, err := d.Connection(ctx, m)
	if err != nil {
		return err
	}
	if !c.Connected {
		return ErrNotYours
	}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, removeOpenIDSQL, m.Organizer, d.OpenID.Issuer)
		if err != nil {
			return fmt.Errorf("organizers: remove a connection: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrOnlyWayIn
		}
		return d.accountChanged(ctx, tx, m, text.Mark("disconnected a sign-in provider"), "Your account can no longer be opened with "+c.Provider+".")
	})
	if err == nil {
		d.changed(m, "provider disconnected")
	}
	return err
}

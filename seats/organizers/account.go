package organizers

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// MailPassword is the kind of mail that lets an organizer choose another password.
const MailPassword = "password"

// An address gets three of these mails within an hour; whether it is an organizer's, the answer does not say.
const askPasswordSQL = `
WITH asked AS (
    INSERT INTO password_link (organizer_id, expires_at) SELECT id, clock_timestamp() + interval '10 minutes' FROM organizer WHERE email = $1
        ON CONFLICT (organizer_id) DO UPDATE
       SET asked = CASE WHEN password_link.since > clock_timestamp() - interval '1 hour' THEN password_link.asked + 1 ELSE 1 END,
           since = CASE WHEN password_link.since > clock_timestamp() - interval '1 hour' THEN password_link.since ELSE clock_timestamp() END
     WHERE password_link.since <= clock_timestamp() - interval '1 hour' OR password_link.asked < 3
    RETURNING organizer_id
)
INSERT INTO mail (email, kind) SELECT $1, 'password' FROM asked`

// AskPassword mails the organizer of an address a link to choose another password. The answer does not tell whether
// there is one, nor whether enough mail went there within the hour.
//
// Errors: Mistakes if this is no address; ErrOften from one network; the database's.
func (d *Desk) AskPassword(ctx context.Context, typed string, from Client) error {
	email, ok := seats.NormalEmail(typed)
	if !ok {
		return Mistakes{{Field: FieldEmail, Message: text.Mark("Enter an email address in the format name@example.com.")}}
	}
	if err := d.asking(ctx, from); err != nil {
		return err
	}
	if _, err := d.db.Exec(ctx, askPasswordSQL, email); err != nil {
		return fmt.Errorf("organizers: ask for a password link: %w", err)
	}
	d.wake()
	return nil
}

const passwordLinkSQL = `
INSERT INTO password_link (organizer_id, token, expires_at) SELECT id, $2, clock_timestamp() + interval '10 minutes' FROM organizer WHERE email = $1
    ON CONFLICT (organizer_id) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at
RETURNING (SELECT name FROM organizer WHERE email = $1)`

// PasswordLink makes the token of a link by which the organizer of an address may choose another password, good once and
// for ten minutes, and takes the one before it back. It returns their name, too. ErrNoLink if there is no such organizer.
func (d *Desk) PasswordLink(ctx context.Context, email string) (token, name string, err error) {
	token, hash := newToken()
	err = d.db.QueryRow(ctx, passwordLinkSQL, email, hash).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", ErrNoLink
	}
	if err != nil {
		return "", "", fmt.Errorf("organizers: make a password link: %w", err)
	}
	return token, name, nil
}

const whosePasswordSQL = `
SELECT o.id, o.name, o.email FROM password_link l JOIN organizer o ON o.id = l.organizer_id
 WHERE l.token = $1 AND l.expires_at > clock_timestamp()`

// WhosePassword returns the organizer of a password link, and leaves it good. ErrNoLink if it is unknown, used or too old.
func (d *Desk) WhosePassword(ctx context.Context, token string) (m Member, err error) {
	err = d.db.QueryRow(ctx, whosePasswordSQL, tokenHash(token)).Scan(&m.Organizer, &m.Name, &m.Email)
	if errors.Is(err, pgx.ErrNoRows) {
		return m, ErrNoLink
	}
	if err != nil {
		return m, fmt.Errorf("organizers: look at a password link: %w", err)
	}
	return m, nil
}

const usePasswordLinkSQL = `
UPDATE password_link SET token = NULL WHERE token = $1 AND expires_at > clock_timestamp() AND organizer_id = $2`

const setPasswordSQL = `UPDATE organizer SET password = $2, epoch = epoch + 1 WHERE id = $1 RETURNING epoch`

const noteEverywhereSQL = `
INSERT INTO deed (team_id, organizer_id, who, email, what, subject)
SELECT m.team_id, o.id, o.name, o.email, $2, 'team/' || o.email FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE o.id = $1`

// ResetPassword uses a link up: the organizer has another password, and every session of before is signed out.
//
// Errors: Mistakes, and the link stays good; ErrNoLink; the database's.
func (d *Desk) ResetPassword(ctx context.Context, token, password string, from Client) (s Session, err error) {
	m, err := d.WhosePassword(ctx, token)
	if err != nil {
		return s, err
	}
	m.From = from
	return d.setPassword(ctx, m, password, text.Mark("chose another password by a link"), func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, usePasswordLinkSQL, tokenHash(token), m.Organizer)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNoLink
		}
		return err
	})
}

const ownPasswordSQL = `SELECT password FROM organizer WHERE id = $1`

// ChangePassword gives a member another password, if they know the one they have. Every session is signed out; Enter begins
// another one.
//
// Errors: ErrSignIn if they do not know it; ErrOften; ErrBusy; Mistakes; the database's.
func (d *Desk) ChangePassword(ctx context.Context, m Member, before, password string) (s Session, err error) {
	if err := d.ProvePassword(ctx, m, before); err != nil {
		return s, err
	}
	return d.setPassword(ctx, m, password, text.Mark("changed their password"), func(pgx.Tx) error { return nil })
}

// ProvePassword has a member show that they know their password; their session keeps that they did.
//
// Errors: ErrSignIn if they do not; ErrOften; ErrBusy; the database's.
func (d *Desk) ProvePassword(ctx context.Context, m Member, password string) error {
	by := counter{fmt.Sprintf("proof %d", m.Organizer), provePace}
	if err := d.countProof(ctx, by, m.Organizer, m.From); err != nil {
		return err
	}
	var hash string
	if err := d.db.QueryRow(ctx, ownPasswordSQL, m.Organizer).Scan(&hash); err != nil {
		return fmt.Errorf("organizers: look at a password: %w", err)
	}
	ok, err := d.opens(ctx, password, hash, true)
	switch {
	case err != nil:
		return err
	case !ok:
		d.Report(SecurityEvent{Kind: ProofFailed, Organizer: m.Organizer, Network: m.From.network(), Agent: m.From.Agent, Detail: "password"})
		return ErrSignIn
	}
	if err := d.succeeded(ctx, []counter{by}); err != nil {
		return err
	}
	return d.proved(ctx, m, ByPassword)
}

// countProof counts a try to prove who an organizer is. ErrOften if there were too many, which is reported.
func (d *Desk) countProof(ctx context.Context, by counter, organizer int64, from Client) error {
	_, err := d.count(ctx, by)
	if errors.Is(err, ErrOften) {
		d.Report(SecurityEvent{Kind: SignInSlowed, Organizer: organizer, Network: from.network(), Agent: from.Agent, Detail: "proof"})
	}
	return err
}

// setPassword checks and writes a password, with what use does first in the same transaction.
func (d *Desk) setPassword(ctx context.Context, m Member, password, what string, use func(pgx.Tx) error) (s Session, err error) {
	if wrong := wrongPassword(password, m.Name, m.Email, m.TeamName); wrong != "" {
		return s, Mistakes{{Field: FieldPassword, Message: wrong}}
	}
	hash, err := d.hash(ctx, password)
	if err != nil {
		return s, err
	}
	s.Organizer, s.Team = m.Organizer, m.Team
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) error {
		if err := use(tx); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, setPasswordSQL, m.Organizer, hash).Scan(&s.Epoch); err != nil {
			return fmt.Errorf("organizers: set a password: %w", err)
		}
		if _, err := tx.Exec(ctx, endSessionsSQL, m.Organizer); err != nil {
			return fmt.Errorf("organizers: set a password: %w", err)
		}
		return d.accountChanged(ctx, tx, m, what, text.Mark("Your account has a new password, and every session of it was signed out."))
	})
	if err == nil {
		d.changed(m, "password")
	}
	return s, err
}

const setNameSQL = `UPDATE organizer SET name = $2 WHERE id = $1 AND name <> $2`

// SetName changes what a member is called. Errors: Mistakes; the database's.
func (d *Desk) SetName(ctx context.Context, m Member, text string) error {
	name, wrong := tidyName(text, mostName)
	if wrong != nil {
		return wrong
	}
	if _, err := d.db.Exec(ctx, setNameSQL, m.Organizer, name); err != nil {
		return fmt.Errorf("organizers: change a name: %w", err)
	}
	return nil
}

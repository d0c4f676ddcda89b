package organizers

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// Why a set-up link opens nothing.
var (
	ErrNoLink   = errors.New("this link opens nothing")
	ErrHasOwner = errors.New("there is an owner already")
)

const hasOwnerSQL = `SELECT EXISTS (SELECT FROM member WHERE role = 'owner')`

const setupLinkSQL = `
WITH old AS (DELETE FROM setup WHERE created_at < clock_timestamp() - interval '1 day' AND used_at IS NULL)
INSERT INTO setup (token) SELECT $1 WHERE NOT EXISTS (SELECT FROM member WHERE role = 'owner')`

// SetupLink makes the token of a link by which the first organizer comes to be: good once, for a day, and as long as
// there is no owner. ErrHasOwner if there is one.
func (d *Desk) SetupLink(ctx context.Context) (token string, err error) {
	token, hash := newToken()
	tag, err := d.db.Exec(ctx, setupLinkSQL, hash)
	if err != nil {
		return "", fmt.Errorf("organizers: make a set-up link: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return "", ErrHasOwner
	}
	return token, nil
}

// HasOwner reports whether there is an organizer who owns a team.
func (d *Desk) HasOwner(ctx context.Context) (has bool, err error) {
	if err := d.db.QueryRow(ctx, hasOwnerSQL).Scan(&has); err != nil {
		return false, fmt.Errorf("organizers: is there an owner: %w", err)
	}
	return has, nil
}

const openSetupSQL = `
SELECT EXISTS (SELECT FROM setup WHERE token = $1 AND used_at IS NULL AND created_at > clock_timestamp() - interval '1 day')
   AND NOT EXISTS (SELECT FROM member WHERE role = 'owner')`

// IsSetup reports whether a token is that of a good set-up link. Looking does not use it up.
func (d *Desk) IsSetup(ctx context.Context, token string) (ok bool, err error) {
	if err := d.db.QueryRow(ctx, openSetupSQL, tokenHash(token)).Scan(&ok); err != nil {
		return false, fmt.Errorf("organizers: look at a set-up link: %w", err)
	}
	return ok, nil
}

const lockFirstTeamSQL = `SELECT id, name FROM team ORDER BY id LIMIT 1 FOR UPDATE`

const useSetupSQL = `
UPDATE setup SET used_at = clock_timestamp()
 WHERE token = $1 AND used_at IS NULL AND created_at > clock_timestamp() - interval '1 day'`

const addMemberSQL = `INSERT INTO member (team_id, organizer_id, role) VALUES ($1, $2, $3)`

// Setup makes the first organizer, owner of the first team, and uses the link up.
//
// Errors: Mistakes, and the link stays good; ErrNoLink if it is unknown, used or too old, or another one was faster; the
// database's.
func (d *Desk) Setup(ctx context.Context, token string, n Newcomer) (s Session, err error) {
	ok, err := d.IsSetup(ctx, token)
	if err != nil {
		return s, err
	}
	if !ok {
		return s, ErrNoLink
	}
	if err := n.check(); err != nil {
		return s, err
	}
	hash, err := d.hash(ctx, n.Password)
	if err != nil {
		return s, err
	}
	err = pgx.BeginFunc(ctx, d.db, func(tx pgx.Tx) (err error) {
		s, err = setUp(ctx, tx, token, n, hash)
		return err
	})
	switch {
	case errors.Is(err, ErrNoLink):
		return Session{}, ErrNoLink
	case errors.Is(err, errKnown):
		return Session{}, Mistakes{{Field: FieldEmail, Message: text.Mark("An organizer has this address already.")}}
	case err != nil:
		return Session{}, fmt.Errorf("organizers: set up: %w", err)
	}
	return s, nil
}

func setUp(ctx context.Context, tx pgx.Tx, token string, n Newcomer, hash string) (s Session, err error) {
	m := Member{Name: n.Name, Email: n.Email, Role: Owner}
	if err := tx.QueryRow(ctx, lockFirstTeamSQL).Scan(&m.Team, &m.TeamName); err != nil {
		return s, err
	}
	var owned bool
	if err := tx.QueryRow(ctx, hasOwnerSQL).Scan(&owned); err != nil {
		return s, err
	}
	tag, err := tx.Exec(ctx, useSetupSQL, tokenHash(token))
	if err != nil {
		return s, err
	}
	if owned || tag.RowsAffected() == 0 {
		return s, ErrNoLink
	}
	if s, err = create(ctx, tx, n, hash); err != nil {
		return s, err
	}
	m.Organizer, s.Team = s.Organizer, m.Team
	if _, err := tx.Exec(ctx, addMemberSQL, m.Team, m.Organizer, m.Role); err != nil {
		return s, err
	}
	return s, Note(ctx, tx, m, text.Mark("set the desk up"), "team", nil)
}

package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Scope is something that a key for programs opens.
type Scope string

// The scopes. None opens the team and its members, nor anybody's account.
const (
	ScopeLook   Scope = "look"
	ScopeSell   Scope = "sell"
	ScopeManage Scope = "manage"
)

// Scopes are all of them, as people choose from them.
func Scopes() []Scope { return []Scope{ScopeLook, ScopeSell, ScopeManage} }

var scoped = map[Need]Scope{Look: ScopeLook, Sell: ScopeSell, Manage: ScopeManage}

// keyStart is what every key begins with, so that people and programs that look for lost secrets know one.
const keyStart = "usher_"

// ErrKey is a key that opens nothing.
var ErrKey = errors.New("this key opens nothing")

const memberByKeySQL = `
SELECT o.id, o.name, o.email, t.id, t.name, m.role, k.id, k.name, k.scopes,
       $2 = '' OR EXISTS (SELECT FROM event e WHERE e.slug = $2 AND e.team_id = t.id),
       k.used_at IS NULL OR k.used_at < clock_timestamp() - interval '1 hour'
  FROM api_key k JOIN organizer o ON o.id = k.organizer_id JOIN team t ON t.id = k.team_id
  JOIN member m ON m.organizer_id = o.id AND m.team_id = t.id
 WHERE k.hash = $1 AND k.revoked_at IS NULL`

const keyUsedSQL = `UPDATE api_key SET used_at = clock_timestamp() WHERE id = $1`

// ByKey returns in whose name a program works that has a key, as of now; event as for Member. What the key does not open
// the member may not do.
//
// Errors: ErrKey if the key opens nothing, or whoever made it left the team; ErrNotYours if there is no such event in its
// team; the database's.
func (d *Desk) ByKey(ctx context.Context, key, event string) (m Member, err error) {
	var ours, rarely bool
	var name string
	err = d.db.QueryRow(ctx, memberByKeySQL, tokenHash(key), event).Scan(&m.Organizer, &m.Name, &m.Email, &m.Team, &m.TeamName, &m.Role,
		&m.Key, &name, &m.scopes, &ours, &rarely)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Member{}, ErrKey
	case err != nil:
		return Member{}, fmt.Errorf("desk: whose is a key: %w", err)
	case !ours:
		return Member{}, ErrNotYours
	}
	m.Name += ", by the key " + name
	if rarely {
		if _, err := d.db.Exec(ctx, keyUsedSQL, m.Key); err != nil {
			return Member{}, fmt.Errorf("desk: note that a key was used: %w", err)
		}
	}
	return m, nil
}

// APIKey is a key for programs, as a list shows it.
type APIKey struct {
	ID        int64
	Name      string
	Start     string // its first letters
	Scopes    []Scope
	Maker     string
	CreatedAt time.Time
	UsedAt    *time.Time
	RevokedAt *time.Time
	Left      bool // whoever made it is in the team no more, so that it opens nothing
}

const apiKeysSQL = `
SELECT k.id, k.name, k.start, k.scopes, coalesce(o.name, 'somebody who left'), k.created_at, k.used_at, k.revoked_at, o.id IS NULL
  FROM api_key k LEFT JOIN organizer o ON o.id = k.organizer_id
 WHERE k.team_id = $1 ORDER BY k.revoked_at IS NOT NULL, k.id DESC`

// APIKeys lists the keys of a member's team, those that still open something first.
func (d *Desk) APIKeys(ctx context.Context, m Member) (list []APIKey, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, apiKeysSQL, m.Team)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[APIKey])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("desk: list keys: %w", err)
	}
	return list, nil
}

const newAPIKeySQL = `INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start) VALUES ($1, $2, $3, $4, $5, $6)`

// NewAPIKey makes a key for programs and returns it: it can be had only now. A repeat of the form makes no other, and
// returns none.
//
// Errors: Mistakes; those of Once; the database's.
func (d *Desk) NewAPIKey(ctx context.Context, m Member, name string, scopes []Scope, form string) (key string, err error) {
	var wrong Mistakes
	name, what := tidyName(name, mostTeam)
	if what != "" {
		wrong = append(wrong, Mistake{FieldName, what})
	}
	slices.Sort(scopes)
	scopes = slices.Compact(scopes)
	if len(scopes) == 0 || slices.ContainsFunc(scopes, func(s Scope) bool { return !slices.Contains(Scopes(), s) }) {
		wrong = append(wrong, Mistake{FieldScope, "Choose what it opens."})
	}
	if err := wrong.orNil(); err != nil {
		return "", err
	}
	err = d.Change(ctx, m, form, []any{"key", name, scopes}, func(tx pgx.Tx) error {
		token, _ := newToken()
		key = keyStart + strings.ToLower(token)
		start := key[:len(keyStart)+4]
		if _, err := tx.Exec(ctx, newAPIKeySQL, m.Team, m.Organizer, name, scopes, tokenHash(key), start); err != nil {
			return fmt.Errorf("desk: make a key: %w", err)
		}
		return Note(ctx, tx, m, "made a key", "keys", map[string]any{"name": name, "may": scopes})
	})
	return key, err
}

const revokeAPIKeySQL = `
UPDATE api_key SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE team_id = $1 AND id = $2 RETURNING name`

// RevokeAPIKey ends a key, at once and on all nodes. Errors: ErrNotYours; those of Once; the database's.
func (d *Desk) RevokeAPIKey(ctx context.Context, m Member, id int64, form string) error {
	return d.Change(ctx, m, form, []any{"revoke", id}, func(tx pgx.Tx) error {
		var name string
		err := tx.QueryRow(ctx, revokeAPIKeySQL, m.Team, id).Scan(&name)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotYours
		}
		if err != nil {
			return fmt.Errorf("desk: revoke a key: %w", err)
		}
		return Note(ctx, tx, m, "revoked a key", "keys", map[string]any{"name": name})
	})
}

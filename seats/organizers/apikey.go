package organizers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
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

var scoped = map[Need]Scope{Look: ScopeLook, Find: ScopeLook, Exchange: ScopeManage, Sell: ScopeSell, Admit: ScopeSell, Promote: ScopeManage, Account: ScopeManage, Manage: ScopeManage}

// KeyStart is what every key begins with, so that people and programs that look for lost secrets know one.
const KeyStart = "usher_"

// TestKeyStart is what a key for test sales begins with.
const TestKeyStart = KeyStart + "test_"

// PartnerKeyStart is what the key of an allocation begins with.
const PartnerKeyStart = KeyStart + "partner_"

// keyHash is what is stored of a key. That of a key for test sales or for an allocation is another one than an earlier version looks for: such a
// node, which knows neither, would open all events to it.
func keyHash(key string) []byte {
	if strings.HasPrefix(key, PartnerKeyStart) {
		return tokenHash("for an allocation " + key)
	}
	if strings.HasPrefix(key, TestKeyStart) {
		return tokenHash("for test sales " + key)
	}
	return tokenHash(key)
}

// ErrKey is a key that opens nothing.
var ErrKey = errors.New("this key opens nothing")

const memberByKeySQL = `
SELECT o.id, o.name, o.email, t.id, t.name, m.role, k.id, k.name, k.scopes, k.test, coalesce(a.slug, ''), coalesce(c.code, ''),
       $2 = '' OR EXISTS (SELECT FROM event e WHERE e.slug = $2 AND e.team_id = t.id AND (e.test_of IS NOT NULL) = k.test),
       k.used_at IS NULL OR k.used_at < clock_timestamp() - interval '1 hour', $3 <> ALL (k.networks), cardinality(k.networks) = 0
  FROM api_key k JOIN organizer o ON o.id = k.organizer_id JOIN team t ON t.id = k.team_id
  JOIN member m ON m.organizer_id = o.id AND m.team_id = t.id
  LEFT JOIN code c ON c.id = k.code_id LEFT JOIN event a ON a.id = c.event_id
 WHERE k.hash = $1 AND k.revoked_at IS NULL AND k.expires_at > clock_timestamp()`

const keyUsedSQL = `
UPDATE api_key SET used_at = clock_timestamp(),
       networks = CASE WHEN $2 = ANY (networks) THEN networks ELSE (networks || $2)[greatest(cardinality(networks) - 8, 1):] END
 WHERE id = $1`

// ByKey returns the member that a key works as, as of now; event as for Member. What the key does not open
// the member may not do.
//
// Errors: ErrKey if the key opens nothing, it expired, or its maker left the team; ErrNotYours if there is no such event in its
// team, with the key alone; the database's.
func (d *Desk) ByKey(ctx context.Context, key, event string, from Client) (m Member, err error) {
	var ours, rarely, fresh, first bool
	err = d.db.QueryRow(ctx, memberByKeySQL, keyHash(key), event, from.network()).Scan(&m.Organizer, &m.Name, &m.Email, &m.Team, &m.TeamName, &m.Role,
		&m.Key, &m.KeyName, &m.scopes, &m.Test, &m.Allocation.Event, &m.Allocation.Code, &ours, &rarely, &fresh, &first)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		d.Report(SecurityEvent{Kind: KeyRefused, Network: from.network(), Agent: from.Agent})
		return Member{}, ErrKey
	case err != nil:
		return Member{}, fmt.Errorf("organizers: find the maker of a key: %w", err)
	case !ours:
		d.Report(SecurityEvent{Kind: RefusedByTeam, Organizer: m.Organizer, Team: m.Team, Network: from.network(), Detail: "key " + m.KeyName})
		return Member{Key: m.Key}, ErrNotYours
	}
	m.From = from
	m.Name += ", by the key " + m.KeyName
	if fresh {
		detail := "key " + m.KeyName
		if first {
			detail += ", first use"
		}
		d.Report(SecurityEvent{Kind: KeyNewNetwork, Organizer: m.Organizer, Team: m.Team, Network: from.network(), Agent: from.Agent, Detail: detail})
	}
	if rarely || fresh {
		if _, err := d.db.Exec(ctx, keyUsedSQL, m.Key, from.network()); err != nil {
			return Member{}, fmt.Errorf("organizers: note that a key was used: %w", err)
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
	ExpiresAt time.Time
	Expired   bool
	Left      bool // its maker left the team, so it opens nothing
	Test      bool // it opens test sales, and no other event
	Allocation
}

const apiKeysSQL = `
SELECT k.id, k.name, k.start, k.scopes, coalesce(o.name, 'a former member'), k.created_at, k.used_at, k.revoked_at, k.expires_at, k.expires_at <= clock_timestamp(), o.id IS NULL, k.test, coalesce(e.slug, '') AS event, coalesce(c.code, '') AS code
  FROM api_key k LEFT JOIN organizer o ON o.id = k.organizer_id LEFT JOIN code c ON c.id = k.code_id LEFT JOIN event e ON e.id = c.event_id
 WHERE k.team_id = $1 ORDER BY k.revoked_at IS NOT NULL OR k.expires_at <= clock_timestamp(), k.id DESC`

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
		return nil, fmt.Errorf("organizers: list keys: %w", err)
	}
	return list, nil
}

// FieldAllocation is that of the event and the code of a key for an allocation.
const FieldAllocation = "code"

// KeyDays is how long a key for programs lasts, at most and by default.
const KeyDays = 365

const newAPIKeySQL = `
INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start, expires_at, test, code_id) VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + make_interval(days => $7), $8, $9)`

const allocationSQL = `
SELECT c.id FROM code c JOIN event e ON e.id = c.event_id
 WHERE e.team_id = $1 AND e.slug = $2 AND c.code = $3 AND c.unlocks_blocks <> '{}' AND c.retired_at IS NULL`

// NewAPIKey makes a key for programs and returns it: it can be had only now. test: it opens test sales, and no other event. of: it sells these
// seats, and opens nothing else. A repeat of the form makes no other, and
// returns none.
//
// Errors: Mistakes; those of Once; the database's.
func (d *Desk) NewAPIKey(ctx context.Context, m Member, name string, scopes []Scope, days int, test bool, of Allocation, form string) (key string, err error) {
	name, wrong := tidyName(name, mostTeam)
	slices.Sort(scopes)
	scopes = slices.Compact(scopes)
	partner := of != (Allocation{})
	if partner {
		scopes = []Scope{ScopeSell}
	}
	if partner && test {
		wrong = append(wrong, Mistake{Field: FieldAllocation, Message: text.Mark("A key is for an allocation or for test sales, not for both.")})
	}
	if len(scopes) == 0 || slices.ContainsFunc(scopes, func(s Scope) bool { return !slices.Contains(Scopes(), s) }) {
		wrong = append(wrong, Mistake{Field: FieldScope, Message: text.Mark("Choose what the key may do.")})
	}
	if days == 0 {
		days = KeyDays
	}
	if days < 1 || days > KeyDays {
		wrong = append(wrong, Mistake{Field: FieldDays, Message: text.Mark("A key lasts for 1 to 365 days.")})
	}
	if err := wrong.orNil(); err != nil {
		return "", err
	}
	asked, detail := []any{"key", name, scopes, days, test}, map[string]any{"name": name, "may": scopes, "days": days, "test": test}
	if partner {
		asked, detail["code"], detail["event"] = append(asked, of), of.Code, of.Event
	}
	err = d.Change(ctx, m, form, asked, func(tx pgx.Tx) error {
		token, _ := newToken()
		begins := KeyStart
		if test {
			begins = TestKeyStart
		}
		var code any // null
		if partner {
			var id [16]byte
			err := tx.QueryRow(ctx, allocationSQL, m.Team, of.Event, of.Code).Scan(&id)
			if errors.Is(err, pgx.ErrNoRows) {
				return Mistakes{{Field: FieldAllocation, Message: text.Mark("Your team has no event with this code for reserved seats. Create the code on the page Codes of the event first.")}}
			}
			if err != nil {
				return fmt.Errorf("organizers: find an allocation: %w", err)
			}
			begins, code = PartnerKeyStart, id
		}
		key = begins + strings.ToLower(token)
		start := key[:len(begins)+4]
		if _, err := tx.Exec(ctx, newAPIKeySQL, m.Team, m.Organizer, name, scopes, keyHash(key), start, days, test, code); err != nil {
			return fmt.Errorf("organizers: make a key: %w", err)
		}
		if err := TellOwners(m, NoticeKeyMade, name).Run(ctx, tx); err != nil {
			return err
		}
		return Note(ctx, tx, m, text.Mark("made a key"), "keys", detail)
	})
	if err == nil && key != "" {
		d.teamChanged(m, "key made")
	}
	return key, err
}

const revokeAPIKeySQL = `
UPDATE api_key SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE team_id = $1 AND id = $2 RETURNING name`

// RevokeAPIKey ends a key, at once and on all nodes. Errors: ErrNotYours; those of Once; the database's.
func (d *Desk) RevokeAPIKey(ctx context.Context, m Member, id int64, form string) error {
	done := false
	err := d.Change(ctx, m, form, []any{"revoke", id}, func(tx pgx.Tx) error {
		var name string
		err := tx.QueryRow(ctx, revokeAPIKeySQL, m.Team, id).Scan(&name)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotYours
		}
		if err != nil {
			return fmt.Errorf("organizers: revoke a key: %w", err)
		}
		if err := TellOwners(m, NoticeKeyRevoked, name).Run(ctx, tx); err != nil {
			return err
		}
		done = true
		return Note(ctx, tx, m, text.Mark("revoked a key"), "keys", map[string]any{"name": name})
	})
	if err == nil && done {
		d.teamChanged(m, "key revoked")
	}
	return err
}

// The mail goes to the maker and to the owners of the team, once for each key.
const warnOfKeysSQL = `
WITH due AS (
    UPDATE api_key k SET warned_at = clock_timestamp() FROM team t
     WHERE k.warned_at IS NULL AND k.revoked_at IS NULL AND k.expires_at BETWEEN clock_timestamp() AND clock_timestamp() + interval '7 days' AND t.id = k.team_id
    RETURNING k.organizer_id, k.team_id, 'The key “' || k.name || '” for programs of the team ' || t.name || ' expires on '
              || to_char(k.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') || E'.\nMake a new key and give it to the program before then.' AS words
)
INSERT INTO mail (email, kind, about)
SELECT DISTINCT o.email, 'security', due.words FROM due JOIN member m ON m.team_id = due.team_id JOIN organizer o ON o.id = m.organizer_id
 WHERE m.role = 'owner' OR m.organizer_id = due.organizer_id`

// WarnOfKeys tells, once, of keys that expire within a week.
func (d *Desk) WarnOfKeys(ctx context.Context) error {
	tag, err := d.db.Exec(ctx, warnOfKeysSQL)
	if err != nil {
		return fmt.Errorf("organizers: warn of keys that expire: %w", err)
	}
	if tag.RowsAffected() > 0 {
		d.wake()
	}
	return nil
}

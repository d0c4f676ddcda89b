package sites

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Key is a key by which scripts of a team's sites sell its tickets.
type Key struct {
	ID      int64
	Key     string
	MadeAt  time.Time
	EndedAt *time.Time // nil: it is in use
}

// Why a script of another site may not sell tickets.
var (
	ErrNoKey    = errors.New("sites: there is no such key")
	ErrKeyEnded = errors.New("sites: the key has ended")
	ErrUnlisted = errors.New("sites: the team of the key does not list the site")
)

// Admit returns the team whose tickets a script of an origin may sell by a key.
//
// Errors: ErrNoKey; ErrUnlisted; ErrKeyEnded; the database's.
func (s *Sites) Admit(ctx context.Context, key, origin string) (team int64, err error) {
	all, err := s.read(ctx)
	if err != nil {
		return 0, err
	}
	live, ended := all.keys[key], all.ended[key]
	switch team = live + ended; { // one of them is 0
	case team == 0:
		return 0, ErrNoKey
	case !all.lists(team, origin):
		return 0, ErrUnlisted
	case live == 0:
		return 0, ErrKeyEnded
	}
	return team, nil
}

// Known reports whether a team that made a key lists an origin: whether its scripts may ask at all, and read why not.
func (s *Sites) Known(ctx context.Context, origin string) (bool, error) {
	all, err := s.read(ctx)
	if err != nil {
		return false, err
	}
	return all.origins[origin], nil
}

const teamKeysSQL = `SELECT id, key, made_at, ended_at FROM team_site_key WHERE team_id = $1 ORDER BY ended_at NULLS FIRST, id DESC`

// Keys returns the keys of a member's team: those in use first.
func (s *Sites) Keys(ctx context.Context, m organizers.Member) (list []Key, err error) {
	err = s.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, teamKeysSQL, m.Team)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Key])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sites: read the keys of a team: %w", err)
	}
	return list, nil
}

// FieldKeys is the field of a form that makes a key.
const FieldKeys = "keys"

const mostKeys = 5 // in use, of a team

const makeKeySQL = `
INSERT INTO team_site_key (team_id, key) SELECT $1, $2
    WHERE (SELECT count(*) FROM team_site_key WHERE team_id = $1 AND ended_at IS NULL) < $3`

// MakeKey makes a key for the sites of a member's team.
//
// Errors: organizers.Mistakes if the team has enough of them; those of idempotency.Key.Take; the database's.
func (s *Sites) MakeKey(ctx context.Context, m organizers.Member, form string) error {
	err := s.desk.Change(ctx, m, form, []any{"make site key"}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, makeKeySQL, m.Team, "site_"+rand.Text(), mostKeys)
		if err != nil {
			return fmt.Errorf("sites: make a key: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return organizers.Mistakes{{Field: FieldKeys, Message: text.Mark("Your team has %d site keys. End one before you create another."), Args: []any{mostKeys}}}
		}
		if err := organizers.TellOwners(m, organizers.NoticeSiteKeyMade).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("created a site key"), "site", nil)
	})
	s.changed(ctx)
	return err
}

const endKeySQL = `UPDATE team_site_key SET ended_at = COALESCE(ended_at, clock_timestamp()) WHERE team_id = $1 AND id = $2`

// EndKey ends a key of a member's team. A key that ended stays so.
//
// Errors: organizers.ErrNotYours; those of idempotency.Key.Take; the database's.
func (s *Sites) EndKey(ctx context.Context, m organizers.Member, id int64, form string) error {
	err := s.desk.Change(ctx, m, form, []any{"end site key", id}, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, endKeySQL, m.Team, id)
		if err != nil {
			return fmt.Errorf("sites: end a key: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return organizers.ErrNotYours
		}
		if err := organizers.TellOwners(m, organizers.NoticeSiteKeyEnded).Run(ctx, tx); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("ended a site key"), "site", nil)
	})
	s.changed(ctx)
	return err
}

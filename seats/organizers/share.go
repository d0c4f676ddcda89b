package organizers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/text"
)

// Share is a link to the live desk of an event, without an account: its figures, and no names.
type Share struct {
	ID        int64
	Name      string // whom it is for
	Maker     string
	CreatedAt time.Time
	ExpiresAt time.Time
	Over      bool // its time is up
	RevokedAt *time.Time
}

// ShareDays are how long a link may be good for.
func ShareDays() []int { return []int{1, 7, 30, 90} }

// FieldDays is the field of a form that says how long a link is good for.
const FieldDays = "days"

const sharesSQL = `
SELECT id, name, maker, created_at, expires_at, expires_at <= clock_timestamp(), revoked_at FROM share WHERE event_id = $1 ORDER BY id DESC LIMIT 100`

// Shares lists the links to an event's live desk, the newest first.
func (d *Desk) Shares(ctx context.Context, m Member, event int64) (list []Share, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sharesSQL, event)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Share])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("organizers: list shares: %w", err)
	}
	return list, nil
}

const newShareSQL = `INSERT INTO share (event_id, token, name, maker, expires_at) VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(days => $5))`

// Share makes a link to the live desk of an event and returns its token, which can be had only now. A repeat of the form
// makes no other, and returns none.
//
// Errors: Mistakes; those of Once; the database's.
func (d *Desk) Share(ctx context.Context, m Member, event int64, slug, name string, days int, form string) (token string, err error) {
	name, wrong := tidyName(name, mostTeam)
	if days < 1 || days > 366 {
		wrong = append(wrong, Mistake{Field: FieldDays, Message: text.Mark("A link is good for 1 to 366 days.")})
	}
	if err := wrong.orNil(); err != nil {
		return "", err
	}
	err = d.Change(ctx, m, form, []any{"share", event, name, days}, func(tx pgx.Tx) error {
		fresh, hash := newToken()
		if _, err := tx.Exec(ctx, newShareSQL, event, hash, name, m.Name, days); err != nil {
			return fmt.Errorf("organizers: share: %w", err)
		}
		token = fresh
		return Note(ctx, tx, m, text.Mark("shared the live desk"), "events/"+slug+"/shares", map[string]any{"with": name, "days": days})
	})
	return token, err
}

const revokeShareSQL = `
UPDATE share SET revoked_at = coalesce(revoked_at, clock_timestamp()) WHERE event_id = $1 AND id = $2 RETURNING name`

// RevokeShare ends a link, at once and on all nodes. Errors: ErrNotYours; those of Once; the database's.
func (d *Desk) RevokeShare(ctx context.Context, m Member, event int64, slug string, id int64, form string) error {
	return d.Change(ctx, m, form, []any{"unshare", event, id}, func(tx pgx.Tx) error {
		var name string
		err := tx.QueryRow(ctx, revokeShareSQL, event, id).Scan(&name)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotYours
		}
		if err != nil {
			return fmt.Errorf("organizers: revoke a share: %w", err)
		}
		return Note(ctx, tx, m, text.Mark("revoked a link to the live desk"), "events/"+slug+"/shares", map[string]any{"with": name})
	})
}

const byShareSQL = `
SELECT e.slug, e.team_id, e.test_of IS NOT NULL FROM share s JOIN event e ON e.id = s.event_id
 WHERE s.token = $1 AND s.revoked_at IS NULL AND s.expires_at > clock_timestamp()`

// ByShare is the event that a link leads to, and the member as whom its figures are read. ErrNoLink if it leads nowhere any more.
func (d *Desk) ByShare(ctx context.Context, token string) (slug string, m Member, err error) {
	err = d.db.QueryRow(ctx, byShareSQL, tokenHash(token)).Scan(&slug, &m.Team, &m.Test)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", m, ErrNoLink
	}
	if err != nil {
		return "", m, fmt.Errorf("organizers: where does a share lead: %w", err)
	}
	return slug, m, nil
}

package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
	"github.com/usherbox/usher/seats/text"
)

// Alert is one that was raised.
type Alert struct {
	Need  overview.Need
	Began time.Time
	Ended *time.Time // nil: it lasts
}

const choiceSQL = `SELECT kinds FROM alert_choice WHERE team_id = $1 AND organizer_id = $2`

// Choice lists the kinds that a member gets by email.
func (a *Alerts) Choice(ctx context.Context, m organizers.Member) (kinds []Kind, err error) {
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error { return tx.QueryRow(ctx, choiceSQL, m.Team, m.Organizer).Scan(&kinds) })
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("alerts: read a choice: %w", err)
	}
	return kinds, nil
}

const chooseSQL = `
INSERT INTO alert_choice (team_id, organizer_id, kinds) VALUES ($1, $2, $3)
    ON CONFLICT (team_id, organizer_id) DO UPDATE SET kinds = excluded.kinds`

// Choose saves the kinds that a member gets by email; none: no mail. Errors: *seats.ValidationError; those of idempotency.
func (a *Alerts) Choose(ctx context.Context, m organizers.Member, key string, kinds []Kind) error {
	kinds = slices.Compact(slices.Sorted(slices.Values(kinds)))
	for _, k := range kinds {
		if !slices.Contains(For(m.Role), k) {
			return &seats.ValidationError{Message: text.Mark("Your role has no alerts of the kind “%s”. Nothing was changed."), Args: []any{string(k)}}
		}
	}
	if kinds == nil {
		kinds = []Kind{}
	}
	err := a.desk.Change(ctx, m, key, []any{"alerts", kinds}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, chooseSQL, m.Team, m.Organizer, kinds); err != nil {
			return fmt.Errorf("alerts: save a choice: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("chose which alerts they get"), "alerts", map[string]any{"kinds": kinds})
	})
	if err == nil {
		a.job.Wake()
	}
	return err
}

// Try sends a mail to the address of a member, as one about an alert.
func (a *Alerts) Try(ctx context.Context, m organizers.Member, key string) error {
	err := a.desk.Change(ctx, m, key, []any{"try alerts"}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, mailSQL, m.Email, mailed{team: m.Team}.String()); err != nil {
			return fmt.Errorf("alerts: try: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("sent themselves a test of the alerts"), "alerts", nil)
	})
	if err == nil {
		a.Raised()
	}
	return err
}

// mostListed is how many alerts a list has.
const mostListed = 50

const listSQL = `
SELECT kind, about, began_at, ended_at FROM alert
 WHERE team_id = $1 AND began_at > clock_timestamp() - interval '30 days' AND kind = ANY ($2)
 ORDER BY ended_at IS NULL DESC, began_at DESC, id DESC LIMIT $3`

// List lists the alerts of the last 30 days that a member may see, those that last first.
func (a *Alerts) List(ctx context.Context, m organizers.Member) (list []Alert, err error) {
	var kinds []string
	for kind, group := range kindOf {
		if m.May(needs[group]) {
			kinds = append(kinds, kind)
		}
	}
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, listSQL, m.Team, kinds, mostListed)
		if err == nil {
			list, err = pgx.CollectRows(rows, scan)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("alerts: list: %w", err)
	}
	return list, nil
}

func scan(row pgx.CollectableRow) (one Alert, err error) {
	var kind string
	var data []byte
	if err := row.Scan(&kind, &data, &one.Began, &one.Ended); err != nil {
		return one, err
	}
	var about About
	if err := json.Unmarshal(data, &about); err != nil {
		return one, fmt.Errorf("what an alert is about: %w", err)
	}
	one.Need = about.need(kind)
	return one, nil
}

const mailedSQL = `SELECT kind, about, began_at, ended_at FROM alert WHERE team_id = $1 AND id = ANY ($2) AND ended_at IS NULL ORDER BY id`

// Mailed returns the team and the alerts that a mail is about, those that still last; try reports that there never were any.
func (a *Alerts) Mailed(ctx context.Context, about string) (team int64, list []Alert, try bool, err error) {
	m, err := readMailed(about)
	if err != nil {
		return 0, nil, false, fmt.Errorf("alerts: a mail about %q: %w", about, err)
	}
	rows, err := a.db.Query(ctx, mailedSQL, m.team, m.ids)
	if err == nil {
		list, err = pgx.CollectRows(rows, scan)
	}
	if err != nil {
		return 0, nil, false, fmt.Errorf("alerts: read those of a mail: %w", err)
	}
	return m.team, list, len(m.ids) == 0, nil
}

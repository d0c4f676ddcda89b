package till

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

const (
	daySQL      = sessionColumns + `WHERE team_id = $1 AND day = $2::date ORDER BY number`
	dayLinesSQL = `
SELECT kind, method, name, count(*), sum(tickets)::bigint, sum(amount)::bigint FROM till_entry e JOIN till_session s ON s.id = e.session_id
 WHERE s.team_id = $1 AND s.day = $2::date AND s.currency = $3
 GROUP BY kind, method, name ORDER BY array_position('{sale,payment,refund,deposit,"deposit back",in,out}', kind), method, name`
)

// Day is the report of the sessions that were closed on a day, in one currency.
type Day struct {
	Day      string // such as 2030-05-01
	Currency string
	Sessions []Session
	Sum      Session // of all of them: Lines, Opening, Counted, Expected, Taken
}

// DayOf returns the reports of a day of the team, one for each currency. Members who may not look get ErrNotYours before.
func DayOf(ctx context.Context, d *organizers.Desk, m organizers.Member, day string) (list []Day, err error) {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return nil, &seats.ValidationError{Unknown: true, Message: text.Mark("Write a day as in 2030-05-01.")}
	}
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, daySQL, m.Team, day)
		if err != nil {
			return err
		}
		closed, err := pgx.CollectRows(rows, scanSession)
		if err != nil {
			return err
		}
		for _, s := range closed {
			at := slices.IndexFunc(list, func(d Day) bool { return d.Currency == s.Currency })
			if at < 0 {
				at = len(list)
				list = append(list, Day{Day: day, Currency: s.Currency, Sum: Session{Currency: s.Currency}})
			}
			list[at].add(s)
		}
		for i := range list {
			rows, err := tx.Query(ctx, dayLinesSQL, m.Team, day, list[i].Currency)
			if err != nil {
				return err
			}
			if list[i].Sum.Lines, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Line]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("till: report a day: %w", err)
	}
	return list, nil
}

func (d *Day) add(s Session) {
	d.Sessions = append(d.Sessions, s)
	d.Sum.Opening += s.Opening
	d.Sum.Counted += s.Counted
	d.Sum.Expected += s.Expected
	d.Sum.Taken += s.Taken
}

// Settings are what a team says of its tills.
type Settings struct {
	Required bool     // the box office sells in an open session only
	Methods  []string // names of ways to pay beside cash and the card terminal
}

// mostMethods is how many ways to pay a team may name: each has a key.
const mostMethods = 5

const settingsSQL = `SELECT required, methods FROM till_setting WHERE team_id = $1`

// SettingsOf returns what the team of a member says of its tills.
func SettingsOf(ctx context.Context, d *organizers.Desk, m organizers.Member) (s Settings, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, settingsSQL, m.Team)
		if err != nil {
			return err
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Settings])
		if len(found) > 0 {
			s = found[0]
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("till: read settings: %w", err)
	}
	return s, nil
}

const setSQL = `
INSERT INTO till_setting (team_id, required, methods) VALUES ($1, $2, $3)
    ON CONFLICT (team_id) DO UPDATE SET required = excluded.required, methods = excluded.methods`

// Set changes what the team says of its tills. A repeat of the form changes nothing more.
//
// Errors: *seats.ValidationError; those of Desk.Change.
func Set(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, s Settings) error {
	names := []string{}
	for _, name := range s.Methods {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if !seats.OneLine(name, 40) || slices.Contains(names, name) {
			return &seats.ValidationError{Message: text.Mark("Each way to pay has its own name of at most 40 characters. Nothing was changed.")}
		}
		names = append(names, name)
	}
	if len(names) > mostMethods {
		return &seats.ValidationError{Message: text.Mark("Name at most 5 ways to pay. Nothing was changed.")}
	}
	return change(ctx, d, m, key, []any{"set", s.Required, names}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setSQL, m.Team, s.Required, names); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the settings of the till"), "till", map[string]any{"required": s.Required, "methods": names})
	})
}

// Selling returns the session that a sale of the member is an entry of; none if none is open and the team does not ask for one, and
// for a test sale.
// name is the way to pay beside cash and the card terminal, which the team has to have named.
//
// Errors: a *seats.Conflict if a session is required; *seats.ValidationError; the database's.
func Selling(ctx context.Context, d *organizers.Desk, m organizers.Member, currency, name string) (session int64, err error) {
	if m.Test {
		return 0, nil
	}
	list, err := Current(ctx, d, m)
	if err != nil {
		return 0, err
	}
	s, open := InCurrency(list, currency)
	if open && name == "" {
		return s.ID, nil
	}
	set, err := SettingsOf(ctx, d, m)
	switch {
	case err != nil:
		return 0, err
	case name != "" && !slices.Contains(set.Methods, name):
		return 0, &seats.ValidationError{Message: text.Mark("Your team has no way to pay “%s”. Nothing was sold."), Args: []any{name}}
	case !open && set.Required:
		return 0, errSellClosed
	}
	return s.ID, nil
}

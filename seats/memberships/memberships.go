package memberships

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// Memberships are those of all teams, for one node.
type Memberships struct {
	db   *pgxpool.Pool
	desk *organizers.Desk
}

// New returns the memberships of a desk.
func New(db *pgxpool.Pool, desk *organizers.Desk) *Memberships { return &Memberships{db, desk} }

// Kind is a kind of membership.
type Kind struct {
	ID       int64 // 0: it is new
	Name     string
	Text     string // what its members get
	Currency string // ISO 4217
	Price    int64  // minor units
	Months   int    // a membership is valid so long, unless its end is given
	Valid    int    // members today
}

// Limits of kinds.
const (
	MostText  = 1000 // characters
	mostKinds = 50
	mostName  = 100 // characters
	mostPrice = 100_000_000
	mostMonth = 600
)

// ErrNone says that a team has no such kind or membership.
var ErrNone = errors.New("the team has no such membership")

const today = `(clock_timestamp() AT TIME ZONE 'UTC')::date`

const kindsSQL = `
SELECT k.id, k.name, k.text, k.currency, k.price, k.months,
       (SELECT count(DISTINCT email)::integer FROM membership WHERE kind_id = k.id AND ended_at IS NULL AND ` + today + ` BETWEEN from_on AND until_on)
  FROM membership_kind k WHERE k.team_id = $1 ORDER BY lower(k.name), k.id`

// Kinds lists the kinds of a member's team by name.
func (s *Memberships) Kinds(ctx context.Context, m organizers.Member) (list []Kind, err error) {
	err = s.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, kindsSQL, m.Team)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Kind])
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("memberships: list kinds: %w", err)
	}
	return list, nil
}

const (
	newKindSQL = `
INSERT INTO membership_kind (team_id, name, text, currency, price, months) SELECT $1, $2, $3, $4, $5, $6
 WHERE (SELECT count(*) FROM membership_kind WHERE team_id = $1) < $7`

	setKindSQL = `UPDATE membership_kind SET name = $2, text = $3, currency = $4, price = $5, months = $6 WHERE team_id = $1 AND id = $7`
)

// SetKind adds a kind, or changes one. Memberships that were given stay as they are.
//
// Errors: ErrNone; *seats.ValidationError; *seats.Conflict; those of a form that is done once; the database's.
func (s *Memberships) SetKind(ctx context.Context, m organizers.Member, key string, k Kind) error {
	k.Name, k.Text = strings.Join(strings.Fields(k.Name), " "), strings.Join(strings.Fields(k.Text), " ")
	if err := k.check(); err != nil {
		return err
	}
	err := s.desk.Change(ctx, m, key, []any{"kind of membership", k.ID, k.Name, k.Text, k.Currency, k.Price, k.Months}, func(tx pgx.Tx) error {
		sql, last, what := setKindSQL, k.ID, text.Mark("changed a kind of membership")
		if k.ID == 0 {
			sql, last, what = newKindSQL, mostKinds, text.Mark("added a kind of membership")
		}
		tag, err := tx.Exec(ctx, sql, m.Team, k.Name, k.Text, k.Currency, k.Price, k.Months, last)
		switch {
		case seats.IsConstraint(err, "a team has one kind of membership of a name"):
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("Your team has a kind of membership “%s” already. Nothing was changed. Choose another name."), Args: []any{k.Name}}
		case err != nil:
			return err
		case tag.RowsAffected() == 0 && k.ID == 0:
			return &seats.ValidationError{Message: text.Mark("A team has at most %d kinds of membership. Nothing was changed."), Args: []any{mostKinds}}
		case tag.RowsAffected() == 0:
			return ErrNone
		}
		return organizers.Note(ctx, tx, m, what, "memberships", map[string]any{"name": k.Name, "price": k.Price, "currency": k.Currency, "months": k.Months})
	})
	return wrap("set a kind", err)
}

func (k Kind) check() error {
	var wrong text.Message
	switch {
	case k.Name == "" || !seats.OneLine(k.Name, mostName):
		wrong = text.Say("A kind of membership has a name of at most 100 characters.")
	case !seats.OneLine(k.Text, MostText):
		wrong = text.Say("A text has at most 1,000 characters.")
	case pricing.CheckCurrency(k.Currency) != nil:
		wrong = text.Say("Enter three letters of a currency, such as EUR.")
	case k.Price < 0 || k.Price > mostPrice:
		wrong = text.Say("A price is at most %s.", pricing.Amount(mostPrice, k.Currency))
	case k.Months < 1 || k.Months > mostMonth:
		wrong = text.Say("A membership is valid for 1 to 600 months.")
	default:
		return nil
	}
	return seats.Unchanged(wrong)
}

const endSQL = `
WITH m AS (SELECT id, ended_at IS NULL AND until_on >= ` + today + ` AS runs FROM membership WHERE team_id = $1 AND id = $2 AND email <> '' FOR NO KEY UPDATE),
     e AS (UPDATE membership SET ended_at = clock_timestamp() FROM m WHERE membership.id = m.id AND m.runs)
SELECT runs FROM m`

// End ends a membership now, before its last day.
//
// Errors: ErrNone; a *seats.Conflict if it is over; those of a form that is done once; the database's.
func (s *Memberships) End(ctx context.Context, m organizers.Member, key string, id seats.ID) error {
	err := s.desk.Change(ctx, m, key, []any{"end a membership", id}, func(tx pgx.Tx) error {
		var runs bool
		err := tx.QueryRow(ctx, endSQL, m.Team, id).Scan(&runs)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return ErrNone
		case err != nil:
			return err
		case !runs:
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This membership is over already. Nothing was changed.")}
		}
		return organizers.Note(ctx, tx, m, text.Mark("ended a membership"), "memberships", nil)
	})
	return wrap("end", err)
}

// Recipient is a member to whom a code is mailed.
type Recipient struct {
	Membership seats.ID
	Email      string
}

const recipientsSQL = `
SELECT DISTINCT ON (m.email) m.id, m.email FROM membership m, event e
 WHERE m.team_id = $1 AND m.kind_id = $2 AND e.id = $3 AND m.ended_at IS NULL AND m.email <> ''
   AND m.from_on <= greatest((clock_timestamp() AT TIME ZONE e.time_zone)::date, ` + today + `) AND m.until_on >= (clock_timestamp() AT TIME ZONE e.time_zone)::date
 ORDER BY m.email, m.until_on DESC, m.id`

const hasKindSQL = `SELECT EXISTS (SELECT FROM membership_kind WHERE team_id = $1 AND id = $2)`

// Recipients lists the members of a kind today, at the place of an event. ErrNone if the member's team has no such kind.
func (s *Memberships) Recipients(ctx context.Context, m organizers.Member, kind, event int64) (list []Recipient, err error) {
	err = s.desk.As(ctx, m, func(tx pgx.Tx) error {
		var has bool
		if err := tx.QueryRow(ctx, hasKindSQL, m.Team, kind).Scan(&has); err != nil {
			return err
		}
		if !has {
			return ErrNone
		}
		rows, err := tx.Query(ctx, recipientsSQL, m.Team, kind, event)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Recipient])
		}
		return err
	})
	return list, wrap("list recipients", err)
}

const exportSQL = `
SELECT coalesce(json_agg(json_build_object('kind', k.name, 'name', m.name, 'email', m.email, 'card', m.card, 'from', m.from_on, 'until', m.until_on,
       'price', m.price, 'currency', m.currency, 'given_at', m.given_at, 'ended_at', m.ended_at) ORDER BY m.from_on, m.id), '[]')
  FROM membership m JOIN membership_kind k ON k.id = m.kind_id WHERE m.team_id = $1 AND m.email = $2`

// Export returns the memberships of a person in a team.
func Export(ctx context.Context, tx pgx.Tx, team int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportSQL, team, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("memberships: export: %w", err)
	}
	return list, nil
}

const eraseSQL = `
UPDATE membership SET name = '', email = '', card = '', ended_at = coalesce(ended_at, clock_timestamp()) WHERE team_id = $1 AND email = $2`

// Erase ends the memberships of a person in a team, and takes the person out of them. Days and prices stay.
func Erase(ctx context.Context, tx pgx.Tx, team int64, email string) error {
	if _, err := tx.Exec(ctx, eraseSQL, team, email); err != nil {
		return fmt.Errorf("memberships: erase: %w", err)
	}
	return nil
}

// lastDay is the last day of some months that begin on a day. The month after 31 January ends with February.
func lastDay(from time.Time, months int) time.Time {
	end := from.AddDate(0, months, 0)
	if end.Day() != from.Day() { // there is no such day in that month
		return end.AddDate(0, 0, -end.Day())
	}
	return end.AddDate(0, 0, -1)
}

// wrap adds the call to an error that no member caused.
func wrap(call string, err error) error {
	var invalid *seats.ValidationError
	var refusal *seats.Conflict
	if err == nil || errors.As(err, &invalid) || errors.As(err, &refusal) || errors.Is(err, ErrNone) {
		return err
	}
	return fmt.Errorf("memberships: %s: %w", call, err)
}

package memberships

import (
	"context"
	"encoding/csv"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/lists"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// New members.
const (
	mostPerson = 200 // characters
	mostCard   = 40  // characters
)

// Given is a membership that is given.
type Given struct {
	Line  int // of a list, from 1
	Name  string
	Email string
	From  time.Time // the first day; zero: today
	Until time.Time // the last day; zero: as long as the kind is valid
	Card  string
}

// Read reads a list: a member on each line, as email, name, first day, last day and number of the card, with commas, semicolons or tabs between.
// Only the email is needed. A first line that begins with the word email is the head of a table.
//
// Errors: *seats.ValidationError says what is wrong with which lines.
func Read(typed string) (list []Given, err error) {
	var wrong lists.Wrong
	for n, line := range strings.Split(strings.TrimPrefix(typed, "\ufeff"), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		fields, ok := fieldsOf(line)
		if n == 0 && ok && (strings.EqualFold(fields[0], "email") || strings.EqualFold(fields[0], "e-mail")) {
			continue
		}
		g, why := Given{Line: n + 1}, text.Say("Its quotation marks do not match.")
		if ok {
			why = g.read(fields)
		}
		if why.ID != "" {
			wrong.Add(n+1, why)
		}
		list = append(list, g)
	}
	switch {
	case len(list) == 0:
		return nil, &seats.ValidationError{Message: text.Mark("The list is empty. Write one member on each line.")}
	case len(list) > lists.MostLines:
		return nil, &seats.ValidationError{Message: text.Mark("Import at most %d members at once. Nothing was imported."), Args: []any{lists.MostLines}}
	}
	return list, wrong.Err()
}

// fieldsOf are the fields of a line, without what stands around them.
func fieldsOf(line string) (fields []string, ok bool) {
	r := csv.NewReader(strings.NewReader(line))
	r.FieldsPerRecord = -1
	r.Comma = lists.Separator(line)
	fields, err := r.Read()
	for i := range fields {
		fields[i] = strings.Join(strings.Fields(fields[i]), " ")
	}
	return fields, err == nil && len(fields) > 0
}

// read reads a line.
func (g *Given) read(fields []string) (wrong text.Message) {
	if len(fields) > 5 {
		return text.Say("There is more on it than an email, a name, the first and the last day and the number of a card.")
	}
	fields = append(fields, "", "", "", "")
	g.Email, g.Name, g.Card = fields[0], fields[1], fields[4]
	for i, to := range []*time.Time{&g.From, &g.Until} {
		var ok bool
		if *to, ok = lists.Day(fields[2+i]); !ok {
			return text.Say("“%s” is not a day such as 2030-01-31 or 31.1.2030.", fields[2+i])
		}
	}
	return g.check()
}

// check returns what is wrong with a new membership, and writes its address in one way.
func (g *Given) check() (wrong text.Message) {
	email, ok := seats.NormalEmail(g.Email)
	switch {
	case !ok:
		return text.Say("“%s” is not an email address.", g.Email)
	case !seats.OneLine(g.Name, mostPerson) || !seats.OneLine(g.Card, mostCard):
		return text.Say("A name has at most 200 characters, and the number of a card 40.")
	case !g.From.IsZero() && !g.Until.IsZero() && g.Until.Before(g.From):
		return text.Say("It ends before it begins.")
	}
	g.Email = strings.ToLower(email)
	return wrong
}

// Give gives a membership of a kind.
//
// Errors: ErrNone; *seats.ValidationError; a *seats.Conflict if the person has one in that time; those of a form that is done once; the database's.
func (s *Memberships) Give(ctx context.Context, m organizers.Member, key string, kind int64, g Given) error {
	if why := g.check(); why.ID != "" {
		return seats.Unchanged(why)
	}
	err := s.desk.Change(ctx, m, key, []any{"give a membership", kind, g}, func(tx pgx.Tx) error {
		given, wrong, err := give(ctx, tx, m, kind, []Given{g}, false)
		switch {
		case err != nil:
			return err
		case len(wrong) > 0:
			return &seats.Conflict{Code: seats.CodeChanged, Message: "%s %s", Args: []any{wrong[0].Why, text.Say("Nothing was changed.")}}
		case given == 0:
			return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This person has this membership already. Nothing was changed.")}
		}
		return organizers.Note(ctx, tx, m, text.Mark("gave a membership"), "memberships", map[string]any{"kind": kind})
	})
	return wrap("give", err)
}

// Import gives a membership of a kind to each person of a list, or nothing at all. Persons who have the same one, or had it until it was ended, are left
// as they are. It returns how many are new.
//
// Errors: ErrNone; a *seats.ValidationError with each wrong line; those of a form that is done once; the database's.
func (s *Memberships) Import(ctx context.Context, m organizers.Member, key string, kind int64, list []Given) (given int, err error) {
	err = s.desk.Change(ctx, m, key, []any{"import memberships", kind, list}, func(tx pgx.Tx) error {
		var wrong lists.Wrong
		if given, wrong, err = give(ctx, tx, m, kind, list, true); err != nil {
			return err
		}
		if err := wrong.Err(); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("imported memberships"), "memberships", map[string]any{"kind": kind, "members": given})
	})
	if err != nil {
		given = 0
	}
	return given, wrap("import", err)
}

// The lock has those who give memberships of one kind wait for each other.
const lockKindSQL = `SELECT currency, price, months, ` + today + ` FROM membership_kind WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE`

const giveSQL = `
INSERT INTO membership (id, team_id, kind_id, name, email, card, from_on, until_on, currency, price, given_by)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
 WHERE NOT EXISTS (SELECT FROM membership WHERE kind_id = $3 AND email = $5
                      AND from_on <= $8 AND until_on >= $7 AND (ended_at IS NULL OR $12 AND ($13 OR from_on = $7) AND ($14 OR until_on = $8)))`

// same is one that the list means: a day that the list leaves out is any day.
const otherSQL = `
SELECT from_on, until_on, ($7 OR from_on = $4) AND ($8 OR until_on = $5) AS same FROM membership
 WHERE team_id = $1 AND kind_id = $2 AND email = $3
   AND from_on <= $5 AND until_on >= $4 AND (ended_at IS NULL OR $6 AND ($7 OR from_on = $4) AND ($8 OR until_on = $5))
 ORDER BY same DESC, from_on LIMIT 1`

// give gives memberships. wrong is the lines of persons with another membership in that time; then the caller takes all of it back. once
// leaves out those that were given before and ended.
func give(ctx context.Context, tx pgx.Tx, m organizers.Member, kind int64, list []Given, once bool) (given int, wrong lists.Wrong, err error) {
	var currency string
	var price int64
	var months int
	var now time.Time
	err = tx.QueryRow(ctx, lockKindSQL, m.Team, kind).Scan(&currency, &price, &months, &now)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil, ErrNone
	}
	if err != nil {
		return 0, nil, err
	}
	type line struct {
		Given
		anyFrom, anyUntil bool // the list does not say the day
	}
	var queued []line
	q := &pgx.Batch{}
	for _, said := range list {
		g := line{said, once && said.From.IsZero(), once && said.Until.IsZero()}
		if g.From.IsZero() {
			g.From = now
		}
		if g.Until.IsZero() {
			g.Until = lastDay(g.From, months)
		}
		if g.Until.Before(g.From) {
			wrong.Add(g.Line, text.Say("It ends before it begins."))
			continue
		}
		q.Queue(giveSQL, seats.NewID(), m.Team, kind, g.Name, g.Email, g.Card, g.From, g.Until, currency, price, m.Name, once, g.anyFrom, g.anyUntil)
		queued = append(queued, g)
	}
	done := tx.SendBatch(ctx, q)
	var there []line
	for _, g := range queued {
		tag, err := done.Exec()
		if err != nil {
			return 0, nil, errors.Join(err, done.Close())
		}
		if given += int(tag.RowsAffected()); tag.RowsAffected() == 0 {
			there = append(there, g)
		}
	}
	if err := done.Close(); err != nil {
		return 0, nil, err
	}
	for _, g := range there {
		var from, until time.Time
		var same bool
		if err := tx.QueryRow(ctx, otherSQL, m.Team, kind, g.Email, g.From, g.Until, once, g.anyFrom, g.anyUntil).Scan(&from, &until, &same); err != nil {
			return 0, nil, err
		}
		if !same {
			wrong.Add(g.Line, text.Say("%s is a member from %s until %s already.", g.Email, from.Format(time.DateOnly), until.Format(time.DateOnly)))
		}
	}
	return given, wrong, nil
}

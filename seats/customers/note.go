package customers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Note is what a team wrote down about a customer.
type Note struct {
	Text      string
	Tags      []string // such as member; in lower case, in order
	ChangedAt time.Time
	ChangedBy string // the name of the organizer; empty: there is no note
}

// Limits of a note.
const (
	MostNote = 2000 // characters
	MostTags = 10
	mostTag  = 40 // characters
)

// ReadTags reads tags with commas or new lines between them.
func ReadTags(typed string) (tags []string) {
	for _, tag := range strings.FieldsFunc(typed, func(r rune) bool { return r == ',' || r == '\n' }) {
		if tag = strings.ToLower(strings.Join(strings.Fields(tag), " ")); tag != "" {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// Fields of a form with a note.
const (
	FieldNote = "note"
	FieldTags = "tags"
)

func (n Note) check() error {
	switch {
	case utf8.RuneCountInString(n.Text) > MostNote:
		return &seats.ValidationError{Message: text.Mark("A note has at most 2,000 characters. Nothing was changed.")}
	case len(n.Tags) > MostTags || slices.ContainsFunc(n.Tags, func(tag string) bool { return utf8.RuneCountInString(tag) > mostTag }):
		return &seats.ValidationError{Message: text.Mark("A customer has at most 10 tags, each of at most 40 characters. Nothing was changed.")}
	}
	return nil
}

const setNoteSQL = `
INSERT INTO customer_note (team_id, email, note, tags, changed_by) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (team_id, email) DO UPDATE SET note = $3, tags = $4, changed_by = $5, changed_at = clock_timestamp()`

const dropNoteSQL = `DELETE FROM customer_note WHERE team_id = $1 AND email = $2`

// SetNote writes text and tags about the customer of an order; a note without both is deleted.
//
// Errors: ErrNone; *seats.ValidationError; those of a form that is done once; the database's.
func (c *Customers) SetNote(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, order seats.ID, n Note) error {
	if n.Text = strings.TrimSpace(strings.ReplaceAll(n.Text, "\r\n", "\n")); n.Tags == nil {
		n.Tags = []string{}
	}
	if err := n.check(); err != nil {
		return err
	}
	r, err := head(ctx, c.db, m.Team, order)
	if err != nil {
		return fmt.Errorf("customers: note: %w", err)
	}
	err = d.Change(ctx, m, key, []any{"note", order, n.Text, n.Tags}, func(tx pgx.Tx) error {
		sql, args := setNoteSQL, []any{m.Team, r.Email, n.Text, n.Tags, m.Name}
		if n.Text == "" && len(n.Tags) == 0 {
			sql, args = dropNoteSQL, args[:2]
		}
		if _, err := tx.Exec(ctx, sql, args...); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed what is noted about a customer"), "customers/"+r.ID.String(), nil)
	})
	if err != nil {
		return fmt.Errorf("customers: note: %w", err)
	}
	return nil
}

const noteSQL = `SELECT note, tags, changed_at, changed_by FROM customer_note WHERE team_id = $1 AND email = $2`

func note(ctx context.Context, tx pgx.Tx, team int64, r *Record) error {
	err := tx.QueryRow(ctx, noteSQL, team, r.Email).Scan(&r.Note.Text, &r.Note.Tags, &r.Note.ChangedAt, &r.Note.ChangedBy)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// Tag is a tag that a team uses.
type Tag struct {
	Name      string
	Customers int
}

const tagsSQL = `SELECT tag, count(*)::integer FROM customer_note, unnest(tags) AS tag WHERE team_id = $1 GROUP BY tag ORDER BY tag LIMIT 200`

// Tags lists the tags of a member's team.
func (c *Customers) Tags(ctx context.Context, m organizers.Member) ([]Tag, error) {
	rows, _ := c.db.Query(ctx, tagsSQL, m.Team) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Tag])
	if err != nil {
		return nil, fmt.Errorf("customers: list tags: %w", err)
	}
	return list, nil
}

// MostTagged is how many customers with a tag are listed.
const MostTagged = 10_000

const taggedSQL = `
SELECT ` + shown + ` FROM customer_note c
 CROSS JOIN LATERAL (SELECT o.* FROM orders o WHERE lower(o.email) = c.email AND o.email <> '' AND ` + ofTeam + ` ORDER BY o.created_at DESC, o.id DESC LIMIT 1) o
 WHERE c.team_id = $1 AND c.tags @> ARRAY[$2::text]
 ORDER BY c.email LIMIT $3`

// Tagged returns the customers of a member's team that have a tag, by email.
func (c *Customers) Tagged(ctx context.Context, m organizers.Member, tag string) ([]Customer, error) {
	list, err := c.read(ctx, taggedSQL, m.Team, tag, MostTagged)
	if err != nil {
		return nil, fmt.Errorf("customers: list by tag: %w", err)
	}
	return list, nil
}

const exportSQL = `SELECT coalesce(json_agg(json_build_object('note', note, 'tags', tags, 'changed_at', changed_at)), '[]') FROM customer_note WHERE team_id = $1 AND email = $2`

// Export returns what a team noted about a person.
func Export(ctx context.Context, tx pgx.Tx, team int64, email string) (list json.RawMessage, err error) {
	if err := tx.QueryRow(ctx, exportSQL, team, email).Scan(&list); err != nil {
		return nil, fmt.Errorf("customers: export: %w", err)
	}
	return list, nil
}

const eraseSQL = `
DELETE FROM customer_note n
 WHERE team_id = $1
   AND NOT EXISTS (SELECT FROM orders o WHERE lower(o.email) = n.email AND o.email <> '' AND (SELECT team_id FROM event WHERE id = o.event_id) = $1)`

// Erase deletes what a team noted about persons whose orders were all erased before.
func Erase(ctx context.Context, tx pgx.Tx, team int64) error {
	if _, err := tx.Exec(ctx, eraseSQL, team); err != nil {
		return fmt.Errorf("customers: erase: %w", err)
	}
	return nil
}

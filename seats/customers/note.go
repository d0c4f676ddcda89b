package customers

import (
	"context"
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

const dropNotesSQL = `DELETE FROM customer_note WHERE team_id = $1 AND email = ANY($2)`

// SetNote writes text and tags about the customer of an order, or about an imported one; a note without both is deleted. What was noted under each
// address of the person is replaced.
//
// Errors: ErrNone; *seats.ValidationError; those of a form that is done once; the database's.
func (c *Customers) SetNote(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, id seats.ID, n Note) error {
	if n.Text = strings.TrimSpace(strings.ReplaceAll(n.Text, "\r\n", "\n")); n.Tags == nil {
		n.Tags = []string{}
	}
	if err := n.check(); err != nil {
		return err
	}
	err := d.Change(ctx, m, key, []any{"note", id, n.Text, n.Tags}, func(tx pgx.Tx) error {
		emails, err := lockPerson(ctx, tx, m.Team, id)
		if err != nil {
			return err
		}
		if err := putNote(ctx, tx, m, emails, n); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed what is noted about a customer"), "customers/"+id.String(), nil)
	})
	if err != nil {
		return fmt.Errorf("customers: note: %w", err)
	}
	return nil
}

// putNote replaces what is noted about a person: it stands under the first address.
func putNote(ctx context.Context, tx pgx.Tx, m organizers.Member, emails []string, n Note) error {
	left := emails
	if n.Text != "" || len(n.Tags) > 0 {
		left = emails[1:]
		if _, err := tx.Exec(ctx, setNoteSQL, m.Team, emails[0], n.Text, n.Tags, m.Name); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, dropNotesSQL, m.Team, left)
	return err
}

const notesSQL = `SELECT note, tags, changed_at, changed_by FROM customer_note WHERE team_id = $1 AND email = ANY($2) ORDER BY changed_at, email`

// noteOf returns what is noted about a person under all addresses: each text and each tag once, the oldest text first.
func noteOf(ctx context.Context, tx pgx.Tx, team int64, emails []string) (n Note, err error) {
	rows, _ := tx.Query(ctx, notesSQL, team, emails) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Note])
	if err != nil {
		return n, err
	}
	for _, one := range list {
		n.add(one.Text, one.Tags)
		n.ChangedAt, n.ChangedBy = one.ChangedAt, one.ChangedBy
	}
	return n, nil
}

// add adds a text, unless it is part of the note already, and tags. It reports whether that changed the note.
func (n *Note) add(written string, tags []string) (changed bool) {
	if written != "" && !strings.Contains("\n"+n.Text+"\n", "\n"+written+"\n") {
		n.Text, changed = strings.TrimPrefix(n.Text+"\n"+written, "\n"), true
	}
	had := len(n.Tags)
	n.Tags = append(append([]string{}, n.Tags...), tags...)
	slices.Sort(n.Tags)
	n.Tags = slices.Compact(n.Tags)
	return changed || len(n.Tags) > had
}

func note(ctx context.Context, tx pgx.Tx, team int64, r *Record) (err error) {
	r.Note, err = noteOf(ctx, tx, team, r.Emails)
	return err
}

// Tag is a tag that a team uses.
type Tag struct {
	Name      string
	Customers int
}

const tagsSQL = `
SELECT tag, count(DISTINCT coalesce(a.person::text, n.email))::integer
  FROM customer_note n CROSS JOIN unnest(tags) AS tag LEFT JOIN customer_address a ON a.team_id = n.team_id AND a.email = n.email
 WHERE n.team_id = $1 GROUP BY tag ORDER BY tag LIMIT 200`

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

const taggedSQL = shown + ` FROM (SELECT email FROM customer_note WHERE team_id = $1 AND tags @> ARRAY[$2::text] ORDER BY email LIMIT $3) o ` + found + ` ORDER BY o.email`

// Tagged returns the customers of a member's team that have a tag, by email.
func (c *Customers) Tagged(ctx context.Context, m organizers.Member, tag string) ([]Customer, error) {
	list, err := c.read(ctx, taggedSQL, m.Team, tag, MostTagged)
	if err != nil {
		return nil, fmt.Errorf("customers: list by tag: %w", err)
	}
	return once(list), nil
}

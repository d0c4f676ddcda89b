package letters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Letters are the letters of all events, on one node.
type Letters struct {
	MailWritten func() // called after a commit that wrote mail; must return at once

	db   *pgxpool.Pool
	desk *organizers.Desk
	job  *jobs.Job
}

// New returns the letters of a database.
func New(db *pgxpool.Pool, desk *organizers.Desk) *Letters {
	l := &Letters{MailWritten: func() {}, db: db, desk: desk}
	l.job = jobs.New("letters of events", dueSQL, l.write)
	return l
}

// Job is the job that writes reminders and thanks.
func (l *Letters) Job() *jobs.Job { return l.job }

// Settings are what an event sends.
type Settings struct {
	Version    int // counts the saves; 0: it has none of its own
	Remind     bool
	Hours      int    // before the start
	Note       string // what attendees should bring or know
	Thanks     Thanks
	ThanksText string // Markdown
}

// Thanks says who is thanked after an event.
type Thanks string

// The values of Thanks.
const (
	ThanksOff     Thanks = "off"
	ThanksScanned Thanks = "scanned" // orders with a ticket that was checked in
	ThanksAll     Thanks = "all"
)

// Standard is what an event sends without settings.
var Standard = Settings{Remind: true, Hours: 24, Thanks: ThanksOff}

// Fields of the form that may be wrong.
const (
	FieldHours      = "hours"
	FieldNote       = "note"
	FieldThanks     = "thanks"
	FieldThanksText = "thanks_text"
)

// MostHours is how long before the start a reminder may go out.
const MostHours = 14 * 24

// ErrChanged refuses settings that another member changed meanwhile.
var ErrChanged = errors.New("another member saved these settings meanwhile")

// Tidy makes settings as the database keeps them, and lists what is wrong with them.
func (s *Settings) Tidy() (wrong organizers.Mistakes) {
	say := func(is bool, field, message string, args ...any) {
		if is {
			wrong = append(wrong, organizers.Mistake{Field: field, Message: message, Args: args})
		}
	}
	if !s.Remind && (s.Hours < 1 || s.Hours > MostHours) {
		s.Hours = Standard.Hours
	}
	say(s.Hours < 1 || s.Hours > MostHours, FieldHours, text.Mark("Enter a number of hours, from 1 to %d."), MostHours)
	for _, t := range []struct {
		field string
		text  *string
		most  int
	}{{FieldNote, &s.Note, 2000}, {FieldThanksText, &s.ThanksText, 5000}} {
		wrong = append(wrong, tidyWords(t.field, t.text, t.most)...)
	}
	switch s.Thanks {
	case ThanksOff:
	case ThanksScanned, ThanksAll:
		say(s.ThanksText == "", FieldThanksText, text.Mark("Enter what you want to say."))
	default:
		say(true, FieldThanks, text.Mark("Choose who is thanked."))
	}
	return wrong
}

// tidyWords makes words of some paragraphs as the database keeps them, and lists what is wrong with them.
func tidyWords(field string, words *string, most int) (wrong organizers.Mistakes) {
	*words = strings.TrimSpace(strings.ReplaceAll(*words, "\r\n", "\n"))
	if !utf8.ValidString(*words) || strings.ContainsFunc(*words, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		wrong = append(wrong, organizers.Mistake{Field: field, Message: text.Mark("The text has characters that cannot be printed.")})
	}
	if utf8.RuneCountInString(*words) > most {
		wrong = append(wrong, organizers.Mistake{Field: field, Message: text.Mark("The text is longer than %d characters."), Args: []any{most}})
	}
	return wrong
}

const settingsSQL = `
SELECT l.event_id = $1, l.version, l.remind, l.hours, l.note, l.thanks, l.thanks_text
  FROM event e JOIN event_letters l ON l.event_id IN (e.id, (SELECT lead_id FROM series WHERE id = e.series_id))
 WHERE e.id = $1 ORDER BY l.event_id = $1 DESC LIMIT 1`

// Of returns what an event sends.
func (l *Letters) Of(ctx context.Context, event int64) (s Settings, err error) {
	if l == nil {
		return Standard, nil
	}
	var own bool
	err = l.db.QueryRow(ctx, settingsSQL, event).Scan(&own, &s.Version, &s.Remind, &s.Hours, &s.Note, &s.Thanks, &s.ThanksText)
	if errors.Is(err, pgx.ErrNoRows) {
		return Standard, nil
	}
	if err != nil {
		return s, fmt.Errorf("letters: read settings: %w", err)
	}
	if !own {
		s.Version = 0
	}
	return s, nil
}

const saveSQL = `
INSERT INTO event_letters (event_id, remind, hours, note, thanks, thanks_text) VALUES ($1, $3, $4, $5, $6, $7)
    ON CONFLICT (event_id) DO UPDATE SET (remind, hours, note, thanks, thanks_text) = ($3, $4, $5, $6, $7), version = event_letters.version + 1
 WHERE $2 < 0 OR event_letters.version = $2
RETURNING version`

// Save saves what an event of the member's team sends. Its version is the one that the form began with; negative: whatever it
// is.
//
// Errors: organizers.Mistakes; ErrChanged; those of idempotency.Key.Take; the database's.
func (l *Letters) Save(ctx context.Context, m organizers.Member, event int64, slug string, s Settings, key string) error {
	if wrong := s.Tidy(); len(wrong) > 0 {
		return wrong
	}
	err := l.desk.Change(ctx, m, key, []any{"letters", slug, s}, func(tx pgx.Tx) error {
		version := 0
		err := tx.QueryRow(ctx, saveSQL, event, s.Version, s.Remind, s.Hours, s.Note, s.Thanks, s.ThanksText).Scan(&version)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrChanged
		}
		if err != nil {
			return fmt.Errorf("letters: save settings: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("changed the automatic emails"), "events/"+slug+"/letters", s)
	})
	if err == nil {
		l.job.Wake()
	}
	return err
}

const copySQL = `
INSERT INTO event_letters (event_id, remind, hours, note, thanks, thanks_text)
SELECT $2, remind, hours, note, thanks, thanks_text FROM event_letters WHERE event_id = $1
    ON CONFLICT DO NOTHING`

// Copy gives a new event of the member's team the settings of another one. Done twice, it changes nothing.
func (l *Letters) Copy(ctx context.Context, m organizers.Member, from, to int64) error {
	err := l.desk.As(ctx, m, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, copySQL, from, to)
		return err
	})
	if err != nil {
		return fmt.Errorf("letters: copy settings: %w", err)
	}
	return nil
}

// Sent is how far the letters of one kind are.
type Sent struct {
	Due     *time.Time // nil: none are to be written
	Ended   *time.Time // when the last one was written
	Written int
	Sent    int // of those that were written
	Refused int // by the server of their receiver
}

const sentSQL = `
SELECT (SELECT at FROM (` + dueSQL + `) due(key, at) WHERE key = $2::text || ' ' || $1::bigint), (SELECT ended_at FROM letter_run WHERE event_id = $1 AND kind = $2),
       count(m.id), count(m.sent_at), count(m.refused_at)
  FROM orders o JOIN mail m ON m.order_id = o.id AND m.kind = $2
 WHERE o.event_id = $1`

// Sent says how far the letters of an event are, by their kind.
func (l *Letters) Sent(ctx context.Context, event int64, kind string) (s Sent, err error) {
	if err = l.db.QueryRow(ctx, sentSQL, event, kind).Scan(&s.Due, &s.Ended, &s.Written, &s.Sent, &s.Refused); err != nil {
		return s, fmt.Errorf("letters: count: %w", err)
	}
	return s, nil
}

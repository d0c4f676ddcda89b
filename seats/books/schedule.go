package books

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/jobs"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Mail is the kind of a mail with books.
const Mail = "books"

// How often a member gets the books by email. Weeks begin on Monday.
const (
	Monthly = "month"
	Weekly  = "week"
)

// Files that a mail may have.
const (
	FileReport  = "report"
	FileJournal = "journal"
	FileDatev   = "datev"
)

// Files lists them.
var Files = []string{FileReport, FileJournal, FileDatev}

// Schedule is which books a member gets by email when a month or a week is over. The zero value is none.
type Schedule struct {
	Every string     // Monthly, Weekly; empty: never
	Files []string   // of Files; none: the mail has the sums alone
	Next  *time.Time // when the next mail goes out
}

// A day of the books is one at the place of each event. The last of them ends at noon in UTC.
const scheduleSQL = `
SELECT every, files, (mailed_to + 1 + ('1 ' || every)::interval + interval '12 hours') AT TIME ZONE 'UTC'
  FROM book_schedule WHERE team_id = $1 AND organizer_id = $2`

// Schedule returns what a member gets by email.
func (b *Books) Schedule(ctx context.Context, m organizers.Member) (s Schedule, err error) {
	err = b.desk.As(ctx, m, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, scheduleSQL, m.Team, m.Organizer).Scan(&s.Every, &s.Files, &s.Next)
	})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s, fmt.Errorf("books: read a schedule: %w", err)
	}
	return s, nil
}

// The first mail is about the month or week that runs now.
const setScheduleSQL = `
INSERT INTO book_schedule AS s (team_id, organizer_id, every, files, mailed_to)
VALUES ($1, $2, $3, $4, date_trunc($3, clock_timestamp() AT TIME ZONE 'UTC')::date - 1)
    ON CONFLICT (team_id, organizer_id) DO UPDATE
   SET every = excluded.every, files = excluded.files, mailed_to = CASE WHEN s.every = excluded.every THEN s.mailed_to ELSE excluded.mailed_to END`

const endScheduleSQL = `DELETE FROM book_schedule WHERE team_id = $1 AND organizer_id = $2`

// SetSchedule changes what a member gets by email.
//
// Errors: a *seats.ValidationError that says what is wrong; those of idempotency.Key.Take; the database's.
func (b *Books) SetSchedule(ctx context.Context, m organizers.Member, s Schedule, key string) error {
	s.Files = slices.Compact(slices.Sorted(slices.Values(s.Files)))
	for _, name := range s.Files {
		if !slices.Contains(Files, name) {
			return seats.Unchanged(text.Say("The books have no file “%s”.", name))
		}
	}
	if s.Every != "" && s.Every != Monthly && s.Every != Weekly {
		return seats.Unchanged(text.Say("Books come each month or each week, not “%s”.", s.Every))
	}
	err := b.desk.Change(ctx, m, key, []any{"book schedule", s.Every, s.Files}, func(tx pgx.Tx) (err error) {
		if s.Every == "" {
			_, err = tx.Exec(ctx, endScheduleSQL, m.Team, m.Organizer)
		} else {
			_, err = tx.Exec(ctx, setScheduleSQL, m.Team, m.Organizer, s.Every, append([]string{}, s.Files...))
		}
		if err != nil {
			return fmt.Errorf("books: set a schedule: %w", err)
		}
		return organizers.Note(ctx, tx, m, text.Mark("chose which books they get by email"), "books/email", map[string]any{"every": s.Every, "files": s.Files})
	})
	if err == nil {
		b.job.Wake()
	}
	return err
}

// dueSQL lists the schedules with the time of their next mail.
const dueSQL = `
SELECT team_id || ':' || organizer_id, (mailed_to + 1 + ('1 ' || every)::interval + interval '12 hours') AT TIME ZONE 'UTC' FROM book_schedule`

// Jobs returns the job that writes the mails, and the one that counts orders.
func (b *Books) Jobs() []*jobs.Job { return []*jobs.Job{b.job, b.counting} }

// The days of a schedule go on where they ended, so that each of them is in one mail, however many nodes look and however late.
const mailSQL = `
WITH due AS (
    SELECT team_id, organizer_id, files, mailed_to + 1 AS first, (mailed_to + 1 + ('1 ' || every)::interval)::date - 1 AS last
      FROM book_schedule
     WHERE team_id = $1 AND organizer_id = $2 AND (mailed_to + 1 + ('1 ' || every)::interval + interval '12 hours') AT TIME ZONE 'UTC' <= clock_timestamp()
       FOR UPDATE SKIP LOCKED
), moved AS (
    UPDATE book_schedule s SET mailed_to = d.last FROM due d WHERE s.team_id = d.team_id AND s.organizer_id = d.organizer_id
)
INSERT INTO mail (kind, email, about)
SELECT 'books', o.email, concat_ws(':', d.team_id, d.organizer_id, d.first, d.last, array_to_string(d.files, ',')) FROM due d JOIN organizer o ON o.id = d.organizer_id`

// mail writes the mail of a schedule that is due.
func (b *Books) mail(ctx context.Context, key string) (int, error) {
	team, organizer, err := readKeyOf(key)
	if err != nil {
		return 0, err
	}
	written, err := b.db.Exec(ctx, mailSQL, team, organizer)
	if err != nil {
		return 0, fmt.Errorf("books: mail those of team %d: %w", team, err)
	}
	b.Mailed()
	return int(written.RowsAffected()), nil
}

func readKeyOf(key string) (team, organizer int64, err error) {
	of, who, _ := strings.Cut(key, ":")
	if team, err = strconv.ParseInt(of, 10, 64); err == nil {
		organizer, err = strconv.ParseInt(who, 10, 64)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("books: %q names no schedule: %w", key, err)
	}
	return team, organizer, nil
}

// ErrNotTheirs is a mail to an address that may not read the books any more.
var ErrNotTheirs = errors.New("they may not read the books any more")

const readerSQL = `
SELECT o.name, m.role FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE m.team_id = $1 AND m.organizer_id = $2 AND o.email = $3`

// About reads what a mail to an address is about: the member whose books they are, the days, and the files.
//
// Errors: ErrNotTheirs; the database's.
func (b *Books) About(ctx context.Context, email, about string) (m organizers.Member, f Filter, files []string, err error) {
	parts := strings.Split(about, ":")
	if len(parts) < 4 {
		return m, f, nil, fmt.Errorf("books: a mail about %q", about)
	}
	if m.Team, m.Organizer, err = readKeyOf(parts[0] + ":" + parts[1]); err != nil {
		return m, f, nil, err
	}
	m.Email, f = email, Filter{From: parts[2], To: parts[3]}
	if len(parts) > 4 && parts[4] != "" {
		files = strings.Split(parts[4], ",")
	}
	err = b.db.QueryRow(ctx, readerSQL, m.Team, m.Organizer, email).Scan(&m.Name, &m.Role)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !m.May(organizers.Account) {
		return m, f, nil, ErrNotTheirs
	}
	if err != nil {
		return m, f, nil, fmt.Errorf("books: read whose a mail is: %w", err)
	}
	return m, f, files, nil
}

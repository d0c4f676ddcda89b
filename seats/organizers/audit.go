package organizers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/paging"
)

const noteSQL = `
INSERT INTO deed (team_id, organizer_id, who, email, what, subject, detail) VALUES ($1, nullif($2, 0), $3, $4, $5, $6, coalesce($7::jsonb, '{}'))`

// Note writes down what a member did, in the transaction that does it. what is a verb in the past, such as "invited";
// subject is the address below /desk of what it was done to, such as "events/seagull" or "events/seagull/orders/CODE";
// detail is anything more that JSON can say, or nil.
func Note(ctx context.Context, tx pgx.Tx, m Member, what, subject string, detail any) error {
	return note(ctx, tx, m, what, subject, detail)
}

func note(ctx context.Context, db seats.DB, m Member, what, subject string, detail any) error {
	if _, err := db.Exec(ctx, noteSQL, m.Team, m.Organizer, m.Name, m.Email, what, subject, detail); err != nil {
		return fmt.Errorf("organizers: note that %s %q: %w", what, subject, err)
	}
	return nil
}

// noting returns statements that note what a member did with a change elsewhere, as Note does.
func noting(m Member, what, subject string, detail any) (seats.TxHook, error) {
	if detail == nil {
		detail = struct{}{}
	}
	said, err := json.Marshal(detail)
	if err != nil {
		return nil, fmt.Errorf("organizers: note that %s %q: %w", what, subject, err)
	}
	return func(q *pgx.Batch) {
		q.Queue(noteSQL, m.Team, m.Organizer, m.Name, m.Email, what, subject, string(said))
	}, nil
}

// AuditEntry is one line of the log: who did what to what, when.
type AuditEntry struct {
	ID         int64
	At         time.Time
	Who, Email string
	What       string
	Subject    string
	Detail     map[string]any
}

// Filter chooses audit entries; empty fields choose all.
type Filter struct {
	Email   string    // of the member
	Subject string    // an address below /desk: it and what is below it
	What    string    // words in it
	Day     time.Time // up to the end of this day, in UTC
	Page    paging.Page
}

// LogRows is how many entries a page of the log usually has.
const LogRows = 100

const auditEntriesSQL = `
SELECT id, at, who, email, what, subject, detail FROM deed
 WHERE team_id = $1 AND ($2 = '' OR email = $2) AND ($3 = '' OR subject = $3 OR starts_with(subject, $3 || '/'))
   AND ($4 = '' OR strpos(lower(what), lower($4)) > 0) AND ($5::timestamptz IS NULL OR at < $5::timestamptz + interval '1 day')
   AND ($6 = 0 OR id < $6)
 ORDER BY id DESC LIMIT $7`

// AuditEntries returns the latest audit entries of a member's team that a filter chooses, the last one first, and where the list goes on; nil
// at its end.
func (d *Desk) AuditEntries(ctx context.Context, m Member, f Filter) (list []AuditEntry, next *paging.Place, err error) {
	var day *time.Time
	if !f.Day.IsZero() {
		day = &f.Day
	}
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, auditEntriesSQL, m.Team, f.Email, f.Subject, f.What, day, f.Page.After.N, f.Page.Limit+1)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[AuditEntry])
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("organizers: list audit entries: %w", err)
	}
	list, next = paging.Cut(list, f.Page, func(e AuditEntry) paging.Place { return paging.Place{N: e.ID} })
	return list, next, nil
}

const doersSQL = `SELECT DISTINCT email, min(who) FROM deed WHERE team_id = $1 GROUP BY email ORDER BY 2`

// Doers are the names of those who did something in a member's team, by address; the empty one is who runs the program.
func (d *Desk) Doers(ctx context.Context, m Member) (names [][2]string, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, doersSQL, m.Team)
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (one [2]string, err error) {
			return one, row.Scan(&one[0], &one[1])
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("organizers: list who did something: %w", err)
	}
	return names, nil
}

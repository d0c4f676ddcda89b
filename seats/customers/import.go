package customers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/lists"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Imported says what a list changed.
type Imported struct {
	Added    int  // customers that no list had before
	Changed  int  // customers of earlier lists
	Same     int  // lines that changed nothing
	Withheld int  // consents that were not stored, because the person unsubscribed, or was erased since
	Repeated bool // the same form was sent before; the other fields are zero
}

// Import stores the customers of a list, or nothing at all. A field that a line leaves empty stays as it is. Tags are added, and a note is
// added to the one that is there. A consent is stored if it is later than the one that is there, and if no address of the person unsubscribed from
// the team or was erased on that day or later. An erased person of a list is a new record.
//
// Errors: a *seats.ValidationError with each wrong line; those of a form that is done once; the database's.
func (c *Customers) Import(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, list []Listed) (done Imported, err error) {
	hash, err := c.hash(ctx)
	if err != nil {
		return done, fmt.Errorf("customers: import: %w", err)
	}
	done.Repeated = true
	err = d.Change(ctx, m, key, []any{"import customers", list}, func(tx pgx.Tx) error {
		done = Imported{}
		if _, err := tx.Exec(ctx, lockSQL, m.Team); err != nil {
			return err
		}
		if err := tooEarly(ctx, tx, list); err != nil {
			return err
		}
		erased, err := erasedOn(ctx, tx, m.Team, list, hash)
		if err != nil {
			return err
		}
		wrote, err := putListed(ctx, tx, m, list, erased, &done)
		if err != nil {
			return err
		}
		var wrong lists.Wrong
		for i, o := range list {
			changed, why, err := o.addNote(ctx, tx, m)
			if err != nil {
				return err
			}
			if why.ID != "" {
				wrong.Add(o.Line, why)
			}
			switch {
			case wrote[i] == added:
				done.Added++
			case wrote[i] == changedRow || changed:
				done.Changed++
			default:
				done.Same++
			}
		}
		if err := wrong.Err(); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("imported customers"), "customers", map[string]any{"added": done.Added, "changed": done.Changed})
	})
	if err != nil {
		return Imported{}, fmt.Errorf("customers: import: %w", err)
	}
	return done, nil
}

const todaySQL = `SELECT to_char(clock_timestamp() + interval '1 day', 'YYYY-MM-DD')`

// tooEarly refuses consents of days to come: of later than tomorrow in UTC, which is today in some place.
func tooEarly(ctx context.Context, tx pgx.Tx, list []Listed) error {
	var last string
	if err := tx.QueryRow(ctx, todaySQL).Scan(&last); err != nil {
		return err
	}
	var wrong lists.Wrong
	for _, o := range list {
		if day := o.AgreedOn.Format("2006-01-02"); !o.AgreedOn.IsZero() && day > last {
			wrong.Add(o.Line, text.Say("The day of the consent, %s, is yet to come.", day))
		}
	}
	return wrong.Err()
}

const erasedSQL = `SELECT person, max(at) FROM erasure WHERE team_id = $1 AND person IS NOT NULL GROUP BY person`

const personsSQL = `SELECT l.email, customer_emails($1, l.email) FROM unnest($2::text[]) l(email)`

// erasedOn returns for the addresses of a list when an address of the person was erased the last time, if one was. Erasures of the team wait for the lock.
func erasedOn(ctx context.Context, tx pgx.Tx, team int64, list []Listed, hash func(email string) []byte) (by map[string]time.Time, err error) {
	rows, _ := tx.Query(ctx, erasedSQL, team) // ForEachRow returns its error
	erased, person, at := map[string]time.Time{}, []byte(nil), time.Time{}
	if _, err := pgx.ForEachRow(rows, []any{&person, &at}, func() error { erased[string(person)] = at; return nil }); err != nil || len(erased) == 0 {
		return nil, err
	}
	var agreed []string
	for _, o := range list {
		if !o.AgreedOn.IsZero() {
			agreed = append(agreed, o.Email)
		}
	}
	rows, _ = tx.Query(ctx, personsSQL, team, agreed) // ForEachRow returns its error
	email, emails := "", []string(nil)
	by = map[string]time.Time{}
	_, err = pgx.ForEachRow(rows, []any{&email, &emails}, func() error {
		for _, one := range emails {
			if at := erased[string(hash(one))]; at.After(by[email]) {
				by[email] = at
			}
		}
		return nil
	})
	return by, err
}

// What a line did to the row of a customer.
type written int

const (
	sameRow written = iota
	changedRow
	added
)

// agreed holds for a consent that may be stored: no address of the person unsubscribed, and none was erased on that day or later, by the
// clock that is farthest ahead; $10 is the last erasure.
const putListedSQL = `
WITH line AS (
    SELECT $6::date IS NOT NULL AND NOT EXISTS (SELECT FROM unnest(customer_emails($2, $3)) a(email) JOIN unsubscribed u ON u.team_id = $2 AND u.email = sha256(convert_to(a.email, 'UTF8')))
           AND $6::date > coalesce((($10::timestamptz + interval '14 hours') AT TIME ZONE 'UTC')::date, '-infinity') AS agreed
), put AS (
    INSERT INTO customer AS c (id, team_id, email, name, phone, language, agreed_on, agreed_by, imported_by)
    SELECT $1, $2, $3, $4, $5, $8, CASE WHEN agreed THEN $6::date END, CASE WHEN agreed THEN $7 ELSE '' END, $9 FROM line
    ON CONFLICT (team_id, email) DO UPDATE
       SET name = coalesce(nullif($4, ''), c.name), phone = coalesce(nullif($5, ''), c.phone), language = coalesce(nullif($8, ''), c.language),
           agreed_on = CASE WHEN excluded.agreed_on > coalesce(c.agreed_on, '-infinity') THEN excluded.agreed_on ELSE c.agreed_on END,
           agreed_by = CASE WHEN excluded.agreed_on > coalesce(c.agreed_on, '-infinity') THEN excluded.agreed_by ELSE c.agreed_by END
     WHERE $4 NOT IN ('', c.name) OR $5 NOT IN ('', c.phone) OR $8 NOT IN ('', c.language) OR excluded.agreed_on > coalesce(c.agreed_on, '-infinity')
    RETURNING xmax = 0 AS added
)
SELECT CASE WHEN put.added THEN 2 WHEN put.added IS NOT NULL THEN 1 ELSE 0 END, $6::date IS NOT NULL AND NOT agreed FROM line LEFT JOIN put ON true`

const touchSQL = `UPDATE customer SET listed_at = clock_timestamp(), imported_by = $3 WHERE team_id = $1 AND email = ANY($2)`

// putListed writes the rows of customers, and counts consents that were withheld.
func putListed(ctx context.Context, tx pgx.Tx, m organizers.Member, list []Listed, erased map[string]time.Time, done *Imported) (wrote []written, err error) {
	q, emails := &pgx.Batch{}, []string{}
	for _, o := range list {
		var agreed, before any
		if !o.AgreedOn.IsZero() {
			agreed = o.AgreedOn
		}
		if at, was := erased[o.Email]; was {
			before = at
		}
		q.Queue(putListedSQL, seats.NewID(), m.Team, o.Email, o.Name, o.Phone, agreed, o.AgreedBy, o.Language, m.Name, before)
		emails = append(emails, o.Email)
	}
	sent := tx.SendBatch(ctx, q)
	for range list {
		var did written
		var withheld bool
		if err := sent.QueryRow().Scan(&did, &withheld); err != nil {
			return nil, errors.Join(err, sent.Close())
		}
		if wrote = append(wrote, did); withheld {
			done.Withheld++
		}
	}
	if err := sent.Close(); err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, touchSQL, m.Team, emails, m.Name)
	return wrote, err
}

// addNote adds the note and the tags of a line to those of the person. wrong says why that cannot be.
func (o *Listed) addNote(ctx context.Context, tx pgx.Tx, m organizers.Member) (changed bool, wrong text.Message, err error) {
	if o.Note == "" && len(o.Tags) == 0 {
		return false, wrong, nil
	}
	emails, err := Emails(ctx, tx, m.Team, o.Email)
	if err != nil {
		return false, wrong, err
	}
	n, err := noteOf(ctx, tx, m.Team, emails)
	if err != nil || !n.add(o.Note, o.Tags) {
		return false, wrong, err
	}
	if n.check() != nil {
		return false, text.Say("With what is noted already, the note is longer than 2,000 characters, or there are more than 10 tags."), nil
	}
	return true, wrong, putNote(ctx, tx, m, emails, n)
}

package till

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/text"
)

// Session is a till session. Amounts are minor units of its currency.
type Session struct {
	ID        int64
	Organizer int64
	Key       int64 // the API key of a program; 0: the person
	Who       string
	Currency  string
	Zone      string
	Opening   int64 // cash in the drawer when it opened
	OpenedAt  time.Time
	Number    int64 // of its report; 0 while it is open
	ClosedAt  *time.Time
	Day       string // such as 2030-05-01; empty while it is open
	Counted   int64  // cash in the drawer when it closed
	Expected  int64  // cash that should be there
	Taken     int64  // of orders in all ways to pay, less refunds
	Note      string // why they differ

	Reader      string // the card provider's name of the reader that charges cards; empty: none was chosen
	ReaderLabel string // of the reader

	Lines []Line // filled by Find and Day
	Moves []Move // filled by Find
}

// Closed reports whether the session was closed.
func (s Session) Closed() bool { return s.ClosedAt != nil }

// Difference is how much more is in the drawer than should be, which may be less than nothing.
func (s Session) Difference() int64 { return s.Counted - s.Expected }

// Errors of the till.
var (
	errNoSession  = &seats.ValidationError{Unknown: true, Message: text.Mark("There is no such till session. Nothing was changed.")}
	errSellClosed = &seats.Conflict{Code: CodeClosed, Message: text.Mark("Your till is closed. Nothing was sold. Open it, then sell again.")}
	errClosed     = &seats.Conflict{Code: CodeClosed, Message: text.Mark("This till session is closed. Nothing was changed. Open another one.")}
)

// Codes of refusals.
const (
	CodeClosed = "till_closed"   // the session is closed, or none is open
	CodeOpen   = "till_open"     // there is one already
	CodeMoney  = "till_too_much" // more is paid out than is in the drawer
)

// Opening is a session about to begin.
type Opening struct {
	Currency string // ISO 4217
	Zone     string // time zone of its day
	Float    int64  // cash in the drawer, minor units
}

// It has the card reader of the last session.
const openSQL = `
INSERT INTO till_session (team_id, organizer_id, key_id, who, currency, zone, opening, reader, reader_label)
SELECT $1, $2, $3, $4, $5, $6, $7, coalesce(l.reader, ''), coalesce(l.reader_label, '')
  FROM (SELECT) one LEFT JOIN LATERAL (SELECT reader, reader_label FROM till_session WHERE team_id = $1 AND organizer_id = $2 AND key_id = $3 ORDER BY id DESC LIMIT 1) l ON true
    ON CONFLICT DO NOTHING RETURNING id`

// Open begins a session of the member; by an API key, one of the key. A repeat of the form changes nothing more.
//
// Errors: *seats.ValidationError; a *seats.Conflict if one is open; those of Desk.Change.
func Open(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, o Opening) error {
	if _, err := time.LoadLocation(o.Zone); err != nil || o.Zone == "" || o.Float < 0 || o.Float > mostCash || len(o.Currency) != 3 {
		return &seats.ValidationError{Message: text.Mark("Enter the cash in the drawer, such as 200.00. Nothing was changed.")}
	}
	return change(ctx, d, m, key, []any{"open", o}, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, openSQL, m.Team, m.Organizer, m.Key, m.Name, o.Currency, o.Zone, o.Float).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return &seats.Conflict{Code: CodeOpen, Message: text.Mark("Your till is open already. Nothing was changed. Close it first.")}
		}
		if err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("opened the till"), subject(id), map[string]any{"amount": o.Float, "currency": o.Currency})
	})
}

// mostCash is the most of one amount, in minor units: a typing error is refused before it fills the books.
const mostCash = 1_000_000_000_00

func subject(id int64) string { return fmt.Sprint("till/sessions/", id) }

// change does what a form asks for, once. What refuses it comes through.
func change(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, asked []any, do func(tx pgx.Tx) error) error {
	err := d.Change(ctx, m, key, append([]any{"till", m.Key}, asked...), do)
	var refusal *seats.Conflict
	var wrong *seats.ValidationError
	if err == nil || errors.As(err, &refusal) || errors.As(err, &wrong) {
		return err
	}
	return fmt.Errorf("till: %w", err)
}

const lockSessionSQL = `
SELECT id, currency, opening, closed_at IS NOT NULL, zone FROM till_session WHERE id = $1 AND organizer_id = $2 AND key_id = $3 FOR UPDATE`

// lock returns an open session of the member. Sales that are under way in it are waited for.
func lock(ctx context.Context, tx pgx.Tx, m organizers.Member, id int64) (s Session, err error) {
	var closed bool
	err = tx.QueryRow(ctx, lockSessionSQL, id, m.Organizer, m.Key).Scan(&s.ID, &s.Currency, &s.Opening, &closed, &s.Zone)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return s, errNoSession
	case err == nil && closed:
		return s, errClosed
	}
	return s, err
}

const (
	lockTeamSQL = `SELECT FROM team WHERE id = $1 FOR NO KEY UPDATE`

	closeSQL = `
UPDATE till_session
   SET number = (SELECT coalesce(max(number), 0) + 1 FROM till_session WHERE team_id = $2), closed_at = clock_timestamp(),
       day = (clock_timestamp() AT TIME ZONE zone)::date, counted = $3, expected = $4, taken = $5, note = $6
 WHERE id = $1 RETURNING number`
)

// A card may still be charged for it, and its sale is an entry.
const atReaderSQL = `
SELECT form->'till'->>'label' FROM payment WHERE form->'till'->>'session' = $1::bigint::text AND state IN ('open', 'authorized') AND form ? 'till' LIMIT 1`

// refuseAtReader refuses to close a session while a payment of it is at a card reader.
func refuseAtReader(ctx context.Context, tx pgx.Tx, id int64) error {
	var label string
	err := tx.QueryRow(ctx, atReaderSQL, id).Scan(&label)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return &seats.Conflict{Code: CodeReader, Message: text.Mark("A payment is at the card reader “%s”. The till was not closed. Cancel the payment, or wait until it ends."), Args: []any{label}}
}

// Closing is the end of a session.
type Closing struct {
	Counted int64  // cash in the drawer, minor units
	Note    string // why it differs from what should be there; may be empty
}

// Close ends a session of the member: its report gets the next number of the team, and no entry comes to it any more. A repeat of
// the form changes nothing more.
//
// Errors: *seats.ValidationError; a *seats.Conflict if it is closed, or a payment of it is at a card reader; those of Desk.Change.
func Close(ctx context.Context, d *organizers.Desk, m organizers.Member, key string, id int64, c Closing) error {
	c.Note = strings.TrimSpace(c.Note)
	if c.Counted < 0 || c.Counted > mostCash || !seats.OneLine(c.Note, seats.MostReason) {
		return &seats.ValidationError{Message: text.Mark("Enter the cash that you counted, such as 200.00. Nothing was changed.")}
	}
	return change(ctx, d, m, key, []any{"close", id, c}, func(tx pgx.Tx) error {
		s, err := lock(ctx, tx, m, id)
		if err != nil {
			return err
		}
		if err := refuseAtReader(ctx, tx, id); err != nil {
			return err
		}
		if s.Lines, err = lines(ctx, tx, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, lockTeamSQL, m.Team); err != nil {
			return err
		}
		var number int64
		expected, taken := s.Cash(), s.Turnover()
		if err := tx.QueryRow(ctx, closeSQL, id, m.Team, c.Counted, expected, taken, c.Note).Scan(&number); err != nil {
			return err
		}
		return organizers.Note(ctx, tx, m, text.Mark("closed the till"), subject(id), map[string]any{"number": number, "counted": c.Counted, "expected": expected})
	})
}

const sessionColumns = `
SELECT id, organizer_id, key_id, who, currency, zone, opening, opened_at, coalesce(number, 0), closed_at, coalesce(day::text, ''), coalesce(counted, 0), coalesce(expected, 0),
       coalesce(taken, 0), note, reader, reader_label
  FROM till_session `

func scanSession(row pgx.CollectableRow) (s Session, err error) {
	err = row.Scan(&s.ID, &s.Organizer, &s.Key, &s.Who, &s.Currency, &s.Zone, &s.Opening, &s.OpenedAt, &s.Number, &s.ClosedAt, &s.Day, &s.Counted, &s.Expected, &s.Taken, &s.Note, &s.Reader, &s.ReaderLabel)
	return s, err
}

const currentSQL = sessionColumns + `WHERE team_id = $1 AND organizer_id = $2 AND key_id = $3 AND closed_at IS NULL ORDER BY id`

// Current are the open sessions of the member; by an API key, those of the key.
func Current(ctx context.Context, d *organizers.Desk, m organizers.Member) (list []Session, err error) {
	return sessions(ctx, d, m, currentSQL, m.Team, m.Organizer, m.Key)
}

// InCurrency is the one of these sessions that is in a currency.
func InCurrency(list []Session, currency string) (s Session, open bool) {
	i := slices.IndexFunc(list, func(s Session) bool { return s.Currency == currency })
	if i < 0 {
		return s, false
	}
	return list[i], true
}

// mostSessions is how many of them a page lists.
const mostSessions = 100

const latestSQL = sessionColumns + `WHERE team_id = $1 AND ($2 = 0 OR organizer_id = $2 AND key_id = $3) ORDER BY id DESC LIMIT $4`

// Latest are the latest sessions that a member may see: their own, or those of the team.
func Latest(ctx context.Context, d *organizers.Desk, m organizers.Member) (list []Session, err error) {
	own := m.Organizer
	if m.May(organizers.Look) {
		own = 0
	}
	return sessions(ctx, d, m, latestSQL, m.Team, own, m.Key, mostSessions)
}

func sessions(ctx context.Context, d *organizers.Desk, m organizers.Member, sql string, args ...any) (list []Session, err error) {
	err = d.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanSession)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("till: list sessions: %w", err)
	}
	return list, nil
}

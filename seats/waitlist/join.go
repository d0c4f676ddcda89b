package waitlist

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// NewEntry is the form of a person who joins.
type NewEntry struct {
	Email string
	Wanted
	Until   *time.Time // nil: as long as the sale is open
	Consent Consent
	Wrong   Mistakes // for fields that could not be read
}

// Fields of a form that a Mistake is about.
const (
	FieldEmail    = "email"
	FieldQuantity = "quantity"
	FieldWhere    = "where"
	FieldUntil    = "until"
	FieldMethod   = "method"
	FieldName     = "name"
	FieldMost     = "most"
	FieldTerms    = "terms"
)

// Mistakes are error messages by field. Nothing was changed.
type Mistakes map[string]string

func (m Mistakes) Error() string { return m.In(context.Background()) }

// In says them in the language of their reader.
func (m Mistakes) In(ctx context.Context) string {
	var words []string
	for _, field := range []string{FieldEmail, FieldQuantity, FieldWhere, FieldUntil, FieldMethod, FieldName, FieldMost, FieldTerms} {
		if m[field] != "" {
			words = append(words, text.T(ctx, m[field]))
		}
	}
	return strings.Join(words, " ")
}

// mostSeats is the most one entry waits for; the schema says so too.
const mostSeats = 100

func tidyEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// tidy normalizes the form: no section twice, and no together for one seat.
func (w NewEntry) tidy() NewEntry {
	w.Email = tidyEmail(w.Email)
	if w.Consent.Name = strings.Join(strings.Fields(w.Consent.Name), " "); !w.Consent.Given() {
		w.Consent = Consent{}
	}
	if w.Consent.InForce == 0 {
		w.Consent.Terms = 0
	}
	for _, list := range []*[]int{&w.Sections, &w.Categories} {
		*list = slices.Compact(slices.Sorted(slices.Values(*list)))
	}
	if w.Quantity == 1 {
		w.Together, w.Fewer = false, false
	}
	return w
}

// check finds every mistake in a tidy entry. now is the database's.
func (w NewEntry) check(s *seats.Sale, now time.Time) error {
	m := Mistakes{}
	maps.Copy(m, w.Wrong)
	if !seats.IsEmail(w.Email) {
		m[FieldEmail] = text.Mark("Enter an email address in the format name@example.com.")
	}
	if most := min(s.Event.SeatsPerHolder, mostSeats); w.Quantity < 1 || w.Quantity > most {
		m[FieldQuantity] = text.Mark("You can’t ask for that many seats.")
	}
	outside := func(n int) func(int) bool { return func(i int) bool { return i < 0 || i >= n } }
	if slices.ContainsFunc(w.Sections, outside(len(s.Plan.Sections))) || slices.ContainsFunc(w.Categories, outside(len(s.Plan.Categories))) {
		m[FieldWhere] = text.Mark("This event has no such section.")
	}
	if w.Until != nil && !w.Until.After(now) {
		m[FieldUntil] = text.Mark("This day is in the past.")
	}
	w.Consent.check(m)
	if len(m) > 0 {
		return m
	}
	return nil
}

// CodeFree is the code of a refusal: such seats are available.
const CodeFree = "free"

// Joining is the context of a join.
type Joining struct {
	Verified string // the visitor's verified address; empty if none
	Number   int64  // in the event's waiting room; 0 if the visitor does not come from there
}

// Joined is the result of a join.
type Joined struct {
	Entry int64
	Code  string
	Asked bool // a mail with a link is on its way; the visitor must not see the code
}

const nowSQL = `SELECT clock_timestamp()`

func (l *List) now(ctx context.Context) (now time.Time, err error) {
	if err = l.db.QueryRow(ctx, nowSQL).Scan(&now); err != nil {
		return now, fmt.Errorf("waitlist: ask for the time: %w", err)
	}
	return now, nil
}

// Join adds an entry to the waitlist of an event, or finds the existing one of the address. A visitor without a verified
// address learns about the entry only by mail. Its mails are in the language of ctx, or of the event if ctx has none.
//
// Errors: Mistakes; ErrOver; ErrOften; a *seats.Conflict if such seats are available; the database's.
func (l *List) Join(ctx context.Context, s *seats.Sale, w NewEntry, by Joining) (Joined, error) {
	w = w.tidy()
	now, err := l.now(ctx)
	if err != nil {
		return Joined{}, err
	}
	if !now.Before(s.Event.StartsAt) || s.Event.Status == seats.Closed || s.Event.Status == seats.Cancelled || s.Event.Status == seats.Draft {
		return Joined{}, ErrOver
	}
	if err := w.check(s, now); err != nil {
		return Joined{}, err
	}
	if err := s.CatchUp(ctx); err != nil {
		return Joined{}, err
	}
	if newAllocator(s, s.FreeSeats()).take(w.Wanted) != nil {
		return Joined{}, &seats.Conflict{Code: CodeFree, Message: text.Mark("Seats like these are available now. Choose them on the event’s page.")}
	}
	j, err := l.join(ctx, s, w, by)
	if err != nil {
		return Joined{}, fmt.Errorf("waitlist: join: %w", err)
	}
	if j.Asked {
		l.Wrote()
	} else {
		l.Wake(s.Event.Slug)
	}
	return j, nil
}

const makeListSQL = `INSERT INTO wait_list (event_id) VALUES ($1) ON CONFLICT DO NOTHING`

// Numbers of a waiting room become ranks, counted from the moment its first visitor joined the waitlist. They keep their
// order, after earlier entries and before later ones.
const roomSinceSQL = `
UPDATE wait_list SET room_since = coalesce(room_since, clock_timestamp()) WHERE event_id = $1
RETURNING (extract(epoch FROM room_since) * 1000000)::bigint`

// A second join with the same address changes an unverified entry, and sends its link again. A verified entry stays.
const joinSQL = `
INSERT INTO entry AS e (event_id, code, email, quantity, sections, categories, together, fewer, until, rank, method, name, most, terms, agreed_at, language)
VALUES ($1, $2, $3, $4, coalesce($5::smallint[], '{}'), coalesce($6::smallint[], '{}'), $7, $8, $9, coalesce($10::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint),
        nullif($11, ''), CASE WHEN $11 <> '' THEN $12 END, CASE WHEN $11 <> '' THEN $13::bigint END,
        nullif($14, 0), CASE WHEN $14 > 0 THEN clock_timestamp() END, $15)
    ON CONFLICT (event_id, email) WHERE state IN ('new', 'waiting', 'offered') DO UPDATE
   SET quantity    = CASE e.state WHEN 'new' THEN excluded.quantity ELSE e.quantity END,
       sections    = CASE e.state WHEN 'new' THEN excluded.sections ELSE e.sections END,
       categories  = CASE e.state WHEN 'new' THEN excluded.categories ELSE e.categories END,
       together    = CASE e.state WHEN 'new' THEN excluded.together ELSE e.together END,
       fewer       = CASE e.state WHEN 'new' THEN excluded.fewer ELSE e.fewer END,
       until       = CASE e.state WHEN 'new' THEN excluded.until ELSE e.until END,
       method      = CASE e.state WHEN 'new' THEN excluded.method ELSE e.method END,
       name        = CASE e.state WHEN 'new' THEN excluded.name ELSE e.name END,
       most        = CASE e.state WHEN 'new' THEN excluded.most ELSE e.most END,
       terms       = CASE e.state WHEN 'new' THEN excluded.terms ELSE e.terms END,
       agreed_at   = CASE e.state WHEN 'new' THEN excluded.agreed_at ELSE e.agreed_at END,
       language    = CASE e.state WHEN 'new' THEN excluded.language ELSE e.language END,
       rank        = CASE e.state WHEN 'new' THEN least(e.rank, excluded.rank) ELSE e.rank END,
       asked       = CASE WHEN e.asked_since > clock_timestamp() - interval '1 hour' THEN least(e.asked + 1, 1000) ELSE 1 END,
       asked_since = CASE WHEN e.asked_since > clock_timestamp() - interval '1 hour' THEN e.asked_since ELSE clock_timestamp() END
RETURNING e.id, e.code, e.state, e.asked, (xmax = 0) AS fresh`

const askVerifySQL = `INSERT INTO mail (entry_id, kind) VALUES ($1, 'wait-verify')`

const verifySQL = `
UPDATE entry SET state = 'waiting', waits_since = clock_timestamp(), waits_in = pg_current_xact_id() WHERE id = $1 AND state = 'new'`

const stepSQL = `INSERT INTO wait_step (event_id, entry_id, what, detail, who) VALUES ($1, $2, $3, $4, $5)`

// mostAsked is how many mails with a link an address gets within an hour.
const mostAsked = 3

func (l *List) join(ctx context.Context, s *seats.Sale, w NewEntry, by Joining) (j Joined, err error) {
	err = pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, makeListSQL, s.Event.ID); err != nil {
			return err
		}
		var rank *int64
		if by.Number > 0 {
			var since int64
			if err := tx.QueryRow(ctx, roomSinceSQL, s.Event.ID).Scan(&since); err != nil {
				return err
			}
			since += by.Number
			rank = &since
		}
		var state, language string
		if text.Known(ctx) {
			language = text.Tag(ctx)
		}
		var asked int
		var fresh bool
		err := tx.QueryRow(ctx, joinSQL, s.Event.ID, newCode(), w.Email, w.Quantity, w.Sections, w.Categories, w.Together, w.Fewer, w.Until, rank, w.Consent.Method, w.Consent.Name, w.Consent.Most, w.Consent.Terms, language).
			Scan(&j.Entry, &j.Code, &state, &asked, &fresh)
		if err != nil {
			return err
		}
		if fresh {
			if _, err := tx.Exec(ctx, stepSQL, s.Event.ID, j.Entry, "joined", "", ""); err != nil {
				return err
			}
		}
		if w.Email == by.Verified {
			return l.verified(ctx, tx, s.Event.ID, j.Entry)
		}
		if j.Asked = true; asked > mostAsked {
			return ErrOften
		}
		_, err = tx.Exec(ctx, askVerifySQL, j.Entry)
		return err
	})
	return j, err
}

// verified makes an unverified entry wait.
func (l *List) verified(ctx context.Context, tx pgx.Tx, event, entry int64) error {
	tag, err := tx.Exec(ctx, verifySQL, entry)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	_, err = tx.Exec(ctx, stepSQL, event, entry, "verified", "", "")
	return err
}

const eventOfEntrySQL = `SELECT event_id FROM entry WHERE id = $1`

// Confirm verifies the address of an entry, which waits from then on. A repeat changes nothing.
func (l *List) Confirm(ctx context.Context, n Entry) error {
	err := pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		var event int64
		if err := tx.QueryRow(ctx, eventOfEntrySQL, n.ID).Scan(&event); err != nil {
			return err
		}
		return l.verified(ctx, tx, event, n.ID)
	})
	if err != nil {
		return fmt.Errorf("waitlist: confirm: %w", err)
	}
	l.Wake(n.Event)
	return nil
}

const changeSQL = `
UPDATE entry
   SET quantity = $2, sections = coalesce($3::smallint[], '{}'), categories = coalesce($4::smallint[], '{}'), together = $5, fewer = $6, until = $7,
       mandate = CASE WHEN method = $8 AND most >= $10 THEN mandate END, method = nullif($8, ''), name = CASE WHEN $8 <> '' THEN $9 END, most = CASE WHEN $8 <> '' THEN $10::bigint END,
       terms = nullif($11, 0), agreed_at = CASE WHEN $11 > 0 THEN clock_timestamp() END,
       waits_since = CASE state WHEN 'waiting' THEN clock_timestamp() END, waits_in = CASE state WHEN 'waiting' THEN pg_current_xact_id() END,
       passed = NULL, had = NULL, passed_at = NULL, passed_in = NULL, gather_until = NULL
 WHERE id = $1 AND state IN ('new', 'waiting')
RETURNING event_id`

// Change changes the wanted seats of an entry. Its rank stays. Refused while it has an offer, and after it ended.
func (l *List) Change(ctx context.Context, s *seats.Sale, n Entry, w NewEntry) error {
	w.Email = n.Email
	w = w.tidy()
	now, err := l.now(ctx)
	if err != nil {
		return err
	}
	if err := w.check(s, now); err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, l.db, func(tx pgx.Tx) error {
		var event int64
		err := tx.QueryRow(ctx, changeSQL, n.ID, w.Quantity, w.Sections, w.Categories, w.Together, w.Fewer, w.Until, w.Consent.Method, w.Consent.Name, w.Consent.Most, w.Consent.Terms).Scan(&event)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, stepSQL, event, n.ID, "changed", fmt.Sprintf("%d seats, together %t, fewer %t", w.Quantity, w.Together, w.Fewer), "")
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return refuseGone()
	}
	if err != nil {
		return fmt.Errorf("waitlist: change: %w", err)
	}
	l.Wake(n.Event)
	return nil
}

func refuseGone() error {
	return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("Your place changed since this page was shown. Check it, then try again.")}
}

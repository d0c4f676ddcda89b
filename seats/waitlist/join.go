package waitlist

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// CodeFree is the code of a refusal: such seats are available.
const CodeFree = "free"

// Joining says how a visitor joins, besides what they want.
type Joining struct {
	Verified string // an address that they showed to be theirs; empty if none
	Number   int64  // of the event's waiting room; 0 if they do not come from there
	Key      string // of the form; a repeat sends no second mail
}

// Joined is what became of it.
type Joined struct {
	Entry int64
	Code  string
	Asked bool // a mail with a link is on its way, and the code must not be shown
}

const nowSQL = `SELECT clock_timestamp()`

func (l *List) now(ctx context.Context) (now time.Time, err error) {
	if err = l.db.QueryRow(ctx, nowSQL).Scan(&now); err != nil {
		return now, fmt.Errorf("waitlist: ask for the time: %w", err)
	}
	return now, nil
}

// Join adds an entry to the waitlist of an event, or finds the one of the address. A visitor who only typed an address
// learns of it by mail alone.
//
// Errors: Mistakes; ErrOver; ErrOften; a *seats.Refusal if such seats are free; the database's.
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
	if s.NewPool(s.FreeSeats()).Take(w.Wanted) != nil {
		return Joined{}, &seats.Refusal{Code: CodeFree, Message: "Seats such as these are free now. Nothing was entered: choose them on the page of the event."}
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

// Numbers of a waiting room become ranks from the moment the first of its people joined the list: they keep their order,
// behind those who waited before and before those who come later.
const roomSinceSQL = `
UPDATE wait_list SET room_since = coalesce(room_since, clock_timestamp()) WHERE event_id = $1
RETURNING (extract(epoch FROM room_since) * 1000000)::bigint`

// Who asks again with the same address changes an entry that was not verified, and gets the link of the other kind again.
const joinSQL = `
INSERT INTO entry AS e (event_id, code, email, quantity, sections, categories, together, fewer, until, rank, asked_key, method, name, most)
VALUES ($1, $2, $3, $4, coalesce($5::smallint[], '{}'), coalesce($6::smallint[], '{}'), $7, $8, $9, coalesce($10::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint), nullif($11, ''),
        nullif($12, ''), CASE WHEN $12 <> '' THEN $13 END, CASE WHEN $12 <> '' THEN $14::bigint END)
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
       rank        = CASE e.state WHEN 'new' THEN least(e.rank, excluded.rank) ELSE e.rank END,
       asked       = CASE WHEN e.asked_key = excluded.asked_key THEN e.asked WHEN e.asked_since > clock_timestamp() - interval '1 hour' THEN least(e.asked + 1, 1000) ELSE 1 END,
       asked_since = CASE WHEN e.asked_since > clock_timestamp() - interval '1 hour' THEN e.asked_since ELSE clock_timestamp() END,
       asked_key   = excluded.asked_key
RETURNING e.id, e.code, e.state, e.asked, (xmax = 0) AS fresh, coalesce((SELECT asked_key = $11 FROM entry o WHERE o.id = e.id), false) AS repeat`

const askVerifySQL = `INSERT INTO mail (entry_id, kind) VALUES ($1, 'wait-verify')`

const verifySQL = `
UPDATE entry SET state = 'waiting', waits_since = clock_timestamp(), waits_in = pg_current_xact_id() WHERE id = $1 AND state = 'new'`

const stepSQL = `INSERT INTO wait_step (event_id, entry_id, what, detail, who) VALUES ($1, $2, $3, $4, $5)`

// mostAsked is how many mails with its link an address gets within an hour.
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
		var state string
		var asked int
		var fresh, repeat bool
		err := tx.QueryRow(ctx, joinSQL, s.Event.ID, newCode(), w.Email, w.Quantity, w.Sections, w.Categories, w.Together, w.Fewer, w.Until, rank, by.Key, w.Consent.Method, w.Consent.Name, w.Consent.Most).
			Scan(&j.Entry, &j.Code, &state, &asked, &fresh, &repeat)
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
		switch j.Asked = true; {
		case repeat:
			return nil
		case asked > mostAsked:
			return ErrOften
		}
		_, err = tx.Exec(ctx, askVerifySQL, j.Entry)
		return err
	})
	return j, err
}

// verified has an entry wait from now on, if it did not before.
func (l *List) verified(ctx context.Context, tx pgx.Tx, event, entry int64) error {
	tag, err := tx.Exec(ctx, verifySQL, entry)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	_, err = tx.Exec(ctx, stepSQL, event, entry, "verified", "", "")
	return err
}

const eventOfEntrySQL = `SELECT event_id FROM entry WHERE id = $1`

// Confirm has an entry wait: its mail was read. A repeat changes nothing more.
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
       waits_since = CASE state WHEN 'waiting' THEN clock_timestamp() END, waits_in = CASE state WHEN 'waiting' THEN pg_current_xact_id() END,
       passed = NULL, had = NULL, passed_at = NULL, passed_in = NULL, gather_until = NULL
 WHERE id = $1 AND state IN ('new', 'waiting')
RETURNING event_id`

// Change has an entry want other seats, and leaves it its rank. Refused while it is offered something, and afterwards.
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
		err := tx.QueryRow(ctx, changeSQL, n.ID, w.Quantity, w.Sections, w.Categories, w.Together, w.Fewer, w.Until, w.Consent.Method, w.Consent.Name, w.Consent.Most).Scan(&event)
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
	return &seats.Refusal{Code: seats.CodeChanged, Message: "This place in the wait list changed since the page was shown. Nothing was changed now. Look at it again."}
}

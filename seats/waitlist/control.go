package waitlist

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/paging"
	"github.com/usherbox/usher/seats/text"
)

// Control is what organizers do to a waitlist. Each change writes a step with the organizer's name.
type Control struct {
	List *List
	Who  string
	Also seats.TxHook // commits with each change; may be nil
}

// ErrNoReason is the answer to an organizer who acts out of turn and gives no reason.
var ErrNoReason = errors.New("what is done out of turn needs a reason, which is written down")

const mostNote = 500 // characters of a reason

// reasonOf trims a reason. A missing or too long one is an error.
func reasonOf(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	switch {
	case reason == "":
		return "", ErrNoReason
	case len([]rune(reason)) > mostNote:
		return "", &seats.ValidationError{Message: text.Mark("A reason has at most %d characters. Nothing was changed."), Args: []any{mostNote}}
	}
	return reason, nil
}

const pauseSQL = `
INSERT INTO wait_list (event_id, paused_at, note) VALUES ($1, CASE WHEN $2 THEN clock_timestamp() END, $3)
    ON CONFLICT (event_id) DO UPDATE SET paused_at = excluded.paused_at, note = excluded.note`

// awaitRoundSQL takes the lock of rounds: one under way has read that the list is not paused.
const awaitRoundSQL = `SELECT pg_advisory_xact_lock($1 # (house_seed() % 2147483647)::integer, $2::integer)`

const (
	patienceSQL    = `SET LOCAL lock_timeout = '10s'`
	endPatienceSQL = `SET LOCAL lock_timeout = DEFAULT`
)

// Pause stops offers until Resume: once it returns, no round makes one. Returned seats stay reserved for the waitlist meanwhile, and open offers stay valid.
// Every waiting person reads the reason.
func (c Control) Pause(ctx context.Context, slug, reason string) error {
	reason, err := reasonOf(reason)
	if err != nil {
		return err
	}
	return c.pause(ctx, slug, true, reason, "paused")
}

// Resume ends a pause.
func (c Control) Resume(ctx context.Context, slug string) error {
	return c.pause(ctx, slug, false, "", "resumed")
}

func (c Control) pause(ctx context.Context, slug string, on bool, reason, what string) error {
	s, err := c.List.office.Sale(ctx, slug)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, c.List.db, func(tx pgx.Tx) error {
		if on {
			if err := awaitRound(ctx, tx, s.Event.ID); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, pauseSQL, s.Event.ID, on, reason); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, stepSQL, s.Event.ID, nil, what, reason, c.Who); err != nil {
			return err
		}
		return c.Also.Run(ctx, tx)
	})
	var refusal *seats.Conflict
	if errors.As(err, &refusal) {
		return refusal
	}
	if err != nil {
		return fmt.Errorf("waitlist: %s: %w", what, err)
	}
	c.List.Wake(slug)
	return nil
}

// awaitRound returns once no round makes offers; none begins before the transaction ends. It refuses after ten seconds.
func awaitRound(ctx context.Context, tx pgx.Tx, event int64) error {
	if _, err := tx.Exec(ctx, patienceSQL); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, awaitRoundSQL, lockNumber, event)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "55P03" {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("Offers are being made at this moment. Nothing was changed. Pause the list again.")}
	}
	if err == nil {
		_, err = tx.Exec(ctx, endPatienceSQL)
	}
	return err
}

// entry finds a waiting entry by email.
func (c Control) entry(ctx context.Context, slug, email string) (Entry, error) {
	n, err := c.List.Of(ctx, slug, email)
	if err != nil {
		return n, err
	}
	switch n.State {
	case Offered:
		return n, &seats.Conflict{Code: seats.CodeChanged, Message: n.Email + " is offered seats at this moment. Nothing was changed; an offer that was made holds."}
	case Unverified:
		return n, &seats.Conflict{Code: seats.CodeChanged, Message: n.Email + " was not confirmed yet. Nothing was changed; they wait once they open the link in their mail."}
	}
	return n, nil
}

const prioritySQL = `
UPDATE entry n
   SET rank = (SELECT min(rank) FROM entry WHERE event_id = n.event_id AND state IN ('waiting', 'offered')) - 1,
       waits_since = clock_timestamp(), waits_in = pg_current_xact_id(), passed = NULL, had = NULL, passed_at = NULL, passed_in = NULL
 WHERE id = $1 AND state = 'waiting'
RETURNING event_id`

// Priority puts a waiting entry before all others. The reason is recorded.
func (c Control) Priority(ctx context.Context, slug, email, reason string) error {
	reason, err := reasonOf(reason)
	if err != nil {
		return err
	}
	n, err := c.entry(ctx, slug, email)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, c.List.db, func(tx pgx.Tx) error {
		var event int64
		if err := tx.QueryRow(ctx, prioritySQL, n.ID).Scan(&event); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, stepSQL, event, n.ID, "put first", reason, c.Who); err != nil {
			return err
		}
		return c.Also.Run(ctx, tx)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return refuseGone()
	}
	if err != nil {
		return fmt.Errorf("waitlist: priority: %w", err)
	}
	c.List.Wake(slug)
	return nil
}

// Offer holds seats for an entry out of turn and returns them. The reason is recorded. The list names the seats, and
// blocked ones are allowed. An empty list means any fitting seats that are reserved for the waitlist or available.
//
// Errors: ErrNoReason, ErrNoEntry, ErrOver; a *seats.Conflict if the entry does not wait or no seat fits; the database's.
func (c Control) Offer(ctx context.Context, slug, email, reason string, list []int) ([]int, error) {
	reason, err := reasonOf(reason)
	if err != nil {
		return nil, err
	}
	n, err := c.entry(ctx, slug, email)
	if err != nil {
		return nil, err
	}
	s, err := c.List.office.Sale(ctx, slug)
	if err != nil {
		return nil, err
	}
	if err := s.CatchUp(ctx); err != nil {
		return nil, err
	}
	st, err := c.List.standing(ctx, s.Event.ID)
	if err != nil {
		return nil, err
	}
	if !st.open() {
		return nil, ErrOver
	}
	if list, err = byHand(s, n.Wanted, list); err != nil {
		return nil, err
	}
	m := making{
		list: []chosen{{waiter{id: n.ID, rank: n.Rank, since: n.Since, wanted: n.Wanted}, list}}, looked: st, until: until(st.now, st.starts, st.place(), c.List.Windows),
		who: c.Who, reason: reason, also: c.Also,
	}
	if err := m.do(ctx, s)[0]; err != nil {
		return nil, err
	}
	c.List.Wrote()
	c.List.Wake(slug)
	return list, nil
}

// byHand returns the named seats, or the best fitting ones if none is named.
func byHand(s *seats.Sale, wanted Wanted, named []int) ([]int, error) {
	switch {
	case len(named) > mostSeats:
		return nil, &seats.ValidationError{Message: text.Mark("At most %d seats are offered to one person. Nothing was offered."), Args: []any{mostSeats}}
	case len(named) > 0:
		list := slices.Clone(named)
		slices.Sort(list)
		return slices.Compact(list), nil
	}
	list := newAllocator(s, append(s.FreeSeats(), s.Waitlisted()...)).take(wanted)
	if len(list) == 0 {
		return nil, &seats.Conflict{Code: seats.CodeSoldOut, Message: text.Mark("No seats that fit this entry are kept or free. Nothing was offered. Name blocked ones, if you keep some back.")}
	}
	slices.Sort(list)
	return list, nil
}

// Remove takes an entry off the list and mails its person. The reason is recorded. An entry with an open offer stays.
func (c Control) Remove(ctx context.Context, slug, email, reason string) error {
	reason, err := reasonOf(reason)
	if err != nil {
		return err
	}
	n, err := c.List.Of(ctx, slug, email)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, c.List.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, leaveSQL, n.ID, c.Who, reason)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return &seats.Conflict{Code: seats.CodeChanged, Message: n.Email + " is offered seats at this moment. Nothing was changed; an offer that was made holds."}
		}
		return c.Also.Run(ctx, tx)
	})
	var refusal *seats.Conflict
	if err != nil && !errors.As(err, &refusal) {
		return fmt.Errorf("waitlist: remove: %w", err)
	}
	if err != nil {
		return refusal
	}
	c.List.Wrote()
	c.List.Wake(slug)
	return nil
}

// Overview is the waitlist of an event, for its organizer.
type Overview struct {
	Paused     bool
	Note       string
	Waitlisted int // returned seats that are reserved for the waitlist
	Waiting    int // waiting entries
	Figures    Figures
	Entries    []Placed
	Next       *paging.Place // where they go on; nil: nowhere
}

// Placed is an entry with its position. It leaves out the entry's code, which only its person may know.
type Placed struct {
	Entry
	Place int // position in the list, from 1; 0 if it does not wait
}

const overviewSQL = `
SELECT coalesce(w.paused_at IS NOT NULL, false), coalesce(w.note, ''),
       (SELECT count(*) FROM entry n WHERE n.event_id = e.id AND n.state = 'waiting'),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state = 'open'),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state = 'accepted'),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state IN ('accepted', 'declined', 'missed'))
  FROM event e LEFT JOIN wait_list w ON w.event_id = e.id
 WHERE e.slug = $1`

// The parts of the list, by the state of their entries: offered and waiting ones, unverified ones, those that ended.
const partsOfList = ` WHEN 'offered' THEN 0 WHEN 'waiting' THEN 0 WHEN 'new' THEN 1 ELSE 2 END`

// Sorted by rank: offered and waiting entries first, then unverified ones. A search by address also finds ended entries,
// the latest first.
const entriesSQL = `SELECT ` + entryColumns + `, CASE n.state WHEN 'waiting' THEN (
       SELECT count(*) FROM entry b WHERE b.event_id = n.event_id AND b.state = 'waiting' AND (b.rank, b.id) <= (n.rank, n.id)) ELSE 0 END` + entryTables + `
 WHERE e.slug = $1 AND CASE $2::text WHEN '' THEN n.state IN ('new', 'waiting', 'offered') ELSE n.email = $2 END
 AND ($3::bigint = 0 OR (CASE n.state` + partsOfList + `, CASE WHEN n.state IN ('new', 'waiting', 'offered') THEN n.rank ELSE -n.id END, n.id) > (CASE $5::text` + partsOfList + `, $4::bigint, $3::bigint))
 ORDER BY CASE n.state` + partsOfList + `, CASE WHEN n.state IN ('new', 'waiting', 'offered') THEN n.rank ELSE -n.id END, n.id
 LIMIT $6`

// Show returns the waitlist of an event with a page of its entries. With an email it returns the entries of that address.
// seats.ErrNoEvent if there is no such event.
func (c Control) Show(ctx context.Context, slug, email string, p paging.Page) (o Overview, err error) {
	l := c.List
	s, err := l.office.Sale(ctx, slug)
	if err != nil {
		return o, err
	}
	if err := s.CatchUp(ctx); err != nil {
		return o, err
	}
	o.Waitlisted = len(s.Waitlisted())
	err = l.db.QueryRow(ctx, overviewSQL, slug).Scan(&o.Paused, &o.Note, &o.Waiting, &o.Figures.Open, &o.Figures.Accepted, &o.Figures.Ended)
	if err != nil {
		return o, fmt.Errorf("waitlist: show: %w", err)
	}
	rows, err := l.db.Query(ctx, entriesSQL, slug, tidyEmail(email), p.After.N, p.After.Rank, p.After.Text, p.Limit+1)
	if err == nil {
		o.Entries, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Placed, err error) {
			p.Entry, err = scanEntry(row, &p.Place)
			p.Code = ""
			return p, err
		})
	}
	if err != nil {
		return o, fmt.Errorf("waitlist: show: %w", err)
	}
	o.Entries, o.Next = paging.Cut(o.Entries, p, func(n Placed) paging.Place {
		place := paging.Place{N: n.ID, Rank: n.Rank, Text: n.State}
		if n.State != Unverified && n.State != Waiting && n.State != Offered {
			place.Rank = -n.ID
		}
		return place
	})
	return o, nil
}

// Step is something that happened to an entry or a list.
type Step struct {
	At     time.Time
	Email  string // of the entry; empty: the whole list
	What   string
	Detail string
	Who    string // an organizer; empty: the person, or the waitlist itself
}

const stepsSQL = `
SELECT p.at, coalesce(n.email, ''), p.what, p.detail, p.who
  FROM wait_step p JOIN event e ON e.id = p.event_id LEFT JOIN entry n ON n.id = p.entry_id
 WHERE e.slug = $1 AND ($2 = '' OR n.email = $2)
 ORDER BY p.id DESC
 LIMIT $3`

// Steps lists the steps of an event's waitlist, or of the entries of one address, the latest first.
func (c Control) Steps(ctx context.Context, slug, email string, limit int) ([]Step, error) {
	rows, err := c.List.db.Query(ctx, stepsSQL, slug, tidyEmail(email), limit)
	if err != nil {
		return nil, fmt.Errorf("waitlist: what happened: %w", err)
	}
	steps, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Step])
	if err != nil {
		return nil, fmt.Errorf("waitlist: what happened: %w", err)
	}
	return steps, nil
}

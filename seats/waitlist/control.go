package waitlist

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Control is what organizers do to a wait list. Each deed is a step with Who.
type Control struct {
	List *List
	Who  string
}

// ErrNoReason says that an organizer acts out of turn without saying why.
var ErrNoReason = errors.New("what is done out of turn needs a reason, which is written down")

// Overview is the list of an event, for its organizer.
type Overview struct {
	Paused  bool
	Note    string
	Kept    int // seats that came back and are kept for those who wait
	Figures Figures
	Entries []Entry // by rank: those who are offered something or wait, then the unverified
}

const overviewSQL = `
SELECT coalesce(w.paused_at IS NOT NULL, false), coalesce(w.note, ''),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state = 'open'),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state = 'accepted'),
       (SELECT count(*) FROM offer o WHERE o.event_id = e.id AND o.state IN ('accepted', 'declined', 'missed'))
  FROM event e LEFT JOIN wait_list w ON w.event_id = e.id
 WHERE e.slug = $1`

const entriesSQL = `SELECT ` + entryColumns + entryTables + `
 WHERE e.slug = $1 AND n.state IN ('new', 'waiting', 'offered')
 ORDER BY n.state = 'new', n.rank, n.id
 LIMIT $2`

// Show returns the list of an event with the first of its entries, at most limit. seats.ErrNoEvent if there is no such event.
func (c Control) Show(ctx context.Context, slug string, limit int) (o Overview, err error) {
	l := c.List
	s, err := l.office.Sale(ctx, slug)
	if err != nil {
		return o, err
	}
	if err := s.CatchUp(ctx); err != nil {
		return o, err
	}
	o.Kept = len(s.Kept())
	err = l.db.QueryRow(ctx, overviewSQL, slug).Scan(&o.Paused, &o.Note, &o.Figures.Open, &o.Figures.Accepted, &o.Figures.Ended)
	if err != nil {
		return o, fmt.Errorf("waitlist: show: %w", err)
	}
	rows, err := l.db.Query(ctx, entriesSQL, slug, limit)
	if err == nil {
		o.Entries, err = pgx.CollectRows(rows, scanEntry)
	}
	if err != nil {
		return o, fmt.Errorf("waitlist: show: %w", err)
	}
	return o, nil
}

const pauseSQL = `
INSERT INTO wait_list (event_id, paused_at, note) VALUES ($1, CASE WHEN $2 THEN clock_timestamp() END, $3)
    ON CONFLICT (event_id) DO UPDATE SET paused_at = excluded.paused_at, note = excluded.note`

// Pause has nothing offered until Resume. What comes back meanwhile is kept for those who wait, and offers that were made
// hold. reason is what they all read.
func (c Control) Pause(ctx context.Context, slug, reason string) error {
	return c.pause(ctx, slug, true, reason, "paused")
}

// Resume ends a pause.
func (c Control) Resume(ctx context.Context, slug string) error {
	return c.pause(ctx, slug, false, "", "resumed")
}

const mostNote = 500 // characters

func (c Control) pause(ctx context.Context, slug string, on bool, reason, what string) error {
	if len([]rune(reason)) > mostNote {
		return &seats.Nonsense{Message: fmt.Sprintf("A reason has at most %d characters. Nothing was changed.", mostNote)}
	}
	s, err := c.List.office.Sale(ctx, slug)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, c.List.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, pauseSQL, s.Event.ID, on, reason); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, stepSQL, s.Event.ID, nil, what, reason, c.Who)
		return err
	})
	if err != nil {
		return fmt.Errorf("waitlist: %s: %w", what, err)
	}
	c.List.Wake(slug)
	return nil
}

const prioritySQL = `
UPDATE entry n
   SET rank = (SELECT min(rank) FROM entry WHERE event_id = n.event_id AND state IN ('waiting', 'offered')) - 1,
       waits_since = clock_timestamp(), passed = NULL, had = NULL, passed_at = NULL
  FROM event e
 WHERE e.id = n.event_id AND e.slug = $1 AND n.email = $2 AND n.state = 'waiting'
RETURNING n.event_id, n.id`

// Priority puts an entry that waits before all others, for a reason that is written down.
func (c Control) Priority(ctx context.Context, slug, email, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return ErrNoReason
	}
	err := pgx.BeginFunc(ctx, c.List.db, func(tx pgx.Tx) error {
		var event, entry int64
		if err := tx.QueryRow(ctx, prioritySQL, slug, tidyEmail(email)).Scan(&event, &entry); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, stepSQL, event, entry, "put first", reason, c.Who)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNoEntry
	}
	if err != nil {
		return fmt.Errorf("waitlist: priority: %w", err)
	}
	c.List.Wake(slug)
	return nil
}

// Offer holds seats for an entry out of turn, for a reason that is written down: these seats, also blocked ones, or, if
// none is named, what fits of the seats that are kept or free. It returns the seats.
//
// Errors: ErrNoReason, ErrNoEntry, ErrOver; a *seats.Refusal if there are no such seats; the database's.
func (c Control) Offer(ctx context.Context, slug, email, reason string, list []int) ([]int, error) {
	if strings.TrimSpace(reason) == "" {
		return nil, ErrNoReason
	}
	n, err := c.List.Of(ctx, slug, email)
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
	if len(list) == 0 {
		list = s.NewPool(append(s.FreeSeats(), s.Kept()...)).Take(n.Wanted)
	}
	if len(list) == 0 {
		return nil, &seats.Refusal{Code: seats.CodeSoldOut, Message: "No seats that fit this entry are kept or free. Nothing was offered. Name blocked ones, if you keep some back."}
	}
	slices.Sort(list)
	zone, err := time.LoadLocation(st.zone)
	if err != nil {
		zone = time.UTC
	}
	w := waiter{id: n.ID, rank: n.Rank, wanted: n.Wanted}
	o := making{chosen{w, list}, st.now, until(st.now, st.starts, zone, c.List.Windows), c.Who, reason}
	if err := s.Offer(ctx, []seats.Offer{o.of(s.Event.ID)})[0]; err != nil {
		return nil, err
	}
	c.List.Wrote()
	c.List.Wake(slug)
	return list, nil
}

// Remove takes an entry off the list that waits, for a reason that is written down.
func (c Control) Remove(ctx context.Context, slug, email, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return ErrNoReason
	}
	n, err := c.List.Of(ctx, slug, email)
	if err != nil {
		return err
	}
	if n.State == Offered {
		return &seats.Refusal{Code: seats.CodeChanged, Message: "This entry is offered seats at this moment. Nothing was changed; an offer that was made holds."}
	}
	if _, err := c.List.db.Exec(ctx, leaveSQL, n.ID, c.Who, reason); err != nil {
		return fmt.Errorf("waitlist: remove: %w", err)
	}
	c.List.Wrote()
	return nil
}

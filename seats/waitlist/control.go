package waitlist

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

// Control is what organizers do to a wait list. Each deed is a step with Who.
type Control struct {
	List *List
	Who  string
	Also seats.Also // commits with what is done; nil for nothing
}

// ErrNoReason says that an organizer acts out of turn without saying why.
var ErrNoReason = errors.New("what is done out of turn needs a reason, which is written down")

const mostNote = 500 // characters of a reason

// reasonOf is a reason without surrounding space; without one, or with a long one, nothing is done.
func reasonOf(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	switch {
	case reason == "":
		return "", ErrNoReason
	case len([]rune(reason)) > mostNote:
		return "", &seats.Nonsense{Message: fmt.Sprintf("A reason has at most %d characters. Nothing was changed.", mostNote)}
	}
	return reason, nil
}

const pauseSQL = `
INSERT INTO wait_list (event_id, paused_at, note) VALUES ($1, CASE WHEN $2 THEN clock_timestamp() END, $3)
    ON CONFLICT (event_id) DO UPDATE SET paused_at = excluded.paused_at, note = excluded.note`

// Pause has nothing offered until Resume. What comes back meanwhile is kept for those who wait, and offers that were made
// hold. reason is what they all read.
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
		if _, err := tx.Exec(ctx, pauseSQL, s.Event.ID, on, reason); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, stepSQL, s.Event.ID, nil, what, reason, c.Who); err != nil {
			return err
		}
		return c.Also.Run(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("waitlist: %s: %w", what, err)
	}
	c.List.Wake(slug)
	return nil
}

// entry finds an entry that waits.
func (c Control) entry(ctx context.Context, slug, email string) (Entry, error) {
	n, err := c.List.Of(ctx, slug, email)
	if err != nil {
		return n, err
	}
	switch n.State {
	case Offered:
		return n, &seats.Refusal{Code: seats.CodeChanged, Message: n.Email + " is offered seats at this moment. Nothing was changed; an offer that was made holds."}
	case Unverified:
		return n, &seats.Refusal{Code: seats.CodeChanged, Message: n.Email + " was not confirmed yet. Nothing was changed; they wait once they open the link in their mail."}
	}
	return n, nil
}

const prioritySQL = `
UPDATE entry n
   SET rank = (SELECT min(rank) FROM entry WHERE event_id = n.event_id AND state IN ('waiting', 'offered')) - 1,
       waits_since = clock_timestamp(), waits_in = pg_current_xact_id(), passed = NULL, had = NULL, passed_at = NULL, passed_in = NULL
 WHERE id = $1 AND state = 'waiting'
RETURNING event_id`

// Priority puts an entry that waits before all others, for a reason that is written down.
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

// Offer holds seats for an entry out of turn, for a reason that is written down: these seats, also blocked ones, or, if
// none is named, what fits of the seats that are kept or free. It returns the seats.
//
// Errors: ErrNoReason, ErrNoEntry, ErrOver; a *seats.Refusal if it does not wait or there are no such seats; the database's.
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

// byHand are the seats that are offered by hand: those that were named, or the best that fit.
func byHand(s *seats.Sale, wanted seats.Wanted, named []int) ([]int, error) {
	switch {
	case len(named) > mostSeats:
		return nil, &seats.Nonsense{Message: fmt.Sprintf("At most %d seats are offered to one person. Nothing was offered.", mostSeats)}
	case len(named) > 0:
		list := slices.Clone(named)
		slices.Sort(list)
		return slices.Compact(list), nil
	}
	list := s.NewPool(append(s.FreeSeats(), s.Kept()...)).Take(wanted)
	if len(list) == 0 {
		return nil, &seats.Refusal{Code: seats.CodeSoldOut, Message: "No seats that fit this entry are kept or free. Nothing was offered. Name blocked ones, if you keep some back."}
	}
	slices.Sort(list)
	return list, nil
}

// Remove takes an entry off the list, for a reason that is written down; its person gets mail. Refused while it is offered
// seats.
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
			return &seats.Refusal{Code: seats.CodeChanged, Message: n.Email + " is offered seats at this moment. Nothing was changed; an offer that was made holds."}
		}
		return c.Also.Run(ctx, tx)
	})
	var refusal *seats.Refusal
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

// Now makes a round for an event at once, for a program that ends soon and does not Run its List.
func (c Control) Now(ctx context.Context, slug string) error {
	for range 20 {
		again, err := c.List.round(ctx, slug, true)
		c.List.ordering.Wait()
		if err != nil || !again {
			return err
		}
		if err := seats.Sleep(ctx, rest); err != nil {
			return err
		}
	}
	return nil // the nodes that run are at it
}

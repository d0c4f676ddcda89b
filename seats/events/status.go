package events

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/text"
)

// A Change is the next status of an event.
type Change struct {
	Status  seats.Status
	OpensAt time.Time // of seats.Scheduled: when the sale begins
	Reason  string    // of Paused, Closed and Cancelled, for attendees
}

// leads lists the statuses that may follow each one. A status follows itself where its time or reason may change.
var leads = map[seats.Status][]seats.Status{
	seats.Draft:     {seats.Draft, seats.Scheduled, seats.OnSale},
	seats.Scheduled: {seats.Draft, seats.Scheduled, seats.OnSale, seats.Cancelled},
	seats.OnSale:    {seats.OnSale, seats.Paused, seats.Closed, seats.Draft, seats.Cancelled},
	seats.Paused:    {seats.OnSale, seats.Scheduled, seats.Paused, seats.Closed, seats.Draft, seats.Cancelled},
	seats.Closed:    {seats.OnSale, seats.Scheduled, seats.Closed, seats.Draft, seats.Cancelled},
	seats.Cancelled: {seats.Cancelled},
}

// Next lists the other statuses that may follow that of the event, the usual one first.
func Next(e seats.Event) []seats.Status {
	return slices.DeleteFunc(slices.Clone(leads[e.Status]), func(s seats.Status) bool { return s == e.Status })
}

// SetStatus gives an event another status, on all nodes at once: every claim and every sale locks the counter row last,
// and reads the new status there once this returns. A batch that was decided by the earlier status is undone and decided
// again. Claims granted before stay. The same status once more changes nothing.
//
// Errors: seats.ErrNoEvent; a *Conflict if the status cannot follow; *ValidationError for an invalid reason or time; the
// database's.
func SetStatus(ctx context.Context, office *seats.Inventory, slug string, to Change, also seats.TxHook) (seats.Event, error) {
	set, err := StatusStep(to)
	if err != nil {
		return seats.Event{}, err
	}
	return office.ChangeEvent(ctx, slug, also, func(tx pgx.Tx, e seats.Event) (bool, error) { return set(ctx, tx, e) })
}

// StatusStep is SetStatus as a step.
func StatusStep(to Change) (Step, error) {
	to.Reason = strings.TrimSpace(to.Reason)
	if to.Status == seats.OnSale || to.Status == seats.Scheduled || to.Status == seats.Draft {
		to.Reason = ""
	}
	if to.Status != seats.Scheduled {
		to.OpensAt = time.Time{}
	}
	if err := to.check(); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pgx.Tx, e seats.Event) (bool, error) {
		if err := mayBecome(ctx, tx, e, to); err != nil {
			return false, err
		}
		if e.Status == to.Status && e.Reason == to.Reason && e.OpensAt.Equal(to.OpensAt) {
			return false, nil
		}
		stored := to.Status
		if stored == seats.Scheduled {
			stored = seats.OnSale
		}
		_, err := tx.Exec(ctx, setStatusSQL, e.ID, stored, momentOf(to.OpensAt), to.Reason)
		return true, err
	}, nil
}

const setStatusSQL = `UPDATE event SET status = $2, opens_at = $3, reason = $4 WHERE id = $1`

func (n Change) check() error {
	switch {
	case leads[n.Status] == nil:
		return &seats.ValidationError{Message: text.Mark("An event is never “%s”. Nothing was changed."), Args: []any{n.Status}}
	case n.Status == seats.Scheduled && n.OpensAt.IsZero():
		return &seats.ValidationError{Message: text.Mark("Enter when the sale begins. Nothing was changed.")}
	case n.Status == seats.Paused && n.Reason == "":
		return &seats.ValidationError{Message: text.Mark("Enter why the sale is paused. Everyone who looks at the event reads it. Nothing was changed.")}
	case !seats.OneLine(n.Reason, seats.MostReason):
		return &seats.ValidationError{Message: text.Mark("A reason is one line of at most %d characters. Nothing was changed."), Args: []any{seats.MostReason}}
	}
	return nil
}

// ErrTestOver refuses to do something with a test sale that is over.
var ErrTestOver = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This test sale is over. Nothing was changed. Start another one from the checklist of the event.")}

// mayBecome refuses a status that cannot follow that of the event.
func mayBecome(ctx context.Context, tx pgx.Tx, e seats.Event, to Change) error {
	if !slices.Contains(leads[e.Status], to.Status) {
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This event is %s, and from there it cannot become %s. Nothing was changed."), Args: []any{text.Say(statusWords[e.Status]), text.Say(statusWords[to.Status])}}
	}
	if e.TestOf != 0 && e.Status == seats.Closed && to.Status != seats.Closed {
		return ErrTestOver
	}
	if to.Status != seats.Draft || e.Status == seats.Draft {
		return nil
	}
	if _, err := tx.Exec(ctx, lockCounterSQL, e.ID); err != nil { // no batch commits seats from here on
		return fmt.Errorf("events: lock the counter: %w", err)
	}
	u, err := usedBy(ctx, tx, e.ID)
	switch {
	case err != nil:
		return err
	case u.ordered:
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("Tickets of this event were sold, so it cannot be a draft again. Nothing was changed. Schedule it for another time instead.")}
	case u.held:
		return &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("People hold or pay for seats of this event, so it cannot be a draft yet. Nothing was changed. Pause the sale, and try again when their time is over.")}
	}
	return nil
}

// used says what attendees have of an event.
type used struct{ ordered, held bool }

// An order may be cancelled: its page and its mail still name the event.
const usedSQL = `
SELECT EXISTS (SELECT FROM orders WHERE event_id = $1),
       EXISTS (SELECT FROM payment WHERE event_id = $1 AND state IN ('open', 'authorized', 'sold'))
    OR EXISTS (SELECT FROM hold WHERE event_id = $1 AND cardinality(seats) > 0 AND expires_at > clock_timestamp())`

func usedBy(ctx context.Context, tx pgx.Tx, event int64) (u used, err error) {
	if err := tx.QueryRow(ctx, usedSQL, event).Scan(&u.ordered, &u.held); err != nil {
		return u, fmt.Errorf("events: look for orders and holds: %w", err)
	}
	return u, nil
}

// MayDraft reports whether an event can become a draft now: nothing of it was sold, and nothing is held.
func MayDraft(ctx context.Context, office *seats.Inventory, e seats.Event) (may bool, err error) {
	if e.Status == seats.Draft || !slices.Contains(leads[e.Status], seats.Draft) {
		return false, nil
	}
	err = pgx.BeginFunc(ctx, office, func(tx pgx.Tx) error {
		u, err := usedBy(ctx, tx, e.ID)
		may = u == used{}
		return err
	})
	return may && err == nil, err
}

var statusWords = map[seats.Status]string{seats.Draft: text.Mark("a draft"), seats.Scheduled: text.Mark("scheduled"), seats.OnSale: text.Mark("on sale"), seats.Paused: text.Mark("paused"), seats.Closed: text.Mark("closed"), seats.Cancelled: text.Mark("cancelled")}

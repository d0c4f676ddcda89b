package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// NewStatus is what an organizer makes of an event.
type NewStatus struct {
	Status  Status
	OpensAt time.Time // for Scheduled: from when on it is on sale
	Reason  string    // for Paused, Closed and Cancelled: what attendees read
}

const mostReason = 500 // characters

// leads tells which statuses an organizer may make of one. What may be said again is also in it: another time, another
// reason.
var leads = map[Status][]Status{
	Draft:     {Draft, Scheduled, OnSale},
	Scheduled: {Draft, Scheduled, OnSale, Cancelled},
	OnSale:    {OnSale, Paused, Closed, Cancelled},
	Paused:    {OnSale, Scheduled, Paused, Closed, Cancelled},
	Closed:    {OnSale, Scheduled, Closed, Cancelled},
	Cancelled: {Cancelled},
}

// Next lists the other statuses that an organizer may make of the event, the usual one first.
func (e Event) Next() []Status {
	return slices.DeleteFunc(slices.Clone(leads[e.Status]), func(s Status) bool { return s == e.Status })
}

// SetStatus takes an event to another status, on all nodes at once: the counter row, which every claim and every
// sale locks last, knows of it when this returns. What was decided before by an earlier status is undone and
// decided anew. Claims that were granted before stay. The same status once more changes nothing.
//
// Errors: ErrNoEvent; a *Refusal if the event cannot become that; *Nonsense for a reason or time that makes no
// sense; the database's.
func (o *Office) SetStatus(ctx context.Context, slug string, to NewStatus, also Also) (Event, error) {
	to.Reason = strings.TrimSpace(to.Reason)
	if to.Status == OnSale || to.Status == Scheduled || to.Status == Draft {
		to.Reason = ""
	}
	if to.Status != Scheduled {
		to.OpensAt = time.Time{}
	}
	if err := to.check(); err != nil {
		return Event{}, err
	}
	return o.change(ctx, slug, also, func(tx pgx.Tx, e Event) (bool, error) {
		if err := e.mayBecome(ctx, tx, to); err != nil {
			return false, err
		}
		if e.Status == to.Status && e.Reason == to.Reason && e.OpensAt.Equal(to.OpensAt) {
			return false, nil
		}
		stored := to.Status
		if stored == Scheduled {
			stored = OnSale
		}
		_, err := tx.Exec(ctx, setStatusSQL, e.ID, stored, momentOf(to.OpensAt), to.Reason)
		return true, err
	})
}

const setStatusSQL = `UPDATE event SET status = $2, opens_at = $3, reason = $4 WHERE id = $1`

func (n NewStatus) check() error {
	switch {
	case leads[n.Status] == nil:
		return &Nonsense{Message: fmt.Sprintf("An event is never %q. Nothing was changed.", n.Status)}
	case n.Status == Scheduled && n.OpensAt.IsZero():
		return &Nonsense{Message: "Say from when on the event is on sale. Nothing was changed."}
	case n.Status == Paused && n.Reason == "":
		return &Nonsense{Message: "Say why the sale is paused: everybody who looks at the event reads it. Nothing was changed."}
	case !oneLine(n.Reason, mostReason):
		return &Nonsense{Message: fmt.Sprintf("A reason is one line of at most %d characters. Nothing was changed.", mostReason)}
	}
	return nil
}

const hasOrdersSQL = `SELECT EXISTS (SELECT FROM orders WHERE event_id = $1)`

// mayBecome refuses what an event cannot become.
func (e Event) mayBecome(ctx context.Context, tx pgx.Tx, to NewStatus) error {
	if !slices.Contains(leads[e.Status], to.Status) {
		return &Refusal{Code: CodeChanged, Message: fmt.Sprintf("This event is %s, and from there it cannot become %s. Nothing was changed.", statusWords[e.Status], statusWords[to.Status])}
	}
	if to.Status != Draft || e.Status == Draft {
		return nil
	}
	var ordered bool
	if err := tx.QueryRow(ctx, hasOrdersSQL, e.ID).Scan(&ordered); err != nil {
		return err
	}
	if ordered {
		return &Refusal{Code: CodeChanged, Message: "Tickets of this event were sold, so it cannot be a draft again. Nothing was changed. Schedule it for another time instead."}
	}
	return nil
}

var statusWords = map[Status]string{Draft: "a draft", Scheduled: "scheduled", OnSale: "on sale", Paused: "paused", Closed: "closed", Cancelled: "cancelled"}

const lockEventSQL = `SELECT FROM event WHERE slug = $1 FOR NO KEY UPDATE`

const (
	claimsFrom = `CASE WHEN e.status = 'on sale' THEN coalesce(e.opens_at, '-infinity') ELSE 'infinity' END`
	sells      = `e.status NOT IN ('draft', 'cancelled')`
)

// A version without seats: every node reads the event anew when it meets one. The counter row comes last, as in any
// batch.
const noteChangeSQL = `
WITH bump AS (
    UPDATE counter c SET version = version + 1, claims_from = ` + claimsFrom + `, sells = ` + sells + `
      FROM event e WHERE c.event_id = $1 AND e.id = c.event_id
    RETURNING c.version, c.free, c.held, c.sold, c.blocked
)
INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, passed)
SELECT $1, version, '{}', '{}', '{}', free, held, sold, blocked, $2, 0 FROM bump
RETURNING version`

const saveTermsSQL = `
INSERT INTO terms (event_id, version, status, opens_at, reason, hold_length, payment_length, seats_per_holder, extensions, strict)
SELECT id, $2, status, opens_at, reason, hold_length, payment_length, seats_per_holder, extensions, strict FROM event WHERE id = $1`

// change does something to an event's row and makes it a version. do tells whether it changed anything.
func (o *Office) change(ctx context.Context, slug string, also Also, do func(pgx.Tx, Event) (bool, error)) (after Event, err error) {
	var version int64
	err = pgx.BeginFunc(ctx, o.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockEventSQL, slug); err != nil {
			return err
		}
		before, err := EventBySlug(ctx, tx, slug)
		if err != nil {
			return err
		}
		changed, err := do(tx, before)
		if err != nil || !changed {
			after = before
			return err
		}
		if err := also.Run(ctx, tx); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, noteChangeSQL, before.ID, NewID()).Scan(&version); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, saveTermsSQL, before.ID, version); err != nil {
			return err
		}
		after, err = EventBySlug(ctx, tx, slug)
		return err
	})
	var refusal *Refusal
	var nonsense *Nonsense
	switch {
	case errors.Is(err, ErrNoEvent) || errors.As(err, &refusal) || errors.As(err, &nonsense):
		return after, err
	case err != nil:
		return after, fmt.Errorf("seats: change event %q: %w", slug, err)
	case version > 0:
		o.changedEvent(ctx, after, version)
	}
	return after, nil
}

// changedEvent lets this node and the others know.
func (o *Office) changedEvent(ctx context.Context, e Event, version int64) {
	if s := o.sale(e.Slug); s != nil {
		if err := s.CatchUp(ctx); err != nil {
			o.log.Warn("the event is read anew with the next poll", "event", e.ID, "error", err)
		}
	}
	o.Committed(e.ID, version)
}

// momentOf is a time as the database keeps it; the zero time is none.
func momentOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

package books

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

// Comparison is how a performance sells beside earlier ones at the same distance before their start.
type Comparison struct {
	Before time.Duration // the distance: from now to the start; 0 once it began
	Rows   []Compared    // the performance itself, and then the others, the latest first
}

// Compared is a performance of a comparison.
type Compared struct {
	Event *Event
	Then  Sums // until the distance before its start
	Now   Sums // until now
}

// MostCompared is how many performances one is compared with.
const MostCompared = 12

const nowSQL = `SELECT clock_timestamp()`

// Compare compares an event of a member's team with another one, or, if with is empty, with the performances of its series that start before it.
//
// Errors: seats.ErrNoEvent if one of them is not the team's; the database's.
func (b *Books) Compare(ctx context.Context, m organizers.Member, slug, with string) (c Comparison, err error) {
	err = pgx.BeginTxFunc(ctx, b.db, snapshot, func(tx pgx.Tx) error {
		found, err := readEvents(ctx, tx, m.Team, Filter{Event: slug})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return seats.ErrNoEvent
		}
		others, err := earlier(ctx, tx, m.Team, found[0], with)
		if err != nil {
			return err
		}
		var now time.Time
		if err := tx.QueryRow(ctx, nowSQL).Scan(&now); err != nil {
			return err
		}
		c.Before = max(0, found[0].StartsAt.Sub(now))
		return c.gather(ctx, tx, append(found, others...))
	})
	if err != nil {
		return c, fmt.Errorf("books: compare: %w", err)
	}
	return c, nil
}

// earlier are the performances that one is compared with, the latest first.
func earlier(ctx context.Context, tx pgx.Tx, team int64, e *Event, with string) ([]*Event, error) {
	if with != "" {
		found, err := readEvents(ctx, tx, team, Filter{Event: with})
		if err == nil && len(found) == 0 {
			err = seats.ErrNoEvent
		}
		return slices.DeleteFunc(found, func(o *Event) bool { return o.ID == e.ID }), err
	}
	if e.Series == "" {
		return nil, nil
	}
	found, err := readEvents(ctx, tx, team, Filter{Series: e.Series})
	found = slices.DeleteFunc(found, func(o *Event) bool { return o.ID == e.ID || !o.StartsAt.Before(e.StartsAt) })
	slices.SortStableFunc(found, func(a, b *Event) int { return cmp.Or(b.StartsAt.Compare(a.StartsAt), cmp.Compare(b.ID, a.ID)) })
	return found[:min(len(found), MostCompared)], err
}

// gather sums the postings of events.
func (c *Comparison) gather(ctx context.Context, tx pgx.Tx, events []*Event) error {
	at := make(map[int64]int, len(events))
	for i, e := range events {
		at[e.ID] = i
		c.Rows = append(c.Rows, Compared{Event: e})
	}
	from, to := Filter{}.bounds()
	return eachHistory(ctx, tx, events, from, to, func(h *history) {
		row := &c.Rows[at[h.event.ID]]
		until := h.event.StartsAt.Add(-c.Before)
		h.post(func(p Posting) {
			row.Now.add(p)
			if !p.At.After(until) {
				row.Then.add(p)
			}
		})
	})
}

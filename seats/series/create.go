package series

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// mostRows is how many seats one form makes. A transaction of more would last minutes.
const mostRows = 1_000_000

// Create makes a series of an event of the member's team, which leads it and is its first performance, and a performance
// like it at each start: drafts. Starts at which the series has a performance already are left out.
//
// Errors: *seats.Conflict if the event is in a series; organizers.Mistakes; those of organizers.Desk.WithAudit; the database's.
func (a *All) Create(ctx context.Context, m organizers.Member, lead *seats.Sale, starts []time.Time, key string) (Series, error) {
	act := organizers.Action{
		Key: key, Form: []any{"series", lead.Event.Slug, starts}, What: text.Mark("made a series"), Subject: "events/" + lead.Event.Slug, Detail: map[string]any{"dates": len(starts)},
	}
	err := a.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
		return pgx.BeginFunc(ctx, a.db, func(tx pgx.Tx) error {
			id, slug, err := begin(ctx, tx, lead.Event)
			if err != nil {
				return err
			}
			return a.add(ctx, tx, Series{ID: id, Slug: slug, Team: lead.Event.Team, Lead: lead.Event.ID, LeadSlug: lead.Event.Slug}, starts, also)
		})
	})
	if seats.IsConstraint(err, "series_lead_id_key") {
		err = &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This event is in a series already. Nothing was changed. Add dates to that one.")}
	}
	if err != nil {
		return Series{}, err
	}
	a.seen.forget()
	return a.Of(ctx, lead.Event.ID)
}

// Add makes more performances of a series of the member's team. Starts at which it has one already are left out.
//
// Errors: organizers.Mistakes; those of organizers.Desk.WithAudit; the database's.
func (a *All) Add(ctx context.Context, m organizers.Member, s Series, starts []time.Time, key string) error {
	act := organizers.Action{
		Key: key, Form: []any{"performances", s.Slug, starts}, What: text.Mark("added performances"), Subject: "series/" + s.Slug, Detail: map[string]any{"dates": len(starts)},
	}
	return a.desk.WithAudit(ctx, m, act, func(also seats.TxHook) error {
		return pgx.BeginFunc(ctx, a.db, func(tx pgx.Tx) error { return a.add(ctx, tx, s, starts, also) })
	})
}

const (
	lockLeadSQL = `SELECT series_id IS NOT NULL FROM event WHERE id = $1 FOR NO KEY UPDATE`

	beginSQL = `INSERT INTO series (team_id, slug, lead_id) VALUES ($1, $2, $3) ON CONFLICT (slug) DO NOTHING RETURNING id`
)

// mostSlugs is how many series or performances of one name there may be.
const mostSlugs = 100

// begin writes the row of a new series with its leading performance.
func begin(ctx context.Context, tx pgx.Tx, lead seats.Event) (id int64, slug string, err error) {
	var taken bool
	if err = tx.QueryRow(ctx, lockLeadSQL, lead.ID).Scan(&taken); err != nil {
		return 0, "", fmt.Errorf("series: lock event %d: %w", lead.ID, err)
	}
	if taken {
		return 0, "", &seats.Conflict{Code: seats.CodeChanged, Message: text.Mark("This event is in a series already. Nothing was changed. Add dates to that one.")}
	}
	base := events.Slug(lead.Name, "series")
	if base == "new" { // the address of the form that makes one
		base = "series-new"
	}
	for n := 1; id == 0 && n <= mostSlugs; n++ {
		slug = numbered(base, n)
		if err = tx.QueryRow(ctx, beginSQL, lead.Team, slug, lead.ID).Scan(&id); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return 0, "", fmt.Errorf("series: begin %q: %w", slug, err)
		}
	}
	if id == 0 {
		return 0, "", seats.ErrSlugTaken
	}
	if err := events.Join(ctx, tx, lead.ID, id); err != nil {
		return 0, "", err
	}
	return id, slug, errors.Join(noteInherited(ctx, tx, []int64{lead.ID}), seats.NoteChange(ctx, tx, lead.ID))
}

func numbered(base string, n int) string {
	if n == 1 {
		return base
	}
	return fmt.Sprintf("%s-%d", base, n)
}

const (
	lockSeriesSQL = `SELECT FROM series WHERE id = $1 FOR NO KEY UPDATE`
	startsSQL     = `SELECT starts_at FROM event WHERE series_id = $1`
)

// add makes a performance at each start at which there is none. Members who add dates to one series take turns.
func (a *All) add(ctx context.Context, tx pgx.Tx, s Series, starts []time.Time, also seats.TxHook) error {
	if _, err := tx.Exec(ctx, lockSeriesSQL, s.ID); err != nil {
		return fmt.Errorf("series: lock %d: %w", s.ID, err)
	}
	rows, err := tx.Query(ctx, startsSQL, s.ID)
	if err != nil {
		return fmt.Errorf("series: list starts: %w", err)
	}
	had, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		return fmt.Errorf("series: list starts: %w", err)
	}
	starts = slices.SortedFunc(slices.Values(starts), time.Time.Compare)
	starts = slices.DeleteFunc(slices.CompactFunc(starts, time.Time.Equal), func(t time.Time) bool { return slices.ContainsFunc(had, t.Equal) })
	lead, err := readProduction(ctx, tx, s.LeadSlug)
	if err != nil {
		return err
	}
	if wrong := tooMany(len(had), len(starts), len(lead.plan.Seats)); wrong != nil {
		return wrong
	}
	ids := make([]int64, 0, len(starts))
	for _, t := range starts {
		e, err := lead.perform(ctx, tx, s, t)
		if err != nil {
			return err
		}
		ids = append(ids, e.ID)
	}
	if err := noteInherited(ctx, tx, ids); err != nil {
		return err
	}
	return also.Run(ctx, tx)
}

// tooMany returns what is wrong with a number of new performances; nil if nothing is.
func tooMany(had, more, each int) error {
	switch {
	case more == 0:
		return organizers.Mistakes{{Field: FieldDates, Message: text.Mark("The series has all of these dates already.")}}
	case had+more > MostDates:
		return organizers.Mistakes{{Field: FieldDates, Message: text.Mark("With these dates the series would have %[1]d. It has at most %[2]d."), Args: []any{had + more, MostDates}}}
	case more*each > mostRows:
		return organizers.Mistakes{{Field: FieldDates, Message: text.Mark("%[1]d dates with %[2]d seats each are too much for one step. Add up to %[3]d dates at a time."), Args: []any{more, each, mostRows / each}}}
	}
	return nil
}

// perform makes one performance: the leading one at another time.
func (p production) perform(ctx context.Context, tx pgx.Tx, s Series, at time.Time) (e seats.Event, err error) {
	n := events.Of(p.event)
	n.StartsAt, n.Status, n.OpensAt, n.Prices, n.Rules = at, seats.Draft, time.Time{}, p.prices, &p.event.Rules
	base := s.Slug + "-" + p.event.Local(at).Format("2006-01-02")
	for i := range mostSlugs {
		if n.Slug = base; i > 0 { // a second one on that day, or an event of another team
			n.Slug = numbered(base+"-"+p.event.Local(at).Format("1504"), i)
		}
		e, err = events.Create(ctx, tx, n, p.plan)
		if !errors.Is(err, seats.ErrSlugTaken) {
			break
		}
	}
	if err != nil {
		return e, err
	}
	if err := events.Join(ctx, tx, e.ID, s.ID); err != nil {
		return e, err
	}
	if err := pages.ReplaceEvent(ctx, tx, p.event.ID, e.ID); err != nil {
		return e, err
	}
	return e, limit.Copy(ctx, tx, p.event.ID, e.ID)
}

package overview

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/changes"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

// Show says which events a list has.
type Show string

// The values of Show.
const (
	Coming Show = ""        // all that did not begin more than a day ago, the next one first
	OnSale Show = "on-sale" // of those, the ones that are on sale or will be
	Drafts Show = "draft"
	Past   Show = "past" // began more than a day ago, the last one first
	All    Show = "all"  // the last one first

	near Show = "near" // all, those to come first: for the search
)

// Shows are all of them, as people choose from them.
func Shows() []Show { return []Show{Coming, OnSale, Drafts, Past, All} }

// Filter says which events are listed.
type Filter struct {
	Show   Show
	Words  string // each has to be in the name or the venue
	Series string // slug; empty: of any or none
	Public bool   // no drafts
	Page   int    // from 0, of pages of PageSize
	Paging paging.Page
}

// Events is a page of the list of events.
type Events struct {
	List  []Event
	Next  *paging.Place // where the list goes on; nil: nowhere
	Count int           // of all pages, as are the next ones
	Seats int
	Sold  int
	Among []Choice // the series that the list may be filtered by
}

// Choice is a series to choose.
type Choice struct {
	Slug, Name string
	Starts     string // local day of its leading performance
}

// Event is an event as the list has it. Of seats.Event it has what the list shows.
type Event struct {
	seats.Event
	Free, Held, Sold int
	SeriesSlug       string
	SeriesName       string
}

const (
	// PageSize is how many events a page of the list usually has.
	PageSize  = 50
	MostPages = 10000 // beyond these a list is not read
	mostWords = 8
)

// Words are compared as fold writes them, and their wildcards stand for themselves.
const foldedWords = `coalesce((SELECT array_agg('%' || regexp_replace(fold(w), '([\\%_])', '\\\1', 'g') || '%') FROM unnest($2::text[]) w), '{}')`

const wantedEvents = `
  FROM event e
 WHERE e.team_id = desk_team()
   AND CASE $1 WHEN '' THEN e.starts_at > clock_timestamp() - interval '1 day'
               WHEN 'on-sale' THEN e.starts_at > clock_timestamp() - interval '1 day' AND e.status IN ('on sale', 'paused')
               WHEN 'draft' THEN e.status = 'draft'
               WHEN 'past' THEN e.starts_at <= clock_timestamp() - interval '1 day' ELSE true END
   AND e.found_by LIKE ALL ((SELECT words FROM folded)::text[])
   AND ($3 = '' OR e.series_id = (SELECT id FROM series WHERE slug = $3))
   AND NOT ($4 AND e.status = 'draft')`

// What is read of an event e; the ids come from w.
const (
	eventColumns = `e.slug, e.name, e.venue, e.online, e.starts_at, e.time_zone, e.currency, CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.opens_at, e.reason, e.seats,
       (SELECT sum(n) FROM unnest(c.free) n), (SELECT sum(n) FROM unnest(c.held) n), (SELECT sum(n) FROM unnest(c.sold) n), coalesce(s.slug, ''), coalesce(l.name, ''), e.id`
	eventRow = `event e ON e.id = w.id JOIN counter c ON c.event_id = e.id LEFT JOIN series s ON s.id = e.series_id LEFT JOIN event l ON l.id = s.lead_id`
)

// The counts of an event are read for those that are shown.
const eventsSQL = `
WITH folded AS MATERIALIZED (SELECT ` + foldedWords + ` AS words),
     shown AS MATERIALIZED (
    SELECT e.id, $1 = 'near' AND e.starts_at <= clock_timestamp() - interval '1 day' AS late,
           CASE WHEN $1 IN ('past', 'all') OR $1 = 'near' AND e.starts_at <= clock_timestamp() - interval '1 day' THEN -1 ELSE 1 END * extract(epoch FROM e.starts_at) AS rank` + wantedEvents + `
       AND ($7::timestamptz IS NULL OR (CASE WHEN $1 IN ('past', 'all') THEN -1 ELSE 1 END * extract(epoch FROM e.starts_at), e.id)
                                     > (CASE WHEN $1 IN ('past', 'all') THEN -1 ELSE 1 END * extract(epoch FROM $7::timestamptz), $8::bigint))
     ORDER BY late, rank, e.id LIMIT $5 OFFSET $6)
SELECT ` + eventColumns + `
  FROM shown w JOIN ` + eventRow + `
 ORDER BY w.late, w.rank, e.id`

const changedEventsSQL = `
SELECT ` + eventColumns + `
  FROM unnest($1::bigint[]) WITH ORDINALITY AS w (id, n) JOIN ` + eventRow + `
 WHERE e.team_id = desk_team() AND NOT ($2 AND e.status = 'draft')
 ORDER BY w.n`

const eventTotalsSQL = `
WITH folded AS MATERIALIZED (SELECT ` + foldedWords + ` AS words),
     wanted AS MATERIALIZED (SELECT e.id, e.seats` + wantedEvents + `)
SELECT count(*), coalesce(sum(seats), 0), (SELECT coalesce(sum(n), 0) FROM (SELECT unnest(c.sold) AS n FROM wanted w JOIN counter c ON c.event_id = w.id) each)
  FROM wanted`

const choicesSQL = `
SELECT s.slug, l.name, l.starts_local::date::text FROM series s JOIN event l ON l.id = s.lead_id
 WHERE s.team_id = desk_team() ORDER BY s.slug <> $1, l.found_by, l.starts_at, s.id LIMIT $2`

// List lists events of a member's team. Members who may see drafts get the series to choose from, the one of the filter in any case.
func (o *Overview) List(ctx context.Context, m organizers.Member, f Filter) (page Events, err error) {
	err = o.desk.As(ctx, m, func(tx pgx.Tx) error {
		if page.List, err = readEvents(ctx, tx, f, f.Paging.Limit+1); err != nil {
			return err
		}
		page.List, page.Next = paging.Cut(page.List, f.Paging, func(e Event) paging.Place { return paging.Place{At: e.StartsAt, N: e.ID} })
		if !f.Public {
			rows, _ := tx.Query(ctx, choicesSQL, f.Series, MostOffered) // CollectRows returns its error
			if page.Among, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Choice]); err != nil {
				return err
			}
		}
		return tx.QueryRow(ctx, eventTotalsSQL, f.Show, words(f.Words), f.Series, f.Public).Scan(&page.Count, &page.Seats, &page.Sold)
	})
	if err != nil {
		return page, fmt.Errorf("overview: list events: %w", err)
	}
	return page, nil
}

// Changed returns events of a member's team that changed after a place: their settings, status, plan or series. Seats that are held or sold are no
// change of an event. Each comes once, as it is now, in the order of the last changes; drafts only if public is false. A page may have fewer events than
// its limit while there are more. The first place has a time. next is where to go on, at once if there are more, or any time later.
//
// Errors: paging.ErrAhead; the database's.
func (o *Overview) Changed(ctx context.Context, m organizers.Member, public bool, p paging.Page) (list []Event, next paging.Place, more bool, err error) {
	err = o.desk.As(ctx, m, func(tx pgx.Tx) error {
		var changed []changes.Changed
		if changed, next, more, err = changes.Since(ctx, tx, m.Team, changes.Events, p); err != nil {
			return err
		}
		ids := make([]int64, 0, len(changed))
		for _, c := range changed {
			id, err := strconv.ParseInt(c.Subject, 10, 64)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		rows, _ := tx.Query(ctx, changedEventsSQL, ids, public) // collectEvents returns its error
		list, err = collectEvents(rows)
		return err
	})
	if err != nil {
		return nil, next, false, fmt.Errorf("overview: list changed events: %w", err)
	}
	return list, next, more, nil
}

// MostOffered is how many events a page offers to choose from.
const MostOffered = 500

// First returns the first events of a list, at most so many.
func (o *Overview) First(ctx context.Context, m organizers.Member, f Filter, most int) (list []Event, err error) {
	err = o.desk.As(ctx, m, func(tx pgx.Tx) error {
		list, err = readEvents(ctx, tx, f, most)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("overview: read events: %w", err)
	}
	return list, nil
}

// Latest returns the event of a member's team that begins last. ok is false if there is none.
func (o *Overview) Latest(ctx context.Context, m organizers.Member) (e Event, ok bool, err error) {
	list, err := o.First(ctx, m, Filter{Show: All}, 1)
	if err != nil || len(list) == 0 {
		return e, false, err
	}
	return list[0], true, nil
}

func readEvents(ctx context.Context, tx pgx.Tx, f Filter, most int) ([]Event, error) {
	rows, _ := tx.Query(ctx, eventsSQL, f.Show, words(f.Words), f.Series, f.Public, most, min(max(f.Page, 0), MostPages)*PageSize, f.Paging.After.Time(), f.Paging.After.N) // collectEvents returns its error
	return collectEvents(rows)
}

func collectEvents(rows pgx.Rows) ([]Event, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Event, err error) {
		var opens *time.Time
		err = row.Scan(&e.Slug, &e.Name, &e.Venue, &e.Online.On, &e.StartsAt, &e.TimeZone, &e.Currency, &e.Status, &opens, &e.Reason, &e.Seats, &e.Free, &e.Held, &e.Sold, &e.SeriesSlug, &e.SeriesName, &e.ID)
		if opens != nil {
			e.OpensAt = *opens
		}
		return e, err
	})
}

// words are what a text is searched for, at most mostWords of them.
func words(typed string) []string {
	list := strings.Fields(typed)
	if len(list) > mostWords {
		list = list[:mostWords]
	}
	if list == nil {
		list = []string{}
	}
	return list
}

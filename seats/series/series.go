package series

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pages"
)

// ErrNoSeries is the answer for a series that is not there.
var ErrNoSeries = errors.New("there is no such series")

// All is the series of a database, for one node.
type All struct {
	db        *pgxpool.Pool
	inventory *seats.Inventory
	desk      *organizers.Desk
	pages     *pages.Pages
	seen      seen
}

// New returns the series of a database.
func New(db *pgxpool.Pool, inventory *seats.Inventory, desk *organizers.Desk, texts *pages.Pages) *All {
	return &All{db: db, inventory: inventory, desk: desk, pages: texts}
}

// Series is a production with several performances.
type Series struct {
	ID       int64
	Slug     string // its name in addresses
	Team     int64
	Lead     int64  // the event that says what the production is
	LeadSlug string //
	Name     string // of the production: of that event, as the next two
	TimeZone string
	Language string

	Announced bool // a performance is more than a draft
}

const seriesColumns = `s.id, s.slug, s.team_id, s.lead_id, e.slug, e.name, e.time_zone, e.language,
       EXISTS (SELECT FROM event a WHERE a.series_id = s.id AND a.status <> 'draft')`

func (s *Series) scan(row pgx.Row, more ...any) error {
	return row.Scan(append([]any{&s.ID, &s.Slug, &s.Team, &s.Lead, &s.LeadSlug, &s.Name, &s.TimeZone, &s.Language, &s.Announced}, more...)...)
}

// Zone is the time zone of the performances.
func (s Series) Zone() *time.Location {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

const findSQL = `SELECT ` + seriesColumns + ` FROM series s JOIN event e ON e.id = s.lead_id WHERE s.slug = $1`

// Find returns a series by its slug, or ErrNoSeries.
func (a *All) Find(ctx context.Context, slug string) (Series, error) { return find(ctx, a.db, slug) }

func find(ctx context.Context, db seats.DB, slug string) (s Series, err error) {
	err = s.scan(db.QueryRow(ctx, findSQL, slug))
	if errors.Is(err, pgx.ErrNoRows) {
		return s, ErrNoSeries
	}
	if err != nil {
		return s, fmt.Errorf("series: find %q: %w", slug, err)
	}
	return s, nil
}

const ofEventSQL = `SELECT ` + seriesColumns + ` FROM event p JOIN series s ON s.id = p.series_id JOIN event e ON e.id = s.lead_id WHERE p.id = $1`

// Of returns the series that an event is a performance of, or ErrNoSeries.
func (a *All) Of(ctx context.Context, event int64) (s Series, err error) {
	err = s.scan(a.db.QueryRow(ctx, ofEventSQL, event))
	if errors.Is(err, pgx.ErrNoRows) {
		return s, ErrNoSeries
	}
	if err != nil {
		return s, fmt.Errorf("series: find the series of event %d: %w", event, err)
	}
	return s, nil
}

// Listed is a series with its performances counted.
type Listed struct {
	Series
	First, Last time.Time
	Dates       int // performances
	Sold, Seats int
}

const listSQL = `
SELECT ` + seriesColumns + `, p.first, p.last, p.dates, p.sold, p.seats
  FROM series s JOIN event e ON e.id = s.lead_id,
       LATERAL (SELECT min(starts_at) AS first, max(starts_at) AS last, count(*) AS dates, sum(seats) AS seats,
                       sum((SELECT sum(n) FROM counter c, unnest(c.sold) n WHERE c.event_id = p.id))::bigint AS sold
                  FROM event p WHERE p.series_id = s.id) p
 ORDER BY p.last < now(), p.first, s.id`

// List lists the series of a member's team, those to come first.
func (a *All) List(ctx context.Context, m organizers.Member) (list []Listed, err error) {
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, listSQL)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Listed, err error) {
			return l, l.scan(row, &l.First, &l.Last, &l.Dates, &l.Sold, &l.Seats)
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("series: list: %w", err)
	}
	return list, nil
}

// Performance is one date of a series.
type Performance struct {
	ID               int64
	Slug             string
	Name             string
	StartsAt         time.Time
	Status           seats.Status
	Seats            int
	Free, Held, Sold int
	Leads            bool // it says what the production is
	Parts            map[Part]State
}

// Part is a part of what a performance gets of its production.
type Part string

// The parts.
const (
	Texts    Part = "texts"    // facts, texts and pictures of its page
	Prices   Part = "prices"   // ticket types, phases, prices, offers and taxes
	Settings Part = "settings" // name, venue, fees, limits, policies and questions; not the time
)

// Parts are all of them.
func Parts() []Part { return []Part{Texts, Prices, Settings} }

// State says whether a part is the production's.
type State string

// The states of a part.
const (
	Same   State = "same"   // as the production
	Behind State = "behind" // as the production once was
	Own    State = "own"    // the performance's own
)

const performancesSQL = `
WITH n AS (SELECT e.id, ` + textsHash + ` AS texts, ` + pricesHash + ` AS prices, ` + settingsHash + ` AS settings FROM event e JOIN counter c ON c.event_id = e.id WHERE e.series_id = $1)
SELECT e.id, e.slug, e.name, e.starts_at, CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.seats,
       (SELECT sum(x) FROM unnest(c.free) x), (SELECT sum(x) FROM unnest(c.held) x), (SELECT sum(x) FROM unnest(c.sold) x), e.id = s.lead_id,
       n.texts = l.texts, n.texts = p.texts, n.prices = l.prices, n.prices = p.prices, n.settings = l.settings, n.settings = p.settings
  FROM series s JOIN event e ON e.series_id = s.id JOIN counter c ON c.event_id = e.id JOIN performance p ON p.event_id = e.id
  JOIN n ON n.id = e.id JOIN n l ON l.id = s.lead_id
 WHERE s.id = $1
 ORDER BY e.starts_at, e.id`

// Performances returns a series of a member's team, and its performances, the first one first. organizers.ErrNotYours if the
// team has no such series.
func (a *All) Performances(ctx context.Context, m organizers.Member, slug string) (s Series, list []Performance, err error) {
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error {
		if s, err = find(ctx, tx, slug); err != nil {
			return err
		}
		list, err = performances(ctx, tx, s.ID)
		return err
	})
	if errors.Is(err, ErrNoSeries) {
		err = organizers.ErrNotYours
	}
	return s, list, err
}

func performances(ctx context.Context, tx pgx.Tx, series int64) ([]Performance, error) {
	rows, err := tx.Query(ctx, performancesSQL, series)
	if err != nil {
		return nil, fmt.Errorf("series: list performances: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Performance, err error) {
		var same, got [3]bool
		err = row.Scan(&p.ID, &p.Slug, &p.Name, &p.StartsAt, &p.Status, &p.Seats, &p.Free, &p.Held, &p.Sold, &p.Leads, &same[0], &got[0], &same[1], &got[1], &same[2], &got[2])
		p.Parts = map[Part]State{}
		for i, part := range Parts() {
			p.Parts[part] = stateOf(same[i], got[i])
		}
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("series: list performances: %w", err)
	}
	return list, nil
}

func stateOf(same, got bool) State {
	switch {
	case same:
		return Same
	case got:
		return Behind
	}
	return Own
}

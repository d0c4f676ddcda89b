package overview

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
)

// Found is what a search of a team found, the most likely first.
type Found struct {
	Series []Series
	Events []Event
	Orders []orders.Hit
}

// Series is a series as a search has it.
type Series struct {
	Slug, Name  string
	Dates       int // performances
	First, Last time.Time
	TimeZone    string
	Seats, Sold int
}

// The most of each kind that a search finds.
const (
	mostSeries = 5
	mostEvents = 8
	mostOrders = 20
)

// MostTyped is how many characters of a search are read.
const MostTyped = 200

const findSeriesSQL = `
WITH folded AS MATERIALIZED (SELECT ` + foldedWords + ` AS words)
SELECT s.slug, l.name, n.dates, n.first, n.last, l.time_zone, n.seats, n.sold
  FROM series s JOIN event l ON l.id = s.lead_id,
       LATERAL (SELECT count(*) AS dates, min(e.starts_at) AS first, max(e.starts_at) AS last, sum(e.seats) AS seats, sum((SELECT sum(n) FROM counter c, unnest(c.sold) n WHERE c.event_id = e.id))::bigint AS sold
                  FROM event e WHERE e.series_id = s.id AND e.status <> 'cancelled') n
 WHERE s.team_id = desk_team() AND l.found_by LIKE ALL ((SELECT words FROM folded)::text[]) AND n.dates > 0
 ORDER BY n.last < clock_timestamp(), n.first, s.id LIMIT $1`

// Search finds what a member means by what was typed, at most MostTyped characters of it. Members who may not look find only
// events that were announced, and no series. Orders are found by members who may find them.
func (o *Overview) Search(ctx context.Context, m organizers.Member, typed string) (found Found, err error) {
	if typed = strings.Join(strings.Fields(cut(typed, MostTyped)), " "); typed == "" {
		return found, nil
	}
	looks, finds := m.May(organizers.Look), m.May(organizers.Find)
	err = o.desk.As(ctx, m, func(tx pgx.Tx) error {
		if found.Events, err = readEvents(ctx, tx, Filter{Show: near, Words: typed, Public: !looks}, mostEvents); err != nil {
			return fmt.Errorf("overview: search events: %w", err)
		}
		if !looks {
			return nil
		}
		rows, err := tx.Query(ctx, findSeriesSQL, mostSeries, words(typed))
		if err == nil {
			found.Series, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Series])
		}
		if err != nil {
			return fmt.Errorf("overview: search series: %w", err)
		}
		return nil
	})
	if err != nil || !finds {
		return found, err
	}
	ids, err := o.orders.Everywhere(ctx, m.Team, typed, mostOrders)
	if err != nil || len(ids) == 0 {
		return found, err
	}
	err = o.desk.As(ctx, m, func(tx pgx.Tx) error {
		found.Orders, err = orders.Hits(ctx, tx, ids)
		return err
	})
	return found, err
}

// cut is the beginning of a text, at most so many characters.
func cut(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i]
		}
	}
	return s
}

package overview

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
)

// Overview reads what pages about all events of a team show.
type Overview struct {
	desk   *organizers.Desk
	orders *orders.Orders

	mu   sync.Mutex
	slow map[int64]kept // by team; guarded by mu
}

// kept is a home that took long to read, and until when it is shown again.
type kept struct {
	home  Home
	until time.Time
}

// New returns the overview of a database.
func New(desk *organizers.Desk, o *orders.Orders) *Overview {
	return &Overview{desk: desk, orders: o, slow: map[int64]kept{}}
}

// Home is the figures of the home of a team.
type Home struct {
	Now      time.Time
	TimeZone string // IANA, of the next event; UTC if there is none
	Today    []Performance
	Sales    []Sales // of today, the currency with the most orders first
	Selling  []Production
	More     bool // there are other productions on sale
	Events   int  // of the team, of any kind
}

// Performance is one event with what is sold of it.
type Performance struct {
	Slug             string
	Name             string
	Venue            string
	Online           bool
	StartsAt         time.Time
	TimeZone         string
	Status           seats.Status
	Seats            int
	Free, Held, Sold int
	Doors            int // minutes before the start; 0: not said
	In               int // tickets that were admitted
}

// Local is a moment on the clock of its place.
func (p Performance) Local(t time.Time) time.Time { return seats.Event{TimeZone: p.TimeZone}.Local(t) }

// Sales are the orders of one day in one currency, without what was cancelled of them.
type Sales struct {
	Currency string
	Orders   int
	Tickets  int
	Amount   int64     // minor units
	Hours    [24]int64 // Amount by the hour of the day
	Before   int64     // what was ordered a week before until the same time of day
}

// Production is a series with its performances, or one event.
type Production struct {
	Series       string // slug; empty: one event
	Slug         string // of the event, or of the first performance
	Name         string
	Performances []Cell // those to come, the first 120
	Dates        int    // how many are to come
	Seats, Sold  int    // of all to come
	Orders       int    // of the last seven days
	Days         [14]int
}

// Cell is a performance in the strip of its series.
type Cell struct {
	Slug        string
	StartsAt    time.Time
	TimeZone    string
	Status      seats.Status
	Seats, Sold int
	Free        int
}

// Local is a moment on the clock of its place.
func (c Cell) Local(t time.Time) time.Time { return seats.Event{TimeZone: c.TimeZone}.Local(t) }

const (
	mostSelling = 8
	mostCells   = 120
)

// A read that takes longer than slowRead is shown for restFactor times as long: a home that is open during a sale of 200,000
// orders costs the database a twentieth of its time at most.
const (
	slowRead   = 100 * time.Millisecond
	restFactor = 20
)

// Home reads the home of a member's team. sales is whether the reader may see what is sold: without it, only Today is read.
func (o *Overview) Home(ctx context.Context, m organizers.Member, sales bool) (home Home, err error) {
	if !sales {
		err = o.desk.As(ctx, m, func(tx pgx.Tx) error { return home.readToday(ctx, tx) })
		return home, err
	}
	o.mu.Lock()
	k, known := o.slow[m.Team]
	o.mu.Unlock()
	began := time.Now()
	if known && began.Before(k.until) {
		return k.home, nil
	}
	err = o.desk.As(ctx, m, func(tx pgx.Tx) error {
		if err := home.readToday(ctx, tx); err != nil {
			return err
		}
		if err := home.readSales(ctx, tx); err != nil {
			return err
		}
		// The orders of a day are found by indexes. What sells is counted in the orders of a week, and joined with all events.
		if _, err := tx.Exec(ctx, database.PlanManySQL+`; SET LOCAL plan_cache_mode TO force_custom_plan`); err != nil {
			return fmt.Errorf("overview: %w", err)
		}
		return home.readSelling(ctx, tx)
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.slow, m.Team)
	if took := time.Since(began); err == nil && took > slowRead {
		o.slow[m.Team] = kept{home, time.Now().Add(restFactor * took)}
	}
	return home, err
}

const zoneSQL = `
SELECT clock_timestamp(), coalesce((SELECT time_zone FROM event WHERE team_id = desk_team() AND starts_at > clock_timestamp() - interval '1 day' ORDER BY starts_at, id LIMIT 1),
                                   (SELECT time_zone FROM event WHERE team_id = desk_team() ORDER BY starts_at DESC, id DESC LIMIT 1), 'UTC'),
       (SELECT count(*) FROM event)`

// What begins on this day of its place, and what began less than six hours ago: a show ends after midnight.
const todaySQL = `
SELECT e.slug, e.name, e.venue, e.online, e.starts_at, e.time_zone, CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.seats,
       (SELECT sum(n) FROM unnest(c.free) n), (SELECT sum(n) FROM unnest(c.held) n), (SELECT sum(n) FROM unnest(c.sold) n),
       coalesce((SELECT doors FROM event_page WHERE event_id = e.id), 0), (SELECT count(*) FROM scan s WHERE s.event_id = e.id AND s.admitted)
  FROM event e JOIN counter c ON c.event_id = e.id
 WHERE e.team_id = desk_team() AND e.starts_at BETWEEN $1::timestamptz - interval '30 hours' AND $1::timestamptz + interval '30 hours' AND e.status NOT IN ('draft', 'cancelled')
   AND (e.starts_local::date = local_time($1, e.time_zone)::date OR e.starts_at BETWEEN $1::timestamptz - interval '6 hours' AND $1)
 ORDER BY e.starts_at, e.id LIMIT 20`

func (h *Home) readToday(ctx context.Context, tx pgx.Tx) error {
	if err := tx.QueryRow(ctx, zoneSQL).Scan(&h.Now, &h.TimeZone, &h.Events); err != nil {
		return fmt.Errorf("overview: read the time: %w", err)
	}
	rows, err := tx.Query(ctx, todaySQL, h.Now)
	if err == nil {
		h.Today, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Performance])
	}
	if err != nil {
		return fmt.Errorf("overview: read today: %w", err)
	}
	return nil
}

// The orders of today, and of the same day a week ago until this time of day.
const salesSQL = `
SELECT o.currency, d.today, CASE WHEN d.today THEN least(23, floor(extract(epoch FROM o.created_at - $2) / 3600))::integer ELSE 0 END, count(*), sum(t.n), sum(t.amount)::bigint
  FROM (VALUES (true, $2::timestamptz, 'infinity'), (false, $2::timestamptz - interval '7 days', $1::timestamptz - interval '7 days')) AS d (today, since, until),
       orders o, LATERAL (SELECT count(*) AS n, sum(price + fee) AS amount FROM ticket WHERE order_id = o.id AND revoked_at IS NULL HAVING count(*) > 0) t
 WHERE o.state = 'confirmed' AND o.created_at >= d.since AND o.created_at < d.until
 GROUP BY 1, 2, 3`

func (h *Home) readSales(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, salesSQL, h.Now, h.midnight())
	if err != nil {
		return fmt.Errorf("overview: read the sales of today: %w", err)
	}
	var currency string
	var today bool
	var hour, orders, tickets int
	var amount int64
	_, err = pgx.ForEachRow(rows, []any{&currency, &today, &hour, &orders, &tickets, &amount}, func() error {
		s := h.salesIn(currency)
		if !today {
			s.Before += amount
			return nil
		}
		s.Orders, s.Tickets, s.Amount = s.Orders+orders, s.Tickets+tickets, s.Amount+amount
		s.Hours[hour] += amount
		return nil
	})
	if err != nil {
		return fmt.Errorf("overview: read the sales of today: %w", err)
	}
	slices.SortStableFunc(h.Sales, func(a, b Sales) int { return cmp.Or(b.Orders-a.Orders, strings.Compare(a.Currency, b.Currency)) })
	return nil
}

// Zone is where the day of the team begins and ends.
func (h *Home) Zone() *time.Location {
	return seats.Event{TimeZone: h.TimeZone}.Local(h.Now).Location()
}

// midnight is when today began.
func (h *Home) midnight() time.Time {
	y, m, d := h.Now.In(h.Zone()).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, h.Zone())
}

// salesIn returns the sales in a currency.
func (h *Home) salesIn(currency string) *Sales {
	for i := range h.Sales {
		if h.Sales[i].Currency == currency {
			return &h.Sales[i]
		}
	}
	h.Sales = append(h.Sales, Sales{Currency: currency})
	return &h.Sales[len(h.Sales)-1]
}

// Productions on sale, those with the most orders of seven days first, each with its performances to come.
const sellingSQL = `
WITH moved AS MATERIALIZED (
    SELECT event_id, count(*) AS n FROM orders WHERE created_at > $1::timestamptz - interval '7 days' AND state = 'confirmed' GROUP BY event_id),
     chosen AS MATERIALIZED (
    SELECT coalesce(e.series_id, -e.id) AS production, coalesce(sum(m.n), 0)::integer AS orders, min(e.starts_at) AS first
      FROM event e LEFT JOIN moved m ON m.event_id = e.id
     WHERE e.team_id = desk_team() AND e.starts_at > $1::timestamptz - interval '6 hours' AND e.status IN ('on sale', 'paused')
     GROUP BY 1 ORDER BY 2 DESC, 3, 1 LIMIT $2)
SELECT e.id, coalesce(s.slug, ''), coalesce(l.name, e.name), h.orders, e.slug, e.starts_at, e.time_zone,
       CASE WHEN e.status = 'on sale' AND e.opens_at > clock_timestamp() THEN 'scheduled' ELSE e.status END, e.seats,
       (SELECT sum(n) FROM unnest(c.sold) n), (SELECT sum(n) FROM unnest(c.free) n)
  FROM chosen h JOIN event e ON e.id = -h.production OR e.series_id = h.production JOIN counter c ON c.event_id = e.id
       LEFT JOIN series s ON s.id = e.series_id LEFT JOIN event l ON l.id = s.lead_id
 WHERE e.starts_at > $1::timestamptz - interval '6 hours' AND e.status NOT IN ('draft', 'cancelled')
 ORDER BY h.orders DESC, h.first, h.production, e.starts_at, e.id`

func (h *Home) readSelling(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, sellingSQL, h.Now, mostSelling+1)
	if err != nil {
		return fmt.Errorf("overview: read what sells: %w", err)
	}
	var events []int64
	var of []int // the production of each
	var id int64
	var series, name string
	var orders int
	var c Cell
	_, err = pgx.ForEachRow(rows, []any{&id, &series, &name, &orders, &c.Slug, &c.StartsAt, &c.TimeZone, &c.Status, &c.Seats, &c.Sold, &c.Free}, func() error {
		if last := len(h.Selling) - 1; last < 0 || series == "" || h.Selling[last].Series != series {
			h.Selling = append(h.Selling, Production{Series: series, Slug: c.Slug, Name: name, Orders: orders})
		}
		p := &h.Selling[len(h.Selling)-1]
		if p.Dates++; len(p.Performances) < mostCells {
			p.Performances = append(p.Performances, c)
		}
		p.Seats, p.Sold = p.Seats+c.Seats, p.Sold+c.Sold
		events, of = append(events, id), append(of, len(h.Selling)-1)
		return nil
	})
	if err != nil {
		return fmt.Errorf("overview: read what sells: %w", err)
	}
	if h.More = len(h.Selling) > mostSelling; h.More {
		h.Selling = h.Selling[:mostSelling]
	}
	return h.readDays(ctx, tx, events, of)
}

const daysSQL = `
SELECT w.production, 13 - floor(extract(epoch FROM $3::timestamptz + interval '1 day' - o.created_at) / 86400)::integer, count(*)
  FROM unnest($1::bigint[], $2::integer[]) AS w (event, production), LATERAL (
       SELECT created_at FROM orders WHERE event_id = w.event AND created_at > $3::timestamptz - interval '13 days' AND created_at < $3::timestamptz + interval '1 day' AND state = 'confirmed') o
 GROUP BY 1, 2`

// readDays counts the orders of each of the last fourteen days, today as the last.
func (h *Home) readDays(ctx context.Context, tx pgx.Tx, events []int64, of []int) error {
	rows, err := tx.Query(ctx, daysSQL, events, of, h.midnight())
	if err != nil {
		return fmt.Errorf("overview: count orders by day: %w", err)
	}
	var production, day, n int
	_, err = pgx.ForEachRow(rows, []any{&production, &day, &n}, func() error {
		if production < len(h.Selling) && day >= 0 && day < len(h.Selling[production].Days) {
			h.Selling[production].Days[day] += n
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("overview: count orders by day: %w", err)
	}
	return nil
}

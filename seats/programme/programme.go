package programme

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/pricing"
)

// Programme lists events, for one node.
type Programme struct {
	db      *pgxpool.Pool
	choices sync.Map   // *Choices, by team
	reading sync.Mutex // one request reads choices at a time
	dates   seriesDates
}

// New returns the programme of a database.
func New(db *pgxpool.Pool) *Programme { return &Programme{db: db} }

// Card is what the programme says of an event. Of its settings it has what pages need to name and price it.
type Card struct {
	seats.Event
	Category, Town   string         // of its page; may be empty
	Picture          *pages.Picture // the header of its page; nil: none
	Free, Held, Sold int
	Price            int64 // the lowest that is not 0 now, all in, minor units; 0: free of charge
	Private          bool  // nothing is sold to everyone: there is no price
	MadeAt           time.Time
	Local            time.Time // the start on the clock of its place, as if that were UTC
	InMonth          int       // how many cards of the filter are in its month
	Series           *Dates    // nil: the event is in no series, or is listed by itself
}

// Dates are the performances of a series that a filter finds. The card is about the first of them; its price and its status
// are those of the cheapest one with seats left, and Free is what is left of all that are on sale.
type Dates struct {
	Slug string    // of the series
	N    int       // performances
	Last time.Time // the start of the last one, on the clock of its place
	Few  int       // performances with few seats left
}

// Page is a page of the programme.
type Page struct {
	Cards []Card
	Next  Cursor // behind the last card; the zero cursor if there are no more
}

// Size is how many cards a page has.
const Size = 24

const cardColumns = `e.id, e.slug, e.name, e.venue, e.starts_at, e.time_zone, e.language, q.currency, e.created_at, e.online, e.seats, e.team_id,
       CASE WHEN q.status = 'on sale' AND q.opens_at > clock_timestamp() THEN 'scheduled' ELSE q.status END, q.opens_at, q.reason,
       q.fee_ticket, q.fee_percent, q.fee_absorbed, q.price_rules, e.starts_local,
       coalesce(d.free, (SELECT sum(n) FROM unnest(c.free) n)), (SELECT sum(n) FROM unnest(c.held) n), (SELECT sum(n) FROM unnest(c.sold) n),
       coalesce(low.amount, 0), coalesce(low.type, -1), coalesce(x.category, ''), coalesce(x.town, ''), h.hash, h.widths, h.width, h.height, h.alt,
       s.slug, d.dates, d.last, d.few`

// What is left, the lowest price and the picture: look-ups by keys for each event e of the page. q is the event whose price
// and status a card shows: of a series the cheapest performance that has seats left. Between the two parts stand conditions
// on the performances e of a series.
const (
	cardTables = `
  JOIN event e ON e.id = p.id
  LEFT JOIN event_page x ON x.event_id = e.id
  LEFT JOIN event_picture h ON h.event_id = e.id AND h.kind = 'header'
  LEFT JOIN series s ON s.id = p.series
  LEFT JOIN LATERAL (
       SELECT count(*) AS dates, max(e.starts_local) AS last, count(*) FILTER (WHERE on_sale AND rest > 0 AND rest * 10 <= e.seats AND rest <= 100) AS few,
              coalesce(sum(rest) FILTER (WHERE on_sale), 0)::bigint AS free,
              (array_agg(e.id ORDER BY on_sale AND rest > 0 DESC, e.status = 'on sale' AND NOT on_sale DESC, on_sale DESC, e.lowest, e.starts_local, e.id))[1] AS best
         FROM event e LEFT JOIN event_page x ON x.event_id = e.id JOIN counter c ON c.event_id = e.id,
              LATERAL (SELECT coalesce(sum(n), 0) AS rest, e.status = 'on sale' AND coalesce(e.opens_at <= clock_timestamp(), true) AS on_sale FROM unnest(c.free) n) l
        WHERE e.series_id = p.series AND e.status <> 'draft' AND `
	cardPrice = `) d ON p.series IS NOT NULL
  JOIN event q ON q.id = coalesce(d.best, p.id) JOIN counter c ON c.event_id = q.id
  LEFT JOIN LATERAL (
       SELECT coalesce(f.amount, b.amount) AS amount, b.type
         FROM price b
         JOIN ticket_type t ON t.event_id = q.id AND t.number = b.type AND t.sold_to = 'everyone' AND NOT t.retired
         LEFT JOIN price f ON f.event_id = q.id AND f.version = b.version AND f.type = b.type AND f.category = b.category AND f.phase = (
              SELECT min(number) FROM phase
               WHERE event_id = q.id AND NOT retired AND coalesce(begins_at <= clock_timestamp(), true) AND coalesce(ends_at > clock_timestamp(), true) AND coalesce(c.quota[number] > 0, true))
        WHERE b.event_id = q.id AND b.version = c.price_version AND b.phase = 0
        ORDER BY coalesce(f.amount, b.amount) = 0, 1 LIMIT 1) low ON true`
)

// The clock of a place is at most 14 hours ahead of UTC, and 12 behind it: the index finds what is to come, and the second
// condition decides.
const (
	toCome = `e.starts_local >= (statement_timestamp() AT TIME ZONE 'UTC') - interval '18 hours' AND e.starts_at >= statement_timestamp() - interval '6 hours'`
	isPast = `e.starts_local < (statement_timestamp() AT TIME ZONE 'UTC') + interval '8 hours' AND e.starts_at < statement_timestamp() - interval '6 hours'`
)

const wanted = `
   AND e.status <> 'draft' AND e.test_of IS NULL AND ($11::bigint = 0 OR e.team_id = $11) AND e.starts_local >= $3 AND e.starts_local < $4
   AND ($5 = '' OR x.town = $5) AND ($6 = '' OR x.category = $6) AND (e.wheelchair OR NOT $7)
   AND ($8::jsonb IS NULL OR e.lowest <= coalesce($8::jsonb ->> e.currency, $8::jsonb ->> '')::bigint)
   AND ($9 = '' OR (e.found_by || ' ' || coalesce(x.found_by, '')) LIKE ALL (ARRAY(SELECT '%' || word || '%' FROM regexp_split_to_table(fold($9), ' ') word)))`

// A page of cards. A series is one card, at its first performance in the order of the page that matches. Without a filter that
// is one look-up for each series, however many performances it has; with one it is a scan of all performances, as a search
// of events is. The events that are in no series are walked by their index.
const (
	eachSeries = `
WITH f AS MATERIALIZED (
     SELECT n.id, n.starts_local, s.id AS series FROM series s CROSS JOIN LATERAL (
            SELECT e.id, e.starts_local FROM event e LEFT JOIN event_page x ON x.event_id = e.id
             WHERE e.series_id = s.id AND `
	foundSeries = `
WITH f AS MATERIALIZED (
     SELECT DISTINCT ON (e.series_id) e.id, e.starts_local, e.series_id AS series FROM event e LEFT JOIN event_page x ON x.event_id = e.id
      WHERE e.series_id IS NOT NULL AND `
	comingRest = `
     p AS MATERIALIZED (
     SELECT * FROM (
            (SELECT e.id, e.starts_local, NULL::bigint AS series FROM event e LEFT JOIN event_page x ON x.event_id = e.id
              WHERE e.series_id IS NULL AND ` + toCome + ` AND (e.starts_local, e.id) > ($1, $2)` + wanted + `
              ORDER BY e.starts_local, e.id LIMIT $10)
            UNION ALL
            (SELECT id, starts_local, series FROM f WHERE (starts_local, id) > ($1, $2) ORDER BY starts_local, id LIMIT $10)) u
      ORDER BY starts_local, id LIMIT $10),
     month AS (
     SELECT month, sum(cards)::bigint AS cards FROM (
            SELECT date_trunc('month', e.starts_local) AS month, count(*) AS cards FROM event e LEFT JOIN event_page x ON x.event_id = e.id
             WHERE e.series_id IS NULL AND ` + toCome + ` AND e.starts_local >= (SELECT date_trunc('month', min(starts_local)) FROM p)
               AND e.starts_local < (SELECT date_trunc('month', max(starts_local)) FROM p) + interval '1 month'` + wanted + `
             GROUP BY 1
            UNION ALL
            SELECT date_trunc('month', starts_local), count(*) FROM f GROUP BY 1) n
      GROUP BY 1)
SELECT ` + cardColumns + `, m.cards FROM p JOIN month m ON m.month = date_trunc('month', p.starts_local)` + cardTables + toCome + wanted + cardPrice + `
 ORDER BY p.starts_local, p.id`
	pastRest = `
     p AS MATERIALIZED (
     SELECT * FROM (
            (SELECT e.id, e.starts_local, NULL::bigint AS series FROM event e LEFT JOIN event_page x ON x.event_id = e.id
              WHERE e.series_id IS NULL AND ` + isPast + ` AND (e.starts_local, e.id) < ($1, $2)` + wanted + `
              ORDER BY e.starts_local DESC, e.id DESC LIMIT $10)
            UNION ALL
            (SELECT id, starts_local, series FROM f WHERE (starts_local, id) < ($1, $2) ORDER BY starts_local DESC, id DESC LIMIT $10)) u
      ORDER BY starts_local DESC, id DESC LIMIT $10),
     month AS (
     SELECT month, sum(cards)::bigint AS cards FROM (
            SELECT date_trunc('month', e.starts_local) AS month, count(*) AS cards FROM event e LEFT JOIN event_page x ON x.event_id = e.id
             WHERE e.series_id IS NULL AND ` + isPast + ` AND e.starts_local >= (SELECT date_trunc('month', min(starts_local)) FROM p)
               AND e.starts_local < (SELECT date_trunc('month', max(starts_local)) FROM p) + interval '1 month'` + wanted + `
             GROUP BY 1
            UNION ALL
            SELECT date_trunc('month', starts_local), count(*) FROM f GROUP BY 1) n
      GROUP BY 1)
SELECT ` + cardColumns + `, m.cards FROM p JOIN month m ON m.month = date_trunc('month', p.starts_local)` + cardTables + isPast + wanted + cardPrice + `
 ORDER BY p.starts_local DESC, p.id DESC`

	comingSQL      = eachSeries + toCome + wanted + ` ORDER BY e.starts_local, e.id LIMIT 1) n),` + comingRest
	comingFoundSQL = foundSeries + toCome + wanted + ` ORDER BY e.series_id, e.starts_local, e.id),` + comingRest
	pastSQL        = eachSeries + isPast + wanted + ` ORDER BY e.starts_local DESC, e.id DESC LIMIT 1) n),` + pastRest
	pastFoundSQL   = foundSeries + isPast + wanted + ` ORDER BY e.series_id, e.starts_local DESC, e.id DESC),` + pastRest
)

// eachSQL lists events without regard to series, or the performances of one.
const eachSQL = `
WITH p AS MATERIALIZED (
     SELECT e.id, e.starts_local, NULL::bigint AS series FROM event e LEFT JOIN event_page x ON x.event_id = e.id
      WHERE ` + toCome + ` AND (e.starts_local, e.id) > ($1, $2)` + wanted + ` AND ($12::bigint = 0 OR e.series_id = $12)
      ORDER BY e.starts_local, e.id LIMIT $10)
SELECT ` + cardColumns + ` FROM p` + cardTables + `false` + cardPrice + `
 ORDER BY p.starts_local, p.id`

// The ends of time of a programme; PostgreSQL and Go both know them.
var (
	ever  = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// List returns a page of at most size cards: events, and series as one card each. The price of an event may have risen since its row was written, as when a
// phase ends: such an event is left out, so a page may be shorter than size.
func (g *Programme) List(ctx context.Context, f Filter, size int) (page Page, err error) {
	limits, err := g.limits(ctx, f.Most)
	if err != nil {
		return Page{}, err
	}
	for len(page.Cards) == 0 {
		cards, err := g.read(ctx, f, limits, size+1)
		if err != nil {
			return Page{}, fmt.Errorf("programme: list events: %w", err)
		}
		page.Next = Cursor{}
		if len(cards) > size {
			cards = cards[:size]
			last := cards[size-1]
			page.Next = Cursor{last.Local, last.ID}
		}
		for _, c := range cards {
			if within(c, f.Most) {
				page.Cards = append(page.Cards, c)
			}
		}
		if page.Next == (Cursor{}) {
			break
		}
		f.After = page.Next
	}
	return page, nil
}

// within reports whether the price of a card is not above the highest one asked for; an empty one is no limit.
func within(c Card, most string) bool {
	limit, err := pricing.ReadAmount(most, c.Currency)
	return most == "" || err == nil && c.Price <= limit
}

func (g *Programme) read(ctx context.Context, f Filter, limits map[string]int64, size int) ([]Card, error) {
	sql := map[[2]bool]string{{false, false}: comingSQL, {false, true}: comingFoundSQL, {true, false}: pastSQL, {true, true}: pastFoundSQL}[[2]bool{f.Past, f.Narrows()}]
	rows, err := g.db.Query(ctx, sql, append(f.arguments(limits), size, f.Team)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Card, err error) { return c, c.scan(row, &c.InMonth) })
}

// Each lists events to come that a filter finds, at most so many and each performance of a series by itself.
func (g *Programme) Each(ctx context.Context, f Filter, most int) ([]Card, error) {
	limits, err := g.limits(ctx, f.Most)
	if err != nil {
		return nil, err
	}
	list, err := g.each(ctx, f, limits, most, 0)
	return slices.DeleteFunc(list, func(c Card) bool { return !within(c, f.Most) }), err
}

func (g *Programme) each(ctx context.Context, f Filter, limits map[string]int64, most int, series int64) ([]Card, error) {
	f.Past = false
	rows, err := g.db.Query(ctx, eachSQL, append(f.arguments(limits), most, f.Team, series)...)
	if err != nil {
		return nil, fmt.Errorf("programme: list each event: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Card, err error) { return c, c.scan(row) })
	if err != nil {
		return nil, fmt.Errorf("programme: list each event: %w", err)
	}
	return list, nil
}

// arguments are the first nine of a statement.
func (f Filter) arguments(limits map[string]int64) []any {
	after, id := ever, int64(0)
	if f.Past {
		after, id = never, 1<<62
	}
	if f.After.ID != 0 {
		after, id = f.After.At, f.After.ID
	}
	from, until := ever, never
	if !f.From.IsZero() {
		from = f.From
	}
	if !f.Until.IsZero() {
		until = f.Until.AddDate(0, 0, 1)
	}
	var asked any // no limit
	if f.Most != "" {
		asked = limits
	}
	return []any{after, id, from, until, f.Town, f.Category, f.Wheelchair, asked, literal.Replace(f.Words)}
}

// literal makes what LIKE reads as a pattern stand for itself.
var literal = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

func (c *Card) scan(row pgx.Row, more ...any) error {
	var opensAt *time.Time
	var line pricing.Line
	var hash, alt *string
	var widths []int
	var width, height, dates, few *int
	var series *string
	var lastDate *time.Time
	err := row.Scan(append([]any{
		&c.ID, &c.Slug, &c.Name, &c.Venue, &c.StartsAt, &c.TimeZone, &c.Language, &c.Currency, &c.MadeAt, &c.Online.On, &c.Seats, &c.Team,
		&c.Status, &opensAt, &c.Reason,
		&c.Fees.Ticket, &c.Fees.Percent, &c.Fees.Absorbed, &c.Rules, &c.Local,
		&c.Free, &c.Held, &c.Sold, &line.Price, &line.Type, &c.Category, &c.Town, &hash, &widths, &width, &height, &alt,
		&series, &dates, &lastDate, &few,
	}, more...)...)
	if hash != nil {
		c.Picture = &pages.Picture{Kind: pages.Header, Hash: *hash, Widths: widths, Width: *width, Height: *height, Alt: *alt}
	}
	if opensAt != nil {
		c.OpensAt = *opensAt
	}
	if series != nil && dates != nil && lastDate != nil && few != nil {
		c.Series = &Dates{*series, *dates, *lastDate, *few}
	}
	if c.Private = line.Type < 0; !c.Private {
		c.Price = pricing.AllIn(line, pricing.TermsOf(&c.Event)).Cost()
	}
	return err
}

// limits are the highest prices in minor units, by currency. Those of a currency that the choices do not have yet are "".
func (g *Programme) limits(ctx context.Context, most string) (map[string]int64, error) {
	if most == "" {
		return nil, nil
	}
	choices, err := g.Choices(ctx, 0)
	if err != nil {
		return nil, err
	}
	limits := map[string]int64{}
	for _, currency := range append([]string{""}, choices.Currencies...) {
		if limits[currency], err = pricing.ReadAmount(most, currency); err != nil {
			return nil, fmt.Errorf("programme: highest price %q in %s: %w", most, currency, err)
		}
	}
	return limits, nil
}

// Choices are what filters can choose from: what events to come have.
type Choices struct {
	Towns, Categories, Currencies []string
	Wheelchair                    bool // an event has wheelchair places
	at                            time.Time
}

const choicesSQL = `
SELECT coalesce(array_agg(DISTINCT x.town ORDER BY x.town) FILTER (WHERE x.town <> ''), '{}'), coalesce(array_agg(DISTINCT x.category ORDER BY x.category) FILTER (WHERE x.category <> ''), '{}'),
       coalesce(array_agg(DISTINCT e.currency), '{}'), coalesce(bool_or(e.wheelchair), false)
  FROM event e LEFT JOIN event_page x ON x.event_id = e.id
 WHERE e.status <> 'draft' AND e.test_of IS NULL AND ($1::bigint = 0 OR e.team_id = $1) AND ` + toCome

// fresh is how long a node shows the choices that it read. A new town is in the filter a little later than in the list.
const fresh = 5 * time.Second

// Choices returns what filters can choose from, of the events of a team or of all for team 0. It may be a few seconds old: one
// request at a time reads it anew.
func (g *Programme) Choices(ctx context.Context, team int64) (*Choices, error) {
	known := g.known(team)
	switch {
	case known == nil:
		g.reading.Lock()
		defer g.reading.Unlock()
		if known = g.known(team); known != nil {
			return known, nil
		}
		return g.readChoices(ctx, team)
	case time.Since(known.at) > fresh && g.reading.TryLock():
		defer g.reading.Unlock()
		return g.readChoices(ctx, team)
	}
	return known, nil
}

func (g *Programme) known(team int64) *Choices {
	known, _ := g.choices.Load(team)
	c, _ := known.(*Choices)
	return c
}

func (g *Programme) readChoices(ctx context.Context, team int64) (*Choices, error) {
	c := &Choices{at: time.Now()}
	if err := g.db.QueryRow(ctx, choicesSQL, team).Scan(&c.Towns, &c.Categories, &c.Currencies, &c.Wheelchair); err != nil {
		return nil, fmt.Errorf("programme: read choices: %w", err)
	}
	g.choices.Store(team, c)
	return c, nil
}

const newestSQL = `
WITH p AS MATERIALIZED (
     SELECT min(e.id) AS id, e.series_id AS series FROM event e WHERE e.status <> 'draft' AND e.test_of IS NULL AND ($1::bigint = 0 OR e.team_id = $1) AND ` + toCome + `
      GROUP BY e.series_id, CASE WHEN e.series_id IS NULL THEN e.id END ORDER BY max(e.id) DESC LIMIT $2)
SELECT ` + cardColumns + ` FROM p` + cardTables + toCome + cardPrice + ` ORDER BY p.id DESC`

// Newest returns the events and series to come that were made last, of a team or of all for team 0.
func (g *Programme) Newest(ctx context.Context, team int64, most int) ([]Card, error) {
	rows, err := g.db.Query(ctx, newestSQL, team, most)
	if err != nil {
		return nil, fmt.Errorf("programme: list new events: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Card, err error) { return c, c.scan(row) })
	if err != nil {
		return nil, fmt.Errorf("programme: list new events: %w", err)
	}
	return list, nil
}

const slugsSQL = `SELECT e.slug FROM event e WHERE e.status <> 'draft' AND e.test_of IS NULL AND ($1::bigint = 0 OR e.team_id = $1) AND ` + toCome + ` ORDER BY e.starts_local, e.id LIMIT $2`

const seriesSlugsSQL = `
SELECT s.slug FROM series s WHERE ($1::bigint = 0 OR s.team_id = $1) AND EXISTS (SELECT FROM event e WHERE e.series_id = s.id AND e.status <> 'draft' AND ` + toCome + `) ORDER BY s.id DESC LIMIT $2`

// Slugs returns the names in addresses of events to come, the next one first, and of their series: of a team, or of all for
// team 0.
func (g *Programme) Slugs(ctx context.Context, team int64, most int) (events, series []string, err error) {
	for _, q := range []struct {
		sql  string
		list *[]string
	}{{seriesSlugsSQL, &series}, {slugsSQL, &events}} {
		rows, err := g.db.Query(ctx, q.sql, team, most-len(series))
		if err == nil {
			*q.list, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return nil, nil, fmt.Errorf("programme: list addresses: %w", err)
		}
	}
	return events, series, nil
}

package alerts

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/overview"
)

// About is what there is to say of an alert. It names no attendee.
type About struct {
	Event    string     `json:"event,omitempty"` // slug; empty: it is about the team
	Title    string     `json:"title,omitempty"`
	StartsAt *time.Time `json:"starts_at,omitempty"`
	TimeZone string     `json:"time_zone,omitempty"`
	Order    string     `json:"order,omitempty"`
	Amount   int64      `json:"amount,omitempty"`
	Currency string     `json:"currency,omitempty"`
	N        int        `json:"n,omitempty"`
	Why      string     `json:"why,omitempty"`
	At       *time.Time `json:"at,omitempty"`
}

func aboutOf(n overview.Need) About {
	a := About{Event: n.Event, Title: n.Title, TimeZone: n.TimeZone, Order: n.Order, Amount: n.Amount, Currency: n.Currency, N: n.N, Why: n.Why}
	if !n.StartsAt.IsZero() {
		a.StartsAt = &n.StartsAt
	}
	if !n.At.IsZero() {
		a.At = &n.At
	}
	if kindOf[n.Kind] == Money {
		a.Why = "" // may quote a provider, or name a person: an erasure does not look here
	}
	return a
}

func (a About) need(kind string) overview.Need {
	n := overview.Need{Kind: kind, Event: a.Event, Title: a.Title, TimeZone: a.TimeZone, Order: a.Order, Amount: a.Amount, Currency: a.Currency, N: a.N, Why: a.Why}
	if a.StartsAt != nil {
		n.StartsAt = *a.StartsAt
	}
	if a.At != nil {
		n.At = *a.At
	}
	return n
}

// Sales and blocks of a team. What lasts is over later than it would begin, so that a seat that comes and goes is one cause.
const foundSQL = `
WITH lasting AS MATERIALIZED (SELECT cause FROM alert WHERE team_id = desk_team() AND ended_at IS NULL),
selling AS MATERIALIZED (
    SELECT e.id, e.slug, e.name, e.starts_at, e.time_zone, c.free, c.held, c.sold
      FROM event e JOIN counter c ON c.event_id = e.id
     WHERE e.team_id = desk_team() AND e.status = 'on sale' AND (e.opens_at IS NULL OR e.opens_at <= clock_timestamp()) AND e.starts_at > clock_timestamp()
)
SELECT 'sold-out/' || s.slug, 'sold-out', s.slug, s.name, s.starts_at, s.time_zone, t.sold, '', NULL::timestamptz
  FROM selling s, LATERAL (SELECT sum(f + h)::integer AS remain, sum(d)::integer AS sold FROM unnest(s.free, s.held, s.sold) u(f, h, d)) t
 WHERE t.sold > 0 AND (t.remain = 0 OR t.remain * 50 <= t.remain + t.sold AND 'sold-out/' || s.slug IN (SELECT cause FROM lasting))
UNION ALL
SELECT t.cause, 'few', s.slug, s.name, s.starts_at, s.time_zone, t.remain, k.name, NULL
  FROM selling s CROSS JOIN LATERAL (SELECT f + h AS remain, d AS sold, n, 'few/' || s.slug || '/' || n AS cause FROM unnest(s.free, s.held, s.sold) WITH ORDINALITY u(f, h, d, n)) t
  JOIN category k ON k.event_id = s.id AND k.number = t.n - 1
 WHERE t.sold > 0 AND (t.remain > 0 AND t.remain * 10 <= t.remain + t.sold AND 'sold-out/' || s.slug NOT IN (SELECT cause FROM lasting) OR t.remain * 20 <= 3 * (t.remain + t.sold) AND t.cause IN (SELECT cause FROM lasting))
UNION ALL
SELECT 'failing/' || s.slug, 'failing', s.slug, s.name, s.starts_at, s.time_zone, t.failed, '', NULL
  FROM selling s, LATERAL (
       SELECT count(*) FILTER (WHERE reason <> '')::integer AS failed, count(*)::integer AS tried
         FROM (SELECT reason FROM payment WHERE event_id = s.id AND method NOT IN ('free', 'door', 'invoice') AND created_at > statement_timestamp() - interval '10 minutes'
                ORDER BY created_at DESC LIMIT 500) p) t
 WHERE t.tried >= 10 AND t.failed * 4 > t.tried OR t.failed > 0 AND 'failing/' || s.slug IN (SELECT cause FROM lasting)
UNION ALL
SELECT 'block/' || b.id, 'block', e.slug, e.name, e.starts_at, e.time_zone, cardinality(b.seats), coalesce(nullif(b.owner, ''), b.reason), b.ends_at
  FROM event e JOIN block b ON b.event_id = e.id
 WHERE e.team_id = desk_team() AND e.starts_at > clock_timestamp() AND e.status NOT IN ('draft', 'cancelled', 'closed') AND b.ended_at IS NULL
   AND b.ends_at > clock_timestamp() AND b.ends_at < clock_timestamp() + interval '1 day'`

// found lists the causes that a team has now, by their names.
func (a *Alerts) found(ctx context.Context, m organizers.Member) (map[string]overview.Need, error) {
	list, err := a.over.All(ctx, m)
	if err != nil {
		return nil, err
	}
	causes := make(map[string]overview.Need, len(list))
	for _, n := range list {
		causes[n.Cause()] = n
	}
	err = a.desk.As(ctx, m, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, foundSQL)
		if err != nil {
			return err
		}
		var cause string
		var n overview.Need
		var at *time.Time
		_, err = pgx.ForEachRow(rows, []any{&cause, &n.Kind, &n.Event, &n.Title, &n.StartsAt, &n.TimeZone, &n.N, &n.Why, &at}, func() error {
			if n.At = (time.Time{}); at != nil {
				n.At = *at
			}
			causes[cause] = n
			return nil
		})
		return err
	})
	return causes, err
}

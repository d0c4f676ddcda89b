package overview

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// Need is one thing that a person has to do, on one page. Its words are made where it is shown.
type Need struct {
	Kind     string
	Event    string // slug; empty: it is about no event
	Title    string // of the event
	StartsAt time.Time
	TimeZone string
	Order    string // code; empty: it is about none
	Amount   int64  // minor units
	Currency string
	N        int    // how many
	Why      string // what was noted, of a payment or a webhook; of a legal text its kind
	At       time.Time

	key string // of what is noted about money: equal for the same cause
}

// Cause is equal for needs of the same cause, whenever they are found.
func (n Need) Cause() string {
	switch {
	case n.key != "":
		return n.key
	case n.Kind == NeedHook:
		return n.Kind + "/" + strconv.Itoa(n.N)
	case n.Event == "":
		return n.Kind + "/" + n.Why
	}
	return n.Kind + "/" + n.Event
}

// Local is a moment on the clock of the event's place.
func (n Need) Local(t time.Time) time.Time { return seats.Event{TimeZone: n.TimeZone}.Local(t) }

// The kinds of needs, besides those of package payments.
const (
	NeedUnpaid = "unpaid" // unpaid orders of an event are cancelled within a day
	NeedMail   = "mail"   // mail of orders of an event came back
	NeedHook   = "hook"   // a webhook fails, or was switched off by its failures; Why is its address
	NeedRoom   = "room"   // a waiting room is paused
	NeedDraft  = "draft"  // an event begins within two weeks and is a draft
	NeedPaused = "paused" // a sale is paused
	NeedPrices = "prices" // an event is on sale free of charge, and its prices were never saved
	NeedMethod = "method" // an event with prices is on sale, without a way to pay
	NeedLink   = "link"   // an online event begins within three days and has no link to join
	NeedLegal  = "legal"  // something is on sale without a legal text
)

// mostNeeds is how many of each kind are found, the most urgent ones.
const mostNeeds = 10

// What is wrong with events to come.
const eventNeedsSQL = `
WITH coming AS MATERIALIZED (
    SELECT e.id, e.slug, e.name, e.starts_at, e.time_zone, e.status, e.opens_at, e.lowest, e.pay_at_door, e.invoices, e.online, e.join_link, e.room_id
      FROM event e WHERE e.team_id = desk_team() AND e.starts_at > clock_timestamp() AND e.status NOT IN ('cancelled', 'closed'))
(SELECT 'room', c.slug, c.name, c.starts_at, c.time_zone FROM coming c JOIN room r ON r.id = c.room_id WHERE r.phase = 'paused' ORDER BY c.starts_at LIMIT $1)
UNION ALL
(SELECT 'draft', slug, name, starts_at, time_zone FROM coming WHERE status = 'draft' AND starts_at < clock_timestamp() + interval '14 days' ORDER BY starts_at LIMIT $1)
UNION ALL
(SELECT 'paused', slug, name, starts_at, time_zone FROM coming WHERE status = 'paused' ORDER BY starts_at LIMIT $1)
UNION ALL
(SELECT 'prices', c.slug, c.name, c.starts_at, c.time_zone FROM coming c JOIN counter n ON n.event_id = c.id AND n.price_version = 0
  WHERE c.status = 'on sale' AND c.lowest = 0 ORDER BY c.starts_at LIMIT $1)
UNION ALL
(SELECT 'method', slug, name, starts_at, time_zone FROM coming WHERE status = 'on sale' AND lowest > 0 AND NOT pay_at_door AND NOT invoices ORDER BY starts_at LIMIT $1)
UNION ALL
(SELECT 'link', slug, name, starts_at, time_zone FROM coming
  WHERE status IN ('on sale', 'paused') AND online AND join_link = '' AND starts_at < clock_timestamp() + interval '3 days' ORDER BY starts_at LIMIT $1)`

// Orders that are cancelled unpaid within a day; an index has those that have a time.
const unpaidSQL = `
SELECT e.slug, e.name, e.starts_at, e.time_zone, count(*), sum(t.cost + o.kept - o.paid - o.waived)::bigint, o.currency, min(o.due_at), min(o.code)
  FROM orders o JOIN event e ON e.id = o.event_id,
       LATERAL (SELECT coalesce(sum(price + fee), 0)::bigint AS cost FROM ticket WHERE order_id = o.id AND revoked_at IS NULL) t
 WHERE o.due_at IS NOT NULL AND least(o.remind_at, o.due_at) < clock_timestamp() + interval '1 day' AND o.due_at < clock_timestamp() + interval '1 day'
   AND o.state = 'confirmed' AND t.cost + o.kept - o.paid - o.waived > 0
 GROUP BY e.id, o.currency ORDER BY min(o.due_at) LIMIT $1`

const refusedMailSQL = `
SELECT e.slug, e.name, e.starts_at, e.time_zone, count(DISTINCT o.id), max(m.refused_at), min(o.code)
  FROM mail m JOIN orders o ON o.id = m.order_id JOIN event e ON e.id = o.event_id
 WHERE m.refused_at > clock_timestamp() - interval '7 days' AND e.starts_at > clock_timestamp() - interval '1 day' AND o.state = 'confirmed'
   AND NOT EXISTS (SELECT FROM mail later WHERE later.order_id = o.id AND later.id > m.id AND later.refused_at IS NULL AND later.sent_at IS NOT NULL)
 GROUP BY e.id ORDER BY max(m.refused_at) DESC LIMIT $1`

const deafHooksSQL = `
SELECT h.id, h.url, coalesce(h.off_at, h.failing_since)
  FROM hook h
 WHERE h.team_id = desk_team() AND h.removed_at IS NULL AND (h.off_why <> '' OR h.off_at IS NULL AND h.failing_since < clock_timestamp() - interval '1 hour')
 ORDER BY 3 DESC LIMIT $1`

const missingTextsSQL = `
SELECT k FROM unnest('{imprint,terms,privacy}'::text[]) WITH ORDINALITY u (k, n)
 WHERE EXISTS (SELECT FROM event WHERE team_id = desk_team() AND status = 'on sale' AND starts_at > clock_timestamp())
   AND coalesce((SELECT text FROM legal_text WHERE team_id = desk_team() AND kind = k AND published ORDER BY version DESC LIMIT 1), '') = ''
 ORDER BY n`

const seenNeedsSQL = `SELECT concern FROM seen WHERE concern = ANY ($1)`

// Needs finds what needs a person of a member's team: what the member's role can mend.
func (o *Overview) Needs(ctx context.Context, m organizers.Member) (list []Need, err error) {
	return o.needs(ctx, m, mostNeeds)
}

// allNeeds is how many of each kind All finds.
const allNeeds = 1000

// All is Needs with those that its page has no room for.
func (o *Overview) All(ctx context.Context, m organizers.Member) (list []Need, err error) {
	return o.needs(ctx, m, allNeeds)
}

func (o *Overview) needs(ctx context.Context, m organizers.Member, most int) (list []Need, err error) {
	if !m.May(organizers.Look) {
		return nil, nil
	}
	var money []payments.Alert
	err = o.desk.As(ctx, m, func(tx pgx.Tx) error {
		var q pgx.Batch
		payments.QueueAlerts(&q, 0, most, func(a payments.Alert) { money = append(money, a) })
		queueNeeds(&q, m, most, func(n Need) { list = append(list, n) })
		if err := tx.SendBatch(ctx, &q).Close(); err != nil {
			return err
		}
		if list, err = withoutPayable(ctx, tx, list, o.orders.Payable); err != nil {
			return err
		}
		fresh, err := unseen(ctx, tx, money)
		list = append(fresh, list...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("overview: find what needs a person: %w", err)
	}
	return list, nil
}

// queueNeeds queues what the role of a member can mend.
func queueNeeds(q *pgx.Batch, m organizers.Member, most int, note func(Need)) {
	each := func(kind string, scan func(n *Need) []any) func(pgx.Rows) error {
		return func(rows pgx.Rows) error {
			for rows.Next() {
				n := Need{Kind: kind}
				if err := rows.Scan(scan(&n)...); err != nil {
					return err
				}
				note(n)
			}
			return rows.Err()
		}
	}
	q.Queue(unpaidSQL, most).Query(each(NeedUnpaid, func(n *Need) []any {
		return []any{&n.Event, &n.Title, &n.StartsAt, &n.TimeZone, &n.N, &n.Amount, &n.Currency, &n.At, &n.Order}
	}))
	q.Queue(refusedMailSQL, most).Query(each(NeedMail, func(n *Need) []any {
		return []any{&n.Event, &n.Title, &n.StartsAt, &n.TimeZone, &n.N, &n.At, &n.Order}
	}))
	if m.May(organizers.Own) {
		q.Queue(deafHooksSQL, most).Query(each(NeedHook, func(n *Need) []any { return []any{&n.N, &n.Why, &n.At} }))
	}
	if m.May(organizers.Manage) {
		q.Queue(eventNeedsSQL, most).Query(each("", func(n *Need) []any { return []any{&n.Kind, &n.Event, &n.Title, &n.StartsAt, &n.TimeZone} }))
		q.Queue(missingTextsSQL).Query(each(NeedLegal, func(n *Need) []any { return []any{&n.Why} }))
	}
}

// withoutPayable leaves events out of which people can pay for tickets after all: this program knows methods that the event does
// not name.
func withoutPayable(ctx context.Context, tx pgx.Tx, list []Need, payable func(seats.Event) bool) (left []Need, err error) {
	for _, n := range list {
		if n.Kind == NeedMethod {
			e, err := seats.EventBySlug(ctx, tx, n.Event)
			if err != nil {
				return nil, err
			}
			if payable(e) {
				continue
			}
		}
		left = append(left, n)
	}
	return left, nil
}

// unseen are alerts of payments that no member marked as seen.
func unseen(ctx context.Context, tx pgx.Tx, alerts []payments.Alert) (fresh []Need, err error) {
	if len(alerts) == 0 {
		return nil, nil
	}
	keys := make([]string, len(alerts))
	for i, a := range alerts {
		keys[i] = a.Key
	}
	rows, err := tx.Query(ctx, seenNeedsSQL, keys)
	if err != nil {
		return nil, err
	}
	seen, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, a := range alerts {
		if !slices.Contains(seen, a.Key) {
			fresh = append(fresh, Need{Kind: a.Kind, Event: a.Event, Order: a.Code, Amount: a.Amount, Currency: a.Currency, Why: a.Why, At: a.At, key: a.Key})
		}
	}
	return fresh, err
}

package books

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/pricing"
)

// Event is what the books know of an event.
type Event struct {
	ID         int64
	Slug       string
	Name       string
	Series     string // slug; empty for an event alone
	SeriesName string
	Promoter   string // empty: the team itself
	StartsAt   time.Time
	Currency   string // ISO 4217

	team       int64
	test       bool // it is a test sale
	zone       *time.Location
	categories map[int16]string
	types      map[int16]string
}

// Local is a moment by the clock of the event's place; UTC if that is not known.
func (e *Event) Local(t time.Time) time.Time {
	if e.zone == nil {
		return t.UTC()
	}
	return t.In(e.zone)
}

// history is what happened to one order, or to a payment that has none.
type history struct {
	id       seats.ID
	event    *Event
	at       time.Time // when it was placed
	code     string
	channel  string
	reason   string
	method   string
	placed   bool  // it is an order
	counts   bool  // it is an order, or a payment without one that got money for none
	paid     int64 // that it has by its own row
	extras   []pricing.Extra
	tickets  []ticket
	moments  []moment
	byTicket map[seats.ID]int // root of each ticket, in tickets
}

// ticket is a ticket as it was sold, whatever seat it moved to.
type ticket struct {
	category, kind int16
	price, fee     int64
	tax, feeTax    int64
	rate, feeRate  int
	live           bool      // as of the moment that is looked at
	revoked        time.Time // zero: it is valid
	next           *seats.ID // that it moved to
	id             seats.ID
}

// moment is money that came or went, or tickets that were cancelled.
type moment struct {
	at           time.Time
	rank         int // of moments at the same time: cancelled tickets, money that comes, money that goes
	kind         string
	method       string
	amount       int64 // minor units; negative if it went
	cancellation seats.ID
	tickets      []seats.ID // cancelled
}

// Kinds of postings.
const (
	Sold      = "sold"      // tickets were sold or cancelled; no money
	Payment   = "payment"   // money came
	Refund    = "refund"    // money went back, or is to go back
	Exchanged = "exchanged" // money came from another order, or went to it
)

// Channels of orders.
const (
	Web          = "web"
	BoxOffice    = "box office"
	Subscription = "subscription"
	Program      = "key " // the name of a key follows: a program ordered with it for a customer
)

// ByHand is the method of a refund that a person pays out, because the provider of the payment did not.
const ByHand = "by hand"

const eventColumns = `
SELECT e.id, e.slug, e.name, coalesce(s.slug, ''), coalesce(l.name, ''), e.promoter, e.starts_at, e.currency, e.time_zone, e.team_id, e.test_of IS NOT NULL
  FROM event e LEFT JOIN series s ON s.id = e.series_id LEFT JOIN event l ON l.id = s.lead_id`

// A team's books have no test sale, but for those of the test sale itself.
const (
	ofTeam    = `e.team_id = $1 AND ($2 = '' AND e.test_of IS NULL OR e.slug = $2) AND ($3 = '' OR e.series_id = (SELECT id FROM series WHERE slug = $3 AND team_id = $1))`
	eventsSQL = eventColumns + `
 WHERE $1::bigint = 0 OR ` + ofTeam + `
 ORDER BY e.starts_at, e.id`
)

// readEvents returns the events that a filter names, of a team or with 0 all events of all teams.
func readEvents(ctx context.Context, tx pgx.Tx, team int64, f Filter) ([]*Event, error) {
	list, err := collectEvents(ctx, tx, eventsSQL, team, f.Event, f.Series)
	if err != nil {
		return nil, err
	}
	of := make(map[int64]*Event, len(list))
	for _, e := range list {
		of[e.ID] = e
	}
	return list, readNames(ctx, tx, of)
}

const someEventsSQL = eventColumns + ` WHERE e.id = ANY($1)`

// someEvents returns events by their ids, without names of categories and types.
func someEvents(ctx context.Context, tx pgx.Tx, ids []int64) (map[int64]*Event, error) {
	list, err := collectEvents(ctx, tx, someEventsSQL, ids)
	of := make(map[int64]*Event, len(list))
	for _, e := range list {
		of[e.ID] = e
	}
	return of, err
}

func collectEvents(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]*Event, error) {
	rows, _ := tx.Query(ctx, sql, args...) // CollectRows returns its error
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Event, error) {
		e := &Event{categories: map[int16]string{}, types: map[int16]string{}}
		var zone string
		err := row.Scan(&e.ID, &e.Slug, &e.Name, &e.Series, &e.SeriesName, &e.Promoter, &e.StartsAt, &e.Currency, &zone, &e.team, &e.test)
		e.zone, _ = time.LoadLocation(zone) // nil if this system does not know it, as in seats.Event.Local
		return e, err
	})
}

const namesSQL = `
SELECT event_id, number, name, false FROM category WHERE event_id = ANY($1)
 UNION ALL
SELECT event_id, number, name, true FROM ticket_type WHERE event_id = ANY($1)`

// readNames reads the names of the categories and types of events.
func readNames(ctx context.Context, tx pgx.Tx, of map[int64]*Event) error {
	rows, err := tx.Query(ctx, namesSQL, slices.Collect(maps.Keys(of)))
	if err != nil {
		return err
	}
	var event int64
	var number int16
	var name string
	var isType bool
	_, err = pgx.ForEachRow(rows, []any{&event, &number, &name, &isType}, func() error {
		if isType {
			of[event].types[number] = name
		} else {
			of[event].categories[number] = name
		}
		return nil
	})
	return err
}

// Each part finds orders by a time of theirs, in an index. Payments that have no order are found by themselves.
const touchedSQL = `
SELECT id FROM orders WHERE event_id = ANY($1) AND created_at >= $2 AND created_at < $3
 UNION
SELECT order_id FROM cancellation WHERE created_at >= $2 AND created_at < $3 AND event_id = ANY($1)
 UNION
SELECT r.order_id FROM refund r LEFT JOIN orders o ON o.id = r.order_id LEFT JOIN payment p ON p.order_id = r.order_id
 WHERE r.created_at >= $2 AND r.created_at < $3 AND coalesce(o.event_id, p.event_id) = ANY($1)
 UNION
SELECT order_id FROM receipt WHERE at >= $2 AND at < $3 AND event_id = ANY($1)
 UNION
SELECT o.id FROM exchange x JOIN orders o ON o.id IN (x.from_order, x.to_order) WHERE x.at >= $2 AND x.at < $3 AND o.event_id = ANY($1)
 UNION
SELECT o.id FROM intention i JOIN payment p ON p.id = i.payment_id LEFT JOIN payment_share s ON s.payment_id = p.id JOIN orders o ON o.id = coalesce(s.order_id, p.order_id)
 WHERE i.step = 'capture' AND i.done_at >= $2 AND i.done_at < $3 AND o.event_id = ANY($1)
 UNION
SELECT order_id FROM payment p WHERE captured > 0 AND state IN ('lost', 'closed') AND event_id = ANY($1) AND created_at < $3
   AND NOT EXISTS (SELECT FROM orders WHERE id = p.order_id)`

// atOnce is how many orders are in memory at once.
const atOnce = 5000

// eachHistory visits the orders of events to which something happened from one time to another, with all that ever happened to them.
func eachHistory(ctx context.Context, tx pgx.Tx, events []*Event, from, to time.Time, visit func(*history)) error {
	return eachChunk(ctx, tx, events, from, to, func(_ []seats.ID, list []*history) error {
		for _, h := range list {
			visit(h)
		}
		return nil
	})
}

// eachChunk visits them as many at once as are in memory.
func eachChunk(ctx context.Context, tx pgx.Tx, events []*Event, from, to time.Time, visit func([]seats.ID, []*history) error) error {
	of := make(map[int64]*Event, len(events))
	ids := make([]int64, len(events))
	for i, e := range events {
		of[e.ID], ids[i] = e, e.ID
	}
	if _, err := tx.Exec(ctx, database.PlanManySQL); err != nil {
		return err
	}
	rows, _ := tx.Query(ctx, touchedSQL, ids, from, to) // CollectRows returns its error
	touched, err := pgx.CollectRows(rows, pgx.RowTo[seats.ID])
	if err != nil {
		return fmt.Errorf("find orders: %w", err)
	}
	for some := range slices.Chunk(touched, atOnce) {
		list, err := readHistories(ctx, tx, some, of)
		if err != nil {
			return err
		}
		if err := visit(some, list); err != nil {
			return err
		}
	}
	return nil
}

func readHistories(ctx context.Context, tx pgx.Tx, ids []seats.ID, events map[int64]*Event) ([]*history, error) {
	var list []*history
	at := make(map[seats.ID]*history, len(ids))
	for _, step := range []struct {
		what string
		read func() error
	}{
		{"orders", func() (err error) { list, err = readOrders(ctx, tx, ids, events, at); return err }},
		{"tickets", func() error { return readTickets(ctx, tx, ids, at) }},
		{"cancellations", func() error { return readCancellations(ctx, tx, ids, at) }},
		{"money", func() error { return readMoney(ctx, tx, ids, at) }},
	} {
		if err := step.read(); err != nil {
			return nil, fmt.Errorf("read %s: %w", step.what, err)
		}
	}
	for _, h := range list {
		slices.SortStableFunc(h.moments, func(a, b moment) int {
			if c := a.at.Compare(b.at); c != 0 {
				return c
			}
			return a.rank - b.rank
		})
	}
	return list, nil
}

const ordersSQL = `
SELECT x.id, coalesce(o.event_id, p.event_id), coalesce(o.created_at, p.created_at), coalesce(o.code, p.code), coalesce(o.at_office, false), coalesce(o.method, p.method),
       coalesce(o.extras, '[]'), coalesce(o.paid, 0), o.id IS NOT NULL,
       o.id IS NOT NULL OR p.captured > 0 AND p.state IN ('lost', 'closed') OR EXISTS (SELECT FROM refund r WHERE r.order_id = x.id), EXISTS (SELECT FROM subscriber_order s WHERE s.order_id = x.id), coalesce(o.sold_by, ''), coalesce(o.free_reason, '')
  FROM unnest($1::uuid[]) AS x (id) LEFT JOIN orders o ON o.id = x.id LEFT JOIN payment p ON p.order_id = x.id`

func readOrders(ctx context.Context, tx pgx.Tx, ids []seats.ID, events map[int64]*Event, at map[seats.ID]*history) (list []*history, err error) {
	rows, err := tx.Query(ctx, ordersSQL, ids)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		h := &history{channel: Web}
		var event int64
		var office, subscribed bool
		var key string
		if err := rows.Scan(&h.id, &event, &h.at, &h.code, &office, &h.method, &h.extras, &h.paid, &h.placed, &h.counts, &subscribed, &key, &h.reason); err != nil {
			return nil, err
		}
		switch {
		case office:
			h.channel = BoxOffice
		case subscribed:
			h.channel = Subscription
		case key != "":
			h.channel = Program + key
		}
		if h.event = events[event]; h.event != nil {
			list, at[h.id] = append(list, h), h
		}
	}
	return list, rows.Err()
}

const ticketsSQL = `
SELECT t.order_id, t.id, t.moved_to, s.category, t.type, t.price, t.fee, t.tax, t.fee_tax, t.tax_rate, t.fee_rate, t.revoked_at
  FROM ticket t JOIN seat s ON s.event_id = t.event_id AND s.idx = t.idx
 WHERE t.order_id = ANY($1) ORDER BY t.order_id, t.idx, t.id`

func readTickets(ctx context.Context, tx pgx.Tx, ids []seats.ID, at map[seats.ID]*history) error {
	rows, err := tx.Query(ctx, ticketsSQL, ids)
	if err != nil {
		return err
	}
	var order seats.ID
	var t ticket
	var revoked *time.Time
	_, err = pgx.ForEachRow(rows, []any{&order, &t.id, &t.next, &t.category, &t.kind, &t.price, &t.fee, &t.tax, &t.feeTax, &t.rate, &t.feeRate, &revoked}, func() error {
		if h := at[order]; h != nil {
			if t.revoked = (time.Time{}); revoked != nil {
				t.revoked = *revoked
			}
			h.tickets = append(h.tickets, t)
		}
		return nil
	})
	for _, h := range at {
		h.follow()
	}
	return err
}

// follow makes one ticket of each chain of moves: the first one, with the end of the last one.
func (h *history) follow() {
	byID, moved := make(map[seats.ID]int, len(h.tickets)), map[seats.ID]bool{}
	for i, t := range h.tickets {
		byID[t.id] = i
		if t.next != nil {
			moved[*t.next] = true
		}
	}
	h.byTicket = make(map[seats.ID]int, len(h.tickets))
	var roots []ticket
	for _, t := range h.tickets {
		if moved[t.id] {
			continue
		}
		root, last := t, t
		h.byTicket[t.id] = len(roots)
		for range h.tickets { // a chain has no more, and damaged rows could make a circle
			if last.next == nil {
				break
			}
			at, known := byID[*last.next]
			if !known {
				break
			}
			last = h.tickets[at]
			h.byTicket[last.id] = len(roots)
		}
		root.revoked, root.live = last.revoked, true
		roots = append(roots, root)
	}
	h.tickets = roots
}

const cancellationsSQL = `SELECT order_id, id, created_at, tickets FROM cancellation WHERE order_id = ANY($1) ORDER BY created_at, id`

func readCancellations(ctx context.Context, tx pgx.Tx, ids []seats.ID, at map[seats.ID]*history) error {
	rows, err := tx.Query(ctx, cancellationsSQL, ids)
	if err != nil {
		return err
	}
	var order seats.ID
	var m moment
	_, err = pgx.ForEachRow(rows, []any{&order, &m.cancellation, &m.at, &m.tickets}, func() error {
		if h := at[order]; h != nil {
			m.tickets = slices.Clone(m.tickets)
			h.moments = append(h.moments, m)
		}
		return nil
	})
	return err
}

// Money that came, and then money that went. The credit that paid a part of a payment is a row of its own; of a payment for several orders it is
// that of the first ones. Refunds of such a payment go to the rest first (payments/parts.go). What goes back, or on to another order, for a cancellation does so in the moment
// of the cancellation, and what an exchange brings comes in the same one.
const moneySQL = `
WITH mine AS (
    SELECT p.id FROM payment p WHERE p.order_id = ANY($1) AND p.captured > 0
     UNION
    SELECT s.payment_id FROM payment_share s WHERE s.order_id = ANY($1)
     UNION
    SELECT r.payment_id FROM refund r WHERE r.order_id = ANY($1) AND r.payment_id IS NOT NULL
), p AS (
    SELECT p.*, CASE WHEN p.method = 'credit' THEN 0 ELSE least(p.captured, coalesce((SELECT h.captured FROM credit_hold h WHERE h.id = p.id), 0)) END AS credit,
           coalesce((SELECT i.done_at FROM intention i WHERE i.payment_id = p.id AND i.step = 'capture'), o.created_at,
                    (SELECT i.done_at FROM intention i WHERE i.payment_id = p.id AND i.step = 'authorize'), p.created_at) AS captured_at
      FROM payment p JOIN mine ON mine.id = p.id LEFT JOIN orders o ON o.id = p.order_id WHERE p.method NOT IN ('free', 'door', 'invoice')
), came AS (
    SELECT p.order_id, p.captured_at, p.method, p.captured AS amount, p.credit
      FROM p WHERE p.captured > 0 AND NOT EXISTS (SELECT FROM payment_share WHERE payment_id = p.id)
     UNION ALL
    SELECT s.order_id, p.captured_at, p.method, least(p.captured, s.amount), greatest(0, least(s.amount, p.credit - (s.upto - s.amount)))
      FROM p, LATERAL (SELECT order_id, amount, sum(amount) OVER (ORDER BY order_id)::bigint AS upto FROM payment_share WHERE payment_id = p.id) s WHERE p.captured > 0
), went AS (
    SELECT r.*, p.method, p.captured - p.credit AS rest,
           coalesce(sum(CASE WHEN r.by_hand THEN r.by_credit ELSE r.amount END) OVER (PARTITION BY r.payment_id ORDER BY r.created_at, r.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::bigint AS before
      FROM p JOIN refund r ON r.payment_id = p.id
), back AS (
    SELECT order_id, created_at, cancellation_id, amount, method, by_hand,
           CASE WHEN by_hand THEN by_credit WHEN method = 'credit' THEN 0 ELSE amount - (least(before + amount, rest) - least(before, rest)) END AS credit
      FROM went
)
SELECT order_id, captured_at, 1, 'payment', method, amount - credit, NULL::uuid FROM came WHERE amount > credit
 UNION ALL
SELECT order_id, captured_at, 1, 'payment', 'credit', credit, NULL FROM came WHERE credit > 0
 UNION ALL
SELECT order_id, at, 1, 'payment', CASE WHEN deposit_id IS NULL THEN (SELECT method FROM orders WHERE id = order_id) WHEN (SELECT method FROM deposit WHERE booking_id = deposit_id) = 'demo' THEN 'demo' ELSE 'deposit' END, amount, NULL FROM receipt WHERE order_id = ANY($1)
 UNION ALL
SELECT o.id, o.created_at, 1, 'payment', o.method, o.received - r.amount, NULL
  FROM orders o, LATERAL (SELECT coalesce(sum(amount), 0)::bigint AS amount FROM receipt WHERE order_id = o.id) r WHERE o.id = ANY($1) AND o.received > r.amount
 UNION ALL
SELECT b.order_id, coalesce(c.created_at, b.created_at), 2, 'refund', CASE WHEN b.by_hand THEN 'by hand' ELSE b.method END, b.credit - b.amount, b.cancellation_id
  FROM back b LEFT JOIN cancellation c ON c.id = b.cancellation_id WHERE b.amount > b.credit
 UNION ALL
SELECT b.order_id, coalesce(c.created_at, b.created_at), 2, 'refund', 'credit', -b.credit, b.cancellation_id
  FROM back b LEFT JOIN cancellation c ON c.id = b.cancellation_id WHERE b.credit > 0
 UNION ALL
SELECT r.order_id, coalesce(c.created_at, r.created_at), 2, 'refund', CASE o.method WHEN 'exchange' THEN 'by hand' ELSE o.method END, -r.amount, r.cancellation_id
  FROM refund r JOIN orders o ON o.id = r.order_id LEFT JOIN cancellation c ON c.id = r.cancellation_id WHERE r.order_id = ANY($1) AND r.payment_id IS NULL
 UNION ALL
SELECT x.from_order, c.created_at, 2, 'exchanged', 'exchange', -x.amount, c.id
  FROM exchange x JOIN cancellation c ON c.id = x.cancellation_id WHERE x.from_order = ANY($1) AND x.amount > 0
 UNION ALL
SELECT x.to_order, c.created_at, 1, 'exchanged', 'exchange', x.amount, NULL
  FROM exchange x JOIN cancellation c ON c.id = x.cancellation_id WHERE x.to_order = ANY($1) AND x.amount > 0
 ORDER BY 1, 2, 3, 5`

func readMoney(ctx context.Context, tx pgx.Tx, ids []seats.ID, at map[seats.ID]*history) error {
	rows, err := tx.Query(ctx, moneySQL, ids)
	if err != nil {
		return err
	}
	var order seats.ID
	var m moment
	var cancellation *seats.ID
	_, err = pgx.ForEachRow(rows, []any{&order, &m.at, &m.rank, &m.kind, &m.method, &m.amount, &cancellation}, func() error {
		if h := at[order]; h != nil {
			if m.cancellation = (seats.ID{}); cancellation != nil {
				m.cancellation = *cancellation
			}
			h.moments = append(h.moments, m)
		}
		return nil
	})
	return err
}

package sales

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const (
	readAtOnce = 512         // versions that are read at once
	saveAfter  = time.Minute // of the event's own time; and
	saveSeats  = 50_000      // seat changes: after either, what was read is written down
)

// The log row of its version says when that was and how the seats stood. The lock keeps another node from writing a later
// stats before its history is read.
const loadStatsSQL = `
SELECT t.version, c.at, c.free, c.held, c.sold, c.blocked, t.paid, t.first_sold, t.last_sold, t.pace, t.slow_pace, t.money_pace,
       t.state, t.holder, t.price, t.hold, t.begun, t.ended, t.hold_paid
  FROM tally t JOIN change c USING (event_id, version) WHERE t.event_id = $1
   FOR SHARE OF t`

const historySQL = `
SELECT at, free, held, sold, blocked, seats_sold, seats_returned, revenue, orders, begun, ordered, lapsed, given_back
  FROM history WHERE event_id = $1 AND span = $2 AND at >= $3 ORDER BY at`

// stored is the columns of table tally: seats by idx, and the holds that have seats.
type stored struct {
	Paid                   int
	FirstSold, LastSold    *time.Time
	SalesRate, Slow, Money float64
	State                  []seats.State
	Holder                 []seats.ID
	Price                  []int64
	Hold                   []seats.ID
	Begun                  []int64
	Ended                  []outcome
	HoldPaid               []bool
}

func (t *Stats) store() stored {
	k := stored{Paid: t.Paid, SalesRate: t.fast.rate, Slow: t.slow.rate, Money: t.money.rate, Hold: []seats.ID{}, Begun: []int64{}, Ended: []outcome{}, HoldPaid: []bool{}}
	if !t.first.IsZero() {
		k.FirstSold, k.LastSold = &t.first, &t.fast.last // the three rates count the same sales
	}
	for _, p := range t.places {
		k.State, k.Holder, k.Price = append(k.State, p.state), append(k.Holder, p.holder), append(k.Price, p.price)
	}
	for id, h := range t.stays {
		k.Hold, k.Begun, k.Ended, k.HoldPaid = append(k.Hold, id), append(k.Begun, h.begun), append(k.Ended, h.end), append(k.HoldPaid, h.paid)
	}
	return k
}

// resume continues from stored statistics.
func (t *Stats) resume(k stored) {
	t.Paid, t.fast.rate, t.slow.rate, t.money.rate = k.Paid, k.SalesRate, k.Slow, k.Money
	if k.FirstSold != nil {
		t.first, t.fast.last, t.slow.last, t.money.last = *k.FirstSold, *k.LastSold, *k.LastSold, *k.LastSold
	}
	for i, id := range k.Hold {
		t.stays[id] = &stay{begun: k.Begun[i], end: k.Ended[i], paid: k.HoldPaid[i]}
	}
	for idx, state := range k.State {
		*t.place(idx) = place{state, k.Holder[idx], k.Price[idx]}
		if h := t.stays[k.Holder[idx]]; h != nil {
			h.has(state)
		}
	}
}

// loadStats reads the statistics as they were written last, or begins new ones.
func loadStats(ctx context.Context, db seats.DB, e seats.Event) (*Stats, error) {
	t, k := newStats(e), stored{}
	err := db.QueryRow(ctx, loadStatsSQL, e.ID).Scan(&t.Version, &t.At, &t.Counts.Free, &t.Counts.Held, &t.Counts.Sold, &t.Counts.Blocked,
		&k.Paid, &k.FirstSold, &k.LastSold, &k.SalesRate, &k.Slow, &k.Money, &k.State, &k.Holder, &k.Price, &k.Hold, &k.Begun, &k.Ended, &k.HoldPaid)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, nil
	}
	if err == nil {
		t.resume(k)
		t.written = t.At
		err = loadBook(ctx, db, e.ID, &t.minutes, t.At.Add(-minutesKept))
	}
	if err == nil {
		err = loadBook(ctx, db, e.ID, &t.hours, time.Unix(0, 0))
	}
	if err != nil {
		return nil, fmt.Errorf("sales: statistics of event %d: %w", e.ID, err)
	}
	for _, r := range t.hours.rows {
		t.Total.add(r.Sums)
	}
	return t, nil
}

func loadBook(ctx context.Context, db seats.DB, event int64, b *book, from time.Time) error {
	rows, err := db.Query(ctx, historySQL, event, b.span, from)
	if err != nil {
		return err
	}
	var r Row
	_, err = pgx.ForEachRow(rows, []any{
		&r.At, &r.Free, &r.Held, &r.Sold, &r.Blocked, &r.Sums.Sold, &r.Returned, &r.Revenue, &r.Orders,
		&r.Begun, &r.Ordered, &r.Expired, &r.GivenBack,
	}, func() error {
		one := r
		one.At = r.At.UTC()
		b.rows[b.span.of(r.At)] = &one
		return nil
	})
	return err
}

// Recent is what a node remembers of the change log after a version, as seats.Sale.Recent: most of what a desk has not
// seen yet was committed or read by its own node a moment ago.
type Recent func(version int64) ([]seats.Change, bool)

// follow brings the statistics to the newest version, step by step, and writes down what it read when that is much.
func (t *Stats) follow(ctx context.Context, db seats.DB, e seats.Event, recent Recent) error {
	read := 0
	for {
		changes, known := recent(t.Version)
		if known = known && len(changes) > 0; !known { // the node may be behind
			var err error
			if changes, err = seats.Changes(ctx, db, e.ID, t.Version, readAtOnce); err != nil {
				return err
			}
		}
		if err := t.take(ctx, db, changes); err != nil {
			return err
		}
		for _, c := range changes {
			read += len(c.Idx)
		}
		if t.unwritten += read; t.unwritten >= saveSeats || t.At.Sub(t.written) >= saveAfter && len(t.minutes.dirty) > 0 {
			if err := t.save(ctx, db, e.ID); err != nil {
				return err
			}
		}
		if known || len(changes) < readAtOnce {
			return nil
		}
		read = 0
	}
}

// An order is as old as the change that sold its seats, unless it was there before: then seats moved to it. A seat that only
// tickets of a move or a transfer have was not sold with the order.
const ticketsSQL = `
SELECT t.order_id, t.idx, t.price + t.fee, o.holder, o.created_at, EXISTS (SELECT FROM ticket b WHERE b.moved_to = t.id)
  FROM unnest($1::uuid[]) AS n(id),
       LATERAL (SELECT holder, created_at FROM orders WHERE id = n.id OFFSET 0) o,
       LATERAL (SELECT id, order_id, idx, price, fee FROM ticket WHERE order_id = n.id OFFSET 0) t`

const asOld = time.Minute // an order's time is taken before that of its change: no batch takes as long

// take applies changes, with the tickets of the orders that they are about.
func (t *Stats) take(ctx context.Context, db seats.DB, changes []seats.Change) error {
	asked, when := []seats.ID{}, map[seats.ID]time.Time{}
	for _, c := range changes {
		for i, state := range c.State {
			if _, known := when[c.Holder[i]]; !known && seats.State(state) == seats.Sold {
				asked, when[c.Holder[i]] = append(asked, c.Holder[i]), c.At
			}
		}
	}
	tickets := map[seatOf]sold{}
	if len(asked) > 0 {
		rows, err := db.Query(ctx, ticketsSQL, asked)
		if err != nil {
			return fmt.Errorf("sales: tickets of %d orders: %w", len(asked), err)
		}
		var at seatOf
		var s sold
		var made time.Time
		var moved bool
		if _, err = pgx.ForEachRow(rows, []any{&at.order, &at.idx, &s.price, &s.by, &made, &moved}, func() error {
			s.fresh = tickets[at].fresh || !moved && when[at.order].Sub(made) < asOld
			tickets[at] = s
			return nil
		}); err != nil {
			return fmt.Errorf("sales: tickets of %d orders: %w", len(asked), err)
		}
	}
	for _, c := range changes {
		t.apply(c, tickets)
	}
	return nil
}

// Every node computes the same rows, so the one that is further writes them.
const saveStatsSQL = `
INSERT INTO tally AS t (event_id, version, paid, first_sold, last_sold, pace, slow_pace, money_pace, state, holder, price, hold, begun, ended, hold_paid)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    ON CONFLICT (event_id) DO UPDATE
   SET version = excluded.version, paid = excluded.paid, first_sold = excluded.first_sold, last_sold = excluded.last_sold,
       pace = excluded.pace, slow_pace = excluded.slow_pace, money_pace = excluded.money_pace, state = excluded.state, holder = excluded.holder,
       price = excluded.price, hold = excluded.hold, begun = excluded.begun, ended = excluded.ended, hold_paid = excluded.hold_paid
 WHERE t.version < excluded.version`

const saveHistorySQL = `
INSERT INTO history (event_id, span, at, free, held, sold, blocked, seats_sold, seats_returned, revenue, orders, begun, ordered, lapsed, given_back)
SELECT $1, $2, * FROM unnest($3::timestamptz[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::integer[], $9::integer[],
                             $10::bigint[], $11::integer[], $12::integer[], $13::integer[], $14::integer[], $15::integer[])
    ON CONFLICT (event_id, span, at) DO UPDATE
   SET free = excluded.free, held = excluded.held, sold = excluded.sold, blocked = excluded.blocked,
       seats_sold = excluded.seats_sold, seats_returned = excluded.seats_returned, revenue = excluded.revenue, orders = excluded.orders,
       begun = excluded.begun, ordered = excluded.ordered, lapsed = excluded.lapsed, given_back = excluded.given_back`

// save writes the stats and what changed of its history, unless another node is further. Its caller commits.
func (t *Stats) save(ctx context.Context, db seats.DB, event int64) error {
	k := t.store()
	tag, err := db.Exec(ctx, saveStatsSQL, event, t.Version, k.Paid, k.FirstSold, k.LastSold, k.SalesRate, k.Slow, k.Money,
		k.State, k.Holder, k.Price, k.Hold, k.Begun, k.Ended, k.HoldPaid)
	if err != nil {
		return fmt.Errorf("sales: store the statistics of event %d: %w", event, err)
	}
	t.unwritten, t.written = 0, t.At
	if tag.RowsAffected() == 0 {
		return nil // what is dirty stays so: the next time this node may be further
	}
	for _, b := range []*book{&t.minutes, &t.hours} {
		if err := b.save(ctx, db, event); err != nil {
			return fmt.Errorf("sales: keep the history of event %d: %w", event, err)
		}
	}
	t.minutes.forget(t.At.Add(-minutesKept))
	return nil
}

func (b *book) save(ctx context.Context, db seats.DB, event int64) error {
	var at []time.Time
	var n [12][]int64
	for number := range b.dirty {
		r := b.rows[number]
		at = append(at, r.At)
		for i, v := range []int{r.Free, r.Held, r.Sold, r.Blocked, r.Sums.Sold, r.Returned, int(r.Revenue), r.Orders, r.Begun, r.Ordered, r.Expired, r.GivenBack} {
			n[i] = append(n[i], int64(v))
		}
	}
	if len(at) == 0 {
		return nil
	}
	args := []any{event, b.span, at}
	for i := range n {
		args = append(args, n[i])
	}
	if _, err := db.Exec(ctx, saveHistorySQL, args...); err != nil {
		return err
	}
	clear(b.dirty)
	return nil
}

package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
)

const (
	foldRows  = 512         // versions that are read at once
	saveAfter = time.Minute // of the event's own time; and
	saveSeats = 50_000      // seat changes: after either, what was read is written down
)

const tallySQL = `SELECT version, kept FROM tally WHERE event_id = $1`

const historySQL = `
SELECT at, free, held, sold, blocked, seats_sold, seats_returned, revenue, orders, begun, ordered, lapsed, given_back
  FROM history WHERE event_id = $1 AND span = $2 AND at >= $3 ORDER BY at`

// load reads a tally as it was written down last, or begins one.
func loadTally(ctx context.Context, db seats.DB, e seats.Event) (*Tally, error) {
	t := newTally(e)
	var kept []byte
	err := db.QueryRow(ctx, tallySQL, e.ID).Scan(&t.Version, &kept)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, nil
	}
	if err == nil {
		if err := t.decode(kept); err != nil { // written by another version of this program: it is made anew
			return newTally(e), nil //nolint:nilerror // the log has everything
		}
		err = loadBook(ctx, db, e.ID, &t.minutes, t.At.Add(-minutesKept))
	}
	if err == nil {
		err = loadBook(ctx, db, e.ID, &t.hours, time.Unix(0, 0))
	}
	if err != nil {
		return nil, fmt.Errorf("desk: tally of event %d: %w", e.ID, err)
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
		&r.Begun, &r.Ordered, &r.Lapsed, &r.GivenBack,
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

// follow brings a tally to the newest version, step by step, and writes down what it read when that is much.
func (t *Tally) follow(ctx context.Context, db seats.DB, e seats.Event, recent Recent) error {
	read := 0
	for {
		changes, known := recent(t.Version)
		if known = known && len(changes) > 0; !known { // the node may be behind
			var err error
			if changes, err = seats.Changes(ctx, db, e.ID, t.Version, foldRows); err != nil {
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
		if known || len(changes) < foldRows {
			return nil
		}
		read = 0
	}
}

// An order is as old as the change that sold its seats, unless it was there before: then seats moved to it.
const ticketsSQL = `
SELECT t.order_id, t.idx, t.price + t.fee, o.holder, o.created_at
  FROM unnest($1::uuid[]) AS n(id),
       LATERAL (SELECT holder, created_at FROM orders WHERE id = n.id OFFSET 0) o,
       LATERAL (SELECT order_id, idx, price, fee FROM ticket WHERE order_id = n.id OFFSET 0) t`

const asOld = time.Minute // an order's time is taken before that of its change: no batch takes as long

// take applies changes, with the tickets of the orders that they are about.
func (t *Tally) take(ctx context.Context, db seats.DB, changes []seats.Change) error {
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
			return fmt.Errorf("desk: tickets of %d orders: %w", len(asked), err)
		}
		var at seatOf
		var s sold
		var made time.Time
		if _, err = pgx.ForEachRow(rows, []any{&at.order, &at.idx, &s.price, &s.by, &made}, func() error {
			s.fresh = when[at.order].Sub(made) < asOld
			tickets[at] = s
			return nil
		}); err != nil {
			return fmt.Errorf("desk: tickets of %d orders: %w", len(asked), err)
		}
	}
	for _, c := range changes {
		t.apply(c, tickets)
	}
	return nil
}

// Every node comes to the same rows, so whoever is further writes theirs, and the others nothing.
const saveTallySQL = `
INSERT INTO tally (event_id, version, kept) VALUES ($1, $2, $3)
    ON CONFLICT (event_id) DO UPDATE SET version = excluded.version, kept = excluded.kept WHERE tally.version < excluded.version`

const saveHistorySQL = `
INSERT INTO history (event_id, span, at, free, held, sold, blocked, seats_sold, seats_returned, revenue, orders, begun, ordered, lapsed, given_back)
SELECT $1, $2, * FROM unnest($3::timestamptz[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::integer[], $9::integer[],
                             $10::bigint[], $11::integer[], $12::integer[], $13::integer[], $14::integer[], $15::integer[])
    ON CONFLICT (event_id, span, at) DO UPDATE
   SET free = excluded.free, held = excluded.held, sold = excluded.sold, blocked = excluded.blocked,
       seats_sold = excluded.seats_sold, seats_returned = excluded.seats_returned, revenue = excluded.revenue, orders = excluded.orders,
       begun = excluded.begun, ordered = excluded.ordered, lapsed = excluded.lapsed, given_back = excluded.given_back`

// save writes the tally and what changed of its history, unless another node is further. Its caller commits.
func (t *Tally) save(ctx context.Context, db seats.DB, event int64) error {
	tag, err := db.Exec(ctx, saveTallySQL, event, t.Version, t.encode())
	if err != nil {
		return fmt.Errorf("desk: keep the tally of event %d: %w", event, err)
	}
	t.unwritten, t.written = 0, t.At
	if tag.RowsAffected() == 0 {
		return nil // what is dirty stays so: the next time this node may be further
	}
	for _, b := range []*book{&t.minutes, &t.hours} {
		if err := b.save(ctx, db, event); err != nil {
			return fmt.Errorf("desk: keep the history of event %d: %w", event, err)
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
		for i, v := range []int{r.Free, r.Held, r.Sold, r.Blocked, r.Sums.Sold, r.Returned, int(r.Revenue), r.Orders, r.Begun, r.Ordered, r.Lapsed, r.GivenBack} {
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

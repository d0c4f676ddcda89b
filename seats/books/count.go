package books

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/database"
)

// A team with a million orders has too many postings to sum them for each page. So a job counts orders: what their postings come to is in
// table book_order, in a few rows for each order, and the sums of these for each day of a team are in table book_day. A trigger has their sums for
// each month of an event in table book_month.
//
// Triggers note each order that changes (book_touch). The next run takes the notes and counts these orders anew, and adds the differences to
// the days. A report takes orders that have a note from their postings, and all others from the tables. Notes, rows and days change in one
// transaction, so a report is exact at each moment, whether much is counted or nothing.
//
// Nodes count one after another, under a lock. A change that commits while its order is being counted has left a note of its own, which the run did
// not see: it stays, and the order is counted once more.

// cell is what postings of an order are summed by.
type cell struct {
	day             string // such as 2030-05-01
	line            string // as that of a Row; empty for tickets and their fees
	category, kind  int16  // numbers; 0 for what is no ticket's
	channel, method string
	reason          string // why the tickets of the order are free
	rate            int
}

// counted is how many postings there are, and what they come to.
type counted struct {
	postings int
	Sums
}

func (c *counted) add(o counted, sign int64) {
	c.postings += int(sign) * o.postings
	c.Tickets += int(sign) * o.Tickets
	c.Gross += sign * o.Gross
	c.Exchanged += sign * o.Exchanged
	c.Refunds += sign * o.Refunds
	c.Fees += sign * o.Fees
	c.Tax += sign * o.Tax
}

// cellOf is where a posting is summed.
func cellOf(p Posting) cell {
	c := cell{day: p.Day(), category: p.category, kind: p.kind, channel: p.Channel, method: p.Method, reason: p.Reason, rate: p.Rate}
	if p.Line != LineTicket && p.Line != LineFee {
		c.line = p.Line
	}
	return c
}

// row is one of book_order.
type row struct {
	Order     seats.ID `json:"order_id"`
	Event     int64    `json:"event_id"`
	Team      int64    `json:"team_id"` // 0: null
	N         int      `json:"n"`
	Currency  string   `json:"currency"`
	Day       string   `json:"day"`
	Line      string   `json:"line"`
	Category  int16    `json:"category"`
	Type      int16    `json:"type"`
	Channel   string   `json:"channel"`
	Method    string   `json:"method"`
	Reason    string   `json:"reason"`
	Rate      int      `json:"rate"`
	Postings  int      `json:"postings"`
	Tickets   int      `json:"tickets"`
	Gross     int64    `json:"gross"`
	Exchanged int64    `json:"exchanged"`
	Refunds   int64    `json:"refunds"`
	Fees      int64    `json:"fees"`
	Tax       int64    `json:"tax"`
}

func (r row) counted() counted {
	return counted{r.Postings, Sums{r.Tickets, r.Gross, r.Exchanged, r.Refunds, r.Fees, r.Tax}}
}

func (r *row) set(c counted) {
	r.Postings, r.Tickets, r.Gross, r.Exchanged, r.Refunds, r.Fees, r.Tax = c.postings, c.Tickets, c.Gross, c.Exchanged, c.Refunds, c.Fees, c.Tax
}

// rows are what the books count of an order: those of book_order, in their order. It visits the postings, too.
func (h *history) rows(visit func(Posting)) (list []row) {
	of := map[cell]*counted{}
	h.post(func(p Posting) {
		visit(p)
		c := cellOf(p)
		if of[c] == nil {
			of[c] = &counted{}
		}
		of[c].postings++
		of[c].Sums.add(p)
	})
	cells := slices.SortedFunc(maps.Keys(of), func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.line, b.line), cmp.Compare(a.category, b.category), cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.channel, b.channel), cmp.Compare(a.method, b.method), cmp.Compare(a.reason, b.reason), cmp.Compare(a.rate, b.rate))
	})
	for i, c := range cells {
		r := row{Order: h.id, Event: h.event.ID, Team: h.event.team, N: i + 1, Currency: h.event.Currency, Day: c.day, Line: c.line, Category: c.category, Type: c.kind, Channel: c.channel, Method: c.method, Reason: c.reason, Rate: c.rate}
		if h.event.test {
			r.Team = 0
		}
		r.set(*of[c])
		list = append(list, r)
	}
	return list
}

const storedSQL = `
SELECT order_id, event_id, coalesce(team_id, 0), n, currency, to_char(day, 'YYYY-MM-DD'), line, category, type, channel, method, reason, rate, postings, tickets, gross, exchanged, refunds, fees, tax
  FROM book_order WHERE order_id = ANY($1) ORDER BY order_id, n`

// readStored returns what is counted of orders.
func readStored(ctx context.Context, tx pgx.Tx, ids []seats.ID) (map[seats.ID][]row, error) {
	rows, _ := tx.Query(ctx, storedSQL, ids) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	of := map[seats.ID][]row{}
	for _, r := range list {
		of[r.Order] = append(of[r.Order], r)
	}
	return of, err
}

// dueSQL has changes counted ten seconds after the first of them.
const countDueSQL = `SELECT 'orders', min(at) + interval '10 seconds' FROM book_touch HAVING count(*) > 0`

// count counts what changed, some orders at a time, and returns how many notes of changes it took.
func (b *Books) count(ctx context.Context, _ string) (n int, err error) {
	for taken := b.most; taken == b.most; n += taken {
		err = pgx.BeginFunc(ctx, b.db, func(tx pgx.Tx) error {
			taken, err = countSome(ctx, tx, b.most)
			return err
		})
		if err != nil {
			return n, fmt.Errorf("books: count orders: %w", err)
		}
	}
	return n, nil
}

const countLockSQL = `SELECT pg_try_advisory_xact_lock(hashtextextended('orders are counted for the books', house_seed()))`

// takeSQL takes notes of changes that are committed. What changes from now on leaves another note.
const takeSQL = `DELETE FROM book_touch WHERE ctid = ANY (ARRAY(SELECT ctid FROM book_touch LIMIT $1)) RETURNING order_id`

// theirEventsSQL finds orders, and payments without one, with their events. A row that a person deleted is not there.
const theirEventsSQL = `
SELECT x.id, coalesce(o.event_id, p.event_id) FROM unnest($1::uuid[]) AS x (id) LEFT JOIN orders o ON o.id = x.id LEFT JOIN payment p ON p.order_id = x.id
 WHERE coalesce(o.event_id, p.event_id) IS NOT NULL`

// countSome takes some notes, counts the orders that they name, and returns how many notes it took: none if another node counts.
func countSome(ctx context.Context, tx pgx.Tx, most int) (taken int, err error) {
	var mine bool
	if err := tx.QueryRow(ctx, countLockSQL).Scan(&mine); err != nil || !mine {
		return 0, err
	}
	if _, err := tx.Exec(ctx, database.PlanManySQL); err != nil {
		return 0, err
	}
	rows, _ := tx.Query(ctx, takeSQL, most) // CollectRows returns its error
	ids, err := pgx.CollectRows(rows, pgx.RowTo[seats.ID])
	if err != nil {
		return 0, fmt.Errorf("take changes: %w", err)
	}
	taken = len(ids)
	slices.SortFunc(ids, func(a, b seats.ID) int { return cmp.Compare(a.String(), b.String()) })
	ids = slices.Compact(ids)
	fresh, err := freshRows(ctx, tx, ids)
	if err != nil {
		return 0, err
	}
	stored, err := readStored(ctx, tx, ids)
	if err != nil {
		return 0, fmt.Errorf("read what is counted: %w", err)
	}
	return taken, store(ctx, tx, ids, stored, fresh)
}

// freshRows is what is to be counted of orders.
func freshRows(ctx context.Context, tx pgx.Tx, ids []seats.ID) (map[seats.ID][]row, error) {
	rows, _ := tx.Query(ctx, theirEventsSQL, ids) // CollectRows returns its error
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[touch])
	if err != nil {
		return nil, fmt.Errorf("find events: %w", err)
	}
	orders, events := make([]seats.ID, len(found)), make([]int64, len(found))
	for i, t := range found {
		orders[i], events[i] = t.Order, t.Event
	}
	slices.Sort(events)
	of, err := someEvents(ctx, tx, slices.Compact(events))
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	list, err := readHistories(ctx, tx, orders, of)
	fresh := make(map[seats.ID][]row, len(list))
	for _, h := range list {
		if h.counts {
			fresh[h.id] = h.rows(func(Posting) {})
		}
	}
	return fresh, err
}

// dayOf is a row of book_day.
type dayOf struct {
	team                           int64
	day, currency, channel, method string
	rate                           int
}

const (
	dropSQL    = `DELETE FROM book_order WHERE order_id = ANY($1)`
	rowColumns = `currency, line, channel, method, reason, day, rate, postings, tickets, gross, exchanged, refunds, fees, tax`
	rowsOfJSON = `jsonb_to_recordset($1) AS r (order_id uuid, event_id bigint, team_id bigint, n smallint, category smallint, type smallint, currency text, line text, channel text, method text, reason text, day date, rate integer,
       postings integer, tickets integer, gross bigint, exchanged bigint, refunds bigint, fees bigint, tax bigint)`
	storeSQL = `INSERT INTO book_order (order_id, event_id, team_id, n, category, type, ` + rowColumns + `)
SELECT order_id, event_id, nullif(team_id, 0), n, category, type, ` + rowColumns + ` FROM ` + rowsOfJSON
	addSQL = `
INSERT INTO book_day AS b (team_id, day, currency, channel, method, rate, postings, tickets, gross, exchanged, refunds, fees, tax)
SELECT team_id, day, currency, channel, method, rate, postings, tickets, gross, exchanged, refunds, fees, tax FROM ` + rowsOfJSON + `
    ON CONFLICT (team_id, day, currency, channel, method, rate) DO UPDATE
   SET postings = b.postings + excluded.postings, tickets = b.tickets + excluded.tickets, gross = b.gross + excluded.gross, exchanged = b.exchanged + excluded.exchanged,
       refunds = b.refunds + excluded.refunds, fees = b.fees + excluded.fees, tax = b.tax + excluded.tax`
)

// store replaces what is counted of orders, as far as it differs, and adds the differences to their days.
func store(ctx context.Context, tx pgx.Tx, ids []seats.ID, stored, fresh map[seats.ID][]row) error {
	changed, list, days := []seats.ID{}, []row{}, map[dayOf]*counted{}
	add := func(rows []row, sign int64) {
		for _, r := range rows {
			if r.Team == 0 {
				continue
			}
			d := dayOf{r.Team, r.Day, r.Currency, r.Channel, r.Method, r.Rate}
			if days[d] == nil {
				days[d] = &counted{}
			}
			days[d].add(r.counted(), sign)
		}
	}
	for _, id := range ids {
		if slices.Equal(stored[id], fresh[id]) {
			continue
		}
		changed, list = append(changed, id), append(list, fresh[id]...)
		add(stored[id], -1)
		add(fresh[id], 1)
	}
	if len(changed) == 0 {
		return nil
	}
	sums := make([]row, 0, len(days))
	for d, c := range days {
		if *c != (counted{}) {
			r := row{Team: d.team, Day: d.day, Currency: d.currency, Channel: d.channel, Method: d.method, Rate: d.rate}
			r.set(*c)
			sums = append(sums, r)
		}
	}
	if _, err := tx.Exec(ctx, dropSQL, changed); err != nil {
		return fmt.Errorf("forget orders: %w", err)
	}
	if _, err := tx.Exec(ctx, storeSQL, list); err != nil {
		return fmt.Errorf("store orders: %w", err)
	}
	if _, err := tx.Exec(ctx, addSQL, sums); err != nil {
		return fmt.Errorf("add to days: %w", err)
	}
	return nil
}

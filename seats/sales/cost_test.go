package sales

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/paging"
)

const (
	soldSeats  = 50_000
	soldOrders = 20_000
)

// bigSale is a stadium that was sold out in 20,000 orders, made by SQL: each order is two changes, the hold and the sale.
func bigSale(t testing.TB) (*hall, *Sales, organizers.Member) {
	t.Helper()
	h := openHall(t, "stadium", events.Settings{})
	if len(h.sale.Plan.Seats) < soldSeats {
		t.Fatalf("the stadium has %d seats", len(h.sale.Plan.Seats))
	}
	event, categories := h.sale.Event.ID, len(h.sale.Plan.Categories)
	for _, sql := range []string{
		`CREATE TEMP TABLE sale AS SELECT k, md5('order' || k)::uuid AS id, md5('holder' || k)::uuid AS holder,
		        array_agg(idx ORDER BY idx) AS seats, now() - interval '50 minutes' + k * interval '100 ms' AS at
		   FROM generate_series(0, 49999) idx, LATERAL (SELECT idx * 2 / 5 AS k) n GROUP BY k`,
		`INSERT INTO orders (id, event_id, code, holder, hold_id, wish, name, email, method, currency, total, paid, created_at)
		 SELECT id, $1, 'code' || k, holder, md5('hold' || k)::uuid, '', 'Ann', 'ann@example.org', 'card', 'EUR', 100 * cardinality(seats), 100 * cardinality(seats), at + interval '50 ms' FROM sale`,
		`INSERT INTO ticket (id, event_id, order_id, idx, price) SELECT md5('ticket' || idx)::uuid, $1, id, idx, 100 FROM sale, unnest(seats) idx`,
		`INSERT INTO payment (id, event_id, order_id, code, holder, hold_id, form, method, currency, amount, state, reference, captured, created_at)
		 SELECT md5('payment' || k)::uuid, $1, id, 'code' || k, holder, md5('hold' || k)::uuid, '{}', 'card', 'EUR', 100 * cardinality(seats), 'captured', 'ref' || k, 100 * cardinality(seats), at FROM sale`,
		`INSERT INTO intention (payment_id, step, tries, done_at) SELECT md5('payment' || k)::uuid, 'capture', 1, now() FROM sale WHERE $1 > 0`,
		`INSERT INTO refund (id, order_id, payment_id, amount, reason, done_at) SELECT md5('refund' || k)::uuid, id, md5('payment' || k)::uuid, 10, 'late', now() FROM sale WHERE k % 100 = 0 AND $1 > 0`,
		`UPDATE orders SET waived = 10, paid = paid - 10 WHERE event_id = $1 AND id IN (SELECT id FROM sale WHERE k % 100 = 0)`,
		`UPDATE seat_state s SET state = 4, holder = id, expires_at = 'infinity' FROM sale, unnest(seats) idx WHERE s.event_id = $1 AND s.idx = idx.idx`,
	} {
		h.exec(t, strings.ReplaceAll(sql, "CREATE TEMP TABLE", "CREATE TABLE"), params(sql, event)...)
	}
	h.exec(t, `INSERT INTO change (event_id, version, at, idx, state, holder, free, held, sold, blocked, batch, passed)
		SELECT $1, 2 * k + n, at + (n - 1) * interval '50 ms', seats, array_fill(CASE n WHEN 1 THEN 1 ELSE 4 END::smallint, ARRAY[cardinality(seats)]),
		       array_fill(CASE n WHEN 1 THEN holder ELSE id END, ARRAY[cardinality(seats)]),
		       first || rest, CASE n WHEN 1 THEN cardinality(seats) ELSE 0 END || rest, CASE n WHEN 1 THEN seats[1] ELSE seats[1] + cardinality(seats) END || rest, 0 || rest,
		       gen_random_uuid(), cardinality(seats)
		  FROM sale, generate_series(1, 2) n, LATERAL (SELECT $2::integer - seats[1] - cardinality(seats) AS first) f, (SELECT array_fill(0, ARRAY[$3::integer - 1]) AS rest) r`,
		event, len(h.sale.Plan.Seats), categories)
	h.exec(t, `UPDATE counter c SET version = n.version, free = n.free, held = n.held, sold = n.sold FROM change n
		WHERE c.event_id = $1 AND n.event_id = $1 AND n.version = (SELECT max(version) FROM change WHERE event_id = $1)`, event)
	h.exec(t, `DROP TABLE sale`)
	h.exec(t, `VACUUM ANALYZE`)
	m := organizers.Member{Name: "Ann", Team: h.sale.Event.Team, Role: organizers.Owner}
	return h, New(h.db, organizers.New(h.db, func() {})), m
}

func params(sql string, event int64) []any {
	if strings.Contains(sql, "$1") {
		return []any{event}
	}
	return nil
}

// explainer runs every statement of a transaction, and before that has the database say how many rows it visits.
type explainer struct {
	pgx.Tx
	t     testing.TB
	seen  int
	plans []string // of statements that visit too many rows
}

// mostRows is how many rows a statement may visit: it does not grow with what was sold.
const mostRows = 3000

func (x *explainer) explain(ctx context.Context, sql string, args []any) {
	x.t.Helper()
	x.seen++
	inner, err := x.Tx.Begin(ctx)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = inner.Rollback(ctx) }() // it only was to be explained
	var text []byte
	if err := inner.QueryRow(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+sql, args...).Scan(&text); err != nil {
		x.t.Fatalf("%s: %v", sql, err)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(text, &plans); err != nil {
		x.t.Fatal(err)
	}
	if n := plans[0].Plan.visited(); n > mostRows {
		x.plans = append(x.plans, fmt.Sprintf("%d rows are visited by %s\n%s", n, sql, text))
	}
}

// node is a step of a plan.
type node struct {
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Joined   float64 `json:"Rows Removed by Join Filter"`
	Checked  float64 `json:"Rows Removed by Index Recheck"`
	Plans    []node  `json:"Plans"`
}

// visited counts the rows that a plan reads from tables.
func (n node) visited() (rows int) {
	if n.Relation != "" {
		rows = int((n.Rows + n.Filtered + n.Joined + n.Checked) * n.Loops)
	}
	for _, p := range n.Plans {
		rows += p.visited()
	}
	return rows
}

func (x *explainer) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	x.explain(ctx, sql, args)
	return x.Tx.Query(ctx, sql, args...)
}

func (x *explainer) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	x.explain(ctx, sql, args)
	return x.Tx.QueryRow(ctx, sql, args...)
}

func (x *explainer) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	x.explain(ctx, sql, args)
	return x.Tx.Exec(ctx, sql, args...)
}

func (x *explainer) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	for _, q := range b.QueuedQueries {
		x.explain(ctx, q.SQL, q.Arguments)
	}
	return x.Tx.SendBatch(ctx, b)
}

// oneMore sells one seat less and one more, so that there is something to follow.
func (h *hall) oneMore(t testing.TB) {
	t.Helper()
	h.exec(t, `INSERT INTO change (event_id, version, idx, state, holder, free, held, sold, blocked, batch, passed)
		SELECT event_id, version + 1, idx, state, holder, free, held, sold, blocked, gen_random_uuid(), passed
		  FROM change WHERE event_id = $1 ORDER BY version DESC LIMIT 1`, h.sale.Event.ID)
	h.exec(t, `UPDATE counter SET version = version + 1 WHERE event_id = $1`, h.sale.Event.ID)
}

func TestDesk_NoStatementReadsAWholeSale(t *testing.T) {
	t.Parallel()
	h, d, m := bigSale(t)
	v := &Evening{}
	l, err := d.Live(t.Context(), m, v, h.sale, All, true)
	if err != nil {
		t.Fatal(err)
	}
	if l.Sold != soldSeats || l.Total.Orders != soldOrders || l.Revenue() != 100*soldSeats-10*soldOrders/100 {
		t.Fatalf("the desk says %d seats in %d orders for %d", l.Sold, l.Total.Orders, l.Revenue())
	}
	if len(l.Latest) != latestOrders || l.Latest[0].Code != "code19999" {
		t.Fatalf("the desk lists %d orders from %+v on", len(l.Latest), l.Latest[:1])
	}
	wantInTime(t, "the live desk", func() error {
		h.oneMore(t)
		_, err := d.Live(t.Context(), m, v, h.sale, All, true)
		return err
	})
	wantPagesInTime(t, h)
	h.oneMore(t)
	for name, evening := range map[string]*Evening{"of a desk that is open": v, "of the first desk after a restart": {event: h.sale.Event}} {
		err := d.organizers.As(t.Context(), m, func(tx pgx.Tx) error {
			x := &explainer{Tx: tx, t: t}
			if _, err := evening.look(t.Context(), x, evening.epoch, nothing, All, true); err != nil {
				return err
			}
			if err := evening.stats.save(t.Context(), x, h.sale.Event.ID); err != nil {
				return err
			}
			for _, plan := range x.plans {
				t.Errorf("%s, %s", name, plan)
			}
			if x.seen < 10 {
				t.Errorf("%s: only %d statements were seen", name, x.seen)
			}
			for _, planted := range []string{`SELECT sum(total) FROM orders WHERE event_id = $1`, `SELECT count(*) FROM seat_state WHERE event_id = $1 AND state = 4`} {
				before := len(x.plans)
				if x.explain(t.Context(), planted, []any{h.sale.Event.ID}); len(x.plans) == before {
					t.Errorf("%q reads a whole event and was not noticed", planted)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// nothing is what a node remembers that did not run the sale: it reads the log.
func nothing(int64) ([]seats.Change, bool) { return nil, false }

// mostTime is what a desk may take for 50,000 sold seats and 20,000 orders.
const mostTime = 50 * time.Millisecond

// wantPagesInTime looks at the pages of orders and seats.
func wantPagesInTime(t *testing.T, h *hall) {
	t.Helper()
	h.exec(t, `UPDATE orders SET name = 'Ann Number ' || code`)
	o, at := orders.New(h.db), h.sale.Event.ID
	var last time.Time
	search := func(words string, before time.Time) func() error {
		return func() error {
			list, _, err := o.Search(t.Context(), h.sale, orders.Search{Words: words, Page: paging.Page{After: paging.Place{At: before}, Limit: orders.SearchRows}})
			if err == nil {
				last = list[len(list)-1].CreatedAt
			}
			return err
		}
	}
	wantInTime(t, "the latest orders", search("", time.Time{}))
	wantInTime(t, "earlier ones", search("", last))
	wantInTime(t, "orders by a part of a name", search("NUMBER CODE1234", time.Time{}))
	wantInTime(t, "an order by a seat", search(h.sale.Plan.Label(7), time.Time{}))
	wantInTime(t, "who came", func() error { _, err := o.Turnout(t.Context(), at); return err })
	wantInTime(t, "a seat", func() error {
		_, _, err := New(h.db, nil).Timeline(t.Context(), h.sale, 7, 0)
		if err == nil {
			_, err = o.OfSeat(t.Context(), at, 7)
		}
		return err
	})
}

// wantInTime logs what a look at a page takes, the one in the middle of five. In `make figures` it holds that against the time
// it may take.
func wantInTime(t *testing.T, page string, look func() error) {
	t.Helper()
	var took []time.Duration
	for range 5 {
		began := time.Now()
		if err := look(); err != nil {
			t.Fatal(page, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("%s of %d sold seats and %d orders: %v", page, soldSeats, soldOrders, took[2])
	if timed && took[2] > mostTime {
		t.Errorf("%s: the queries take %v, and may take %v", page, took[2], mostTime)
	}
}

// BenchmarkADesk is what a desk of a sold out stadium costs each time something changed: go test -bench ADesk ./seats/sales
func BenchmarkADesk(b *testing.B) {
	h, d, m := bigSale(b)
	v := &Evening{}
	if _, err := d.Live(b.Context(), m, v, h.sale, All, true); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		h.oneMore(b)
		b.StartTimer()
		if _, err := d.Live(b.Context(), m, v, h.sale, All, true); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTheFirstDesk is what the first desk of an event costs: the whole log, once.
func BenchmarkTheFirstDesk(b *testing.B) {
	h, d, m := bigSale(b)
	for b.Loop() {
		b.StopTimer()
		h.exec(b, `DELETE FROM tally; DELETE FROM history`)
		b.StartTimer()
		if _, err := d.Live(b.Context(), m, &Evening{}, h.sale, All, true); err != nil {
			b.Fatal(err)
		}
	}
}

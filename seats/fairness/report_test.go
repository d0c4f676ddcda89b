package fairness

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// first is when the first order on the pages of the sale is placed.
var first = time.Now().Add(-50 * time.Hour).Truncate(time.Second)

// sold opens a theatre with orders of the given numbers of seats. The one of place i was placed so many minutes after the first on the pages of
// the sale: those with a number below 0 at the box office.
func sold(t *testing.T, parties []int, minutes []int) (*pgxpool.Pool, seats.Event) {
	t.Helper()
	db := seatstest.DB(t)
	p, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(4e9, 0), SeatsPerHolder: 8}, p); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	sale, err := office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range parties {
		who := seats.NewID()
		if _, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: n}); err != nil {
			t.Fatal(err)
		}
		code, err := seatstest.Order(t.Context(), db, sale, who)
		if err != nil {
			t.Fatal(err)
		}
		at := first.Add(time.Duration(minutes[i])*time.Minute + time.Duration(i%60)*time.Second)
		if _, err := db.Exec(t.Context(), `UPDATE orders SET created_at = $2, at_office = $3 WHERE code = $1`, code, at, minutes[i] < 0); err != nil {
			t.Fatal(err)
		}
	}
	return db, sale.Event
}

// line is an order as it is exported.
type line struct {
	minute, party int64
	place         string
}

// exported reads the orders one by one.
func exported(t *testing.T, db *pgxpool.Pool) []line {
	t.Helper()
	rows, _ := db.Query(t.Context(), `SELECT o.created_at, o.at_office, o.sold_by, (SELECT count(*) FROM ticket WHERE order_id = o.id AND moved_to IS NULL) FROM orders o`)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l line, err error) {
		var at time.Time
		var office bool
		var by string
		if err := row.Scan(&at, &office, &by, &l.party); err != nil {
			return l, err
		}
		l.place, l.minute = "web", int64(at.Sub(first)/time.Minute)
		if office {
			l.place = "office"
		}
		if by != "" {
			l.place = "program"
		}
		if at.Before(first) {
			l.minute = -1
		}
		return l, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func exec(t *testing.T, db *pgxpool.Pool, list ...string) {
	t.Helper()
	for _, sql := range list {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(sql, err)
		}
	}
}

// report is that of all orders.
func report(t *testing.T, db *pgxpool.Pool, event seats.Event) Report {
	t.Helper()
	r, err := Of(t.Context(), db, event.ID, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReport_EachFigureFollowsFromTheOrders(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	var parties, minutes []int
	for i := range 240 {
		at := (i - 30) * (i - 30) / 40 // most in the first minutes
		if i < 30 {
			at = -1 - i // and some before, at the box office
		}
		parties, minutes = append(parties, 1+random.IntN(3)+random.IntN(2)), append(minutes, at)
	}
	db, event := sold(t, parties, minutes)
	exec(t, db, `UPDATE orders SET created_at = '`+first.Format(time.RFC3339)+`' WHERE code = (SELECT code FROM orders WHERE NOT at_office ORDER BY created_at LIMIT 1)`,
		`UPDATE orders SET sold_by = 'A partner' WHERE code IN (SELECT code FROM orders WHERE NOT at_office ORDER BY created_at DESC LIMIT 25)`,
		`UPDATE orders SET keys = array[(SELECT keys[1] FROM orders WHERE keys <> '{}' ORDER BY code LIMIT 1)] WHERE code IN (SELECT code FROM orders ORDER BY code LIMIT 22)`,
		`UPDATE ticket SET revoked_at = clock_timestamp() WHERE order_id IN (SELECT id FROM orders ORDER BY code DESC LIMIT 31)`,
		`INSERT INTO refusal (event_id, code, n) SELECT id, unnest('{limit,taken}'::text[]), unnest('{2000,9}'::integer[]) FROM event`)
	r, lines := report(t, db, event), exported(t, db)
	seen, all, shared, returned := map[string]int64{}, int64(0), int64(0), int64(0)
	for _, l := range lines {
		all += l.party
	}
	for sql, n := range map[string]*int64{`SELECT count(*) FROM ticket WHERE revoked_at IS NOT NULL`: &returned, `SELECT count(*) FROM ticket WHERE order_id IN (SELECT id FROM orders ORDER BY code LIMIT 22)`: &shared} {
		if err := db.QueryRow(t.Context(), sql).Scan(n); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range r.Groups {
		again := Group{By: g.By, From: g.From, To: g.To}
		for _, l := range lines {
			value := map[string]int64{ByMinute: l.minute, ByParty: l.party, ByPlace: int64(slices.Index(Places, l.place))}[g.By]
			if value >= g.From && (g.To == nil || value <= *g.To) {
				again.Orders, again.Seats = again.Orders+1, again.Seats+l.party
			}
		}
		if again != g || g.Orders < Fewest {
			t.Errorf("%+v, and again: %+v", g, again)
		}
		seen[g.By] += g.Orders
	}
	if seen[ByMinute] != 240 || seen[ByParty] != 240 || seen[ByPlace] != 240 || len(r.Groups) < 14 {
		t.Errorf("the groups have %v orders, and there are 240: %+v", seen, r.Groups)
	}
	if r.First == nil || !r.First.Equal(first.Truncate(time.Minute)) || *r.Orders != 240 || *r.Seats != all || *r.Returned != returned || *r.Shared != shared || *r.Refunded != 0 || r.Refused["limit"] != 2000 || r.Refused["taken"] != 9 {
		t.Errorf("%+v; %d seats, %d returned, %d shared", r, all, returned, shared)
	}
	if before, err := Of(t.Context(), db, event.ID, first.Add(-time.Second)); err != nil || before.Groups[0].By != ByParty || *before.Orders != 30 || before.First != nil {
		t.Errorf("until the first order on the pages there were %+v, %v", before, err)
	}
}

// Three people with eight seats each are recognised as easily as three with one.
func TestReport_FewOrdersAreNotCounted(t *testing.T) {
	t.Parallel()
	db, event := sold(t, []int{8, 8, 8}, []int{0, 1, 90})
	exec(t, db, `UPDATE ticket SET revoked_at = clock_timestamp()`, `UPDATE orders SET keys = array[(SELECT keys[1] FROM orders WHERE keys <> '{}' LIMIT 1)]`)
	if r := report(t, db, event); r.Orders != nil || r.Seats != nil || len(r.Groups) > 0 || r.Returned != nil || r.Shared != nil || *r.Refunded != 0 || r.First != nil {
		t.Errorf("%+v", r)
	}
	exec(t, db, `DELETE FROM ticket`, `UPDATE orders SET created_at = created_at + interval '100 years'`)
	if r := report(t, db, event); r.First != nil || *r.Orders != 0 || *r.Seats != 0 {
		t.Errorf("without an order: %+v", r)
	}
}

// Of 25 orders, one ticket of the first was moved to another seat. The second order was changed to other types twice, and what it has now was cancelled: the
// orders in exchange are no others, of no second person, and one cancellation is counted.
func TestReport_AChangeOfTicketsIsNoOrder(t *testing.T) {
	t.Parallel()
	db, event := sold(t, slices.Repeat([]int{2}, 27), make([]int, 27))
	nth := func(n int) string { return fmt.Sprintf(`(SELECT id FROM orders ORDER BY code LIMIT 1 OFFSET %d)`, n) }
	changed := func(from, to int) []string {
		return []string{
			`WITH c AS (INSERT INTO cancellation (id, event_id, order_id, tickets, amount, back) SELECT gen_random_uuid(), event_id, order_id, array_agg(id), 0, 0 FROM ticket WHERE order_id = ` + nth(from) + ` GROUP BY 2, 3 RETURNING *)
			 INSERT INTO exchange (cancellation_id, from_order, to_order, amount) SELECT id, order_id, ` + nth(to) + `, 0 FROM c`,
			`UPDATE ticket SET revoked_at = clock_timestamp() WHERE order_id = ` + nth(from),
			`UPDATE orders SET keys = (SELECT keys FROM orders WHERE id = ` + nth(from) + `) WHERE id = ` + nth(to),
		}
	}
	exec(t, db, `UPDATE ticket SET revoked_at = clock_timestamp(), moved_to = (SELECT id FROM ticket WHERE order_id = `+nth(5)+` LIMIT 1) WHERE id = (SELECT id FROM ticket WHERE order_id = `+nth(0)+` LIMIT 1)`)
	exec(t, db, append(changed(1, 2), changed(2, 3)...)...)
	none := int64(0)
	if r := report(t, db, event); *r.Orders != 25 || *r.Seats != 49 || *r.Returned != none || *r.Shared != none {
		t.Errorf("%d orders, %d seats, returned %v, shared %v", *r.Orders, *r.Seats, r.Returned, r.Shared)
	}
	exec(t, db, `UPDATE ticket SET revoked_at = clock_timestamp() WHERE order_id = `+nth(3))
	until := time.Now()
	if sums, err := TicketsOf(t.Context(), db, &until, event.ID); err != nil || sums.Returned != (Sum{2, 1}) || sums.Shared != (Sum{}) || sums.Sold != (Sum{49, 25}) {
		t.Errorf("%+v, %v", sums, err)
	}
}

func TestReport_NoGroupIsSmallAndNoOrderIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var each []Group
		var all int64
		for value := range int64(random.IntN(40)) {
			if n := int64(random.ExpFloat64() * 15); n > 0 {
				each, all = append(each, Group{From: value, Orders: n, Seats: 2 * n}), all+n
			}
		}
		list, sum := joined(each, max(Fewest, all/parts)), int64(0)
		for i, g := range list {
			last := i == len(list)-1
			if g.Orders < Fewest || g.Seats != 2*g.Orders || last != (g.To == nil) || !last && (*g.To < g.From || *g.To != list[i+1].From-1) {
				t.Fatalf("seed %d: %+v", seed, list)
			}
			sum += g.Orders
		}
		if sum != all && (len(list) > 0 || all >= Fewest) {
			t.Fatalf("seed %d: %d of %d orders are in %+v", seed, sum, all, list)
		}
		for _, g := range apart(each) {
			if g.Orders < Fewest || *g.To != g.From {
				t.Fatalf("seed %d: %+v", seed, g)
			}
		}
	}
}

func TestMay_OnceItHasBegunOrWasClosed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for e, want := range map[*seats.Event]bool{
		{Status: seats.OnSale, StartsAt: now.Add(time.Second)}:             false,
		{Status: seats.OnSale, StartsAt: now}:                              true,
		{Status: seats.Paused, StartsAt: now.Add(time.Hour)}:               false,
		{Status: seats.Closed, StartsAt: now.Add(time.Hour)}:               true,
		{Status: seats.Cancelled, StartsAt: now.Add(time.Hour)}:            true,
		{Status: seats.Draft, StartsAt: now.Add(-time.Hour)}:               false,
		{Status: seats.Closed, StartsAt: now.Add(time.Hour), TestOf: 1234}: false,
	} {
		if May(*e, now) != want {
			t.Errorf("%s, which begins in %s: want %v", e.Status, e.StartsAt.Sub(now), want)
		}
	}
}

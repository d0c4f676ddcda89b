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

// opens is when the sale of the tests opened.
var opens = time.Now().Add(-50 * time.Hour).Truncate(time.Second)

// sold opens a theatre with orders of the given numbers of seats. The one of place i was placed so many minutes after the opening.
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
		at := opens.Add(time.Duration(minutes[i])*time.Minute + time.Duration(i%60)*time.Second)
		if _, err := db.Exec(t.Context(), `UPDATE orders SET created_at = $2 WHERE code = $1`, code, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(t.Context(), `UPDATE event SET opens_at = $1`, opens); err != nil {
		t.Fatal(err)
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
	rows, _ := db.Query(t.Context(), `SELECT o.created_at, o.at_office, o.sold_by, (SELECT count(*) FROM ticket WHERE order_id = o.id) FROM orders o`)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l line, err error) {
		var at time.Time
		var office bool
		var by string
		if err := row.Scan(&at, &office, &by, &l.party); err != nil {
			return l, err
		}
		l.place = "web"
		if office {
			l.place = "office"
		}
		if by != "" {
			l.place = "program"
		}
		l.minute = int64(at.Sub(opens) / time.Minute)
		if at.Before(opens) && at.Sub(opens)%time.Minute != 0 {
			l.minute--
		}
		return l, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestReport_EachFigureFollowsFromTheOrders(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	var parties, minutes []int
	for i := range 240 {
		parties, minutes = append(parties, 1+random.IntN(3)+random.IntN(2)), append(minutes, i*i/40-30) // most in the first minutes, and some before
	}
	db, event := sold(t, parties, minutes)
	for _, sql := range []string{
		`UPDATE orders SET at_office = true WHERE code IN (SELECT code FROM orders ORDER BY code LIMIT 60)`,
		`UPDATE orders SET sold_by = 'A partner' WHERE code IN (SELECT code FROM orders ORDER BY code LIMIT 25)`,
		`UPDATE ticket SET revoked_at = clock_timestamp() WHERE id IN (SELECT id FROM ticket ORDER BY id LIMIT 31)`,
		`INSERT INTO refusal (event_id, code, n) SELECT id, unnest('{limit,taken}'::text[]), unnest('{2000,9}'::integer[]) FROM event`,
	} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	r, err := Of(t.Context(), db, event.ID)
	if err != nil {
		t.Fatal(err)
	}
	lines := exported(t, db)
	seen := map[string]int64{}
	for _, g := range r.Groups {
		again := Group{By: g.By, From: g.From, To: g.To}
		for _, l := range lines {
			value := map[string]int64{ByMinute: l.minute, ByParty: l.party, ByPlace: int64(slices.Index(Places, l.place))}[g.By]
			if value >= g.From && value <= g.To {
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
	if !r.Opened.Equal(opens) || *r.Orders != 240 || *r.Returned != 31 || *r.Shared != 0 || *r.Refunded != 0 || r.Refused["limit"] != 2000 || r.Refused["taken"] != 9 {
		t.Errorf("%+v", r)
	}
}

func TestReport_FewOrdersAreNotCounted(t *testing.T) {
	t.Parallel()
	db, event := sold(t, []int{2, 2, 3}, []int{0, 1, 90})
	r, err := Of(t.Context(), db, event.ID)
	if err != nil || r.Orders != nil || r.Seats != nil || len(r.Groups) > 0 || *r.Returned != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := db.Exec(t.Context(), `UPDATE event SET opens_at = NULL`); err != nil {
		t.Fatal(err)
	}
	if r, err = Of(t.Context(), db, event.ID); err != nil || !r.Opened.Equal(opens) {
		t.Errorf("a sale that was open at once begins at %v, %v, and its first order was placed at %v", r.Opened, err, opens)
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
				each, all = append(each, Group{From: value, To: value, Orders: n, Seats: 2 * n}), all+n
			}
		}
		list, sum, last := joined(each, max(Fewest, all/parts)), int64(0), int64(-1)
		for _, g := range list {
			if g.Orders < Fewest || g.From <= last || g.To < g.From || g.Seats != 2*g.Orders {
				t.Fatalf("seed %d: %+v", seed, list)
			}
			sum, last = sum+g.Orders, g.To
		}
		if sum != all && (len(list) > 0 || all >= Fewest) {
			t.Fatalf("seed %d: %d of %d orders are in %+v", seed, sum, all, list)
		}
		for _, g := range apart(each) {
			if g.Orders < Fewest {
				t.Fatalf("seed %d: %+v", seed, g)
			}
		}
	}
}

func TestOver_WhenItHasBegunOrWasClosed(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for e, want := range map[*seats.Event]bool{
		{Status: seats.OnSale, StartsAt: now.Add(time.Second)}:  false,
		{Status: seats.OnSale, StartsAt: now}:                   true,
		{Status: seats.Paused, StartsAt: now.Add(time.Hour)}:    false,
		{Status: seats.Closed, StartsAt: now.Add(time.Hour)}:    true,
		{Status: seats.Cancelled, StartsAt: now.Add(time.Hour)}: true,
		{Status: seats.Draft, StartsAt: now.Add(-time.Hour)}:    false,
	} {
		if Over(*e, now) != want {
			t.Errorf("%s, which begins %s: want %v", e.Status, fmt.Sprint(e.StartsAt.Sub(now)), want)
		}
	}
}

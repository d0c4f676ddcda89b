package orders_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is one event in a database of its own, a node that runs it, and its orders.
type fixture struct {
	db     *pgxpool.Pool
	sale   *seats.Sale
	orders *orders.Orders
}

// wholeRow behind the name of a plan with boxes is for one with the first box sold whole.
const wholeRow = " with a whole box"

func open(t testing.TB, planName string, e events.Settings) *fixture {
	t.Helper()
	return openOn(t, seatstest.DB(t), planName, e)
}

// openOn opens one in a database.
func openOn(t testing.TB, db *pgxpool.Pool, planName string, e events.Settings) *fixture {
	t.Helper()
	h := &fixture{db: db}
	name, whole := strings.CutSuffix(planName, wholeRow)
	p, ok := plan.Named(name)
	if !ok {
		t.Fatalf("there is no plan %q", planName)
	}
	if whole {
		q := *p
		q.Whole = []seats.WholeRow{{Section: q.SectionNamed("Boxes left"), Row: "1"}}
		p = &q
	}
	e.Name, e.StartsAt = "Evening", time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)
	if _, err := events.Create(t.Context(), h.db, e, p); err != nil {
		t.Fatal(err)
	}
	var office *seats.Inventory
	office, h.sale = h.node(t)
	h.orders = orders.New(h.db)
	h.orders.Open(office, "http://localhost")
	return h
}

// node runs one more node of the fixture.
func (h *fixture) node(t testing.TB) (*seats.Inventory, *seats.Sale) {
	t.Helper()
	office := seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	sale, err := office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return office, sale
}

// form is the checkout form of a visitor with so many places.
func (h *fixture) form(t testing.TB, who seats.ID, places int) orders.Form {
	t.Helper()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: places})
	if err != nil {
		t.Fatal(err)
	}
	return orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann Ørsted", Email: "ann@example.org", Born: "1990-12-31", Method: payments.Free, Verified: "ann@example.org"}
}

// ordered places an order for so many places.
func (h *fixture) ordered(t testing.TB, places int) orders.Order {
	t.Helper()
	who := seats.NewID()
	code, err := h.orders.Place(t.Context(), h.sale, who, h.form(t, who, places))
	if err != nil {
		t.Fatal(err)
	}
	order, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return order
}

func (h *fixture) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *fixture) count(t testing.TB, table string) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// wantBooks holds every promise about seats against the database.
func (h *fixture) wantBooks(t testing.TB) {
	t.Helper()
	report, err := verify.Look(t.Context(), h.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		for _, f := range p.Findings {
			t.Errorf("%s: %s", p.Name, f)
		}
	}
}

func (h *fixture) number(t testing.TB, sql string) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

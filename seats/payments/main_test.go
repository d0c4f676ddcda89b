package payments_test

import (
	"context"
	"errors"
	"log/slog"
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
	office *seats.Inventory
	sale   *seats.Sale
	orders *orders.Orders
}

func open(t testing.TB, planName string, e events.Settings) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	p, ok := plan.Named(planName)
	if !ok {
		t.Fatalf("there is no plan %q", planName)
	}
	e.Name, e.StartsAt = "Evening", time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)
	if _, err := events.Create(t.Context(), h.db, e, p); err != nil {
		t.Fatal(err)
	}
	h.office, h.sale = h.node(t)
	h.orders = orders.New(h.db)
	h.orders.Open(h.office, "http://localhost")
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

// form is the form of an attendee who takes so many places.
func (h *fixture) form(t testing.TB, who seats.ID, places int) orders.Form {
	t.Helper()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: places})
	if err != nil {
		t.Fatal(err)
	}
	return orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann Ørsted", Email: "ann@example.org", Born: "1990-12-31", Method: payments.Free, Verified: "ann@example.org"}
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

func (h *fixture) again(t testing.TB, o orders.Order) orders.Order {
	t.Helper()
	o, err := h.orders.Find(t.Context(), o.Code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (h *fixture) door(t testing.TB) orders.Doorway {
	t.Helper()
	secret, err := h.orders.OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := h.orders.Doorway(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (h *fixture) scan(t testing.TB, d orders.Doorway, s orders.Scan) orders.Verdict {
	t.Helper()
	v, err := h.orders.Scan(t.Context(), d, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (h *fixture) number(t testing.TB, sql string) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func wantRefusal(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *seats.Conflict
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got %v, want a refusal %q", err, code)
	}
}

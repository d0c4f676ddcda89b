package letters_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/letters"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is an event in Vienna with places for free, on one node.
type fixture struct {
	*letters.Letters
	db     *pgxpool.Pool
	sale   *seats.Sale
	orders *orders.Orders
	ann    organizers.Member
}

func open(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t), ann: organizers.Member{Team: 1, Organizer: 1, Name: "Ann", Role: organizers.Owner}}
	conference, _ := plan.Named("conference")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Date(2040, 5, 1, 18, 0, 0, 0, time.UTC), TimeZone: "Europe/Vienna", SeatsPerHolder: 50}, conference); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	h.orders = orders.New(h.db)
	h.orders.Open(office, "")
	h.Letters = letters.New(h.db, organizers.New(h.db, func() {}))
	return h
}

// order places an order of one place, some days ago.
func (h *fixture) order(t *testing.T, email string) orders.Order {
	t.Helper()
	who := seats.NewID()
	hold, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Area: "Places", Quantity: 1})
	if err != nil {
		t.Fatal(err)
	}
	code, err := h.orders.Place(t.Context(), h.sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Ann", Email: email, Born: "1990-12-31", Method: payments.Free, Verified: email})
	if err != nil {
		t.Fatal(err)
	}
	h.exec(t, `UPDATE orders SET created_at = created_at - interval '60 days' WHERE code = $1`, code)
	order, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return order
}

func (h *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *fixture) count(t *testing.T, what string, args ...any) (n int) {
	t.Helper()
	if err := h.db.QueryRow(t.Context(), `SELECT count(*) FROM `+what, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// save saves what the event sends.
func (h *fixture) save(t *testing.T, s letters.Settings) {
	t.Helper()
	s.Version = -1
	if err := h.Save(t.Context(), h.ann, h.sale.Event.ID, "evening", s, seats.NewID().String()); err != nil {
		t.Fatal(err)
	}
}

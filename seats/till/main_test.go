package till_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/till"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is a team with an event, and a member who sells.
type fixture struct {
	db     *pgxpool.Pool
	desk   *organizers.Desk
	sale   *seats.Sale
	orders *orders.Orders
	ann    organizers.Member // owner
	dora   organizers.Member // sells
}

func open(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t)}
	h.desk = organizers.New(h.db, func() {})
	p, _ := plan.Named("theatre")
	if _, err := events.Create(t.Context(), h.db, events.Settings{Name: "Evening", StartsAt: time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)}, p); err != nil {
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
	h.orders.Open(office, "http://localhost")
	h.ann, h.dora = h.member(t, "ann", organizers.Owner), h.member(t, "dora", organizers.Till)
	return h
}

func (h *fixture) member(t *testing.T, name string, role organizers.Role) organizers.Member {
	t.Helper()
	var s organizers.Session
	if err := h.db.QueryRow(t.Context(), `WITH o AS (INSERT INTO organizer (email, name) VALUES ($1 || '@example.org', $1) RETURNING id)
		INSERT INTO member (team_id, organizer_id, role) SELECT first_team(), id, $2 FROM o RETURNING organizer_id, team_id`, name, role).Scan(&s.Organizer, &s.Team); err != nil {
		t.Fatal(err)
	}
	s.Epoch = 1
	s, _, err := h.desk.Enter(t.Context(), s, organizers.Client{}, organizers.ByPassword)
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.desk.Member(t.Context(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// opened is a session of a member with 200.00 in the drawer.
func (h *fixture) opened(t *testing.T, m organizers.Member) till.Session {
	t.Helper()
	if err := till.Open(t.Context(), h.desk, m, seats.NewID().String(), till.Opening{Currency: h.sale.Event.Currency, Zone: "Europe/Vienna", Float: 200_00}); err != nil {
		t.Fatal(err)
	}
	list, err := till.Current(t.Context(), h.desk, m)
	if err != nil || len(list) != 1 {
		t.Fatalf("open are %+v, %v", list, err)
	}
	return list[0]
}

// sold is an order of seats in a session; method may be empty for cash.
func (h *fixture) sold(t *testing.T, session int64, method, name string, idxs ...int) orders.Order {
	t.Helper()
	if method == "" {
		method = payments.Cash
	}
	code, err := h.orders.SellAtOffice(t.Context(), h.sale, orders.OfficeForm{Key: seats.NewID().String(), Seats: idxs, Method: method, Entry: till.OfSale(session, name)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.orders.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (h *fixture) found(t *testing.T, m organizers.Member, id int64) till.Session {
	t.Helper()
	s, err := till.Find(t.Context(), h.desk, m, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (h *fixture) close(t *testing.T, m organizers.Member, id, counted int64) till.Session {
	t.Helper()
	if err := till.Close(t.Context(), h.desk, m, seats.NewID().String(), id, till.Closing{Counted: counted}); err != nil {
		t.Fatal(err)
	}
	return h.found(t, m, id)
}

package sales

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

// hall is one event in a database of its own, and a node that runs it.
type hall struct {
	db   *pgxpool.Pool
	sale *seats.Sale
}

func openHall(t testing.TB, planName string, e events.Settings) *hall {
	t.Helper()
	h := &hall{db: seatstest.DB(t)}
	p, ok := plan.Named(planName)
	if !ok {
		t.Fatalf("there is no plan %q", planName)
	}
	e.Name, e.StartsAt = "Evening", time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)
	if _, err := events.Create(t.Context(), h.db, e, p); err != nil {
		t.Fatal(err)
	}
	office := seats.NewInventory(h.db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	return h
}

// hold takes seats for a new visitor.
func (h *hall) hold(t testing.TB, idxs ...int) seats.ID {
	t.Helper()
	who := seats.NewID()
	h.take(t, who, idxs...)
	return who
}

func (h *hall) take(t testing.TB, who seats.ID, idxs ...int) {
	t.Helper()
	var labels []string
	for _, idx := range idxs {
		labels = append(labels, h.sale.Plan.Label(idx))
	}
	if _, err := h.sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: labels}); err != nil {
		t.Fatal(err)
	}
}

// buy orders what a visitor holds.
func (h *hall) buy(t testing.TB, who seats.ID) (code string) {
	t.Helper()
	code, err := seatstest.Order(t.Context(), h.db, h.sale, who)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// stats is the event's stats, read from the log alone.
func (h *hall) stats(t testing.TB) *Stats {
	t.Helper()
	y := newStats(h.sale.Event)
	if err := y.follow(t.Context(), h.db, h.sale.Event, nothing); err != nil {
		t.Fatal(err)
	}
	return y
}

func (h *hall) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

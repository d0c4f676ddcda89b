package verify_test

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
	"github.com/usherbox/usher/seats/verify"
)

func TestMain(m *testing.M) { seatstest.Main(m) }

// fixture is one event in a database of its own, and a node that runs it.
type fixture struct {
	db     *pgxpool.Pool
	office *seats.Inventory
	sale   *seats.Sale
	moved  chan struct{} // something is in it after the map moved on
}

func open(t testing.TB, planName string, e events.Settings) *fixture {
	t.Helper()
	h := &fixture{db: seatstest.DB(t), moved: make(chan struct{}, 1)}
	p, ok := plan.Named(planName)
	if !ok {
		t.Fatalf("there is no plan %q", planName)
	}
	e.Name, e.StartsAt = "Evening", time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)
	if _, err := events.Create(t.Context(), h.db, e, p); err != nil {
		t.Fatal(err)
	}
	h.office = seats.NewInventory(h.db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	h.office.Changed = func(*seats.Sale) {
		select {
		case h.moved <- struct{}{}:
		default:
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.office.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	var err error
	if h.sale, err = h.office.Sale(t.Context(), "evening"); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *fixture) claim(t testing.TB, who seats.ID, key string, idx ...int) seats.Hold {
	t.Helper()
	var w seats.ClaimRequest
	for _, i := range idx {
		w.Seats = append(w.Seats, h.sale.Plan.Label(i))
	}
	hold, err := h.sale.Claim(t.Context(), who, key, w)
	if err != nil {
		t.Fatal(err)
	}
	return hold
}

func (h *fixture) look(t testing.TB) *verify.Report {
	t.Helper()
	r, err := verify.Look(t.Context(), h.db, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantFine fails for each thing that is against a promise.
func wantFine(t testing.TB, r *verify.Report) {
	t.Helper()
	for _, p := range r.Promises {
		for _, f := range p.Findings {
			t.Errorf("%s: %s", p.Name, f)
		}
	}
}

package seats_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/verify"
)

// bench is one event on one node, ready to be claimed.
type bench struct {
	db        *pgxpool.Pool
	inventory *seats.Inventory
	sale      *seats.Sale
}

// hall is a plan of rows × 10 seats in section "Stalls" (category A up to the third row, then B) and an area "Floor"
// of places (category C).
func hall(rows, places int) *seats.Plan {
	p := &seats.Plan{Name: "Hall", Width: 400, Height: 100 + 40*float64(rows), Categories: []seats.Category{
		{Key: "A", Name: "Front", Price: 5000}, {Key: "B", Name: "Back", Price: 3000}, {Key: "C", Name: "Standing", Price: 1000},
	}}
	box := []seats.Point{{X: 0, Y: 0}, {X: 400, Y: 0}, {X: 400, Y: 400}}
	p.Sections = []seats.Section{{Name: "Stalls", Count: rows * 10, Outline: box}, {Name: "Floor", Area: true, First: rows * 10, Count: places, Outline: box}}
	for r := range rows {
		for n := range 10 {
			p.Seats = append(p.Seats, seats.Seat{
				ID: fmt.Sprint(r, "-", n), Row: string(rune('A' + r)), Number: fmt.Sprint(n + 1),
				Category: min(r/3, 1), X: 20 * float64(n), Y: 40 * float64(r+1),
			})
		}
	}
	for n := range places {
		p.Seats = append(p.Seats, seats.Seat{ID: fmt.Sprint("f", n), Section: 1, Category: 2, Number: fmt.Sprint(n + 1)})
	}
	return p
}

func newBench(t *testing.T, e events.Settings, p *seats.Plan) *bench {
	t.Helper()
	db := seatstest.DB(t)
	e.Name, e.StartsAt = "Evening", time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)
	if _, err := events.Create(t.Context(), db, e, p); err != nil {
		t.Fatal(err)
	}
	b := &bench{db: db}
	b.inventory, b.sale = node(t, db)
	return b
}

// node starts one more node on the database.
func node(t *testing.T, db *pgxpool.Pool) (*seats.Inventory, *seats.Sale) {
	t.Helper()
	o := seats.NewInventory(db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	s, err := o.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	return o, s
}

func (b *bench) claim(t *testing.T, who seats.ID, w seats.ClaimRequest) seats.Hold {
	t.Helper()
	h, err := b.sale.Claim(t.Context(), who, "", w)
	if err != nil {
		t.Fatalf("claim %+v: %v", w, err)
	}
	return h
}

func wantRefusal(t *testing.T, err error, code string) *seats.Conflict {
	t.Helper()
	var r *seats.Conflict
	if !errors.As(err, &r) || r.Code != code {
		t.Fatalf("got %v, want a refusal %q", err, code)
	}
	return r
}

// wantBooks holds every promise of seats against the database. Some tests sell to orders without an order row.
func wantBooks(t *testing.T, b *bench) {
	t.Helper()
	report, err := verify.Look(t.Context(), b.db, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Promises {
		if p.Name[0] != 'P' {
			continue
		}
		for _, f := range p.Findings {
			t.Errorf("%s: %s", p.Name, f)
		}
	}
}

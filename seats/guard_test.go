package seats_test

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sessions"
)

func TestGuard_RefusesAWrongDecision(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	mine := b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	if err := b.sale.Lie(t.Context(), seats.NewID(), mine.Seats[0]); err == nil {
		t.Error("a held seat was given to another visitor")
	}
	if err := b.sale.Lie(t.Context(), seats.NewID(), 1); err != nil { // it is the guard that refused, nothing else
		t.Errorf("a free seat was not given: %v", err)
	}
	var holders int
	if err := b.db.QueryRow(t.Context(), `SELECT count(DISTINCT holder) FROM seat_state`).Scan(&holders); err != nil || holders != 2 {
		t.Errorf("%d holders, %v; want the first and the one of the free seat", holders, err)
	}
}

// behind is a node that believes everything is held, while seat 0 and two places were just released.
func behind(t *testing.T) *seats.Sale {
	b := newBench(t, events.Settings{SeatsPerHolder: 20}, hall(1, 10))
	_, late := node(t, b.db)
	who := seats.NewID()
	b.claim(t, who, seats.ClaimRequest{Area: "Floor", Quantity: 10})
	b.claim(t, who, seats.ClaimRequest{Best: 10, Category: "A"})
	if err := late.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.sale.Release(t.Context(), who, 0, 10, 11); err != nil {
		t.Fatal(err)
	}
	return late
}

func TestAFreeSeatIsGrantedThoughTheMapIsBehind(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]seats.ClaimRequest{
		"a seat": {Seats: []string{"Stalls/A/1"}}, "places": {Area: "Floor", Quantity: 2}, "the best": {Best: 1, Category: "A"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := behind(t).Claim(t.Context(), seats.NewID(), "", w); err != nil {
				t.Errorf("it was free and refused: %v", err)
			}
		})
		t.Run(name+" for a newcomer", func(t *testing.T) {
			t.Parallel()
			store := sessions.New(nil, nil)
			ctx := store.Act(t.Context())
			store.Newcomer(ctx, func() (string, []byte, time.Time) { return seats.NewID().String(), []byte{}, time.Now().Add(time.Hour) })
			if _, err := behind(t).Claim(ctx, seats.NewID(), "key", w); err != nil {
				t.Errorf("it was free and refused: %v", err)
			}
		})
	}
}

func TestClaim_GrantsAnExpiredSeatBeforeItIsAnnounced(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]seats.ClaimRequest{"a seat": {Seats: []string{"Stalls/A/1"}}, "places": {Area: "Floor", Quantity: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, events.Settings{}, hall(1, 1))
			who := seats.NewID()
			b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
			b.claim(t, who, seats.ClaimRequest{Area: "Floor", Quantity: 1})
			// The office sleeps until the end it knows; the rows say it is over.
			const over = `WITH h AS (UPDATE hold SET expires_at = now()) UPDATE seat_state SET expires_at = now() WHERE holder IS NOT NULL`
			if _, err := b.db.Exec(t.Context(), over); err != nil {
				t.Fatal(err)
			}
			store := sessions.New(nil, nil)
			ctx := store.Act(t.Context())
			store.Newcomer(ctx, func() (string, []byte, time.Time) { return seats.NewID().String(), []byte{}, time.Now().Add(time.Hour) })
			if _, err := b.sale.Claim(ctx, seats.NewID(), "key", w); err != nil {
				t.Errorf("its time was up and it was refused: %v", err)
			}
		})
	}
}

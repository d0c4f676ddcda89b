package seats_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// lockedSQL reports whether a statement waits for a row or a table.
const lockedSQL = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`

func (b *bench) awaitLocked(t *testing.T) {
	t.Helper()
	for locked := false; !locked; {
		if err := b.db.QueryRow(t.Context(), lockedSQL).Scan(&locked); err != nil {
			t.Fatal(err)
		}
		if err := seats.Sleep(t.Context(), 5*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFastPath_LaterCommandIsServedNext(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 10))
	tx, err := b.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM counter WHERE event_id = $1 FOR UPDATE`, b.sale.Event.ID); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var claims sync.WaitGroup
	claim := func(w seats.ClaimRequest) {
		claims.Go(func() {
			if _, err := b.sale.Claim(ctx, seats.NewID(), "", w); err != nil {
				t.Error(err)
			}
		})
	}
	claim(seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	b.awaitLocked(t)
	for range 5 {
		claim(seats.ClaimRequest{Area: "Floor", Quantity: 1})
	}
	claim(seats.ClaimRequest{Best: 2, Category: "A"})
	if err := seats.Sleep(t.Context(), 20*time.Millisecond); err != nil { // most of them are in the queue by now, and all of them are served
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	claims.Wait()
	wantBooks(t, b)
}

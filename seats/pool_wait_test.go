package seats_test

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// A batch that follows another node's reads what that one did. It must not keep its own connection meanwhile: with one
// connection for all, as with many busy events for few, it would wait for itself until its time is up.
func TestBatch_NeedsOneConnectionAtATime(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 6))
	config := b.db.Config()
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	sale, err := seats.NewInventory(pool, slog.New(slog.NewTextHandler(io.Discard, nil))).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	ann := seats.NewID()
	if _, err := sale.Claim(t.Context(), ann, "", seats.ClaimRequest{Seats: []string{"Stalls/A/6"}}); err != nil {
		t.Fatal(err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}}) // on a node that sends no NOTIFY
	began := time.Now()
	if _, err := sale.Claim(t.Context(), ann, "", seats.ClaimRequest{Seats: []string{"Stalls/A/4", "Stalls/A/5"}}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 9*time.Second { // 10 s if it waits
		t.Errorf("a claim took %s: its batch waited for its own connection", took)
	}
	if sale.Version() != 3 {
		t.Errorf("it is at version %d, want 3", sale.Version())
	}
}

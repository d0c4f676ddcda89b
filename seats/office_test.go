package seats_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// keep keeps others from even reading a table, until it is let go.
func (b *bench) keep(t *testing.T, table string) (letGo func()) {
	t.Helper()
	tx, err := b.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE `+table+` IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSale_CommitWhileOpeningIsKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	letGo := b.keep(t, "category")
	other := seats.NewInventory(b.db, slog.New(slog.NewTextHandler(io.Discard, nil)))
	opened := make(chan *seats.Sale, 1)
	go func() {
		s, err := other.Sale(t.Context(), "evening")
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	b.awaitLocked(t) // it has seen the event, and not yet all of it
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	letGo()
	if s := <-opened; s != nil && s.Version() != b.sale.Version() {
		t.Errorf("it was opened at version %d, and is at %d", s.Version(), b.sale.Version())
	}
}

// Addresses of events that are not there are asked for, too, and a database may take its time.
func TestSale_OpeningOneEventDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 1))
	letGo := b.keep(t, "event")
	read, open := make(chan error, 1), make(chan error, 1)
	go func() { _, err := b.inventory.Sale(t.Context(), "nowhere"); read <- err }()
	b.awaitLocked(t)
	go func() { _, err := b.inventory.Sale(t.Context(), "evening"); open <- err }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	select {
	case err := <-open:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Error("an event that is open waits for another one to be read")
	}
	letGo()
	if err := <-read; !errors.Is(err, seats.ErrNoEvent) {
		t.Errorf("an event that is not there: %v", err)
	}
}

package waitingroom_test

import (
	"context"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// A batch of claims locks the slots of its holders in their order. Here one has the first of two, and wants the second one
// while the room waits for the first: if the room had the second one already, they would wait for each other.
func TestSlots_AreLockedInTheOrderOfHolders(t *testing.T) {
	t.Parallel()
	first, second := seats.ID{1}, seats.ID{2} // in the slots 2 and 1
	const ago = `clock_timestamp() - make_interval(secs => $2)`
	for name, c := range map[string]struct {
		since [2]float64 // s ago, of each
		ends  string
		asks  func(*waitingroom.Room, context.Context, ...seats.ID) error
	}{
		"by a sign of life":              {[2]float64{1, 1}, `clock_timestamp() + interval '1 minute'`, (*waitingroom.Room).Shows},
		"by people whose stay is over":   {[2]float64{1e6, 1}, `clock_timestamp() - interval '1 second'`, (*waitingroom.Room).ComesBack},
		"by people who were away awhile": {[2]float64{1, 1}, `clock_timestamp() - interval '1 second'`, (*waitingroom.Room).ComesBack},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, waitingroom.NewRoom{Slots: 2})
			n := h.node(t, false)
			for i, holder := range []seats.ID{first, second} {
				h.exec(t, `UPDATE slot SET epoch = 1, number = $1, holder = $3, since = `+ago+`, expires_at = `+c.ends+` WHERE slot = 3 - $1`, i+1, c.since[i], holder)
			}
			batch, err := h.db.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = batch.Rollback(context.Background()) }() // it is over, if all went well
			const lockSlot = `SELECT FROM slot WHERE holder = $1 FOR NO KEY UPDATE NOWAIT`
			if _, err := batch.Exec(t.Context(), lockSlot, first); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- c.asks(n.room, context.Background(), first, second) }()
			eventually(t, "the room waits for the batch", func() bool {
				return h.one(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
			})
			if _, err := batch.Exec(t.Context(), lockSlot, second); err != nil {
				t.Errorf("the room waits for the first slot and has the second one: %v", err)
			}
			if err := batch.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

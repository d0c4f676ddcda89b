package seats_test

import (
	"errors"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sessions"
)

func TestPurge_DeletesOnlyEndedSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 10))
	var holders []seats.ID
	for _, label := range []string{"Stalls/A/1", "Stalls/A/2", "Stalls/A/3"} {
		holders = append(holders, seats.NewID())
		b.claim(t, holders[len(holders)-1], seats.ClaimRequest{Seats: []string{label}})
	}
	if _, err := b.sale.Release(t.Context(), holders[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := b.sale.Release(t.Context(), holders[2]); err != nil {
		t.Fatal(err)
	}
	// The second hold ended long ago; the first still has its seat, the third ended just now.
	if _, err := b.db.Exec(t.Context(), `UPDATE hold SET expires_at = expires_at - interval '2 days' WHERE holder = $1`, holders[1]); err != nil {
		t.Fatal(err)
	}
	store := sessions.New(b.db, nil)
	for token, end := range map[string]time.Time{"old": time.Now().Add(-time.Minute), "new": time.Now().Add(time.Hour)} {
		if err := store.Commit(token, []byte("{}"), end); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(b.inventory.Purge(t.Context()), store.Purge(t.Context())); err != nil {
		t.Fatal(err)
	}
	var holds, rows int
	err := b.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM hold), (SELECT count(*) FROM session)`).Scan(&holds, &rows)
	if err != nil || holds != 2 || rows != 1 {
		t.Errorf("%d holds and %d sessions are left, %v; want 2 and 1", holds, rows, err)
	}
}

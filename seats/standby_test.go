package seats_test

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/seatstest"
)

// An operator cancels a commit that waits for the standby. It is on one server then, and seen by all; the claim waits on.
func TestClaim_IsGrantedOnceAFailoverKeepsIt(t *testing.T) {
	t.Parallel()
	db, standby := seatstest.DBWithStandby(t)
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", Slug: "evening", StartsAt: time.Date(2030, 5, 1, 19, 0, 0, 0, time.UTC)}, hall(1, 4)); err != nil {
		t.Fatal(err)
	}
	_, sale := node(t, db)
	known := seats.NewID()
	if _, err := sale.Claim(t.Context(), known, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}}); err != nil {
		t.Fatal(err)
	}
	for i, who := range []seats.ID{known, seats.NewID()} { // one takes locks, the other the fast path
		standby.Stall(t)
		answer := make(chan error, 1)
		go func() {
			_, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Seats: []string{[]string{"Stalls/A/2", "Stalls/A/3"}[i]}})
			answer <- err
		}()
		standby.Cancel(t)
		standby.AwaitCommit(t, answer)
		standby.Follow(t)
		if err := <-answer; err != nil {
			t.Fatalf("the claim was refused once the standby had it: %v", err)
		}
		if state := sale.Snapshot().States[i+1]; state != seats.Held {
			t.Errorf("the claim was granted, and the map of its node shows the seat as %s", state)
		}
	}
}

package seats_test

import (
	"slices"
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

// A server that takes over has none of what the old one showed without its standbys, and gives the same numbers again.
func TestCatchUp_AfterTheDatabaseWentBackTheMapIsTheNewOne(t *testing.T) {
	t.Parallel()
	for _, read := range []string{"the change that is lost", "the map with it"} {
		b := newBench(t, events.Settings{}, hall(1, 8))
		claim := func(s *seats.Sale, seat string) {
			t.Helper()
			if _, err := s.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/" + seat}}); err != nil {
				t.Fatal(err)
			}
		}
		exec := func(sql string) {
			t.Helper()
			if _, err := b.db.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		claim(b.sale, "1")
		_, other := node(t, b.db)
		before := []string{"seat_state", "counter", "change", "hold"}
		for _, table := range before {
			exec(`CREATE TABLE old_` + table + ` AS SELECT * FROM ` + table)
		}
		claim(b.sale, "2")
		if read == "the change that is lost" {
			if err := other.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else {
			_, other = node(t, b.db)
		}
		old := other.Version()
		for _, table := range before {
			exec(`SET session_replication_role = replica; DELETE FROM ` + table + `; INSERT INTO ` + table + ` SELECT * FROM old_` + table + `; RESET session_replication_role`)
		}
		_, fresh := node(t, b.db)
		claim(fresh, "3")
		claim(fresh, "4")
		if err := other.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, want := other.Snapshot(), fresh.Snapshot()
		if !slices.Equal(got.States, want.States) || got.Version != want.Version || got.Version <= old {
			t.Errorf("after %s was read, a node has %v at version %d, and the database %v at %d", read, got.States, got.Version, want.States, want.Version)
		}
	}
}

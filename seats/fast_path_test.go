package seats_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// A claim of one seat takes another statement than one of several. What is granted and what is not must be the same.
func TestFastPath_MeetsChangesItsNodeHasNotRead(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]seats.ClaimRequest{
		"one": {Seats: []string{"Stalls/D/1"}}, "two": {Seats: []string{"Stalls/D/1", "Floor/2"}},
		"a place": {Area: "Floor", Quantity: 1}, "places": {Area: "Floor", Quantity: 2},
	} {
		// meet is a node that did not hear of what another did before. Whatever it answers, the books are right.
		meet := func(event string, check func(t *testing.T, b *bench, late *seats.Sale)) {
			t.Run(name+" "+event, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, events.Settings{SeatsPerHolder: 3}, hall(4, 2))
				_, late := node(t, b.db)
				check(t, b, late)
				wantBooks(t, b)
			})
		}
		meet("free", func(t *testing.T, b *bench, late *seats.Sale) {
			who := seats.NewID()
			hold, err := late.Claim(t.Context(), who, "key", request)
			if err != nil || len(hold.Seats) != max(1, len(request.Seats), request.Quantity) || hold.ExpiresAt.Sub(hold.Now).Round(time.Minute) != 8*time.Minute {
				t.Fatalf("got %+v, %v", hold, err)
			}
			again, err := b.sale.Claim(t.Context(), who, "key", request)
			if err != nil || again.ID != hold.ID || !again.ExpiresAt.Equal(hold.ExpiresAt) {
				t.Errorf("the repeat got %+v, %v; want %+v", again, err, hold)
			}
		})
		meet("taken", func(t *testing.T, b *bench, late *seats.Sale) {
			b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/D/1", "Floor/1", "Floor/2"}})
			_, err := late.Claim(t.Context(), seats.NewID(), "key", request)
			want := seats.CodeTaken
			if request.Area != "" {
				want = seats.CodeSoldOut
			}
			wantRefusal(t, err, want)
		})
		meet("taken in part", func(t *testing.T, b *bench, late *seats.Sale) {
			b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Floor/1"}})
			_, _ = late.Claim(t.Context(), seats.NewID(), "key", request) // either answer may be right: the books tell
		})
		meet("of a visitor who has a seat", func(t *testing.T, b *bench, late *seats.Sale) {
			who := seats.NewID()
			b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
			hold, err := late.Claim(t.Context(), who, "key", request)
			if err != nil || len(hold.Seats) != 1+max(1, len(request.Seats), request.Quantity) {
				t.Errorf("got %+v, %v", hold, err)
			}
		})
		meet("of an event that is paused", func(t *testing.T, b *bench, late *seats.Sale) {
			b.set(t, events.Change{Status: seats.Paused, Reason: "A look at the doors"})
			_, err := late.Claim(t.Context(), seats.NewID(), "key", request)
			wantRefusal(t, err, seats.CodeShut)
		})
	}
}

// A fault of its statement would be slow only, because its claims come again with locks: so this asks for no locks.
func TestFastPath_GrantsManyClaimsInOneStatement(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 3}, hall(4, 9))
	var holders []seats.ID
	var requests []seats.ClaimRequest
	for _, names := range [][]string{{"Stalls/A/1", "Stalls/B/2", "Floor/3"}, {"Stalls/C/1"}, {"Floor/1", "Floor/2"}, {"Stalls/A/2", "Stalls/A/3"}} {
		holders, requests = append(holders, seats.NewID()), append(requests, seats.ClaimRequest{Seats: names})
	}
	if err := b.sale.ClaimFast(t.Context(), holders, requests); err != nil {
		t.Fatal(err)
	}
	for i, holder := range holders {
		hold, err := b.sale.Hold(t.Context(), holder)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]bool)
		for _, idx := range hold.Seats {
			got[b.sale.Plan.Label(idx)] = true
		}
		for _, name := range requests[i].Seats {
			if !got[name] || len(got) != len(requests[i].Seats) {
				t.Errorf("a claim of %v got %v", requests[i].Seats, got)
			}
		}
		for _, l := range hold.Lines {
			if want := b.sale.Plan.Categories[l.Category].Price; l.Price != want {
				t.Errorf("a seat of category %d costs %d, want %d", l.Category, l.Price, want)
			}
		}
	}
	wantBooks(t, b)
}

// The statement itself refuses what its node believes to be free: this node reads no changes.
func TestFastPath_TakesNoSeatThatSomeoneHolds(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(4, 2))
	late, err := seats.NewInventory(b.db, slog.New(slog.DiscardHandler)).Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/D/1", "Floor/2"}})
	for name, labels := range map[string][]string{"one": {"Stalls/D/1"}, "two": {"Stalls/D/1", "Floor/1"}} {
		if err := late.ClaimFast(t.Context(), []seats.ID{seats.NewID()}, []seats.ClaimRequest{{Seats: labels}}); !errors.Is(err, seats.ErrNotFast) {
			t.Errorf("%s: got %v, want that it comes again with locks", name, err)
		}
	}
	wantBooks(t, b)
}

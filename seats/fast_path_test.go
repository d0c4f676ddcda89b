package seats_test

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

// A claim of one seat takes another statement than one of several. What is granted and what is not must be the same.
func TestFastPath_MeetsChangesItsNodeHasNotRead(t *testing.T) {
	t.Parallel()
	for name, wish := range map[string]seats.ClaimRequest{
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
			hold, err := late.Claim(t.Context(), who, "key", wish)
			if err != nil || len(hold.Seats) != max(1, len(wish.Seats), wish.Quantity) || hold.ExpiresAt.Sub(hold.Now).Round(time.Minute) != 8*time.Minute {
				t.Fatalf("got %+v, %v", hold, err)
			}
			again, err := b.sale.Claim(t.Context(), who, "key", wish)
			if err != nil || again.ID != hold.ID || !again.ExpiresAt.Equal(hold.ExpiresAt) {
				t.Errorf("the repeat got %+v, %v; want %+v", again, err, hold)
			}
		})
		meet("taken", func(t *testing.T, b *bench, late *seats.Sale) {
			b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Stalls/D/1", "Floor/1", "Floor/2"}})
			_, err := late.Claim(t.Context(), seats.NewID(), "key", wish)
			want := seats.CodeTaken
			if wish.Area != "" {
				want = seats.CodeSoldOut
			}
			wantRefusal(t, err, want)
		})
		meet("taken in part", func(t *testing.T, b *bench, late *seats.Sale) {
			b.claim(t, seats.NewID(), seats.ClaimRequest{Seats: []string{"Floor/1"}})
			_, _ = late.Claim(t.Context(), seats.NewID(), "key", wish) // either answer may be right: the books tell
		})
		meet("of a visitor who has a seat", func(t *testing.T, b *bench, late *seats.Sale) {
			who := seats.NewID()
			b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
			hold, err := late.Claim(t.Context(), who, "key", wish)
			if err != nil || len(hold.Seats) != 1+max(1, len(wish.Seats), wish.Quantity) {
				t.Errorf("got %+v, %v", hold, err)
			}
		})
		meet("of an event that is paused", func(t *testing.T, b *bench, late *seats.Sale) {
			b.set(t, events.Change{Status: seats.Paused, Reason: "A look at the doors"})
			_, err := late.Claim(t.Context(), seats.NewID(), "key", wish)
			wantRefusal(t, err, seats.CodeShut)
		})
	}
}

package seats_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func TestClaim_OneSeatGoesToOneOfMany(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 1))
	_, other := node(t, b.db)
	var won, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 200 {
		sale := []*seats.Sale{b.sale, other}[i%2]
		all.Go(func() {
			_, err := sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
			var r *seats.Conflict
			switch {
			case err == nil:
				won.Add(1)
			case errors.As(err, &r) && r.Code == seats.CodeTaken:
				refused.Add(1)
			default:
				t.Errorf("neither yes nor no: %v", err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || refused.Load() != 199 {
		t.Errorf("%d got the seat and %d were refused, want 1 and 199", won.Load(), refused.Load())
	}
	wantBooks(t, b)
}

func TestOverlappingClaimsAreAllOrNothingAndTheBooksBalance(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{HoldLength: time.Second}, hall(6, 20))
	second, other := node(t, b.db)
	var all sync.WaitGroup
	work := make(chan int)
	for w := range 64 {
		sale := []*seats.Sale{b.sale, other}[w%2]
		who := seats.NewID()
		random := rand.New(rand.NewPCG(1, uint64(w)))
		all.Go(func() {
			for range work {
				if random.IntN(5) == 0 {
					if _, err := sale.Release(t.Context(), who); err != nil && !errors.Is(err, seats.ErrNoHold) {
						t.Errorf("release: %v", err)
					}
					continue
				}
				tryClaim(t, sale, who, randomRequest(b.sale, random))
			}
		})
	}
	for i := range 2000 {
		work <- i
	}
	close(work)
	all.Wait()
	if n := b.inventory.Deadlocks() + second.Deadlocks(); n != 0 {
		t.Errorf("%d deadlocks, want none", n)
	}
	wantBooks(t, b)
}

// tryClaim claims and checks that a yes names every seat, and that a no left none of them to the holder.
func tryClaim(t *testing.T, sale *seats.Sale, who seats.ID, w seats.ClaimRequest) {
	hold, err := sale.Claim(t.Context(), who, "", w)
	var r *seats.Conflict
	if err != nil {
		if !errors.As(err, &r) {
			t.Errorf("claim: %v", err)
		}
		return
	}
	has := map[int]bool{}
	for _, idx := range hold.Seats {
		has[idx] = true
	}
	for _, label := range w.Seats {
		if idx, _ := sale.Seat(label); !has[idx] {
			t.Errorf("a granted claim of %v holds only %v", w.Seats, hold.Seats)
		}
	}
}

func randomRequest(s *seats.Sale, random *rand.Rand) seats.ClaimRequest {
	switch random.IntN(6) {
	case 0:
		return seats.ClaimRequest{Area: "Floor", Quantity: 1 + random.IntN(3)}
	case 1:
		return seats.ClaimRequest{Best: 1 + random.IntN(3), Category: "A"}
	}
	var w seats.ClaimRequest
	for _, idx := range random.Perm(60)[:1+random.IntN(4)] {
		w.Seats = append(w.Seats, s.Plan.Label(idx))
	}
	return w
}

func TestNoFreePlaceIsRefusedToACrowd(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(26, 740))
	_, other := node(t, b.db)
	var won, soldOut atomic.Int32
	var all sync.WaitGroup
	for i := range 900 {
		sale := []*seats.Sale{b.sale, other}[i%2]
		all.Go(func() {
			_, err := sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1})
			var r *seats.Conflict
			switch {
			case err == nil:
				won.Add(1)
			case errors.As(err, &r) && r.Code == seats.CodeSoldOut:
				soldOut.Add(1)
			default:
				t.Errorf("neither yes nor no: %v", err)
			}
		})
	}
	all.Wait()
	if won.Load() != 740 || soldOut.Load() != 160 {
		t.Errorf("%d of 740 places went, %d people were told sold out; want 740 and 160", won.Load(), soldOut.Load())
	}
	wantBooks(t, b)
}

func TestAClaimIsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(2, 1))
	first, second := seats.NewID(), seats.NewID()
	b.claim(t, first, seats.ClaimRequest{Seats: []string{"Stalls/A/2"}})
	_, err := b.sale.Claim(t.Context(), second, "", seats.ClaimRequest{Seats: []string{"Stalls/A/1", "Stalls/A/2"}})
	r := wantRefusal(t, err, seats.CodeTaken)
	if len(r.Seats) != 1 || r.Seats[0] != 1 || len(r.Nearest) != 1 || r.Nearest[0] == 1 {
		t.Errorf("refused %v with %v nearest, want seat 1 and a free one", r.Seats, r.Nearest)
	}
	if _, err := b.sale.Hold(t.Context(), second); !errors.Is(err, seats.ErrNoHold) {
		t.Errorf("after a refusal the hold is %v, want none", err)
	}
}

func TestARepeatedClaimGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 10))
	who, ctx := seats.NewID(), t.Context()
	first, err := b.sale.Claim(ctx, who, "k", seats.ClaimRequest{Area: "Floor", Quantity: 2})
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.sale.Claim(ctx, who, "k", seats.ClaimRequest{Area: "Floor", Quantity: 2})
	if err != nil || again.ID != first.ID || len(again.Seats) != 2 || !again.ExpiresAt.Equal(first.ExpiresAt) {
		t.Errorf("the repeat got %+v, %v; want %+v", again, err, first)
	}
	var n *seats.Conflict
	if _, err = b.sale.Claim(ctx, who, "k", seats.ClaimRequest{Area: "Floor", Quantity: 1}); !errors.As(err, &n) || n.Code != seats.CodeKey {
		t.Errorf("the same key with another request got %v, want a refusal of the key", err)
	}
	wantBooks(t, b)
}

func TestMoreSeatsNeverResetTheClockAndTheLimitHolds(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{SeatsPerHolder: 3}, hall(2, 1))
	who := seats.NewID()
	first := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/1"}})
	second := b.claim(t, who, seats.ClaimRequest{Seats: []string{"Stalls/A/2", "Stalls/A/3"}})
	if !second.ExpiresAt.Equal(first.ExpiresAt) || len(second.Seats) != 3 || second.ID != first.ID {
		t.Errorf("after more seats the hold is %+v, want three seats until %v", second, first.ExpiresAt)
	}
	_, err := b.sale.Claim(context.Background(), who, "", seats.ClaimRequest{Seats: []string{"Stalls/A/4"}})
	wantRefusal(t, err, seats.CodeLimit)
	_, err = b.sale.Claim(context.Background(), who, "", seats.ClaimRequest{Best: 1, Category: "A"})
	wantRefusal(t, err, seats.CodeLimit)
}

func TestBestSeatsAreTogetherAndNearTheFocus(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(3, 1))
	hold := b.claim(t, seats.NewID(), seats.ClaimRequest{Best: 3, Category: "A"})
	if len(hold.Seats) != 3 || hold.Seats[2] != hold.Seats[0]+2 || hold.Seats[2] > 9 {
		t.Errorf("the best three are %v, want three side by side in the first row", hold.Seats)
	}
}

func TestNonsenseHoldsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, events.Settings{}, hall(1, 5))
	for name, w := range map[string]seats.ClaimRequest{
		"nothing": {}, "two ways": {Seats: []string{"Stalls/A/1"}, Best: 1, Category: "A"}, "unknown seat": {Seats: []string{"Stalls/Z/1"}},
		"doubly named": {Seats: []string{"Stalls/A/1", "Stalls/A/1"}}, "no quantity": {Area: "Floor"}, "less than nothing": {Area: "Floor", Quantity: -1},
		"too many": {Area: "Floor", Quantity: 1e9}, "unknown area": {Area: "Moon", Quantity: 1}, "a section is no area": {Area: "Stalls", Quantity: 1},
		"unknown category": {Best: 1, Category: "Z"},
	} {
		var n *seats.ValidationError
		if _, err := b.sale.Claim(t.Context(), seats.NewID(), "", w); !errors.As(err, &n) {
			t.Errorf("%s: got %v, want nonsense", name, err)
		}
	}
	if v := b.sale.Version(); v != 0 {
		t.Errorf("nonsense made version %d", v)
	}
}

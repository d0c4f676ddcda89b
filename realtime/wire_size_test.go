package realtime

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/usherbox/usher/seats"
)

func TestADeltaOf500SeatsIsAKilobyteAtMost(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1_000, 5_000, 20_000, 50_000, 100_000} {
		dice, idxs := rand.New(rand.NewPCG(1, uint64(n))), map[int]bool{}
		for len(idxs) < 500 {
			idxs[dice.IntN(n)] = true
		}
		d := seats.Delta{From: 41_000, To: 41_020}
		for range 5 {
			for _, to := range []*[]int{&d.Counts.Free, &d.Counts.Held, &d.Counts.Sold, &d.Counts.Blocked} {
				*to = append(*to, n/20)
			}
		}
		for idx := range idxs {
			d.Changes = append(d.Changes, seats.SeatChange{Idx: idx, State: seats.Held})
		}
		slices.SortFunc(d.Changes, func(a, b seats.SeatChange) int { return a.Idx - b.Idx })
		size := len(enframe(opBinary, delta(7, d)))
		t.Logf("of %d seats: %d bytes", n, size)
		if size > 1024 {
			t.Errorf("500 of %d seats, anywhere, take %d bytes", n, size)
		}
	}
}

package seats

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestTheBitsOfAMapAreItsStates(t *testing.T) {
	t.Parallel()
	const n = 1001
	s := &Sale{eventState: &eventState{}}
	s.seats.of, s.seats.open = make([]int32, n), make([]int32, 1)
	s.seats.reset(7, 0, make([]State, n), Counts{}, nil)
	random := rand.New(rand.NewPCG(1, 2))
	for version := range 500 {
		c := Change{Version: int64(version + 1)}
		for range 1 + random.IntN(9) {
			c.Idx = append(c.Idx, random.Int32N(n))
			c.State = append(c.State, int16(random.IntN(len(stateNames))))
			c.Holder = append(c.Holder, NewID())
		}
		if !s.seats.apply(c) {
			t.Fatalf("version %d was not taken", c.Version)
		}
		if got, want := s.Bitmap(), s.Snapshot().Bitmap(); !bytes.Equal(got.Bits, want.Bits) || got.Version != want.Version || got.Seats != n {
			t.Fatalf("at version %d the bits are %x, the states say %x", c.Version, got.Bits, want.Bits)
		}
	}
}

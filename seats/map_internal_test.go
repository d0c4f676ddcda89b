package seats

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
)

func TestTheBitsOfAMapAreItsStates(t *testing.T) {
	t.Parallel()
	const n = 1001
	s := &Sale{eventState: &eventState{}}
	s.seats.of, s.seats.open = make([]int32, n), make([]int32, 1)
	s.seats.reset(7, 0, time.Time{}, make([]State, n), countsOf(make([]State, n)), nil)
	random := rand.New(rand.NewPCG(1, 2))
	states := make([]State, n)
	for version := range 500 {
		c := Change{Version: int64(version + 1)}
		for _, idx := range random.Perm(n)[:1+random.IntN(9)] {
			states[idx] = State(random.IntN(len(stateNames)))
			c.Idx, c.State, c.Holder = append(c.Idx, int32(idx)), append(c.State, int16(states[idx])), append(c.Holder, NewID())
		}
		c.Counts = countsOf(states)
		if !s.seats.apply(c) {
			t.Fatalf("version %d was not taken", c.Version)
		}
		if got, want := s.Bitmap(), s.Snapshot().Bitmap(); !bytes.Equal(got.Bits, want.Bits) || got.Version != want.Version || got.Seats != n {
			t.Fatalf("at version %d the bits are %x, the states say %x", c.Version, got.Bits, want.Bits)
		}
	}
}

// countsOf are the counts of a house with one category.
func countsOf(states []State) Counts {
	var n [4]int
	for _, state := range states {
		n[state.Bits()]++
	}
	return Counts{Free: n[0:1], Held: n[1:2], Sold: n[2:3], Blocked: n[3:4]}
}

func TestMap_AVersionThatDoesNotFollowIsNotTaken(t *testing.T) {
	t.Parallel()
	s := &Sale{eventState: &eventState{}}
	s.seats.of, s.seats.open = make([]int32, 4), make([]int32, 1)
	s.seats.reset(7, 0, time.Time{}, make([]State, 4), countsOf(make([]State, 4)), nil)
	take := func(version int64, counts []State, idx int32, state State) bool {
		return s.seats.apply(Change{Version: version, Idx: []int32{idx}, State: []int16{int16(state)}, Holder: []ID{NewID()}, Counts: countsOf(counts)})
	}
	if !take(1, []State{Held, Free, Free, Free}, 0, Held) {
		t.Fatal("the first version was not taken")
	}
	if take(2, []State{Free, Held, Free, Free}, 1, Held) { // of a server that never had the first one
		t.Error("a version was taken whose counts are not those of its seats")
	}
	if take(2, []State{Held, Held, Free, Free}, 1, Held) || !s.seats.isTorn() || s.Version() != 1 {
		t.Error("a map that belongs to another history went on")
	}
	s.seats.reset(8, 5, time.Unix(1, 0), make([]State, 4), countsOf(make([]State, 4)), nil)
	if s.seats.compare(5, new(time.Unix(1, 0))); s.seats.isTorn() {
		t.Error("a map that was read anew does not go on with its own history")
	}
	if s.seats.compare(5, nil); !s.seats.isTorn() {
		t.Error("a map goes on where the database has not its version")
	}
}

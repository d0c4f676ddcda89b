package waitingroom_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/waitingroom"
)

// waiting makes a fixture of two nodes without loops and an open room in which n people wait.
func waiting(t *testing.T, n int64) (*fixture, []*node) {
	t.Helper()
	h := build(t, waitingroom.NewRoom{Slots: 10})
	nodes := []*node{h.node(t, false), h.node(t, false)}
	h.exec(t, `UPDATE room SET phase = 'open', line = $1, version = version + 1`, n)
	for _, n := range nodes {
		n.read(t)
	}
	return h, nodes
}

// window has all nodes begin the window of signs of life at a time, and read what they all counted in the one before.
func window(t *testing.T, nodes []*node, at time.Time) {
	t.Helper()
	for _, n := range nodes {
		if err := n.room.CountAt(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range nodes {
		if err := n.room.ReadPresence(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPresence_VisitorsAreCountedOnceOverAllNodes(t *testing.T) {
	t.Parallel()
	h, nodes := waiting(t, 1000)
	start := time.Now().Truncate(waitingroom.WindowLength)
	window(t, nodes, start)
	during := start.Add(waitingroom.WindowLength / 2)
	// All up to 200 are there, and of the others those with an even number; each says so five times.
	for k := int64(1); k <= 1000; k++ {
		if k > 200 && k%2 == 1 {
			continue
		}
		for range 5 {
			nodes[k%2].room.HereAt(waitingroom.Place{Room: nodes[0].room.ID, Epoch: 1, Kind: waitingroom.Line, Index: k}, during)
		}
	}
	for _, unknown := range []waitingroom.Place{{Room: 1, Epoch: 1, Kind: waitingroom.Lobby, Index: 1}, {Room: 1, Epoch: 7, Kind: waitingroom.Line, Index: 2}} {
		nodes[0].room.HereAt(unknown, during) // a place that has no number
	}
	window(t, nodes, during.Add(waitingroom.WindowLength))
	for i, n := range nodes {
		p := n.room.Present()
		if p == nil {
			t.Fatalf("node %d counts no visitor", i)
		}
		if all, first := p.Between(0, 1000), p.Between(0, 200); math.Abs(all-600) > 0.01 || math.Abs(first-200) > 0.01 {
			t.Errorf("node %d counts %.1f people, %.1f of them up to number 200; there are 600 and 200", i, all, first)
		}
	}
	if n := h.one(t, `SELECT count(*) FROM presence`); n != 2 {
		t.Errorf("two nodes have %d rows", n)
	}
}

func TestSignsOfLifeOfAnotherWindowOrOfOnesThatWereNotAskedAreNotCounted(t *testing.T) {
	t.Parallel()
	const people = 60_000
	_, nodes := waiting(t, people)
	start := time.Now().Truncate(waitingroom.WindowLength)
	window(t, nodes, start)
	now := start.Add(time.Second)
	share, asked := 15_000.0/people, 0
	for k := int64(1); k <= people; k++ {
		p := waitingroom.Place{Room: nodes[0].room.ID, Epoch: 1, Kind: waitingroom.Line, Index: k}
		if waitingroom.DrawnFor(p, now, share) {
			asked++
		}
		nodes[0].room.HereAt(p, now.Add(-waitingroom.WindowLength)) // late
		if k <= people/2 {
			nodes[0].room.HereAt(p, now) // half of all, and most were not asked
		}
	}
	if math.Abs(float64(asked)-15_000) > 500 {
		t.Errorf("%d of %d are asked; it should be 15,000", asked, people)
	}
	window(t, nodes, now.Add(waitingroom.WindowLength))
	p := nodes[0].room.Present()
	if p == nil {
		t.Fatal("no visitor was counted")
	}
	if half, rest := p.Between(0, people/2), p.Between(people/2, people); math.Abs(half-people/2) > people/40 || rest > people/100 {
		t.Errorf("of 30,000 who are there %.0f are counted, and %.0f of those who are not", half, rest)
	}
}

func TestPresence_EmptyRoomWritesNothing(t *testing.T) {
	t.Parallel()
	h, nodes := waiting(t, 100)
	start := time.Now().Truncate(waitingroom.WindowLength)
	window(t, nodes, start)
	if n := h.one(t, `SELECT count(*) FROM presence`); n != 0 {
		t.Errorf("no visitor was there, and %d rows were written", n)
	}
	during := start
	nodes[0].room.HereAt(waitingroom.Place{Room: nodes[0].room.ID, Epoch: 1, Kind: waitingroom.Line, Index: 50}, during)
	window(t, nodes, during.Add(waitingroom.WindowLength))
	if sum := h.one(t, `SELECT (SELECT sum(n) FROM unnest(people) n)::bigint FROM presence`); sum > 1 {
		t.Errorf("one was there, and %d were written", sum)
	}
	window(t, nodes, during.Add(2*waitingroom.WindowLength))
	if sum := h.one(t, `SELECT (SELECT sum(n) FROM unnest(people) n)::bigint FROM presence`); sum != 0 {
		t.Errorf("everybody went away, and %d are still counted", sum)
	}
}

func TestCountsOfNodesThatKnewFewerNumbersAddUp(t *testing.T) {
	t.Parallel()
	h, nodes := waiting(t, 1024) // four numbers share a count
	h.exec(t, `INSERT INTO presence (room_id, node, width, people) SELECT id, gen_random_uuid(), 1, array_fill(1::real, ARRAY[256]) FROM room`)
	h.exec(t, `INSERT INTO presence (room_id, node, width, people) SELECT id, gen_random_uuid(), 4, array_fill(2::real, ARRAY[256]) FROM room`)
	h.exec(t, `INSERT INTO presence (room_id, node, width, people, counted_at) SELECT id, gen_random_uuid(), 4, array_fill(9::real, ARRAY[256]), clock_timestamp() - interval '2 minutes' FROM room`)
	window(t, nodes[:1], time.Now())
	p := nodes[0].room.Present()
	if p == nil || p.Width != 4 || len(p.People) != 256 {
		t.Fatalf("the counts add up to %+v", p)
	}
	want := slices.Repeat([]float64{2}, 256)
	for i := range 64 {
		want[i] = 6 // four of the narrow counts, and one wide
	}
	if !slices.Equal(p.People, want) {
		t.Errorf("the counts add up to %v", p.People)
	}
}

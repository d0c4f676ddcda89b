package seats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// terrace is rows of twelve seats with an aisle after the fourth, a wheelchair place at each left end, in two
// categories.
func terrace(rows int) *Plan {
	p := &Plan{Width: 240, Categories: []Category{{Key: "A"}, {Key: "B"}}, Sections: []Section{{Name: "S", Count: rows * 12}}}
	for r := range rows {
		for n := range 12 {
			s := Seat{Row: string(rune('A' + r)), Category: r / 3 % 2, X: float64(20 * n), Y: float64(40 * (r + 1))}
			if n == 0 {
				s.Flags |= Accessible
			}
			if n == 3 {
				s.Flags |= AisleAfter
			}
			p.Seats = append(p.Seats, s)
		}
	}
	return p
}

// cheapest tries every window, the slow way.
func cheapest(s *Sale, c *choice, free func(int) bool) float64 {
	least := math.Inf(1)
	for i, at := range s.runs.all {
		if s.Plan.Seats[at.first].Category != c.Category {
			continue
		}
	windows:
		for from := at.first; from+c.n <= at.first+at.count; from++ {
			for idx := from; idx < from+c.n; idx++ {
				if !free(idx) {
					continue windows
				}
			}
			cost := s.runs.away[from] + s.runs.away[from+c.n-1] + s.orphansCost(s.runs.all[i], from, from+c.n-1, free)
			least = min(least, cost)
		}
	}
	return least
}

func TestBestIsAsGoodAsTryingEveryWindow(t *testing.T) {
	t.Parallel()
	s := newSale(nil, Event{}, terrace(9), &Prices{})
	random := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		share := random.Float64()
		states, open := make([]bool, len(s.Plan.Seats)), map[int32]int{}
		left := map[int]int{}
		for idx := range states {
			if states[idx] = random.Float64() < share; states[idx] {
				open[s.runs.of[idx]]++
				left[s.Plan.Seats[idx].Category]++
			}
		}
		free := func(idx int) bool { return states[idx] }
		c := &choice{Scope: Scope{Section: -1, Category: random.IntN(2)}, n: 1 + random.IntN(5)}
		got := s.best(c, free, func(i int32) int { return open[i] })
		if (got == nil) != (left[c.Category] < c.n) {
			t.Fatalf("%d of %d free: got %v", c.n, left[c.Category], got)
		}
		for i, idx := range got {
			if !free(idx) || s.Plan.Seats[idx].Category != c.Category || i > 0 && got[i-1] >= idx {
				t.Fatalf("%v is not %d free seats of category %d in order", got, c.n, c.Category)
			}
		}
		ordinary := func(idx int) bool { return free(idx) && s.Plan.Seats[idx].Flags&Accessible == 0 }
		if want := cheapest(s, c, ordinary); !math.IsInf(want, 1) {
			last := got[len(got)-1]
			cost := s.runs.away[got[0]] + s.runs.away[last] + s.orphansCost(s.runs.all[s.runs.of[got[0]]], got[0], last, ordinary)
			if last-got[0] != c.n-1 || math.Abs(cost-want) > 1e-9 {
				t.Fatalf("chose %v at %v, the best costs %v", got, cost, want)
			}
		}
	}
}

func BenchmarkBestInAFullStadium(b *testing.B) {
	s := newSale(nil, Event{}, terrace(4000), &Prices{})
	free := func(idx int) bool { return idx%97 == 0 }
	c := &choice{Scope: Scope{Section: -1}, n: 1}
	for b.Loop() {
		s.best(c, free, func(i int32) int { return 1 })
	}
}

func TestPropose_DiffersAndKeepsToWhatAPartyWants(t *testing.T) {
	t.Parallel()
	s := newSale(nil, Event{}, terrace(9), &Prices{})
	prices := []int64{9000, 4000}
	taken := map[int]bool{}
	party := Party{Size: 3, Together: true, Price: func(c int) (int64, bool) { return 3 * prices[c], true }}
	propose := func() []Proposal {
		return s.propose(party, func(idx int) bool { return !taken[idx] }, func(i int32) int { return s.runs.all[i].count })
	}
	seen := map[int]bool{}
	look := func(want ...string) []Proposal {
		t.Helper()
		list := propose()
		var why []string
		for _, p := range list {
			why = append(why, p.Why)
			for i, idx := range p.Seats {
				if seen[idx] || taken[idx] || idx != p.Seats[0]+i || s.runs.of[idx] != s.runs.of[p.Seats[0]] || s.Plan.Seats[idx].Flags&Accessible != 0 {
					t.Errorf("%v is proposed: taken, proposed before, apart or a wheelchair place", p.Seats)
				}
				seen[idx] = true
			}
			if category := s.Plan.Seats[p.Seats[0]].Category; p.Price != 3*prices[category] {
				t.Errorf("%v cost %d", p.Seats, p.Price)
			}
		}
		if !slices.Equal(why, want) {
			t.Errorf("the reasons are %q, want %q", why, want)
		}
		return list
	}
	first := look(ForValue, ForSight, ForPrice)
	if closest := first[1]; s.Plan.Seats[closest.Seats[0]].Row != "A" {
		t.Errorf("the closest are %v", closest.Seats)
	}
	for idx := range seen {
		taken[idx] = true
	}
	look(ForValue, ForSight, ForPrice) // others
	party.Price = func(c int) (int64, bool) { return 3 * prices[c], c == 1 }
	clear(seen)
	look(ForSight, ForChoice, ForChoice)
	party.Aisle = true
	clear(seen)
	for _, p := range look(ForSight, ForChoice, ForChoice) {
		run := s.runs.all[s.runs.of[p.Seats[0]]]
		if p.Seats[0] != run.first && p.Seats[2] != run.first+run.count-1 {
			t.Errorf("%v are on no aisle", p.Seats)
		}
	}
	party.Size = 13
	if list := propose(); list != nil {
		t.Errorf("rows of twelve have %v for thirteen", list)
	}
	party.Together, party.Aisle = false, false
	if list := propose(); len(list) != 1 || len(list[0].Seats) != 13 {
		t.Errorf("thirteen who sit apart get %v", list)
	}
}

// Each seat gets the closest free one of its category and section in its place, or an expired one if none is free.
func TestNearest_IsTheClosestFreeSeat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := &Plan{Categories: []Category{{Key: "A"}, {Key: "B"}}}
		for i := range 2 {
			section := Section{Name: string(rune('S' + i)), First: len(p.Seats), Count: rapid.IntRange(1, 40).Draw(rt, "seats")}
			for n := range section.Count {
				p.Seats = append(p.Seats, Seat{
					Section: i, Category: rapid.IntRange(0, 1).Draw(rt, "category"), Row: "A", X: float64(rapid.IntRange(0, 30).Draw(rt, "x")), Y: float64(n), Number: string(rune('a' + n)),
				})
			}
			p.Sections = append(p.Sections, section)
		}
		s := &Sale{Plan: p, eventState: &eventState{}}
		s.know(p)
		states := make([]State, len(p.Seats))
		for i := range states {
			states[i] = rapid.SampledFrom([]State{Free, Free, Expired, Held, Paying, Sold, Blocked}).Draw(rt, "state")
		}
		s.seats.states = states
		lost := rapid.SliceOfNDistinct(rapid.IntRange(0, len(p.Seats)-1), 1, min(4, len(p.Seats)), rapid.ID[int]).Draw(rt, "lost")
		var want []int
		for _, from := range lost {
			best := -1
			away := func(idx int) float64 {
				x, y := p.Seats[idx].X-p.Seats[from].X, p.Seats[idx].Y-p.Seats[from].Y
				return x*x + y*y
			}
			for idx, seat := range p.Seats {
				if states[idx].Shown() != Free || seat.Section != p.Seats[from].Section || seat.Category != p.Seats[from].Category || slices.Contains(lost, idx) || slices.Contains(want, idx) {
					continue
				}
				if best < 0 || states[best] == Expired && states[idx] == Free || states[best] == states[idx] && away(idx) < away(best) {
					best = idx
				}
			}
			if best >= 0 {
				want = append(want, best)
			}
		}
		if got := s.Nearest(lost); !slices.Equal(got, want) {
			rt.Fatalf("in place of %v: %v, want %v of %v", lost, got, want, states)
		}
	})
}

package seats

import (
	"slices"
	"testing"
)

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

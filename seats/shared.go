package seats

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats/text"
)

// A plan may say that a row or a table is shared: it is sold by the chair, and each party at it has a least and a most number of
// chairs. What a hold or a sale has there in the end is judged, with what it had before: every command that gives seats to people asks
// RefuseParty. A ticket that is given back afterwards leaves a smaller party, which may stay.

// Shared is how many chairs a party has at a row or table that is shared.
type Shared struct {
	Least, Most int
	NoRest      bool `json:",omitempty"` // no claim of a visitor leaves fewer chairs than the next party needs, and never one, if it can do otherwise
}

// rest is the least number of free chairs that may be left beside none.
func (t *Shared) rest() int { return max(2, t.Least) }

// SharedRow is a row or table that is shared. All its seats are of one category.
type SharedRow struct {
	Section int // position in Plan.Sections
	Row     string
	Shared
}

// CodePartySize is the code of a refusal: at a shared table the party would be too small or too large.
const CodePartySize = "party_size"

// SharedRows are the rows and tables that are shared, and how; nil if the plan has none.
func (p *Plan) SharedRows() map[WholeRow]*Shared {
	if len(p.Shared) == 0 {
		return nil
	}
	known := make(map[WholeRow]*Shared, len(p.Shared))
	for i := range p.Shared {
		known[WholeRow{p.Shared[i].Section, p.Shared[i].Row}] = &p.Shared[i].Shared
	}
	return known
}

// sharedRuns is how each run is shared; nil if the plan has no such row.
func (p *Plan) sharedRuns(all []run, known map[WholeRow]*Shared) []*Shared {
	if known == nil {
		return nil
	}
	shared := make([]*Shared, len(all))
	for i, r := range all {
		seat := &p.Seats[r.first]
		shared[i] = known[WholeRow{seat.Section, seat.Row}]
	}
	return shared
}

// sharing is how a run is shared; nil if it is not.
func (t *runs) sharing(run int32) *Shared {
	if t.shared == nil {
		return nil
	}
	return t.shared[run]
}

// isGrouped reports whether the seats of a run are chosen for a party of its own: it is sold whole, or shared.
func (t *runs) isGrouped(run int32) bool { return t.isWhole(run) || t.sharing(run) != nil }

// Grouped reports whether a seat is chosen with others of its row only: the row is sold whole, or shared.
func (s *Sale) Grouped(idx int) bool { return s.runs.isGrouped(s.runs.of[idx]) }

// parties counts how many of some seats are at each shared row.
func (t *runs) parties(seats []int) map[int32]int {
	counts := map[int32]int{}
	if t.shared == nil {
		return counts
	}
	for _, idx := range seats {
		if i := t.of[idx]; t.shared[i] != nil {
			counts[i]++
		}
	}
	return counts
}

// RefuseParty refuses to give somebody seats of which too few or too many are at one shared row. Each seat is named once.
func (s *Sale) RefuseParty(seats []int) error {
	return s.refuseParty(seats, seats)
}

// refuseParty is the same where only the rows of the changed seats are judged.
func (s *Sale) refuseParty(seats, changed []int) error {
	t := s.runs
	if t.shared == nil {
		return nil
	}
	counts := t.parties(seats)
	for _, idx := range changed {
		i := t.of[idx]
		if r, n := t.shared[i], counts[i]; r != nil && n > 0 && (n < r.Least || n > r.Most) {
			return &Conflict{
				Code: CodePartySize, Seats: slices.DeleteFunc(slices.Clone(seats), func(idx int) bool { return t.of[idx] != i }),
				Message: text.Mark("At %s, each party has %d to %d seats, and this would be %d. Nothing was changed. Choose more or fewer seats there."), Args: []any{rowName{s.Plan, t.all[i].first}, r.Least, r.Most, n},
			}
		}
	}
	return nil
}

// rowName is a row or table in a message: "Hall, Table 4" or "Hall, row C".
type rowName struct {
	plan *Plan
	seat int
}

// In writes it in the language of the reader.
func (n rowName) In(ctx context.Context) string {
	seat := &n.plan.Seats[n.seat]
	section := n.plan.SectionIn(ctx, seat.Section)
	if OwnName(seat.Row) {
		return text.T(ctx, "%s, %s", section, seat.Row)
	}
	return text.T(ctx, "%s, row %s", section, seat.Row)
}

// LargestParty is the most seats that a party needs at a shared row or table at least; 0 if none is shared.
func (s *Sale) LargestParty() (most int) {
	for _, r := range s.runs.shared {
		if r != nil {
			most = max(most, r.Least)
		}
	}
	return most
}

// tooFew are those of a holder's seats that would be left at shared rows in too small a number, once some are released.
func (t *runs) tooFew(has, released []int) (more []int) {
	if t.shared == nil {
		return nil
	}
	left := t.parties(slices.DeleteFunc(slices.Clone(has), func(idx int) bool { return slices.Contains(released, idx) }))
	touched := t.parties(released)
	for _, idx := range has {
		if i := t.of[idx]; touched[i] > 0 && left[i] < t.shared[i].Least && !slices.Contains(released, idx) {
			more = append(more, idx)
		}
	}
	return more
}

// restCost is what it costs a window of n seats to leave fewer chairs at a shared row than the next party needs.
func (t *runs) restCost(i int32, n int, free func(int) bool) float64 {
	r := t.sharing(i)
	if r == nil || !r.NoRest {
		return 0
	}
	left := -n
	for _, idx := range t.seatsOf(i) {
		if free(idx) {
			left++
		}
	}
	if left > 0 && left < r.rest() {
		return 20 * orphanCost
	}
	return 0
}

// refuseRest refuses a claim of a visitor that would leave fewer chairs at a shared row than the next party needs, where the plan says
// so and the claim can do otherwise, with a chair more or fewer. It looks at this node's map, as refuseOrphans does.
func (s *Sale) refuseRest(c *command) *Conflict {
	t := s.runs
	if t.shared == nil || c.choice != nil {
		return nil
	}
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	for i, n := range t.parties(c.seats) {
		r := t.shared[i]
		if !r.NoRest {
			continue
		}
		var left []int
		for _, idx := range t.seatsOf(i) {
			if m.states[idx].Shown() == Free && !slices.Contains(c.seats, idx) {
				left = append(left, idx)
			}
		}
		if len(left) == 0 || len(left) >= r.rest() || n+len(left) > min(r.Most, s.Event.SeatsPerHolder) && n-1 < r.Least {
			continue
		}
		return &Conflict{
			Code: CodeOrphan, Seats: c.seats,
			Message: text.Mark("Please leave enough seats for another party at %s. Choose %s, too, or fewer seats there. Your other seats are still held."), Args: []any{rowName{s.Plan, t.all[i].first}, s.named(left)},
		}
	}
	return nil
}

// WithParty is labels of seats with those that are needed beside them at shared rows, for a visitor who has some seats already: as many
// as the least party has, the nearest first, and what would be left of the row if that may not be. It is for pages, where people choose
// one seat at a time.
func (s *Sale) WithParty(has []int, labels []string) []string {
	t := s.runs
	if t.shared == nil {
		return labels
	}
	var named []int
	for _, label := range labels {
		if idx, ok := s.Seat(label); ok && !slices.Contains(named, idx) {
			named = append(named, idx)
		}
	}
	m := &s.seats
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := slices.Clone(labels)
	for i, n := range t.parties(named) {
		r, near := t.shared[i], -1
		n += t.parties(slices.DeleteFunc(slices.Clone(has), func(idx int) bool { return slices.Contains(named, idx) }))[i]
		var free []int
		for _, idx := range t.seatsOf(i) {
			switch {
			case slices.Contains(named, idx):
				near = idx
			case m.states[idx].Shown() == Free && !slices.Contains(has, idx):
				free = append(free, idx)
			}
		}
		slices.SortStableFunc(free, func(a, b int) int { return abs(a-near) - abs(b-near) })
		need := min(max(0, r.Least-n), len(free))
		if left := len(free) - need; r.NoRest && left > 0 && left < r.rest() && n+need+left <= r.Most {
			need += left
		}
		for _, idx := range free[:need] {
			all = append(all, s.Plan.Label(idx))
		}
	}
	return all
}

func abs(n int) int { return max(n, -n) }

// AtShared reports whether one of some seats is at a shared row.
func (s *Sale) AtShared(labels []string) bool {
	return s.runs.shared != nil && slices.ContainsFunc(labels, func(label string) bool {
		idx, ok := s.Seat(label)
		return ok && s.runs.sharing(s.runs.of[idx]) != nil
	})
}

// sharedLate is n seats side by side of a shared row that may be had, some of them perhaps of expired holds. Nil if there are none.
func (s *Sale) sharedLate(c *choice, may func(idx int) bool) []int {
	t := s.runs
	for _, i := range t.in(c.Scope) {
		if t.sharing(i) == nil || !t.fits(i, c.n) {
			continue
		}
		run := 0
		for _, idx := range t.seatsOf(i) {
			if run++; !may(idx) {
				run = 0
			}
			if run == c.n {
				return t.seatsOf(i)[idx-t.all[i].first-c.n+1 : idx-t.all[i].first+1]
			}
		}
	}
	return nil
}

// refuseMoved judges parties that are moved to shared rows. As many seats as leave a row may come to it: people change their chairs.
func (s *Sale) refuseMoved(from, to []int) error {
	t := s.runs
	left, come := t.parties(from), t.parties(to)
	return s.RefuseParty(slices.DeleteFunc(slices.Clone(to), func(idx int) bool {
		n := come[t.of[idx]]
		return n > 0 && left[t.of[idx]] == n
	}))
}

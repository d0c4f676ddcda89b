package seats

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats/text"
)

// A plan may say that a row or a table is shared: it is sold by the chair, and each party at it has a least and a most number of
// chairs. What a hold or a sale has there in the end is judged, with what it had before: every command that gives seats to people asks
// refuseParty, but renewals (keep.go). A ticket that is given back afterwards leaves a smaller party, which may stay, and so may one that takes all that is free.

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
	return s.refuseParty(seats, seats, nil)
}

// refuseParty is the same where only the rows of the changed seats are judged, and where a party may be smaller that leaves none of the
// seats for which free holds. Nil: no party may.
func (s *Sale) refuseParty(seats, changed []int, free func(idx int) bool) error {
	t := s.runs
	if t.shared == nil {
		return nil
	}
	counts := t.parties(seats)
	more := func(i int32) bool {
		return free == nil || slices.ContainsFunc(t.seatsOf(i), func(idx int) bool { return free(idx) && !slices.Contains(seats, idx) })
	}
	for _, idx := range changed {
		i := t.of[idx]
		if r, n := t.shared[i], counts[i]; r != nil && n > 0 && (n > r.Most || n < r.Least && more(i)) {
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
// so and the claim can do otherwise, with more or fewer chairs. has is what the visitor would have there in all, fresh what the claim
// takes, and most how many more seats they may have.
func (s *Sale) refuseRest(has, fresh []int, most int, free func(idx int) bool) error {
	t := s.runs
	counts := t.parties(has)
	for i, came := range t.parties(fresh) {
		r, n := t.shared[i], counts[i]
		if !r.NoRest {
			continue
		}
		left := slices.DeleteFunc(t.seatsOf(i), func(idx int) bool { return slices.Contains(has, idx) || !free(idx) })
		if len(left) == 0 || len(left) >= r.rest() {
			continue
		}
		fewer := n - (r.rest() - len(left))
		more, less := n+len(left) <= r.Most && len(left) <= most, fewer >= max(r.Least, n-came)
		refusal := &Conflict{Code: CodeOrphan, Seats: fresh, Args: []any{rowName{s.Plan, t.all[i].first}, s.named(left)}}
		switch {
		case more && less:
			refusal.Message = text.Mark("Please leave enough seats for another party at %s. Choose %s, too, or fewer seats there. Your other seats are still held.")
		case more:
			refusal.Message = text.Mark("Please leave enough seats for another party at %s. Choose %s, too. Your other seats are still held.")
		case less:
			refusal.Message, refusal.Args = text.Mark("Please leave enough seats for another party at %s. Choose fewer seats there. Your other seats are still held."), refusal.Args[:1]
		default:
			continue
		}
		return refusal
	}
	return nil
}

// leavesRest reports whether refuseRest may refuse a claim of a visitor who has nothing, as this node's map shows the seats. The map's
// lock is held.
func (s *Sale) leavesRest(c *command) bool {
	return c.tidy && c.choice == nil && s.runs.shared != nil &&
		s.refuseRest(c.seats, c.seats, MaxSeats, func(idx int) bool { return s.seats.states[idx].Shown() == Free }) != nil
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

// Commands that name seats of a shared row lock all of the row: the size of a party depends on what else is free there, and on what the
// others have.

// withShared is some seats and all others of the shared rows that they are at.
func (t *runs) withShared(seats []int) []int {
	if t.shared == nil {
		return seats
	}
	all := slices.Clone(seats)
	for i := range t.parties(seats) {
		all = append(all, t.seatsOf(i)...)
	}
	return all
}

// free reports whether a seat could be given to the next party. All of its row is locked.
func (b *batch) free(idx int) bool {
	r := b.rows[idx]
	return (r.open(b.now) || r.holder == waitList) && b.blockOf(idx) == (ID{})
}

// refuseParty is refuseParty of the sale by what is free at this moment: a party may be too small if it takes all that is left of a row.
// No seat stays without a buyer.
func (b *batch) refuseParty(seats, changed []int) error {
	return b.sale.refuseParty(seats, changed, b.free)
}

// refuseParties judges what a visitor would hold at the shared rows of which a claim takes seats, or gives old ones back. errChooseAgain if
// we chose the seats and there may be others.
func (b *batch) refuseParties(c *command, fresh, old []int) error {
	if b.sale.runs.shared == nil {
		return nil
	}
	has := slices.Concat(fresh, b.others(c.holder, slices.Concat(fresh, old)))
	err := b.refuseParty(has, slices.Concat(fresh, old))
	switch {
	case err != nil && c.choice != nil && b.chooseElsewhere(c, old):
		return errChooseAgain
	case err != nil || !c.tidy || c.choice != nil:
		return err
	}
	return b.sale.refuseRest(has, fresh, b.terms.limit-b.has(c.holder)-len(fresh)+len(old), b.free)
}

// others are the seats of a hold whose time is not up, but some.
func (b *batch) others(holder ID, some []int) []int {
	h, live := b.live(holder)
	if !live {
		return nil
	}
	return slices.DeleteFunc(b.still(h), func(idx int) bool { return slices.Contains(some, idx) })
}

// chooseElsewhere sends a choice to be made again, without the shared rows at which the visitor keeps seats and may not have so many more. It
// reports false if there are no others than it knew.
func (b *batch) chooseElsewhere(c *command, old []int) (again bool) {
	t := b.sale.runs
	for i, n := range t.parties(b.others(c.holder, old)) {
		if n+c.choice.n > t.shared[i].Most && !c.choice.full[i] {
			if c.choice.full == nil {
				c.choice.full = map[int32]bool{}
			}
			c.choice.full[i], again = true, true
		}
	}
	if again {
		c.seats, c.late = nil, false
		c.missed++
	}
	return again
}

// refuseMoved judges an order's parties at the shared rows to which more of its tickets move than leave: people may change their chairs.
func (b *batch) refuseMoved(order ID, from, to []int) error {
	t := b.sale.runs
	left, come := t.parties(from), t.parties(to)
	party := slices.Clone(to)
	for i := range come {
		for _, idx := range t.seatsOf(i) {
			if r := b.rows[idx]; r.state == Sold && r.holder == order && !slices.Contains(from, idx) {
				party = append(party, idx)
			}
		}
	}
	return b.refuseParty(party, slices.DeleteFunc(slices.Clone(to), func(idx int) bool { return come[t.of[idx]] <= left[t.of[idx]] }))
}

// lostSeat is a seat of a shared row that another person took after its hold expired.
type lostSeat struct {
	run    int32
	holder ID
}

// noteLost notes that a seat is taken from an expired hold.
func (b *batch) noteLost(idx int, by ID) {
	t, r := b.sale.runs, b.rows[idx]
	if t.sharing(t.of[idx]) != nil && r.holder != by && r.holder != waitList && (r.state == Held || r.state == Paying || r.state == Expired) {
		b.lost = append(b.lost, lostSeat{t.of[idx], r.holder})
	}
}

// freeTooFew frees what a party has left at a shared row after others took some of its chairs, if that is too few. Its hold expired, so that
// its last holder could buy it otherwise.
func (b *batch) freeTooFew() {
	for _, lost := range b.lost {
		var left []int
		for _, idx := range b.sale.runs.seatsOf(lost.run) {
			if r := b.rows[idx]; r.holder == lost.holder && r.state != Sold && r.open(b.now) {
				left = append(left, idx)
			}
		}
		if len(left) < b.sale.runs.shared[lost.run].Least {
			for _, idx := range left {
				b.set(idx, lost.holder, row{})
			}
		}
	}
	b.lost = nil
}

package seats

import (
	"slices"

	"github.com/usherbox/usher/seats/text"
)

// A plan may say that a row or a table is sold whole: a box, or a table of a dinner. All its seats go together then, to one hold
// and to one order, and come back together. Every command that gives seats to people or takes them back asks RefusePart, which looks
// at the plan in memory alone. In the scope of a choice such a row fits a party of exactly its size.

// WholeRow is a row or table that is sold whole. All its seats are of one category.
type WholeRow struct {
	Section int // position in Plan.Sections
	Row     string
}

// CodeWholeTable is the code of a refusal: of a row or table that is sold whole, only a part was asked for, or nothing else fits.
const CodeWholeTable = "whole_table"

// WholeRows are the rows and tables that are sold whole; nil if the plan has none.
func (p *Plan) WholeRows() map[WholeRow]bool {
	if len(p.Whole) == 0 {
		return nil
	}
	known := make(map[WholeRow]bool, len(p.Whole))
	for _, w := range p.Whole {
		known[w] = true
	}
	return known
}

// wholeRuns reports of each run whether it is a row that is sold whole; nil if the plan has none.
func (p *Plan) wholeRuns(all []run, known map[WholeRow]bool) []bool {
	if known == nil {
		return nil
	}
	whole := make([]bool, len(all))
	for i, r := range all {
		seat := &p.Seats[r.first]
		whole[i] = r.count > 1 && known[WholeRow{seat.Section, seat.Row}]
	}
	return whole
}

// isWhole reports whether a run is sold whole.
func (t *runs) isWhole(run int32) bool { return t.whole != nil && t.whole[run] }

// fits reports whether a run may give n adjacent seats: of a row that is sold whole, all of them or none, and of a shared one as many
// as a party has.
func (t *runs) fits(run int32, n int) bool {
	if r := t.sharing(run); r != nil {
		return n >= r.Least && n <= r.Most
	}
	return !t.isWhole(run) || t.all[run].count == n
}

// norFor reports whether a party of n finds no seats where one of least found none. A larger one finds none either, but of rows that
// are sold whole or shared only one of the same size: a table of 4 is for 4, and not for 3.
func (t *runs) norFor(n, least int) bool {
	return n == least || n > least && t.whole == nil && t.shared == nil
}

// Whole lists the seats that are sold together with a seat, itself among them: those of its row if that is sold whole.
func (s *Sale) Whole(idx int) []int {
	if i := s.runs.of[idx]; s.runs.isWhole(i) {
		return s.runs.seatsOf(i)
	}
	return []int{idx}
}

// LargestWhole is how many seats the largest row has that is sold whole; 0 if there is none.
func (s *Sale) LargestWhole() (most int) {
	for i, r := range s.runs.all {
		if s.runs.isWhole(int32(i)) {
			most = max(most, r.count)
		}
	}
	return most
}

func (t *runs) seatsOf(run int32) []int {
	at := t.all[run]
	list := make([]int, at.count)
	for i := range list {
		list[i] = at.first + i
	}
	return list
}

// WithWhole is some seats and all that are sold together with one of them, each once, in the order in which they are met.
func (s *Sale) WithWhole(seats []int) []int {
	if s.runs.whole == nil {
		return seats
	}
	var all []int
	seen := make(map[int]bool, len(seats))
	for _, idx := range seats {
		for _, one := range s.Whole(idx) {
			if !seen[one] {
				seen[one] = true
				all = append(all, one)
			}
		}
	}
	return all
}

// WithWholeLabels is WithWhole of labels. Those that name no seat stay as they are.
func (s *Sale) WithWholeLabels(labels []string) []string {
	if s.runs.whole == nil {
		return labels
	}
	var all []string
	for _, label := range labels {
		idx, ok := s.Seat(label)
		if !ok {
			all = append(all, label)
			continue
		}
		for _, one := range s.Whole(idx) {
			if other := s.Plan.Label(one); other == label || !slices.Contains(all, other) && !slices.Contains(labels, other) {
				all = append(all, other)
			}
		}
	}
	return all
}

// partOf returns the seats of the first row sold whole of which seats has some and not all; nil if there is none. It costs as much as there are seats.
func (t *runs) partOf(seats []int) []int {
	if t.whole == nil {
		return nil
	}
	counts := map[int32]int{}
	for _, idx := range seats {
		if i := t.of[idx]; t.whole[i] {
			counts[i]++
		}
	}
	for _, idx := range seats {
		if i := t.of[idx]; t.whole[i] && counts[i] != t.all[i].count {
			return t.seatsOf(i)
		}
	}
	return nil
}

// RefusePart refuses to change a part of a row that is sold whole. Each seat is named once.
func (s *Sale) RefusePart(seats []int) error {
	all := s.runs.partOf(seats)
	if all == nil {
		return nil
	}
	return &Conflict{Code: CodeWholeTable, Seats: all, Message: text.Mark("These seats are sold together only: %s. Nothing was changed. Choose all of them, or none."), Args: []any{s.named(all)}}
}

// wholeParts leaves out the seats of rows sold whole of which not all are there.
func (s *Sale) wholeParts(seats []int) []int {
	for part := s.runs.partOf(seats); part != nil; part = s.runs.partOf(seats) {
		seats = slices.DeleteFunc(seats, func(idx int) bool { return slices.Contains(part, idx) })
	}
	return seats
}

// wholeChunks cuts sorted seats into lists of about n, and no row that is sold whole in two.
func (s *Sale) wholeChunks(seats []int, n int) (list [][]int) {
	for len(seats) > 0 {
		end := min(n, len(seats))
		for end < len(seats) && s.runs.isWhole(s.runs.of[seats[end]]) && s.runs.of[seats[end]] == s.runs.of[seats[end-1]] {
			end++
		}
		list, seats = append(list, seats[:end]), seats[end:]
	}
	return list
}

// wholeLate is a row of n seats that is sold whole and that may be had, some of them perhaps of expired holds: the nearest one. Nil if there is none.
func (s *Sale) wholeLate(c *choice, may func(idx int) bool) []int {
	t := s.runs
	for _, i := range t.in(c.Scope) {
		if t.isWhole(i) && t.all[i].count == c.n {
			if row := t.seatsOf(i); !slices.ContainsFunc(row, func(idx int) bool { return !may(idx) }) {
				return row
			}
		}
	}
	return nil
}

// groupedLeft reports whether the map shows a row that is sold whole as available in a scope, or a seat of a shared one. The map's lock is held.
func (s *Sale) groupedLeft(at Scope) bool {
	t, m := s.runs, &s.seats
	if t.whole == nil && t.shared == nil {
		return false
	}
	return slices.ContainsFunc(t.in(at), func(i int32) bool {
		if !t.isGrouped(i) || at.closed(s.Plan.Seats[t.all[i].first].Category) {
			return false
		}
		free := func(idx int) bool { return m.states[idx] == Free }
		if t.isWhole(i) {
			return !slices.ContainsFunc(t.seatsOf(i), func(idx int) bool { return !free(idx) })
		}
		return slices.ContainsFunc(t.seatsOf(i), free)
	})
}

// onlyGrouped refuses a claim for n seats where all that is left is sold whole or shared, to parties of other sizes.
func (t *runs) onlyGrouped(n int) *Conflict {
	if t.shared != nil {
		return &Conflict{Code: CodeWholeTable, Message: text.Mark("The tables and rows that are left here are not for %s. Your other seats are still held. Choose a table on the map or in the list."), Args: []any{text.Some(n, "%d person", "%d people")}}
	}
	return &Conflict{Code: CodeWholeTable, Message: text.Mark("Only whole tables are left here, and none for %s. Your other seats are still held. Choose a table on the map or in the list."), Args: []any{text.Some(n, "%d person", "%d people")}}
}

// withWholeRows picks n seats for which free holds, some of them in rows that are sold whole or shared: as many of these rows as fit, the nearest
// first, and the best of the other seats for the rest. Nil if no choice of rows fits.
func (s *Sale) withWholeRows(n int, free func(idx int) bool, best func(n int, may func(idx int) bool) []int) []int {
	t := s.runs
	sums := make([][]int, n+1) // seats of rows that are so many in all
	sums[0] = []int{}
	for _, i := range t.everywhere {
		if !t.isGrouped(i) {
			continue
		}
		row := slices.DeleteFunc(t.seatsOf(i), func(idx int) bool { return !free(idx) })
		for sum := n; sum > 0; sum-- {
			for size := min(len(row), sum); size > 0 && sums[sum] == nil; size-- {
				if before := sums[sum-size]; before != nil && t.fits(i, size) {
					sums[sum] = slices.Concat(before, row[:size])
				}
			}
		}
	}
	single := func(idx int) bool { return free(idx) && !s.Grouped(idx) }
	singles := 0
	for idx := range s.Plan.Seats {
		if single(idx) {
			singles++
		}
	}
	for sum := n; sum > 0 && n-sum <= singles; sum-- {
		if seats := sums[sum]; seats != nil {
			if rest := n - sum; rest > 0 {
				seats = append(seats, best(rest, single)...)
			}
			slices.Sort(seats)
			return seats
		}
	}
	return nil
}

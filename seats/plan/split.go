package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/usherbox/usher/seats"
)

// splitSections makes every label of a section unique. Where the same row label is drawn in several corners of a
// house, each corner becomes a section of its own; where one row has a number twice, the later seat gets another.
func (d *draft) splitSections() {
	var all []draftSection
	for i := range d.sections {
		s := &d.sections[i]
		d.renumber(s)
		if repeated := repeats(s.rows); repeated > 0 {
			parts := split(s)
			d.repaired("duplicate-label", s.name, repeated,
				"%d seats had a label that another seat has; its %d rows are now the sections %q to %q, a block of rows each.",
				repeated, len(s.rows), parts[0].name, parts[len(parts)-1].name)
			all = append(all, parts...)
			continue
		}
		all = append(all, *s)
	}
	for i := range all {
		all[i].rows = merge(all[i].rows)
	}
	d.sections = all
}

// renumber gives seats of one row the same number no longer.
func (d *draft) renumber(s *draftSection) {
	var changed []string
	for i := range s.rows {
		row := &s.rows[i]
		taken := make(map[string]bool, len(row.seats))
		for _, seat := range row.seats {
			taken[seat.number] = true
		}
		times := make(map[string]int, len(row.seats))
		for j := range row.seats {
			seat := &row.seats[j]
			old := seat.number
			if times[old]++; times[old] == 1 {
				continue
			}
			seat.number = fresh(old, taken, times)
			changed = append(changed, fmt.Sprintf("row %s: %q is now %q", row.label, old, seat.number))
		}
	}
	if n := len(changed); n > 0 {
		d.repaired("duplicate-label", s.name, n, "numbers that stood twice in a row were changed: %s.", some(changed))
	}
}

// fresh is a name like one that is taken, with a number behind it. times remembers how far the numbers went.
func fresh(name string, taken map[string]bool, times map[string]int) string {
	times[name] = max(times[name], 2)
	for {
		spare := fmt.Sprintf("%s (%d)", name, times[name])
		if !taken[spare] {
			taken[spare] = true
			return spare
		}
		times[name]++
	}
}

type place struct{ row, number string }

// repeats counts the seats whose label another seat before them has.
func repeats(rows []draftRow) int {
	seen := map[place]bool{}
	n := 0
	for _, r := range rows {
		for _, s := range r.seats {
			at := place{r.label, s.number}
			if seen[at] {
				n++
			}
			seen[at] = true
		}
	}
	return n
}

// split makes sections of the blocks of rows: a block ends where the next row stands far from the last one, or
// would bring a label the block has already.
func split(s *draftSection) []draftSection {
	far := 1.6 * max(typical([]draftSection{*s}), pitch(s.rows))
	var parts []draftSection
	seen := map[place]bool{}
	for i, r := range s.rows {
		if i == 0 || apart(s.rows[i-1], r) > far || collides(seen, r) {
			seen = map[place]bool{}
			parts = append(parts, draftSection{name: fmt.Sprintf("%s %d", s.name, len(parts)+1), area: s.area})
		}
		for _, seat := range r.seats {
			seen[place{r.label, seat.number}] = true
		}
		part := &parts[len(parts)-1]
		part.rows = append(part.rows, r)
	}
	return parts
}

// pitch is how far rows that follow each other usually are apart, the median.
func pitch(rows []draftRow) float64 {
	var steps []float64
	for i := 1; i < len(rows); i++ {
		steps = append(steps, apart(rows[i-1], rows[i]))
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

func collides(seen map[place]bool, r draftRow) bool {
	for _, s := range r.seats {
		if seen[place{r.label, s.number}] {
			return true
		}
	}
	return false
}

// apart is about how far two rows are from each other: the shortest way between their ends and middles.
func apart(a, b draftRow) float64 {
	least := math.Inf(1)
	for _, p := range [...]int{0, len(a.seats) / 2, len(a.seats) - 1} {
		for _, q := range [...]int{0, len(b.seats) / 2, len(b.seats) - 1} {
			least = min(least, math.Hypot(a.seats[p].x-b.seats[q].x, a.seats[p].y-b.seats[q].y))
		}
	}
	return least
}

// merge puts the pieces of a row that is drawn in several together, with an aisle between them.
func merge(rows []draftRow) []draftRow {
	at := make(map[string]int, len(rows))
	merged := make([]draftRow, 0, len(rows))
	for _, r := range rows {
		i, ok := at[r.label]
		if !ok {
			at[r.label] = len(merged)
			merged = append(merged, r)
			continue
		}
		whole := &merged[i]
		whole.seats = append(whole.seats[:len(whole.seats):len(whole.seats)], r.seats...)
		whole.seats[len(whole.seats)-len(r.seats)-1].flags |= seats.AisleAfter
	}
	return merged
}

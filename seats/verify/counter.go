package verify

import (
	"fmt"
	"slices"

	"github.com/usherbox/usher/seats"
)

// counts are how many seats of each category are free, held, sold and blocked.
type counts [4][]int

var countNames = [4]string{"free", "held", "sold", "blocked"}

func newCounts(categories int) (c counts) {
	for kind := range c {
		c[kind] = make([]int, categories)
	}
	return c
}

// kindOf is where a state is counted: an expired seat with the free ones, one in payment with the held ones.
func kindOf(s seats.State) int {
	switch s {
	case seats.Held, seats.Paying:
		return 1
	case seats.Sold:
		return 2
	case seats.Blocked:
		return 3
	default:
		return 0
	}
}

// add counts a seat, n times. A category that is not there is told by checkCounter.
func (c *counts) add(category int, s seats.State, n int) {
	if category >= 0 && category < len(c[0]) {
		c[kindOf(s)][category] += n
	}
}

func (c *counts) equal(other *counts) bool {
	for kind := range c {
		if !slices.Equal(c[kind], other[kind]) {
			return false
		}
	}
	return true
}

// checkCounter holds the counter row against the seat rows: P5 for the newest version.
func (b *books) checkCounter() {
	if b.version < 0 {
		b.broken(p5, none, "it has no counter row")
		return
	}
	want := newCounts(len(b.categories))
	for idx := range b.rows {
		r := &b.rows[idx]
		if r.category >= len(b.categories) {
			b.broken(p5, idx, "is of category number %d, which is not there", r.category)
		}
		if r.state != missing {
			want.add(r.category, r.state, 1)
		}
	}
	b.compareCounts(p5, "", &b.counts, "rows say", &want)
}

func (b *books) category(i int) string {
	if i < len(b.categories) {
		return b.categories[i]
	}
	return fmt.Sprint("number ", i)
}

// compareCounts notes each count that is not what others say it is, such as "rows say".
func (b *books) compareCounts(promise int, when string, said *counts, others string, want *counts) {
	for kind := range said {
		if len(said[kind]) != len(want[kind]) {
			b.broken(promise, none, "%s%d counts of %s seats for %d categories", when, len(said[kind]), countNames[kind], len(want[kind]))
			continue
		}
		for i, n := range said[kind] {
			if n != want[kind][i] {
				b.broken(promise, none, "%scategory %s says %s %d, %s %d", when, b.category(i), countNames[kind], n, others, want[kind][i])
			}
		}
	}
}

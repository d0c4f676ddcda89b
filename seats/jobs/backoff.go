package jobs

import (
	"math/rand/v2"
	"time"
)

// Backoff says when work that failed is tried again: after First, then after twice as long each time, up to Most. Each
// pause is up to a fifth shorter by chance, so that what failed together does not come back together.
type Backoff struct{ First, Most time.Duration }

// After returns the pause after so many tries.
func (b Backoff) After(tries int) time.Duration {
	pause := b.Most
	if doubled := b.First << min(max(tries-1, 0), 20); doubled < b.Most {
		pause = doubled
	}
	return pause - time.Duration(rand.Float64()*0.2*float64(pause))
}

// Seconds lists the pauses by number of tries, until they stay the same. A statement chooses from it by the tries that its row
// keeps.
func (b Backoff) Seconds() (list []float64) {
	for tries := 1; ; tries++ {
		list = append(list, b.After(tries).Seconds())
		if b.First<<min(tries-1, 20) >= b.Most {
			return list
		}
	}
}

package waitingroom

import (
	"math"
	"testing"

	"github.com/usherbox/usher/seats/seatstest/race"
)

// theatre is a sale that organizers rehearse: two thousand people are called within the hour.
func theatre() world {
	return world{people: 8000, slots: 300, seats: 16_000, gone: 0.10, halve: 5400, slow: 0.12, inside: 240}
}

// foretold is the share of waits in the sales of some seeds that are within a fifth of those which one rehearsal had for the same
// numbers. change makes the later sales another world.
func foretold(seeds int, change func(*world)) (share float64) {
	rehearsed := simulated(theatre(), 1, Next)
	near, all := 0, 0
	for seed := range seeds {
		w := theatre()
		change(&w)
		for i, was := range simulated(w, uint64(seed)+2, Next).when {
			if i >= len(rehearsed.when) || was == 0 || rehearsed.when[i] == 0 { // never called, or at once
				continue
			}
			all++
			if math.Abs(float64(was-rehearsed.when[i])) <= 0.2*float64(was) {
				near++
			}
		}
	}
	return float64(near) / float64(all)
}

// A rehearsal foretells waits as well as its organizer foretells the crowd.
func TestRehearsal_WaitsOfLaterSalesAreAFifthOffAtMost(t *testing.T) {
	t.Parallel()
	seeds := race.Rounds(200)
	if share := foretold(seeds, func(*world) {}); share < 0.95 {
		t.Errorf("%.1f %% of the waits of %d later sales with the same kind of crowd are within a fifth of the rehearsal's, want 95", 100*share, seeds)
	} else {
		t.Logf("the same kind of crowd: %.1f %%", 100*share)
	}
	for name, change := range map[string]func(*world){
		"a tenth stay longer inside":    func(w *world) { w.inside *= 1.1 },
		"people stay 30 % longer":       func(w *world) { w.inside *= 1.3 },
		"twice as many are gone":        func(w *world) { w.gone *= 2 },
		"half again as many people":     func(w *world) { w.people += w.people / 2 },
		"ten minutes without admission": func(w *world) { w.stops = []stop{{600, 600}} },
	} {
		t.Logf("%s: %.1f %%", name, 100*foretold(max(1, seeds/10), change))
	}
	if share := foretold(max(1, seeds/20), func(w *world) { w.inside *= 2 }); share > 0.5 {
		t.Errorf("a crowd that stays twice as long is foretold all the same: %.1f %%", 100*share)
	}
}

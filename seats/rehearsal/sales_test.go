package rehearsal

import (
	"slices"
	"testing"
	"time"
)

// Each second one person comes, and waits twice as long as the one before. Those of the last part are not let in.
func TestWaits_AreThoseOfTheSale(t *testing.T) {
	t.Parallel()
	w, waits := Waits{}, []Wait{}
	for i := range 100 {
		waits = append(waits, Wait{Came: time.Duration(i) * time.Second, Took: time.Duration(2*i+2) * time.Second, In: i < 80})
	}
	if w.Of(waits, 100*time.Second, 10); w.P50 != 800 || w.P95 != 1520 || w.Max != 1600 {
		t.Errorf("waits of 2 to 160 s in a shadow 10 times as fast: %+v", w)
	}
	want := []WaitRange{{0, 200, 20, 20, 20, 400}, {200, 400, 20, 20, 420, 800}, {400, 600, 20, 20, 820, 1200}, {600, 800, 20, 20, 1220, 1600}, {800, 1000, 20, 0, 0, 0}}
	if !slices.Equal(w.Arrivals, want) {
		t.Errorf("by arrival: %+v", w.Arrivals)
	}
}

func TestWaits_RangeLeavesTheShortestAndTheLongestOut(t *testing.T) {
	t.Parallel()
	w, waits := Waits{}, []Wait{{Took: time.Hour, In: true}, {Took: 0, In: true}}
	for range 78 {
		waits = append(waits, Wait{Took: time.Minute, In: true})
	}
	if w.Of(waits, time.Minute, 1); len(w.Arrivals) != 1 || w.Arrivals[0] != (WaitRange{0, 12, 80, 80, 60, 60}) {
		t.Errorf("by arrival: %+v", w.Arrivals)
	}
	if w.Of(waits[1:], 0, 1); w.Arrivals[0].Most != 60 {
		t.Errorf("all at once: %+v", w.Arrivals)
	}
}

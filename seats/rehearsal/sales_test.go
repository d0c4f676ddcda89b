package rehearsal

import (
	"testing"
	"time"
)

func TestWaits_AreThoseOfTheSale(t *testing.T) {
	t.Parallel()
	w, waits := Waits{}, []time.Duration{}
	for i := range 100 {
		waits = append(waits, time.Duration(100-i)*time.Second)
	}
	if w.Of(waits, 10); w.P50 != 500 || w.P95 != 950 || w.Max != 1000 {
		t.Errorf("waits of 1 to 100 s in a shadow 10 times as fast: %+v", w)
	}
}

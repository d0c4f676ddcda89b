package verify_test

import (
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/verify"
)

// BenchmarkAStadium looks at 50,000 seats after 10,000 claims of two seats.
func BenchmarkAStadium(b *testing.B) {
	h := open(b, "stadium", events.Settings{})
	var crowd sync.WaitGroup
	for w := range 64 {
		crowd.Go(func() {
			for i := w * 2; i < 20_000; i += 128 {
				h.claim(b, seats.NewID(), "key", i, i+1)
			}
		})
	}
	crowd.Wait()
	for b.Loop() {
		if r, err := verify.Look(b.Context(), h.db, ""); err != nil || r.Broken() > 0 {
			b.Fatalf("%+v, %v", r, err)
		}
	}
	r := h.look(b)
	b.ReportMetric(float64(r.Seats), "seats")
	b.ReportMetric(float64(r.Versions), "versions")
	b.ReportMetric(float64(r.Claims), "claims")
}

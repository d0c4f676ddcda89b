package desk

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/sales"
	"github.com/usherbox/usher/seats/seatstest/race"
)

var numberInPath = regexp.MustCompile(`-?[0-9.]+`)

// Whatever was sold when, nothing of a chart is outside of its frame.
func TestAChartStaysInItsFrame(t *testing.T) {
	t.Parallel()
	noon := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	luck := rand.New(rand.NewPCG(1, 2))
	for range race.Rounds(500) {
		l := &sales.Live{Figures: sales.Figures{At: noon, Free: luck.IntN(500), SalesRateSlow: 50 * luck.Float64()}, Span: sales.Minute}
		at := noon.Add(-time.Duration(1+luck.IntN(3000)) * time.Minute)
		for range luck.IntN(400) {
			if at = at.Add(time.Duration(1+luck.IntN(9)) * time.Minute).Truncate(time.Minute); at.After(noon) {
				break
			}
			l.Sold, l.Held = l.Sold+luck.IntN(20), luck.IntN(30)
			l.Rows = append(l.Rows, sales.Row{At: at, Sold: l.Sold, Held: l.Held})
		}
		if luck.IntN(2) == 0 {
			l.SellOut = &sales.Range{From: noon.Add(time.Minute), To: noon.Add(time.Duration(1+luck.IntN(5000)) * time.Minute)}
		}
		w := windows[luck.IntN(len(windows))].Window
		c := newChart(t.Context(), seats.Event{TimeZone: "Europe/Vienna"}, l, w)
		for _, d := range []string{c.Sold, c.Held, c.Ahead} {
			for _, n := range numberInPath.FindAllString(d, -1) {
				if f, err := strconv.ParseFloat(n, 64); err != nil || f < -0.05 || f > full+0.05 {
					t.Fatalf("%s is outside of the frame in %s: window %s, %d rows", n, d, w, len(l.Rows))
				}
			}
		}
		if len(c.Ticks) > mostTicks+1 || c.Top < l.Sold {
			t.Fatalf("%d ticks, up to %d of %d", len(c.Ticks), c.Top, l.Sold)
		}
	}
}

package seats

import (
	"fmt"
	"testing"

	"github.com/usherbox/usher/seats/seatstest/scale"
)

func TestRuns_OfManyRowsSoldTogetherAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	scale.Linear(t, 10*MaxSeats, func(n int) {
		p := &Plan{Name: "P", Width: 1000, Height: 1000, Categories: []Category{{Key: "A", Name: "A"}}, Sections: []Section{{Name: "S", Count: n}}}
		for i := range n {
			row := fmt.Sprintf("R%05d", i/2)
			p.Seats = append(p.Seats, Seat{ID: fmt.Sprint(i), Row: row, Number: fmt.Sprint(i % 2), X: 5, Y: 5, Flags: AisleAfter})
			if i%4 == 0 {
				p.Shared = append(p.Shared, SharedRow{Row: row, Shared: Shared{Least: 1, Most: 2}})
			} else if i%4 == 2 {
				p.Whole = append(p.Whole, WholeRow{Row: row})
			}
		}
		if runs := newRuns(p); len(runs.all) != n/2 || !runs.isWhole(1) || runs.sharing(0) == nil || runs.sharing(1) != nil {
			t.Errorf("%d runs", len(runs.all))
		}
	})
}

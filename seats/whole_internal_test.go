package seats

import (
	"fmt"
	"testing"
	"time"
)

func TestRuns_OfManyRowsSoldTogetherAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	p := &Plan{Name: "P", Width: 1000, Height: 1000, Categories: []Category{{Key: "A", Name: "A"}}, Sections: []Section{{Name: "S", Count: MaxSeats}}}
	for n := range MaxSeats {
		row := fmt.Sprintf("R%05d", n/2)
		p.Seats = append(p.Seats, Seat{ID: fmt.Sprint(n), Row: row, Number: fmt.Sprint(n % 2), X: 5, Y: 5, Flags: AisleAfter})
		if n%4 == 0 {
			p.Shared = append(p.Shared, SharedRow{Row: row, Shared: Shared{Least: 1, Most: 2}})
		} else if n%4 == 2 {
			p.Whole = append(p.Whole, WholeRow{Row: row})
		}
	}
	began := time.Now()
	if runs := newRuns(p); len(runs.all) != MaxSeats/2 || !runs.isWhole(1) || runs.sharing(0) == nil || runs.sharing(1) != nil {
		t.Errorf("%d runs", len(runs.all))
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

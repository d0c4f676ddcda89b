package sales

import (
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
)

// A few quick sales at the box office are no rate by which a house sells out.
func TestForecast_NeedsOrders(t *testing.T) {
	t.Parallel()
	e := seats.Event{Seats: 500}
	for _, n := range []int{9, FewOrders - 1, FewOrders} {
		y := newStats(e)
		for i := range n {
			order := seats.ID{1, byte(i)}
			c := one(int32(i), seats.Sold, order)
			c.Version, c.At = int64(i+1), noon.Add(time.Duration(i)*time.Second)
			c.Counts = seats.Counts{Free: []int{500 - i - 1}, Held: []int{0}, Sold: []int{i + 1}, Blocked: []int{0}}
			y.apply(c, map[seatOf]sold{{order, int32(i)}: {price: 500, fresh: true}})
		}
		if f := y.figures(y.At, e); (f.SellOut != nil) != (n >= FewOrders) {
			t.Errorf("after %d orders the forecast is %v", n, f.SellOut)
		}
	}
}

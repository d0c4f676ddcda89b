package sales

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

// A move within the first minute of an order is no other order, read in one step or step by step.
func TestStats_MovedTicketIsNoOtherOrder(t *testing.T) {
	t.Parallel()
	h := openHall(t, "club", events.Settings{})
	code := h.buy(t, h.hold(t, 0, 1))
	step := newStats(h.sale.Event)
	if err := step.follow(t.Context(), h.db, h.sale.Event, nothing); err != nil {
		t.Fatal(err)
	}
	sold := orders.New(h.db)
	order, err := sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	if err := sold.Move(t.Context(), h.sale, order, orders.Moving{Key: "k", Tickets: []seats.ID{order.Tickets[0].ID}, To: []int{5}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := step.follow(t.Context(), h.db, h.sale.Event, nothing); err != nil {
		t.Fatal(err)
	}
	for how, y := range map[string]*Stats{"step by step": step, "at once": h.stats(t)} {
		if y.Total.Orders != 1 || y.Total.Sold-y.Total.Returned != 2 {
			t.Errorf("%s: one order of two seats, one of them moved: %+v", how, y.Total)
		}
	}
}

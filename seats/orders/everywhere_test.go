package orders_test

import (
	"slices"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func TestEverywhere_FindsByWhatPeopleType(t *testing.T) {
	t.Parallel()
	h := open(t, "conference", events.Settings{})
	order := h.ordered(t, 2)
	for _, typed := range []string{"ann", "ørst", "ANN ORSTED", "Ørsted", "ann@ex", order.Number(), order.Code, order.Tickets[0].Code, "https://x.example/orders/" + order.Code + "?a", h.sale.Plan.Label(order.Tickets[0].Idx)} {
		found, err := h.orders.Everywhere(t.Context(), h.sale.Event.Team, typed, 5)
		if err != nil || !slices.Equal(found, []seats.ID{order.ID}) {
			t.Errorf("%q finds %v, %v", typed, found, err)
		}
	}
	for _, typed := range []string{"", "a", "nn", "%", "ann%", "_nn", "orsted ann", "@example.org", "99/99", "Z 1"} {
		if found, err := h.orders.Everywhere(t.Context(), h.sale.Event.Team, typed, 5); err != nil || len(found) > 0 {
			t.Errorf("%q finds %v, %v", typed, found, err)
		}
	}
	if found, err := h.orders.Everywhere(t.Context(), h.sale.Event.Team+1, "ann", 5); err != nil || len(found) > 0 {
		t.Errorf("another team finds %v, %v", found, err)
	}
}

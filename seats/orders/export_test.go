package orders

import (
	"testing"

	"github.com/usherbox/usher/seats"
)

// Leave begins a cancellation of an order's tickets, all if none is named, which comes to nothing when stay is called.
func (o *Orders) Leave(t testing.TB, order Order, tickets ...seats.ID) (stay func()) {
	chosen, _, err := order.chosen(tickets)
	c := cancelling{id: seats.NewID(), tickets: chosen}
	left, e := o.leave(t.Context(), c)
	if err != nil || e != nil || !left {
		t.Fatalf("leave: %t, %v, %v", left, err, e)
	}
	return func() {
		if err := o.stay(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
}

// NormalEmail is the spelling that stands for all spellings of a mailbox.
var NormalEmail = normalEmail

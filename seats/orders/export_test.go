package orders

import (
	"context"
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

// First is the answer to a form of which the hold is used.
func (o *Orders) First(ctx context.Context, holder seats.ID, f Form) (code string, err error) {
	return o.first(ctx, holder, f, seats.ErrNoHold)
}

// NormalEmail is the spelling that stands for all spellings of a mailbox.
var NormalEmail = normalEmail

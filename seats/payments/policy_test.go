package payments_test

import (
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

func TestPolicy_ShownRefundIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		policy seats.Policy
		fees   seats.Fees
	}{
		{"all of it", seats.Policy{}, seats.Fees{Ticket: 150}},
		{"all but the fees", seats.Policy{}, seats.Fees{Ticket: 150, Percent: 333, Kept: true}},
		{"a fee for each", seats.Policy{CancelFee: 333}, seats.Fees{Ticket: 101}},
		{"a percentage", seats.Policy{CancelPercent: 1275}, seats.Fees{Ticket: 101, Kept: true}},
		{"both", seats.Policy{CancelFee: 199, CancelPercent: 3333}, seats.Fees{Ticket: 1}},
		{"more than the price", seats.Policy{CancelFee: 1 << 30}, seats.Fees{Ticket: 101, Kept: true}},
	} {
		c.policy.PayLater = seats.DefaultPolicy.PayLater
		h := openShop(t, events.Settings{Fees: c.fees, Policy: &c.policy})
		order := h.buys(t, 3)
		h.until(t, order.Code, "captured")
		var back int64
		for _, ticket := range order.Tickets[:2] {
			now := h.again(t, order)
			shown := now.GoesBack(ticket.ID)
			if err := h.orders.Cancel(t.Context(), h.sale, now, ticket.ID.String(), ticket.ID); err != nil {
				t.Fatal(err)
			}
			if back += shown; h.again(t, order).Back != back {
				t.Errorf("%s: %d went back, and %d was shown", c.name, h.again(t, order).Back, back)
			}
		}
		h.untilBack(t, order, back)
		h.wantMoney(t)
		h.wantBooks(t)
	}
}

func TestPolicy_AttendeeCancelsUntilItsTimeAndTheOrganizerOverridesIt(t *testing.T) {
	t.Parallel()
	for _, policy := range []seats.Policy{{NoCancelling: true, PayLater: seats.DefaultPolicy.PayLater}, seats.DefaultPolicy} {
		policy.CancelFee = 100
		h := openShop(t, events.Settings{Policy: &policy})
		order := h.buys(t, 3)
		h.until(t, order.Code, "captured")
		if !policy.NoCancelling {
			h.cancels(t, h.again(t, order), "early", order.Tickets[0].ID)
			h.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '6 days 23 hours'`)
		}
		late := h.again(t, order)
		wantRefusal(t, h.orders.Cancel(t.Context(), h.sale, late, "late", late.Tickets[1].ID), orders.CodePolicy)
		wantRefusal(t, h.orders.RevokeBy(t.Context(), h.sale, late, orders.Revoking{}, late.Tickets[1].ID), orders.CodePolicy)
		before := late.Back
		if err := h.orders.RevokeBy(t.Context(), h.sale, late, orders.Revoking{Override: true}, late.Tickets[1].ID); err != nil {
			t.Fatal(err)
		}
		if back := h.again(t, order).Back - before; back != costOf(late.Tickets[1]) {
			t.Errorf("%d went back of a ticket of %d, want all of it: the organizer overrode the policy", back, costOf(late.Tickets[1]))
		}
		h.wantBooks(t)
	}
}

package shop

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// resalable are the tickets that may be offered back now.
func (p OrderPage) resalable() []orders.Ticket {
	return slices.DeleteFunc(p.Order.Resalable(), func(t orders.Ticket) bool { return p.Foreign(t.Idx) })
}

// offeredBack are the tickets that are offered back.
func (p OrderPage) offeredBack() []orders.Ticket {
	return slices.DeleteFunc(p.Live(), func(t orders.Ticket) bool { return !t.OfferedBack })
}

// resaleBackWords says what goes back for a ticket that is sold again; nothing if nothing was paid.
func (p OrderPage) resaleBackWords(ctx context.Context, t orders.Ticket) string {
	if !payments.Ahead(p.Order.Method) {
		return ""
	}
	return " · " + text.T(ctx, "%s back once it is sold", views.MoneyIn(ctx, p.Order.BackOnResale(t), p.Order.Currency))
}

// resaleWords says what offering tickets back means.
func (p OrderPage) resaleWords(ctx context.Context) string {
	said := text.T(ctx, "The seats go on sale again. A ticket is valid until its seat is sold, and then no longer. If it is not sold by %s and no visitor is about to buy it then, you keep it.", views.DayTimeIn(ctx, p.Event, *p.Order.ResaleEnds))
	if payments.Ahead(p.Order.Method) {
		said += " " + text.T(ctx, "The money goes back %s.", wayBackOf(ctx, p.Order))
		if p.Order.Policy.ResaleFee > 0 {
			said += " " + text.T(ctx, "We keep %s for each ticket that is sold again, at most its price.", views.MoneyIn(ctx, p.Order.Policy.ResaleFee, p.Order.Currency))
		}
	}
	return said
}

// SoldAgain reports whether an order has no valid ticket because the seats of all were sold again.
func SoldAgain(o orders.Order) bool {
	return len(o.Tickets) > 0 && !slices.ContainsFunc(o.Tickets, func(t orders.Ticket) bool { return !t.Resold })
}

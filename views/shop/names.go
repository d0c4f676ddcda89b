package shop

import (
	"context"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
)

// toName are the seats of the form: those that are held, or that were.
func (p CheckoutPage) toName() []int {
	if p.Hold != nil {
		return p.known(p.held().Seats)
	}
	return p.was()
}

// nameOf is the name that the buyer gave for a ticket, or typed for it now.
func (p OrderPage) nameOf(t orders.Ticket) string {
	if typed, ok := p.details().Names[t.ID.String()]; ok {
		return typed
	}
	return t.Name
}

// changeWords names what of the order may be changed.
func (p OrderPage) changeWords(ctx context.Context) string {
	names := len(p.Order.Nameable(p.Event)) > 0
	switch {
	case names && len(p.Event.Questions) > 0:
		return text.T(ctx, "Change names or answers")
	case names:
		return text.T(ctx, "Change names")
	case len(p.Event.Questions) > 0:
		return text.T(ctx, "Change name or answers")
	}
	return text.T(ctx, "Change name")
}

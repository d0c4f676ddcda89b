package mail

import (
	"context"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// SubscribedPage is the mail about all orders of a subscription.
type SubscribedPage struct {
	Letterhead
	Name   string // of the subscription
	Orders []SubscribedOrder
}

// SubscribedOrder is one of them.
type SubscribedOrder struct {
	shop.Sale
	Order   orders.Order
	Address string // of its page, whole
}

// Subject is the mail's, and its first line.
func (p SubscribedPage) Subject(ctx context.Context) string {
	return text.T(ctx, "Your subscription: %s", p.Name)
}

// seats names the seats, which are the same in all performances.
func (p SubscribedPage) seats(ctx context.Context) (lines []string) {
	first := p.Orders[0]
	for _, t := range first.Order.Tickets {
		lines = append(lines, shop.SeatWords(ctx, first.Plan, t.Idx))
	}
	return lines
}

// when is the performance of an order.
func (o SubscribedOrder) when(ctx context.Context) string {
	// Translators: the name of an event, and when it is.
	return text.T(ctx, "%[1]s: %[2]s", o.Event.Name, views.WhenIn(ctx, o.Event))
}

// due is what is to pay for an order, and by when; empty for nothing.
func (o SubscribedOrder) due(ctx context.Context) string {
	words := shop.ToPay(ctx, o.Order)
	if words == "" || payments.Ahead(o.Order.Method) {
		return ""
	}
	return strings.TrimSpace(words + " " + shop.DueWords(ctx, o.Event, o.Order))
}

// total is what all orders cost.
func (p SubscribedPage) total(ctx context.Context) string {
	var sum int64
	for _, o := range p.Orders {
		sum += o.Order.Total
	}
	return text.T(ctx, "Total %s", views.MoneyIn(ctx, sum, p.Orders[0].Order.Currency))
}

func (p SubscribedPage) advice(ctx context.Context) string {
	private := text.T(ctx, "Keep these links private: anyone with them can use your tickets.") + " "
	if slices.ContainsFunc(p.Orders, func(o SubscribedOrder) bool { return o.Order.Rotates }) {
		return private + shop.PassRotates(ctx) + " " + text.T(ctx, "We’ve attached an entry for your calendar.")
	}
	return private + text.T(ctx, "We’ve attached the tickets to print and an entry for your calendar.")
}

// Text is the mail for programs that show plain text.
func (p SubscribedPage) Text(ctx context.Context) string {
	lines := []string{p.Subject(ctx), ""}
	lines = append(lines, p.seats(ctx)...)
	lines = append(lines, p.total(ctx), "")
	for _, o := range p.Orders {
		lines = append(lines, o.when(ctx))
		if due := o.due(ctx); due != "" {
			lines = append(lines, due)
		}
		lines = append(lines, o.Address, "")
	}
	return strings.Join(append(lines, p.advice(ctx), ""), "\n") + footText(ctx, p.Letterhead)
}

package shop

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// TypesPage is where the buyer of an order changes types of its tickets: chooses them, or confirms what they chose.
type TypesPage struct {
	views.Page
	Sale
	Order   orders.Order
	Chosen  map[seats.ID]string              // of tickets, the key of their type
	Choices map[seats.ID][]orders.TypeChoice // of tickets: the types that they may have
	Quote   orders.Quote                     // without swaps while nothing is chosen
	Message string                           // why what was asked was not done, or why no type can be changed
	Refused bool                             // no type can be changed
}

// TypesPath is where types of tickets of an order are changed.
func TypesPath(code string) string { return OrderPath(code) + "/types" }

// chosen are the types that were chosen, as a form has them.
func (p TypesPage) chosen() (list []string) {
	for _, t := range p.Order.Retypable() {
		if key := p.Chosen[t.ID]; key != "" {
			list = append(list, t.ID.String()+":"+key)
		}
	}
	return list
}

// stays reports whether a ticket keeps its type, and goes on because its order keeps a rule.
func (p TypesPage) stays(s orders.Swap) bool { return s.Ticket.TypeNumber() == s.Line.Type }

// becomes names the new type of a ticket, and what has to be shown for it at the door.
func (p TypesPage) becomes(ctx context.Context, s orders.Swap) string {
	named := p.Prices.Types[s.Line.Type]
	return TypeWords(ctx, orders.Ticket{Type: named.Name, Proof: named.Proof})
}

// choiceWords names a type that a ticket may have, with its price and what has to be shown for it.
func (p TypesPage) choiceWords(ctx context.Context, c orders.TypeChoice) string {
	said := c.Name + " · " + views.PriceIn(ctx, c.Price, p.Order.Currency)
	if c.Proof != "" {
		said += " · " + c.Proof
	}
	return said
}

// difference says what the change costs or gives back.
func (p TypesPage) difference(ctx context.Context) string {
	return ExchangePage{Order: p.Order, Quote: p.Quote}.MoneyWords(ctx)
}

// afterwards says what becomes of the tickets and the money.
func (p TypesPage) afterwards(ctx context.Context) string {
	said := text.T(ctx, "You keep your seats. The tickets above get new codes, and the old ones stop being valid at once. We email you the new tickets.")
	if p.Quote.Difference < 0 {
		said += " " + text.T(ctx, "The difference goes back %s.", wayBackOf(ctx, p.Order))
	}
	return said
}

// payable reports whether the change can be confirmed here.
func (p TypesPage) payable() bool { return p.Quote.Difference <= 0 || len(p.Quote.Methods) > 0 }

// button is what the button that changes types says.
func (p TypesPage) button(ctx context.Context) string {
	if p.Quote.Difference > 0 {
		return text.T(ctx, "Pay %s and change", views.MoneyIn(ctx, p.Quote.Difference, p.Order.Currency))
	}
	return text.T(ctx, "Change ticket types")
}

// retypable reports whether its buyer may change types of tickets of the order.
func (p OrderPage) retypable() bool {
	return p.Order.RefuseTypes() == nil && slices.ContainsFunc(p.Order.Retypable(), func(t orders.Ticket) bool { return t.Type != "" })
}

package shop

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/programme"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// ExchangePage is where the tickets of an order are exchanged for those of another performance. Its sale is that of the order
// while no performance is chosen, and then that of the other performance.
type ExchangePage struct {
	views.Page
	Sale
	Old     Sale // the performance of the order
	Order   orders.Order
	Chosen  []seats.ID // tickets that go; none: all that may
	Message string     // why what was asked was not done, or why nothing can be exchanged
	Refused bool       // nothing can be exchanged

	Dates []ExchangeDate // of the month
	Month time.Time
	All   []programme.Card // of all months

	Quote orders.Quote
}

// ExchangeDate is a performance that tickets may be exchanged for.
type ExchangeDate struct {
	programme.Card
	Difference *int64 // of the same seats there, to pay or less than 0 to get back; nil: not known before seats are chosen
}

// ExchangePath is where tickets of an order and another date are chosen.
func ExchangePath(code string) string { return OrderPath(code) + "/exchange" }

// ExchangeFor is where the new seats are chosen, and the exchange confirmed.
func ExchangeFor(slug, code string, tickets []seats.ID) string {
	path := "/events/" + slug + "/exchange/" + code
	if len(tickets) == 0 {
		return path
	}
	query := url.Values{}
	for _, id := range tickets {
		query.Add("ticket", id.String())
	}
	return path + "?" + query.Encode()
}

func (p ExchangePage) here() string { return ExchangeFor(p.Event.Slug, p.Order.Code, p.Chosen) }

// goes reports whether a ticket is one of those that are exchanged.
func (p ExchangePage) goes(t orders.Ticket) bool {
	return len(p.Chosen) == 0 || slices.Contains(p.Chosen, t.ID)
}

// dateWords tells the performance from the other one.
func (s Sale) dateWords(ctx context.Context) string {
	return text.Time(ctx, s.Event.Local(s.Event.StartsAt), "Mon 2 Jan, 15:04")
}

// termsWords says until when, and what we keep.
func (p ExchangePage) termsWords(ctx context.Context) string {
	return strings.TrimSpace(exchangeUntil(ctx, p.Event, *p.Order.ExchangeEnds, p.Quote.Fee > 0))
}

// months are the other months with dates, next to the shown one.
func (p ExchangePage) months() (list []time.Time) {
	for _, c := range p.All {
		if m := MonthOf(c); !m.Equal(p.Month) && !slices.ContainsFunc(list, m.Equal) {
			list = append(list, m)
		}
	}
	return list
}

// full reports whether too few seats are left on a date.
func (p ExchangePage) full(d ExchangeDate) bool {
	return d.Status != seats.OnSale || d.Free < len(p.Order.Exchangeable()) && d.Free < max(1, len(p.Chosen))
}

// differenceWords says what a date costs more or less; nothing if that is not known yet.
func (p ExchangePage) differenceWords(ctx context.Context, d ExchangeDate) string {
	if d.Difference == nil {
		return ""
	}
	switch n := *d.Difference; {
	case n > 0:
		return text.T(ctx, "Same seats: %s to pay", views.MoneyIn(ctx, n, p.Order.Currency))
	case n < 0:
		return text.T(ctx, "Same seats: %s back", views.MoneyIn(ctx, -n, p.Order.Currency))
	}
	return text.T(ctx, "Same seats: no difference")
}

// TypeCount is how many tickets of a type are looked for. Key is empty if the performance has one type.
type TypeCount struct {
	Key string
	N   int
}

// wants are the ticket types of the old tickets, as a claim asks for them.
func (p ExchangePage) wants() (list []TypeCount) {
	for _, t := range p.Quote.Tickets {
		key := p.Old.Prices.Types[t.TypeNumber()].Key
		at := slices.IndexFunc(list, func(c TypeCount) bool { return c.Key == key })
		if at < 0 {
			list, at = append(list, TypeCount{Key: key}), len(list)
		}
		list[at].N++
	}
	return list
}

// typed reports whether the performance has several ticket types.
func (p ExchangePage) typed() bool { return len(p.Prices.Types) > 1 }

// MoneyWords says what the exchange costs or gives back.
func (p ExchangePage) MoneyWords(ctx context.Context) string {
	switch d := p.Quote.Difference; {
	case d > 0:
		return text.T(ctx, "%s to pay", views.MoneyIn(ctx, d, p.Order.Currency))
	case d < 0:
		return text.T(ctx, "%s back", views.MoneyIn(ctx, -d, p.Order.Currency))
	}
	return text.T(ctx, "Nothing to pay")
}

// afterwards says what becomes of the tickets and the money.
func (p ExchangePage) afterwards(ctx context.Context) string {
	said := text.T(ctx, "Your old tickets stop being valid at once, and others can book the seats. We email you the new tickets.")
	if p.Quote.Difference < 0 {
		said += " " + text.T(ctx, "The difference goes back %s.", wayBackOf(ctx, p.Order))
	}
	return said
}

// payable reports whether the exchange can be confirmed here.
func (p ExchangePage) payable() bool {
	return len(p.Quote.Swaps) > 0 && (p.Quote.Difference <= 0 || len(p.Quote.Methods) > 0)
}

// button is what the button that exchanges says.
func (p ExchangePage) button(ctx context.Context) string {
	if p.Quote.Difference > 0 {
		return text.T(ctx, "Pay %s and exchange", views.MoneyIn(ctx, p.Quote.Difference, p.Order.Currency))
	}
	return text.N(ctx, "Exchange %d ticket", "Exchange %d tickets", len(p.Quote.Swaps))
}

// exchangeable reports whether its attendee may exchange tickets of the order.
func (p OrderPage) exchangeable() bool { return p.Order.RefuseExchange() == nil }

// ExchangedWords says what an exchange of an order of an event was.
func ExchangedWords(ctx context.Context, e seats.Event, x orders.Exchange) string {
	when := views.DayTimeIn(ctx, e, x.StartsAt)
	switch {
	case x.Event == e.Slug && x.Came:
		return text.T(ctx, "These tickets replace yours of another type.")
	case x.Event == e.Slug:
		return text.T(ctx, "Exchanged for tickets of another type.")
	case x.Came:
		return text.T(ctx, "These tickets replace yours for %s.", when)
	}
	return text.T(ctx, "Exchanged for tickets for %s.", when)
}

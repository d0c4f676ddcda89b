package shop

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// Codes is what a page knows of codes.
type Codes struct {
	Asks     bool               // the event has codes
	Prices   *seats.Prices      // for the names of ticket types
	Entered  []pricing.Code     // by the attendee, the last one first
	Access   *seats.Access      // what these unlock
	Reserved func(idx int) bool // whether a blocked seat is reserved for a code; nil where no page needs it

	Typed, Wrong string // a code that is not good, and why
}

// Discount is the discount code that counts, of those that were entered; nil for none.
func (c Codes) Discount() (code string, off *pricing.Discount) {
	for i := range c.Entered {
		if e := &c.Entered[i]; e.TakesOff() && e.State == pricing.CodeGood {
			return e.Code, &e.Discount
		}
	}
	return "", nil
}

// Unlock shows an event to an attendee who entered codes: what is reserved for them is available, and totals have the discount.
func (s *Sale) Unlock(c Codes) {
	s.Code, s.Discount = c.Discount()
	s.LimitEarly(c)
	if s.Codes = c; c.Access == nil || len(c.Access.Seats) == 0 {
		return
	}
	counts := &s.Map.Counts
	counts.Free, counts.Blocked = slices.Clone(counts.Free), slices.Clone(counts.Blocked)
	for _, idx := range c.Access.Seats {
		if idx < len(s.Map.States) && s.Map.States[idx] == seats.Blocked {
			category := s.Plan.Seats[idx].Category
			s.Map.States[idx] = seats.Free
			counts.Free[category]++
			counts.Blocked[category]--
		}
	}
}

// LimitEarly shows the limit of the presale in place of that of the event, until the event is on sale.
func (s *Sale) LimitEarly(c Codes) {
	if limit := c.Access.PresaleLimit(); limit > 0 && s.Event.Status == seats.Scheduled {
		s.Event.SeatsPerHolder = min(s.Event.SeatsPerHolder, limit)
	}
}

// CodeDoes says what a code does that is good.
func CodeDoes(ctx context.Context, s *seats.Sale, c pricing.Code) string {
	return Sale{Event: s.Event, Codes: Codes{Prices: s.Prices}}.codeDoes(ctx, c)
}

func (s Sale) codeDoes(ctx context.Context, c pricing.Code) string {
	var does []string
	switch {
	case c.Percent > 0:
		does = append(does, text.T(ctx, "takes %s off", percentage(ctx, c.Percent)))
	case c.Amount > 0 && c.PerOrder:
		does = append(does, text.T(ctx, "takes %s off the order", views.MoneyIn(ctx, c.Amount, s.Event.Currency)))
	case c.Amount > 0:
		does = append(does, text.T(ctx, "takes %s off each ticket", views.MoneyIn(ctx, c.Amount, s.Event.Currency)))
	}
	var types []string
	for _, kind := range c.UnlocksTypes {
		if p := s.Codes.Prices; p != nil && kind < len(p.Types) {
			types = append(types, text.T(ctx, "“%s”", p.Types[kind].Name))
		}
	}
	if len(types) > 0 {
		does = append(does, text.T(ctx, "lets you choose %s tickets at the checkout", text.List(ctx, types)))
	}
	if len(c.UnlocksBlocks) > 0 {
		does = append(does, text.T(ctx, "makes seats available that are reserved for it"))
	}
	switch {
	case c.Presale && c.PersonTickets > 0:
		does = append(does, text.N(ctx, "lets you book %d ticket before the sale opens", "lets you book up to %d tickets before the sale opens", c.PersonTickets))
	case c.Presale:
		does = append(does, text.T(ctx, "lets you book before the sale opens"))
	}
	return text.T(ctx, "This code %s.", text.List(ctx, does))
}

// codeSays is what a page says of a code that was entered.
func (s Sale) codeSays(ctx context.Context, c pricing.Code) string {
	if wrong := c.State.Message(); wrong != "" {
		return text.T(ctx, wrong)
	}
	does := s.codeDoes(ctx, c)
	if cost := s.Cost(); cost.Applied.Code && c.Code == s.Code {
		does += " " + text.T(ctx, "You save %s on your seats.", views.MoneyIn(ctx, cost.Discount, s.Event.Currency))
	}
	return does
}

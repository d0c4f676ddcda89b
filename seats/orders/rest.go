package orders

import (
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// The rest of an order are the live tickets that a cancellation leaves. It keeps to the rules of the ticket types, and an
// offer counts for it only as far as its own tickets reach: what goes back, and what the rest costs, are what was paid.

// without lists the live tickets but these.
func (o Order) without(tickets []seats.ID) (rest []Ticket) {
	for _, t := range o.Tickets {
		if !t.Revoked && !slices.Contains(tickets, t.ID) {
			rest = append(rest, t)
		}
	}
	return rest
}

// rest lists the live tickets but these; nil if a cancellation does not depend on them.
func (o Order) rest(s *seats.Sale, tickets []seats.ID) []seats.ID {
	ruled := func(t seats.TicketType) bool { return t.Least > 1 || t.With != (seats.With{}) }
	if o.offered == nil && !slices.ContainsFunc(s.Prices.Types, ruled) {
		return nil
	}
	ids := []seats.ID{}
	for _, t := range o.without(tickets) {
		ids = append(ids, t.ID)
	}
	return ids
}

// difference is what the order keeps more if these tickets are cancelled, because the rest costs more by its offer; at most
// what they cost. It is negative if an earlier cancellation kept more than that.
func (o Order) difference(tickets []seats.ID) int64 {
	if o.offered == nil {
		return 0
	}
	var cost int64
	for _, t := range o.Tickets {
		if !t.Revoked && slices.Contains(tickets, t.ID) {
			cost += t.Cost()
		}
	}
	return min(o.beyond(o.without(tickets))-o.differed, cost)
}

// beyond is what tickets would cost more by the offer of the order if they were bought alone.
func (o Order) beyond(tickets []Ticket) int64 {
	lines, cost := make([]seats.Line, len(tickets)), int64(0)
	for i, t := range tickets {
		if !t.listed {
			return 0
		}
		lines[i], cost = t.line, cost+t.Cost()
	}
	return max(0, o.offered.Agreed(lines, nil, o.offered.Reverse).Total-cost)
}

// refuseRest refuses to cancel tickets without which the rest breaks a rule of its ticket types, if the order keeps it until
// now, or without which it costs more than is paid.
func (o Order) refuseRest(s *seats.Sale, tickets []seats.ID) *seats.Conflict {
	rest := o.without(tickets)
	broken := pricing.BrokenRule(s, linesOf(rest))
	switch {
	case broken.ID != "" && pricing.BrokenRule(s, linesOf(o.without(nil))).ID == "":
		return &seats.Conflict{Code: pricing.CodeTypes, Message: text.Mark("%s Nothing was cancelled, and your tickets are still valid. Cancel more tickets together, or other ones."), Args: []any{broken}}
	case o.difference(tickets) > 0 && o.Due() > 0 && !payments.Ahead(o.Method):
		return &seats.Conflict{Code: CodeOffer, Message: text.Mark("The other tickets cost more without these, because your offer needs them. Nothing was cancelled, and your tickets are still valid. Cancel the whole order, or write to the organizer.")}
	}
	return nil
}

func linesOf(tickets []Ticket) []seats.Line {
	lines := make([]seats.Line, len(tickets))
	for i, t := range tickets {
		lines[i] = t.line
	}
	return lines
}

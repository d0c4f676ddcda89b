package shop

import (
	"context"
	"slices"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// AcceptPage is where a friend accepts a ticket that was sent to them.
type AcceptPage struct {
	views.Page
	Sale
	Transfer    orders.Transfer
	Ticket      orders.Ticket // that is offered; the zero one if it is no more
	Name, Email string        // as they were typed
	Wrong       orders.Mistakes
	Message     string // why it was not accepted; may be empty
}

// Open reports whether the ticket may be accepted.
func (p AcceptPage) Open() bool {
	return p.Transfer.Open() && !p.Foreign(p.Ticket.Idx) && p.Ticket.ID != (seats.ID{}) && !p.Ticket.Revoked && p.Ticket.In == nil && p.sends()
}

// sends reports whether tickets of the event may be sent now.
func (s Sale) sends() bool {
	return !s.Event.Policy.NoTransfers && s.Now.Before(s.Event.StartsAt.Add(-s.Event.Policy.TransferUntil))
}

// gone says why the ticket is not to be accepted any more.
func (p AcceptPage) gone(ctx context.Context) string {
	switch {
	case p.Transfer.TicketCode != "":
		return text.T(ctx, "This ticket was accepted already. If that was you, open the link in the email that we sent you then.")
	case p.Transfer.Withdrawn:
		return text.T(ctx, "%s took this ticket back. Ask them if you think that is a mistake.", p.Transfer.From)
	case p.Ticket.In != nil:
		return text.T(ctx, "This ticket was already used at the door.")
	case p.Ticket.ID == (seats.ID{}) || p.Ticket.Revoked:
		return text.T(ctx, "This ticket is no longer valid.")
	}
	return text.T(ctx, "The time for sending tickets is over, so this one stays with %s.", p.Transfer.From)
}

// TransferPath is the address at which a friend accepts a ticket.
func TransferPath(code string) string { return "/transfers/" + code }

// ReceivedPath is the address of a ticket that a friend has.
func ReceivedPath(code string) string { return "/tickets/" + code }

// OrderAddress is the address of an order, for its buyer or for the friend who has a ticket of it.
func OrderAddress(o orders.Order) string {
	if o.Received != nil {
		return ReceivedPath(o.Code)
	}
	return OrderPath(o.Code)
}

// sendUntil says until when tickets may be sent.
func (p OrderPage) sendUntil(ctx context.Context) string {
	said := text.T(ctx, "Your friend gets a ticket with a new code, and yours stops working once they accept it. Until then you can take it back.")
	if ends := p.Order.TransferEnds; ends != nil && ends.Before(p.Event.StartsAt) {
		said += " " + text.T(ctx, "Tickets can be sent until %s.", views.DayTimeIn(ctx, p.Event, *ends))
	}
	return said
}

// sendable are the tickets that may be sent to a friend now.
func (p OrderPage) sendable() []orders.Ticket {
	return slices.DeleteFunc(p.Order.Sendable(), func(t orders.Ticket) bool { return p.Foreign(t.Idx) })
}

// offers are the tickets that wait for a friend.
func (p OrderPage) offers() (list []orders.Ticket) {
	for _, t := range p.Tickets() {
		if t.Offer != nil && !t.Revoked {
			list = append(list, t)
		}
	}
	return list
}

// receivedWords says what became of a friend's ticket that is not valid.
func receivedWords(ctx context.Context, o orders.Order) string {
	switch {
	case len(o.Tickets) == 0:
		return text.T(ctx, "You sent this ticket on, so it is no longer yours.")
	case o.State == orders.Cancelled:
		return text.T(ctx, "The organizer cancelled this ticket.") + " " + text.T(ctx, "If it was paid for, its price goes back to the person who bought it.")
	}
	return ""
}

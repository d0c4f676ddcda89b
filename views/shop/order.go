package shop

import (
	"slices"
	"strings"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/views"
)

// OrderPage is an order with its tickets.
type OrderPage struct {
	views.Page
	Sale
	Order   orders.Order
	Sent    orders.Sent // the latest mail about it
	Message string      // why what was asked was not done; may be empty

	Invoices []invoices.Document   // of the order, and its credit notes
	Transfer banktransfer.Transfer // of what is due; without an account if nothing is due by bank transfer
}

// cancellable tells whether its attendee may give tickets up.
func (p OrderPage) cancellable() bool {
	elsewhere := p.Order.Paid > 0 && !payments.Ahead(p.Order.Method)
	return p.Order.State == orders.Confirmed && !p.Order.Started && !p.Order.CancelOver && !elsewhere && len(p.Unused()) > 0
}

// Unused are the valid tickets that were not scanned.
func (p OrderPage) Unused() []orders.Ticket {
	return slices.DeleteFunc(p.Live(), func(t orders.Ticket) bool { return t.In != nil })
}

// giveUp says what giving tickets up means.
func (p OrderPage) giveUp() string {
	text := "Your tickets stop being valid at once, and others can book the seats."
	if payments.Ahead(p.Order.Method) {
		text += " The price goes back " + WayBack(p.Order.Method) + p.withFees()
		if p.Order.Offer != "" {
			text += " Each amount is for that ticket alone. If the tickets you keep are too few for the offer “" + p.Order.Offer + "”, they cost their full price, and less goes back."
		}
	}
	return text
}

// withFees says what becomes of the fees of tickets that are given up.
func (p OrderPage) withFees() string {
	switch {
	case p.Order.Fee == 0:
		return "."
	case p.Order.FeeKept:
		return ", without the fees."
	}
	return ", with their share of the fees."
}

func WayBack(method string) string {
	switch method {
	case payments.Credit:
		return "into your credit"
	case payments.Demo:
		return "to the demo card"
	case payments.Door, payments.Invoice, payments.Cash, payments.Terminal:
		return "to you, paid out by the organizer"
	}
	return "the way you paid"
}

// CancelWords says whether and until when the buyer of these tickets may cancel them, and what we keep. Nothing if all are used.
func (p OrderPage) CancelWords() string {
	o := p.Order
	switch {
	case len(p.Unused()) == 0:
		return ""
	case o.Paid > 0 && !payments.Ahead(o.Method):
		return "Only the organizer can cancel this order, as it was not paid online."
	case o.CancelEnds == nil:
		return neverCancelled
	}
	said := cancelUntil(p.Event, *o.CancelEnds, o.CancelOver)
	keeps := slices.ContainsFunc(p.Unused(), func(t orders.Ticket) bool { return pricing.Kept(o.Policy, t.Price) > 0 })
	if !o.CancelOver && keeps && payments.Ahead(o.Method) {
		said += keepWords(p.Event, o.Policy)
	}
	return said
}

// CancelWords says until when the tickets of this checkout may be cancelled, and what we keep.
func (p CheckoutPage) CancelWords() string { return p.cancelWords(p.total() > 0) }

// CancelWords says the same of all tickets of the event, before any are chosen.
func (s Sale) CancelWords() string {
	return s.cancelWords(slices.ContainsFunc(s.Plan.Categories, func(c seats.Category) bool { return c.Price > 0 }))
}

func (s Sale) cancelWords(priced bool) string {
	ends, may := events.CancelEnds(s.Event)
	if !may {
		return neverCancelled
	}
	over := !s.Now.Before(ends)
	said := cancelUntil(s.Event, ends, over)
	if !over && priced {
		said += keepWords(s.Event, s.Event.Policy)
	}
	return said
}

const neverCancelled = "Tickets for this event cannot be cancelled."

func cancelUntil(e seats.Event, ends time.Time, over bool) string {
	if over {
		return "Tickets for this event can no longer be cancelled."
	}
	return "You can cancel until " + e.Local(ends).Format("Mon 2 January 2006, 15:04\u00a0MST") + "."
}

// keepWords says what we keep of cancelled tickets; nothing if the policy keeps nothing.
func keepWords(e seats.Event, policy seats.Policy) string {
	var kept []string
	if policy.CancelFee > 0 {
		kept = append(kept, views.Money(policy.CancelFee, e.Currency))
	}
	if policy.CancelPercent > 0 {
		kept = append(kept, pricing.Percentage(policy.CancelPercent)+"% of its price")
	}
	if len(kept) == 0 {
		return ""
	}
	said := " We keep " + strings.Join(kept, " and ") + " for each cancelled ticket"
	if policy.CancelFee > 0 {
		said += ", at most its price"
	}
	return said + "."
}

// backWords says what goes back for a ticket that its attendee cancels; nothing if nothing was paid here.
func (p OrderPage) backWords(t orders.Ticket) string {
	if !payments.Ahead(p.Order.Method) {
		return ""
	}
	return " · " + views.Money(p.Order.GoesBack(t.ID), p.Order.Currency) + " back"
}

// DueWords says until when an order is to be paid, and what happens then; nothing if nothing is to be paid later.
func DueWords(e seats.Event, o orders.Order) string {
	if o.DueAt == nil || o.Due() == 0 {
		return ""
	}
	return "Pay by " + e.Local(*o.DueAt).Format("Mon 2 January 2006, 15:04\u00a0MST") + ". Unpaid orders are cancelled then."
}

// WentBack says what became of money that was paid; nothing if none goes back.
func WentBack(o orders.Order) string {
	var said []string
	if o.ByHand > 0 {
		said = append(said, views.Money(o.ByHand, o.Currency)+" goes back to you, paid out by the organizer.")
	}
	switch rest := o.Back - o.ByHand; {
	case rest == 0:
	case o.OnItsWay > o.ByHand:
		said = append(said, views.Money(rest, o.Currency)+" goes back "+WayBack(o.Method)+". It is on its way.")
	case o.Method == payments.Card:
		said = append(said, views.Money(rest, o.Currency)+" went back the way you paid. Banks take some days to show it.")
	default:
		said = append(said, views.Money(rest, o.Currency)+" went back "+WayBack(o.Method)+".")
	}
	return strings.Join(said, " ")
}

// ToPay says what is still to pay of an order, and how; nothing if nothing is.
func ToPay(o orders.Order) string {
	due := o.Due()
	switch {
	case due == 0:
		return ""
	case o.Method == payments.Door:
		return views.Money(due, o.Currency) + " to pay at the door."
	case o.Method == payments.Invoice:
		return views.Money(due, o.Currency) + " to pay by bank transfer."
	}
	return views.Money(due, o.Currency) + " is being charged."
}

// Live are the tickets that hold.
func (p OrderPage) Live() (list []orders.Ticket) {
	for _, t := range p.Tickets() {
		if !t.Revoked {
			list = append(list, t)
		}
	}
	return list
}

// Mailed says how the mail about the order stands.
func (p OrderPage) Mailed() string {
	switch {
	case p.Order.Email == "":
		return "Sold at the box office."
	case p.Sent.Refused != "":
		return "The email to " + p.Order.Email + " was refused. Keep the link to this page: it is your ticket."
	case p.Sent.At != nil:
		return "We emailed " + p.Order.Email + " at " + views.Clock(p.Event, *p.Sent.At) + "."
	}
	return "We’re emailing " + p.Order.Email + "."
}

// OrderPath is the address of an order.
func OrderPath(code string) string { return "/orders/" + code }

// Tickets are those of the order with a seat in the plan, valid ones first.
func (p OrderPage) Tickets() (list []orders.Ticket) {
	for _, t := range p.Order.Tickets {
		if !p.Foreign(t.Idx) {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b orders.Ticket) int { return last(a.Revoked) - last(b.Revoked) })
	return list
}

func last(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (p OrderPage) headline() string {
	switch {
	case p.Order.State == orders.Cancelled:
		return "This order was cancelled"
	case len(p.Order.Tickets) == 1:
		return "Your ticket"
	}
	return "Your tickets"
}

// DocumentWord names a document of an order.
func DocumentWord(d invoices.Document) string {
	if d.Kind == invoices.Credit {
		return "Credit note"
	}
	return "Invoice"
}

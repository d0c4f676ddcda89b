package views

import (
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/orders"
)

// OrderPage is an order with its tickets.
type OrderPage struct {
	Page
	Sale
	Order   orders.Order
	Sent    orders.Sent // the latest mail about it
	Message string      // why what was asked was not done; may be empty
}

// cancellable tells whether its attendee may give tickets up.
func (p OrderPage) cancellable() bool {
	elsewhere := p.Order.Paid > 0 && !orders.Ahead(p.Order.Method)
	return p.Order.State == orders.Confirmed && !p.Order.Started && !elsewhere && len(p.unused()) > 0
}

// unused are the tickets that hold and that nobody went in with.
func (p OrderPage) unused() []orders.Ticket {
	return slices.DeleteFunc(p.live(), func(t orders.Ticket) bool { return t.In != nil })
}

// giveUp says what giving tickets up means.
func (p OrderPage) giveUp() string {
	text := "Their codes stop being valid at once, and anybody may take the seats."
	if orders.Ahead(p.Order.Method) {
		text += " What they cost goes back " + wayBack(p.Order.Method) + p.withFees()
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

func wayBack(method string) string {
	switch method {
	case orders.Credit:
		return "into your credit"
	case orders.Demo:
		return "to the demo card"
	case orders.Door, orders.Invoice, orders.Cash, orders.Terminal:
		return "to you, paid out by the organizer"
	}
	return "to the card you paid with"
}

// wentBack says what became of money that was paid; nothing if none goes back.
func wentBack(o orders.Order) string {
	var said []string
	if o.ByHand > 0 {
		said = append(said, money(o.ByHand, o.Currency)+" goes back to you, paid out by the organizer.")
	}
	switch rest := o.Back - o.ByHand; {
	case rest == 0:
	case o.OnItsWay > o.ByHand:
		said = append(said, money(rest, o.Currency)+" goes back "+wayBack(o.Method)+". It is on its way.")
	case o.Method == orders.Card:
		said = append(said, money(rest, o.Currency)+" went back to the card you paid with. Banks take some days to show it.")
	default:
		said = append(said, money(rest, o.Currency)+" went back "+wayBack(o.Method)+".")
	}
	return strings.Join(said, " ")
}

// toPay says what is still to pay of an order, and how; nothing if nothing is.
func toPay(o orders.Order) string {
	due := o.Due()
	switch {
	case due == 0:
		return ""
	case o.Method == orders.Door:
		return money(due, o.Currency) + " to pay at the door."
	case o.Method == orders.Invoice:
		return money(due, o.Currency) + " to pay by invoice."
	}
	return money(due, o.Currency) + " is being charged."
}

// live are the tickets that hold.
func (p OrderPage) live() (list []orders.Ticket) {
	for _, t := range p.tickets() {
		if !t.Revoked {
			list = append(list, t)
		}
	}
	return list
}

// mailed says how the mail about the order stands.
func (p OrderPage) mailed() string {
	switch {
	case p.Order.Email == "":
		return "It was sold at the box office."
	case p.Sent.Refused != "":
		return "The mail to " + p.Order.Email + " was refused. Keep the address of this page: it is your ticket."
	case p.Sent.At != nil:
		return "Mail went to " + p.Order.Email + " at " + clock(p.Event, *p.Sent.At) + "."
	}
	return "Mail is on its way to " + p.Order.Email + "."
}

// OrderPath is the address of an order.
func OrderPath(code string) string { return "/orders/" + code }

// tickets are those of the order whose seats the plan has, the ones that hold first.
func (p OrderPage) tickets() (list []orders.Ticket) {
	for _, t := range p.Order.Tickets {
		if !p.foreign(t.Idx) {
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

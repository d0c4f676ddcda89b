package views

import (
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats/orders"
)

// LetterPage is a mail about an order.
type LetterPage struct {
	Sale
	Order   orders.Order
	Kind    string // of the mail
	Address string // of the order's page, whole
}

func (p LetterPage) tickets() []orders.Ticket {
	return OrderPage{Sale: p.Sale, Order: p.Order}.tickets()
}

// Subject is the mail's, and its first line.
func (p LetterPage) Subject() string {
	what := "Your tickets: "
	switch {
	case p.Order.State == orders.Cancelled:
		what = "Cancelled: "
	case p.Kind == orders.MailCancellation:
		what = "Your tickets changed: "
	case len(p.Order.Tickets) == 1:
		what = "Your ticket: "
	}
	return what + p.Event.Name
}

// account says what is to pay and what goes back. What is being charged by itself is nobody's concern: mail may be read late.
func (p LetterPage) account() (lines []string) {
	if due := toPay(p.Order); due != "" && !orders.Ahead(p.Order.Method) {
		lines = append(lines, due)
	}
	if back := wentBack(p.Order); back != "" {
		lines = append(lines, back)
	}
	return lines
}

func (p LetterPage) invitation() string {
	if p.Order.State == orders.Cancelled {
		return "Look at the order"
	}
	return "Show the tickets"
}

func (p LetterPage) advice() string {
	if p.Order.State == orders.Cancelled {
		return "The tickets of this order are no longer valid, and its seats are free again."
	}
	return "Whoever has this address has the tickets: keep it to yourself. The tickets are also attached, to be printed, and so is an entry for your calendar."
}

// Text is the same for programs that show plain text.
func (p LetterPage) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", p.Subject(), when(p.Event))
	if p.Event.Venue != "" {
		b.WriteString(p.Event.Venue + "\n")
	}
	for _, line := range p.account() {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	b.WriteString("\n")
	for _, t := range p.tickets() {
		fmt.Fprintf(&b, "- %s, %s", p.Plan.Words(t.Idx), price(t.Price, p.Order.Currency))
		if t.Revoked {
			b.WriteString(" (no longer valid)")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n\n%s\n", p.invitation(), p.Address, p.advice())
	return b.String()
}

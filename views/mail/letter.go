package mail

import (
	"context"
	"fmt"
	"strings"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// LetterPage is a mail about an order.
type LetterPage struct {
	shop.Sale
	Order   orders.Order
	Kind    string // of the mail
	Address string // of the order's page, whole

	Legal    []views.Link
	Invoices []invoices.Document
	Transfer banktransfer.Transfer // of what is due; without an account if nothing is due by bank transfer
}

func (p LetterPage) tickets() []orders.Ticket { return p.order().Tickets() }

func (p LetterPage) order() shop.OrderPage { return shop.OrderPage{Sale: p.Sale, Order: p.Order} }

// words are what the organizer adds, and how people join an online event.
func (p LetterPage) words(ctx context.Context) (lines []string) {
	if p.Event.Confirmation != "" && len(p.order().Live()) > 0 {
		lines = append(lines, p.Event.Confirmation)
	}
	if p.order().Joins() {
		return append(lines, "Join from the page of your order.")
	}
	if p.order().Online() {
		lines = append(lines, p.order().Joining(ctx))
	}
	return lines
}

// Subject is the mail's, and its first line.
func (p LetterPage) Subject() string {
	what := "Your tickets: "
	switch {
	case p.Order.State == orders.Cancelled:
		what = "Cancelled: "
	case p.Kind == orders.MailCancellation:
		what = "Your tickets changed: "
	case p.Kind == orders.MailMoved:
		what = "Your seats changed, here are the new tickets: "
	case p.Kind == orders.MailRefund:
		what = "Money goes back to you: "
	case p.Kind == orders.MailReminder:
		what = "Payment due soon: "
	case p.Kind == orders.MailPaid:
		what = "Payment received: "
	case p.Kind == orders.MailJoin:
		what = "You can join now: "
	case len(p.Order.Tickets) == 1:
		what = "Your ticket: "
	}
	return what + p.Event.Name
}

// account says what is to pay and what goes back. A charge under way is left out: mail may be read late.
func (p LetterPage) account(ctx context.Context) (lines []string) {
	if due := shop.ToPay(ctx, p.Order); due != "" && !payments.Ahead(p.Order.Method) {
		lines = append(lines, strings.TrimSpace(due+" "+shop.DueWords(ctx, p.Event, p.Order)))
	}
	for _, f := range shop.TransferFacts(ctx, p.Transfer) {
		lines = append(lines, f.Label+": "+f.Text)
	}
	if back := shop.WentBack(ctx, p.Order); back != "" {
		lines = append(lines, back)
	}
	if p.Kind == orders.MailConfirmation && len(p.order().Live()) > 0 && !p.Order.AtOffice {
		if words := p.order().CancelWords(ctx); words != "" {
			lines = append(lines, words)
		}
	}
	return lines
}

// bill is the total and what it consists of; nothing if that is the prices alone.
func (p LetterPage) bill(ctx context.Context) (lines []string) {
	parts := p.order().Parts(ctx)
	if len(parts) == 0 {
		return nil
	}
	lines = append(lines, "Total "+views.Money(p.Order.Total, p.Order.Currency))
	for _, part := range parts {
		lines = append(lines, part.Label+", "+part.Text)
	}
	return lines
}

// documents are links to the invoices and credit notes of the order.
func (p LetterPage) documents(ctx context.Context) (links []views.Link) {
	for _, d := range p.Invoices {
		links = append(links, views.Link{Words: shop.DocumentWord(ctx, d) + " " + d.Label + " (PDF)", Path: p.Address + "/invoices/" + d.Label + ".pdf"})
	}
	return links
}

func (p LetterPage) invitation() string {
	if p.Order.State == orders.Cancelled {
		return "View order"
	}
	if p.order().Joins() {
		return "Join the event"
	}
	return "View tickets"
}

func (p LetterPage) advice() string {
	if p.Order.State == orders.Cancelled {
		return "The tickets of this order are no longer valid, and its seats are available again."
	}
	if p.Event.Online.On {
		return "Keep this link private: anyone with it can use your tickets. An entry for your calendar is attached."
	}
	return "Keep this link private: anyone with it can use your tickets. We've attached the tickets to print and an entry for your calendar."
}

// Text is the same for programs that show plain text.
func (p LetterPage) Text(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", p.Subject(), views.When(p.Event))
	if views.Place(p.Event) != "" {
		b.WriteString(views.Place(p.Event) + "\n")
	}
	for _, line := range p.account(ctx) {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	for _, line := range p.words(ctx) {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	b.WriteString("\n")
	for _, t := range p.tickets() {
		fmt.Fprintf(&b, "- %s, %s", p.Plan.Words(t.Idx), views.Price(t.Cost(), p.Order.Currency))
		if words := t.TypeWords(); words != "" {
			fmt.Fprintf(&b, " (%s)", words)
		}
		if t.Revoked {
			b.WriteString(" (no longer valid)")
		}
		b.WriteString("\n")
	}
	for _, line := range p.bill(ctx) {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	for _, d := range p.documents(ctx) {
		fmt.Fprintf(&b, "\n%s:\n%s\n", d.Words, d.Path)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n\n%s\n", p.invitation(), p.Address, p.advice())
	return b.String() + footText(p.Legal)
}

// LostPage is a mail to a buyer who paid and got no seats.
type LostPage struct {
	shop.Sale
	Payment payments.Payment
	Address string // of the event's page, whole
	Legal   []views.Link
}

// Subject is the mail's, and its first line.
func (p LostPage) Subject() string {
	if p.Payment.Confirms() {
		return "No tickets, and nothing was ordered: " + p.Event.Name
	}
	if p.Payment.Captured > 0 {
		return "No tickets, and your money goes back: " + p.Event.Name
	}
	return "No tickets, and nothing was charged: " + p.Event.Name
}

// why says what happened and what still holds.
func (p LostPage) why() string {
	if p.Payment.Captured > 0 || p.Payment.Confirms() {
		return p.Payment.Reason
	}
	return p.Payment.Reason + " If your bank shows the amount as reserved, that ends by itself within some days."
}

func (p LostPage) amount(ctx context.Context) string {
	if p.Payment.Captured == 0 {
		return ""
	}
	return views.Money(p.Payment.Captured, p.Payment.Currency) + " goes back " + shop.WayBack(ctx, p.Payment.Method) + "."
}

// wanted are the seats that the payment was for.
func (p LostPage) wanted() (words []string) {
	for _, idx := range p.Payment.Seats {
		if !p.Foreign(idx) {
			words = append(words, p.Plan.Words(idx))
		}
	}
	return words
}

const lostAdvice = "There is no order, and nothing is left for you to do. If you still want to come, look at the seats that are free."

// Text is the same for programs that show plain text.
func (p LostPage) Text(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n%s\n", p.Subject(), views.When(p.Event), p.why())
	if amount := p.amount(ctx); amount != "" {
		fmt.Fprintf(&b, "\n%s\n", amount)
	}
	b.WriteString("\nYou had chosen:\n")
	for _, words := range p.wanted() {
		fmt.Fprintf(&b, "- %s\n", words)
	}
	fmt.Fprintf(&b, "\n%s\n\nLook at the free seats:\n%s\n", lostAdvice, p.Address)
	return b.String() + footText(p.Legal)
}

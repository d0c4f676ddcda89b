package mail

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/shop"
)

// LetterPage is a mail about an order.
type LetterPage struct {
	Letterhead
	shop.Sale
	Order   orders.Order
	Kind    string // of the mail
	Address string // of the order's page, whole

	Passes   shop.Passes // that links offer
	Invoices []invoices.Document
	Transfer banktransfer.Transfer // of what is due; without an account if nothing is due by bank transfer
}

func (p LetterPage) tickets() []orders.Ticket { return p.order().Tickets() }

func (p LetterPage) order() shop.OrderPage {
	return shop.OrderPage{Sale: p.Sale, Order: p.Order, Passes: p.Passes}
}

// wallets are links to keep the tickets in a wallet.
func (p LetterPage) wallets(ctx context.Context) []views.Link {
	return p.order().PassLinks(ctx, p.Address)
}

// words are what the organizer adds, and how people join an online event.
func (p LetterPage) words(ctx context.Context) (lines []string) {
	if p.Event.Confirmation != "" && len(p.order().Live()) > 0 {
		lines = append(lines, p.Event.Confirmation)
	}
	if p.order().Joins() {
		return append(lines, text.T(ctx, "Join from the page of your order."))
	}
	if p.order().Online() {
		lines = append(lines, p.order().Joining(ctx))
	}
	return lines
}

// Subject is the mail's, and its first line.
func (p LetterPage) Subject(ctx context.Context) string {
	name := p.Event.Name
	switch {
	case p.Kind == orders.MailExchanged && p.Order.State != orders.Cancelled:
		return text.T(ctx, "Your tickets were exchanged, here are the new ones: %s", name)
	case p.Own.Subject != "":
		return p.Own.Subject
	case shop.SoldAgain(p.Order):
		return text.T(ctx, "Your tickets were sold again: %s", name)
	case p.calledOff():
		return text.T(ctx, "Event cancelled: %s", name)
	case p.Order.State == orders.Cancelled:
		return text.T(ctx, "Order cancelled: %s", name)
	case p.Kind == orders.MailCancellation:
		return text.T(ctx, "Your order changed: %s", name)
	case p.Kind == orders.MailMoved:
		return text.T(ctx, "Your seats changed, here are your new tickets: %s", name)
	case p.Kind == orders.MailRefund:
		return text.T(ctx, "Your refund: %s", name)
	case p.Kind == orders.MailReminder:
		return text.T(ctx, "Payment due soon: %s", name)
	case p.Kind == orders.MailPaid:
		return text.T(ctx, "Payment received: %s", name)
	case p.Kind == orders.MailJoin:
		return text.T(ctx, "You can join now: %s", name)
	case len(p.Order.Tickets) == 1:
		return text.T(ctx, "Your ticket: %s", name)
	}
	return text.T(ctx, "Your tickets: %s", name)
}

// calledOff reports whether the mail says that the event was cancelled, and the order with it.
func (p LetterPage) calledOff() bool {
	return p.Kind == orders.MailCancellation && p.CalledOff() && p.Order.State == orders.Cancelled
}

// account says why an event was cancelled, what is to pay and what goes back. A charge under way is left out: mail may be read late.
func (p LetterPage) account(ctx context.Context) (lines []string) {
	if p.calledOff() && p.Event.Reason != "" {
		lines = append(lines, strings.TrimRight(p.Event.Reason, ".")+".")
	}
	if due := shop.ToPay(ctx, p.Order); due != "" && !payments.Ahead(p.Order.Method) {
		lines = append(lines, strings.TrimSpace(due+" "+shop.DueWords(ctx, p.Event, p.Order)))
	}
	for _, f := range shop.TransferFacts(ctx, p.Transfer) {
		lines = append(lines, f.Label+": "+f.Text)
	}
	if words := shop.BankDetailsWords(ctx, p.Order, p.Transfer); words != "" {
		lines = append(lines, words)
	}
	if back := shop.WentBack(ctx, p.Order); back != "" {
		lines = append(lines, back)
	}
	if p.Kind == orders.MailExchanged {
		for _, x := range p.Order.Exchanges {
			lines = append(lines, shop.ExchangedWords(ctx, p.Event, x))
		}
	}
	if (p.Kind == orders.MailConfirmation || p.Kind == orders.MailExchanged) && len(p.order().Live()) > 0 && !p.Order.AtOffice {
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
	lines = append(lines, text.T(ctx, "Total %s", views.MoneyIn(ctx, p.Order.Total, p.Order.Currency)))
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

func (p LetterPage) invitation(ctx context.Context) string {
	if p.Order.State == orders.Cancelled {
		return text.T(ctx, "View order")
	}
	if p.order().Joins() {
		return text.T(ctx, "Join the event")
	}
	return text.T(ctx, "View tickets")
}

func (p LetterPage) advice(ctx context.Context) string {
	if shop.SoldAgain(p.Order) {
		return text.T(ctx, "The tickets of this order are no longer valid: other attendees have their seats now.")
	}
	if p.Order.State == orders.Cancelled && (p.CalledOff() || slices.ContainsFunc(p.Order.Tickets, func(t orders.Ticket) bool { return t.Resold })) {
		return text.T(ctx, "The tickets of this order are no longer valid.")
	}
	if p.Order.State == orders.Cancelled {
		return text.T(ctx, "The tickets of this order are no longer valid, and its seats are available again.")
	}
	private := text.T(ctx, "Keep this link private: anyone with it can use your tickets.") + " "
	switch {
	case len(p.order().Live()) == 0:
		return text.T(ctx, "All valid tickets of this order were sent to another person.")
	case p.Order.Rotates:
		return private + shop.RotatesWords(ctx) + " " + text.T(ctx, "We’ve attached an entry for your calendar.")
	case p.Event.Online.On:
		return private + text.T(ctx, "We’ve attached an entry for your calendar.")
	}
	return private + text.T(ctx, "We’ve attached the tickets to print and an entry for your calendar.")
}

// ticket is a ticket with its seat, price and type.
func (p LetterPage) ticket(ctx context.Context, t orders.Ticket) string {
	line := shop.SeatWords(ctx, p.Plan, t.Idx) + ", " + views.PriceIn(ctx, t.Cost(), p.Order.Currency)
	if words := shop.TypeWords(ctx, t); words != "" {
		line += " (" + words + ")"
	}
	if t.Name != "" {
		line += ", " + t.Name
	}
	if t.Friend != nil {
		line += " (" + text.T(ctx, "Sent to %s", t.Friend.Name) + ")"
	}
	if t.Resold {
		line += " (" + text.T(ctx, "sold again, no longer valid") + ")"
	} else if t.Revoked {
		line += " (" + text.T(ctx, "no longer valid") + ")"
	}
	return line
}

// Text is the same for programs that show plain text.
func (p LetterPage) Text(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", p.Subject(ctx), views.WhenIn(ctx, p.Event))
	if place := views.PlaceIn(ctx, p.Event); place != "" {
		b.WriteString(place + "\n")
	}
	b.WriteString(text.T(ctx, "Order %s", p.Order.Number()) + "\n" + around(p.Own.Opening))
	for _, line := range p.account(ctx) {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	for _, line := range p.words(ctx) {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	b.WriteString("\n")
	for _, t := range p.tickets() {
		fmt.Fprintf(&b, "- %s\n", p.ticket(ctx, t))
	}
	for _, line := range p.bill(ctx) {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	for _, d := range p.documents(ctx) {
		fmt.Fprintf(&b, "\n%s:\n%s\n", d.Words, d.Path)
	}
	fmt.Fprintf(&b, "\n%s:\n%s\n", p.invitation(ctx), p.Address)
	for _, l := range p.wallets(ctx) {
		fmt.Fprintf(&b, "\n%s:\n%s\n", l.Words, l.Path)
	}
	fmt.Fprintf(&b, "\n%s\n", p.advice(ctx))
	return b.String() + around(p.Own.Closing) + footText(ctx, p.Letterhead)
}

// LostPage is a mail to a buyer who paid and got no seats.
type LostPage struct {
	Letterhead
	shop.Sale
	Payment payments.Payment
	Address string // of the event's page, whole; of an exchange: of the order with the old tickets
}

// Subject is the mail's, and its first line.
func (p LostPage) Subject(ctx context.Context) string {
	switch exchanges := p.exchanges(); {
	case p.Payment.Confirms():
		return text.T(ctx, "Your order was not placed: %s", p.Event.Name)
	case exchanges && p.Payment.Captured > 0:
		return text.T(ctx, "Your tickets were not exchanged, and a refund is on its way: %s", p.Event.Name)
	case exchanges:
		return text.T(ctx, "Your tickets were not exchanged: %s", p.Event.Name)
	case p.Payment.Captured > 0:
		return text.T(ctx, "No tickets, and a refund is on its way: %s", p.Event.Name)
	}
	return text.T(ctx, "No tickets, and nothing was charged: %s", p.Event.Name)
}

// exchanges reports whether it was paid for new tickets in place of those that the buyer has.
func (p LostPage) exchanges() bool { return p.Payment.Exchange.Code != "" }

// why says what happened and what still holds.
func (p LostPage) why(ctx context.Context) string {
	why := payments.Reason(p.Payment.Reason).In(ctx)
	if p.Payment.Captured > 0 || p.Payment.Confirms() {
		return why
	}
	return why + " " + text.T(ctx, "If your bank shows the amount as reserved, it is released within a few days.")
}

func (p LostPage) amount(ctx context.Context) string {
	if p.Payment.Captured == 0 {
		return ""
	}
	return text.T(ctx, "%s goes back %s.", views.MoneyIn(ctx, p.Payment.Captured, p.Payment.Currency), shop.WayBack(ctx, p.Payment.Method))
}

// wanted are the seats that the payment was for, if the buyer does not have them.
func (p LostPage) wanted(ctx context.Context) (words []string) {
	if p.Payment.ChangesTypes() {
		return nil
	}
	for _, idx := range p.Payment.Seats {
		if !p.Foreign(idx) {
			words = append(words, shop.SeatWords(ctx, p.Plan, idx))
		}
	}
	return words
}

func (p LostPage) advice(ctx context.Context) string {
	if p.exchanges() {
		return text.T(ctx, "This payment changed nothing about the tickets that you have.")
	}
	return text.T(ctx, "You have no order, and there is nothing to do. If you still want to come, choose other seats.")
}

// next is what its link leads to.
func (p LostPage) next(ctx context.Context) string {
	if p.exchanges() {
		return text.T(ctx, "Your tickets")
	}
	return text.T(ctx, "Choose other seats")
}

// Text is the same for programs that show plain text.
func (p LostPage) Text(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n%s\n", p.Subject(ctx), views.WhenIn(ctx, p.Event), p.why(ctx))
	if amount := p.amount(ctx); amount != "" {
		fmt.Fprintf(&b, "\n%s\n", amount)
	}
	for i, words := range p.wanted(ctx) {
		if i == 0 {
			fmt.Fprintf(&b, "\n%s\n", text.T(ctx, "You had chosen:"))
		}
		fmt.Fprintf(&b, "- %s\n", words)
	}
	fmt.Fprintf(&b, "\n%s\n\n%s:\n%s\n", p.advice(ctx), p.next(ctx), p.Address)
	return b.String() + footText(ctx, p.Letterhead)
}

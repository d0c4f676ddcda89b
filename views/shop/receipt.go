package shop

import (
	"context"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/pdf"
)

// ReceiptPath is the address of the receipt of an order.
func ReceiptPath(code string) string { return OrderPath(code) + "/receipt.pdf" }

// HasReceipt reports whether money came for an order, so that there is something to receipt. An invoice says it already.
func (p OrderPage) HasReceipt() bool {
	return p.Order.Received == nil && len(p.Invoices) == 0 && (p.Order.Paid > 0 || p.Order.Back > 0)
}

// Receipt says on A4 what an order costs now, line by line, what was paid for it and how, and what went back. Its sums are those of the
// order's page. It is no invoice: it has no number of its own and no seller's tax number.
func (p OrderPage) Receipt(ctx context.Context, look Print) []byte {
	o := p.Order
	doc := pdf.New(text.T(ctx, "Receipt"), text.Tag(ctx), o.CreatedAt)
	w := invoicePen{pen: newPen(ctx, doc), d: invoices.Document{Currency: o.Currency}, ctx: ctx, look: look}
	w.receiptHead(p)
	total := o.Kept - o.Waived
	for _, t := range p.Tickets() {
		if !t.Revoked {
			total += t.Cost()
			w.entry(text.T(ctx, "%s: %s", p.ticketName(t), p.seatWords(ctx, t.Idx)), t.Cost())
		}
	}
	for _, x := range o.Extras {
		w.entry(ExtraWords(ctx, x), x.Price)
	}
	if kept := o.Kept - o.Extra(); kept > 0 {
		w.entry(text.T(ctx, "Kept of cancelled tickets"), kept)
	}
	if o.Waived > 0 {
		w.entry(text.T(ctx, "Refunded, though the tickets are valid"), -o.Waived)
	}
	w.rule()
	w.amount(invoiceRight, 60, 12, o.Currency+" "+w.money(total))
	w.line(12, text.T(ctx, "Total"))
	w.y += 4
	w.line(9, paidWords(ctx, o))
	w.line(9, ToPay(ctx, o))
	w.line(9, WentBack(ctx, o))
	w.y += 4
	for _, part := range p.Parts(ctx)[len(o.Extras):] { // extras have their lines
		w.line(9, part.Label+": "+part.Text)
	}
	w.y += 4
	w.line(9, text.T(ctx, "This is a receipt, not an invoice."))
	return doc.Output()
}

// ticketName is the type of a ticket, or its category where the event has one type.
func (p OrderPage) ticketName(t orders.Ticket) string {
	if t.Type != "" || p.Foreign(t.Idx) {
		return t.Type
	}
	return p.Plan.Categories[p.Plan.Seats[t.Idx].Category].Name
}

// paidWords says what is paid of an order, and how.
func paidWords(ctx context.Context, o orders.Order) string {
	if o.Paid == 0 {
		return ""
	}
	return text.T(ctx, "%s was paid (%s).", views.MoneyIn(ctx, o.Paid, o.Currency), views.PaidBy(ctx, o))
}

func (p *invoicePen) receiptHead(o OrderPage) {
	p.doc.Page(pdf.A4Width, pdf.A4Height)
	p.logo()
	p.y = 25
	if p.look.Branding != nil {
		p.line(12, p.look.Branding.TeamName)
	}
	p.y += 12
	p.line(16, text.T(p.ctx, "Receipt"))
	p.y += 2
	p.line(9, text.T(p.ctx, "Date")+": "+views.DayIn(p.ctx, o.Event.Local(o.Order.CreatedAt)))
	p.line(9, text.T(p.ctx, "Order number")+": "+o.Order.Number())
	p.line(9, text.T(p.ctx, "Name")+": "+o.Order.Name)
	p.line(9, o.Event.Name)
	p.line(9, text.T(p.ctx, "Date of the event")+": "+views.WhenIn(p.ctx, o.Event))
	p.y += 6
	p.rule()
}

// entry is a line with what it costs, on the next page if this one is full.
func (p *invoicePen) entry(words string, cost int64) {
	if p.y > invoiceEnd {
		p.doc.Page(pdf.A4Width, pdf.A4Height)
		p.y = 25
	}
	p.amount(invoiceRight, 40, 9, p.money(cost))
	left, wide := invoiceLeft, 125.0
	if p.rtl {
		left = invoiceRight - wide
	}
	p.y = p.write(left, p.y, 9, wide, 3, words) + 1
}

// rule draws a line across the page.
func (p *invoicePen) rule() {
	p.look.draws(p.doc)
	p.doc.Line(invoiceLeft, p.y-3, invoiceRight, p.y-3)
	p.y += 3
}

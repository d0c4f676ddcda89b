package shop

import (
	"context"
	"strconv"
	"strings"

	"github.com/usherbox/usher/seats/books"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/pdf"
)

// Settlement is what a performance earned, as a paper to sign.
type Settlement struct {
	books.Settlement
	Place  string // of the event
	Team   string // that has the event
	Method func(context.Context, string) string
}

// settlementPen writes a settlement. Its sizes are those of an invoice.
type settlementPen struct {
	invoicePen
	s Settlement
}

// SettlementPaper is a settlement as PDF on A4.
func SettlementPaper(ctx context.Context, s Settlement, look Print) []byte {
	title := text.T(ctx, "Settlement")
	doc := pdf.New(title+" · "+s.Event.Name, text.Tag(ctx), s.At)
	p := settlementPen{invoicePen{pen: newPen(ctx, doc), ctx: ctx, look: look}, s}
	p.d.Currency = s.Event.Currency
	p.page()
	p.logo()
	p.line(9, s.Team)
	p.y += 4
	p.line(16, title)
	p.line(12, s.Event.Name)
	p.line(9, text.Time(ctx, s.Event.Local(s.Event.StartsAt), "Mon 2 January 2006, 15:04\u00a0MST"))
	p.line(9, s.Place)
	p.line(9, text.T(ctx, "As of %s. All amounts in %s.", text.Time(ctx, s.Event.Local(s.At), "Mon 2 January 2006, 15:04\u00a0MST"), s.Event.Currency))
	p.y += 6
	p.table()
	p.sharing()
	p.sign()
	return doc.Output()
}

func (p *settlementPen) page() {
	p.doc.Page(pdf.A4Width, pdf.A4Height)
	p.y = 25
	p.look.draws(p.doc)
}

// room begins a page if so many millimetres are not left on this one.
func (p *settlementPen) room(height float64) {
	if p.y+height > invoiceEnd {
		p.page()
	}
}

// columnEnds are where the columns of numbers end, in millimetres.
var columnEnds = [...]float64{88, 110, 130, 152, 171, invoiceRight}

func (p *settlementPen) cells(size float64, cells ...string) {
	from := 76.0
	for i, cell := range cells {
		p.amount(columnEnds[i], columnEnds[i]-from-1, size, cell)
		from = columnEnds[i]
	}
}

// name writes the first column of a row, and moves on.
func (p *settlementPen) name(size float64, words string) {
	left, wide := invoiceLeft, 55.0
	if p.rtl {
		left = invoiceRight - wide
	}
	p.y = p.write(left, p.y, size, wide, 2, words) + 1
}

func (p *settlementPen) rule() {
	p.doc.Line(invoiceLeft, p.y-3.5, invoiceRight, p.y-3.5)
	p.y++
}

func (p *settlementPen) sums(s books.Sums) {
	p.cells(8.5, strconv.Itoa(s.Tickets), p.signed(s.Gross+s.Exchanged), p.signed(-s.Refunds), p.signed(s.Total()), p.signed(s.Fees), p.signed(s.Tax))
}

// signed is an amount with a true minus sign.
func (p *settlementPen) signed(minor int64) string {
	if minor < 0 {
		return "−" + p.money(-minor)
	}
	return p.money(minor)
}

// table writes what was sold, what came by each method, and the total.
func (p *settlementPen) table() {
	p.cells(8.5, text.T(p.ctx, "Tickets"), text.T(p.ctx, "Received"), text.T(p.ctx, "Refunded"), text.T(p.ctx, "Total"), text.T(p.ctx, "Fees in it"), text.T(p.ctx, "Tax in it"))
	p.name(8.5, text.T(p.ctx, "Category and type"))
	p.rule()
	for _, r := range p.s.Rows {
		p.room(12)
		p.sums(r.Sums)
		p.name(8.5, SettledName(p.ctx, r))
	}
	p.room(20)
	p.rule()
	p.sums(p.s.Total)
	p.name(8.5, text.T(p.ctx, "Total"))
	p.y += 4
	for _, m := range p.s.Methods {
		p.room(12)
		p.cells(8.5, "", p.signed(m.Gross+m.Exchanged), p.signed(-m.Refunds), p.signed(m.Sums.Total()))
		p.name(8.5, p.s.Method(p.ctx, m.Key))
	}
	if p.s.Unpaid > 0 {
		p.y += 2
		p.line(8.5, text.T(p.ctx, "Ordered and not paid yet, and not in these figures: %s", p.money(p.s.Unpaid)))
	}
	p.y += 6
}

// sharing writes who gets what.
func (p *settlementPen) sharing() {
	row := func(size float64, name string, minor int64) {
		p.room(10)
		p.amount(invoiceRight, 40, size, p.signed(minor))
		left, wide := invoiceLeft, 120.0
		if p.rtl {
			left = invoiceRight - wide
		}
		p.y = p.write(left, p.y, size, wide, 2, name) + 1.5
	}
	row(9, text.T(p.ctx, "Total"), p.s.Total.Total())
	row(9, text.T(p.ctx, "Net, without taxes"), p.s.Total.Net())
	row(9, text.T(p.ctx, "Net of tickets, without fees"), p.s.Tickets)
	p.y += 2
	for _, s := range p.s.Shares {
		row(9, ShareWords(p.ctx, s.Share), -s.Amount)
	}
	p.rule()
	row(12, text.T(p.ctx, "Due to the promoter"), p.s.Promoter)
}

// sign leaves lines for the signatures.
func (p *settlementPen) sign() {
	p.room(45)
	p.y += 25
	for i, words := range []string{text.T(p.ctx, "For the box office: place, date, signature"), text.T(p.ctx, "For the promoter: place, date, signature")} {
		x := invoiceLeft + float64(i)*90
		p.doc.Line(x, p.y, x+80, p.y)
		p.write(x, p.y+4, 8, 80, 2, words)
	}
}

// SettledName names a row of a settlement.
func SettledName(ctx context.Context, r books.SettledRow) string {
	if r.Line != "" {
		return text.T(ctx, settledLines[r.Line])
	}
	return strings.Join(said(r.Category, r.Type), " · ")
}

var settledLines = map[string]string{
	books.LineDonation: text.Mark("Donation"), books.LinePostage: text.Mark("Postage"), books.LineExcess: text.Mark("Paid in excess, or without an order"), books.LineRetained: text.Mark("Deposits retained"),
}

// ShareWords say who gets what share of what.
func ShareWords(ctx context.Context, s books.Share) string {
	return text.T(ctx, "%[1]s: %[2]s %% of %[3]s", s.Name, pricing.Percentage(s.Percent), text.T(ctx, ShareOf[s.Of]))
}

// ShareOf names what shares are of.
var ShareOf = map[string]string{
	books.OfTotal: text.Mark("the total"), books.OfNet: text.Mark("the net total"), books.OfTickets: text.Mark("net tickets without fees"),
}

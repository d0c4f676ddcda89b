package shop

import (
	"context"
	"strings"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/pdf"
)

// Sizes of an invoice on A4, in millimetres.
const (
	invoiceLeft  = 20.0
	invoiceRight = 190.0
	invoiceEnd   = 265.0 // no line begins below
)

// InvoicePaper is an invoice or credit note as PDF/A-3. It contains its XML if the document has one.
func InvoicePaper(ctx context.Context, d invoices.Document, look Print) ([]byte, error) {
	title := d.Title(ctx)
	doc := pdf.New(title, text.Tag(ctx), d.IssuedAt)
	doc.Metadata, doc.Profile = d.Metadata(title, pdf.Producer), invoices.SRGB()
	p := invoicePen{pen: newPen(ctx, doc), d: d, ctx: ctx, look: look}
	p.head(title)
	p.lines()
	p.sums()
	return d.Embed(doc.Output())
}

type invoicePen struct {
	*pen
	d   invoices.Document
	ctx context.Context // has the language
	y   float64

	look Print
}

// line writes a line of text and moves on.
func (p *invoicePen) line(size float64, words string) {
	if words != "" {
		p.y = p.write(invoiceLeft, p.y, size, invoiceRight-invoiceLeft, 3, words)
	}
}

// amount writes a text that ends at x, in the larger of two sizes in which it is no wider than wide. Where lines begin at the right,
// it ends as far from the other edge.
func (p *invoicePen) amount(x, wide, large float64, words string) {
	b := box{x - wide, p.y - 0.8*1.24*large/millimetre, wide, 1.24 * large / millimetre}
	if p.rtl {
		b.x = pdf.A4Width - x
	}
	p.right = !p.rtl // at the other end
	p.fit(b, plainFace, large, 5.5, words)
	p.right = p.rtl
}

func (p *invoicePen) money(minor int64) string { return pricing.Amount(minor, p.d.Currency) }

// address writes a seller or buyer.
func (p *invoicePen) address(party invoices.Party) {
	for _, line := range []string{party.Company, party.Name, party.Street, strings.TrimSpace(party.Postcode + " " + party.City), party.Country} {
		p.line(9, line)
	}
	for _, id := range [][2]string{{text.T(p.ctx, "VAT ID"), party.VATID}, {text.T(p.ctx, "Tax number"), party.TaxNumber}} {
		if id[1] != "" {
			p.line(9, id[0]+" "+id[1])
		}
	}
	p.line(9, party.Register)
}

// logo draws the team's logo at the head of a page.
func (p *invoicePen) logo() {
	logo, part := box{invoiceRight - 60, 18, 60, 20}, 1.0
	if p.rtl {
		logo.x, part = invoiceLeft, 0
	}
	logoAt(p.doc, p.look.takeLogo(p.doc), logo, part)
}

func (p *invoicePen) head(title string) {
	p.doc.Page(pdf.A4Width, pdf.A4Height)
	p.y = 25
	p.logo()
	p.address(p.d.Seller)
	p.line(9, p.d.Seller.Email)
	p.y += 8
	p.line(9, text.T(p.ctx, "To"))
	p.address(p.d.Buyer)
	p.y += 10
	p.line(16, title)
	p.y += 2
	p.line(9, text.T(p.ctx, "Date")+": "+p.d.DayOfIssue(p.ctx))
	p.line(9, p.d.Event)
	p.line(9, text.T(p.ctx, "Date of the event")+": "+p.d.Day)
	if p.d.Order != "" {
		p.line(9, text.T(p.ctx, "Order")+": "+p.d.Order)
	}
	if p.d.Corrects != nil {
		p.line(9, text.T(p.ctx, "Corrects invoice")+": "+p.d.Corrects.Label+" ("+p.d.Corrects.On+")")
	}
	p.y += 6
	p.columns()
}

// columns writes the heads of the columns.
func (p *invoicePen) columns() {
	p.amount(120, 20, 9, text.T(p.ctx, "Net"))
	p.amount(140, 18, 9, text.T(p.ctx, "VAT rate"))
	p.amount(162, 20, 9, text.T(p.ctx, "VAT"))
	p.amount(invoiceRight, 26, 9, text.T(p.ctx, "Gross"))
	p.y += 2
	p.look.draws(p.doc)
	p.doc.Line(invoiceLeft, p.y, invoiceRight, p.y)
	p.y += 5
}

func (p *invoicePen) lines() {
	for _, l := range p.d.Lines {
		if p.y > invoiceEnd {
			p.doc.Page(pdf.A4Width, pdf.A4Height)
			p.y = 25
			p.columns()
		}
		p.amounts(l.Net, l.Tax, l.Gross, l.Rate)
		left, wide := invoiceLeft, 78.0
		if p.rtl {
			left = invoiceRight - wide
		}
		p.y = p.write(left, p.y, 9, wide, 3, p.d.Words(p.ctx, l)) + 1
	}
}

func (p *invoicePen) amounts(net, tax, gross int64, rate int) {
	p.amount(120, 20, 9, p.money(net))
	p.amount(140, 18, 9, pricing.Rate(rate)+" %")
	p.amount(162, 20, 9, p.money(tax))
	p.amount(invoiceRight, 26, 9, p.money(gross))
}

func (p *invoicePen) sums() {
	if p.y > invoiceEnd-55 {
		p.doc.Page(pdf.A4Width, pdf.A4Height)
		p.y = 25
	}
	p.doc.Line(invoiceLeft, p.y-3, invoiceRight, p.y-3)
	p.y += 2
	for _, r := range p.d.Rates() {
		p.amounts(r.Net, r.Tax, r.Gross, r.Rate)
		p.y += 5
	}
	p.y += 3
	p.amount(invoiceRight, 60, 12, p.d.Currency+" "+p.money(p.d.Gross))
	p.line(12, text.T(p.ctx, "Total"))
	p.y += 4
	if less := p.d.LessDeposit(p.ctx); less != "" {
		p.y++
		if len(p.d.Deposit.Rates) == 0 {
			p.amount(invoiceRight, 60, 9, p.money(-p.d.Deposit.Amount))
		}
		p.line(9, less)
		p.y += 2
		for _, r := range p.d.Deposit.Rates {
			p.amounts(r.Tax-r.Amount, -r.Tax, -r.Amount, r.Rate)
			p.y += 5
		}
		p.amount(invoiceRight, 60, 12, p.d.Currency+" "+p.money(p.d.Due()))
		p.line(12, text.T(p.ctx, "Amount due"))
		p.y += 4
	}
	p.line(9, p.d.Terms(p.ctx))
	if p.d.Tax == 0 {
		p.line(9, p.d.Exemption(p.ctx))
	}
}

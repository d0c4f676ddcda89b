package shop

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"codeberg.org/go-pdf/fpdf"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
)

// producer names the program in the metadata of a PDF.
const producer = "Usher"

// Sizes of an invoice on A4, in millimetres.
const (
	invoiceLeft  = 20.0
	invoiceRight = 190.0
	invoiceEnd   = 265.0 // no line begins below
)

// InvoicePaper is an invoice or credit note as PDF/A-3. It contains its XML if the document has one.
func InvoicePaper(ctx context.Context, d invoices.Document, look Print) ([]byte, error) {
	ctx = onPaper(ctx)
	title := d.Title(ctx)
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCatalogSort(true)
	doc.SetCreationDate(d.IssuedAt.UTC())
	doc.SetModificationDate(d.IssuedAt.UTC())
	doc.SetTitle(title, true)
	doc.SetProducer(producer, true)
	doc.SetLang(text.Tag(ctx))
	doc.SetAutoPageBreak(false, 0)
	doc.SetXmpMetadata(d.Metadata(title, producer))
	doc.AddOutputIntent(fpdf.OutputIntentType{SubtypeIdent: fpdf.OutputIntent_GTS_PDFA1, OutputConditionIdentifier: "sRGB", Info: "sRGB", ICCProfile: invoices.SRGB()})
	p := invoicePen{pen: newPen(doc), d: d, ctx: ctx, look: look}
	p.head(title)
	p.lines()
	p.sums()
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, fmt.Errorf("views: print an invoice: %w", err)
	}
	return d.Embed(b.Bytes())
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

// right writes a text that ends at x.
func (p *invoicePen) right(x float64, words string) {
	p.doc.SetFontSize(9)
	p.doc.Text(x-p.doc.GetStringWidth(words), p.y, words)
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

func (p *invoicePen) head(title string) {
	p.doc.AddPage()
	p.y = 25
	p.look.logo(p.doc, invoiceRight-60, 18, 60, 20)
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
	p.line(9, text.T(p.ctx, "Order")+": "+p.d.Order)
	if p.d.Corrects != nil {
		p.line(9, text.T(p.ctx, "Corrects invoice")+": "+p.d.Corrects.Label+" ("+p.d.Corrects.On+")")
	}
	p.y += 6
	p.columns()
}

// columns writes the heads of the columns.
func (p *invoicePen) columns() {
	p.right(120, text.T(p.ctx, "Net"))
	p.right(140, text.T(p.ctx, "VAT rate"))
	p.right(162, text.T(p.ctx, "VAT"))
	p.right(invoiceRight, text.T(p.ctx, "Gross"))
	p.y += 2
	p.look.draws(p.doc)
	p.doc.Line(invoiceLeft, p.y, invoiceRight, p.y)
	p.y += 5
}

func (p *invoicePen) lines() {
	for _, l := range p.d.Lines {
		if p.y > invoiceEnd {
			p.doc.AddPage()
			p.y = 25
			p.columns()
		}
		p.amounts(l.Net, l.Tax, l.Gross, l.Rate)
		p.y = p.write(invoiceLeft, p.y, 9, 78, 3, p.d.Words(p.ctx, l)) + 1
	}
}

func (p *invoicePen) amounts(net, tax, gross int64, rate int) {
	p.right(120, p.money(net))
	p.right(140, pricing.Rate(rate)+" %")
	p.right(162, p.money(tax))
	p.right(invoiceRight, p.money(gross))
}

func (p *invoicePen) sums() {
	if p.y > invoiceEnd-40 {
		p.doc.AddPage()
		p.y = 25
	}
	p.doc.Line(invoiceLeft, p.y-3, invoiceRight, p.y-3)
	p.y += 2
	for _, r := range p.d.Rates() {
		p.amounts(r.Net, r.Tax, r.Gross, r.Rate)
		p.y += 5
	}
	p.y += 3
	p.doc.SetFontSize(12)
	total := p.d.Currency + " " + p.money(p.d.Gross)
	p.doc.Text(invoiceRight-p.doc.GetStringWidth(total), p.y, total)
	p.line(12, text.T(p.ctx, "Total"))
	p.y += 4
	p.line(9, p.d.Terms(p.ctx))
	if p.d.Tax == 0 {
		p.line(9, p.d.Exemption(p.ctx))
	}
}

package shop

import (
	"bytes"
	"context"
	"fmt"

	"codeberg.org/go-pdf/fpdf"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views"
)

// Sizes of a printed ticket, in millimetres. Three go on a page of A4, and a page of US Letter holds them as well.
const (
	paperLeft   = 15.0
	paperTop    = 12.0
	paperWidth  = 180.0
	paperHeight = 82.0
	paperCode   = 58.0
)

// Paper is an order's live tickets as a PDF, each with its QR code.
func (p OrderPage) Paper(ctx context.Context, look Print) ([]byte, error) {
	ctx = onPaper(ctx)
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCatalogSort(true)
	doc.SetCreationDate(p.Order.CreatedAt)
	doc.SetModificationDate(p.Order.CreatedAt)
	doc.SetTitle(p.Event.Name, true)
	doc.SetLang(text.Tag(ctx))
	doc.SetAutoPageBreak(false, 0)
	pen := newPen(doc)
	n := 0
	for _, t := range p.Tickets() {
		if t.Code == "" {
			continue
		}
		if n%3 == 0 {
			doc.AddPage()
		}
		p.paperTicket(ctx, pen, look, t, paperTop+float64(n%3)*(paperHeight+8))
		n++
	}
	if n == 0 {
		doc.AddPage()
		pen.write(paperLeft, paperTop+8, 14, paperWidth, 3, text.T(ctx, "The tickets of this order are no longer valid."))
	}
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, fmt.Errorf("views: print an order: %w", err)
	}
	return b.Bytes(), nil
}

// ContainedIn says what the price of a ticket contains, behind it; nothing if it is the price alone.
func ContainedIn(ctx context.Context, e seats.Event, t orders.Ticket, iso string) string {
	var said []string
	if t.Fee > 0 {
		said = append(said, text.T(ctx, "%s fee", views.MoneyIn(ctx, t.Fee, iso)))
	}
	for _, s := range pricing.Taxes([]pricing.Priced{t.Priced}) {
		if s.Tax > 0 {
			said = append(said, views.MoneyIn(ctx, s.Tax, iso)+" "+TaxName(ctx, e)+" "+taxRate(ctx, s.Rate))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " " + text.T(ctx, "(including %s)", text.List(ctx, said))
}

func (p OrderPage) paperTicket(ctx context.Context, pen *pen, look Print, t orders.Ticket, top float64) {
	look.draws(pen.doc)
	if c, own := look.colour(); own {
		pen.doc.SetFillColor(int(c.R), int(c.G), int(c.B))
		pen.doc.Rect(paperLeft, top+8, 2.5, paperHeight-16, "F")
	}
	look.logo(pen.doc, paperLeft+paperWidth-paperCode-5, top+paperCode+8, paperCode-4, paperHeight-paperCode-12)
	pen.doc.RoundedRect(paperLeft, top, paperWidth, paperHeight, 4, "1234", "D")
	width := paperWidth - paperCode - 18
	y := top + 6
	for _, line := range []struct {
		above, size float64
		lines       int
		text        string
	}{
		{0, 14, 2, p.Event.Name},
		{0, 10, 1, views.WhenIn(ctx, p.Event)},
		{0, 10, 1, views.PlaceIn(ctx, p.Event)},
		{3.5, 20, 2, SeatWords(ctx, p.Plan, t.Idx)},
		{0, 10, 1, p.Plan.Categories[p.Plan.Seats[t.Idx].Category].Name + ", " + views.PriceIn(ctx, t.Cost(), p.Order.Currency) + ContainedIn(ctx, p.Event, t, p.Order.Currency)},
		{0, 10, 1, TypeWords(ctx, t)},
		{2, 12, 2, p.Order.Name},
	} {
		if line.text != "" {
			y = pen.write(paperLeft+7, y+line.above+line.size/millimetre, line.size, width, line.lines, line.text) - 0.7*line.size/millimetre
		}
	}
	if due := ToPay(ctx, p.Order); due != "" && !payments.Ahead(p.Order.Method) {
		pen.write(paperLeft+7, y+10/millimetre, 10, width, 1, text.T(ctx, "Of the whole order: %s", due))
	}
	pen.code(paperLeft+paperWidth-paperCode-5, top+5, paperCode, t.Code)
	pen.write(paperLeft+7, top+paperHeight-5, 7, width, 1, text.T(ctx, "Order %s", p.Order.Code))
}

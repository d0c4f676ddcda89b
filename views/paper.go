package views

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-pdf/fpdf"

	"github.com/usherbox/usher/seats/orders"
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
func (p OrderPage) Paper() ([]byte, error) {
	doc := fpdf.New("P", "mm", "A4", "")
	doc.SetCatalogSort(true)
	doc.SetCreationDate(p.Order.CreatedAt)
	doc.SetModificationDate(p.Order.CreatedAt)
	doc.SetTitle(p.Event.Name, true)
	doc.SetLang("en")
	doc.SetAutoPageBreak(false, 0)
	pen := newPen(doc)
	n := 0
	for _, t := range p.tickets() {
		if t.Code == "" {
			continue
		}
		if n%3 == 0 {
			doc.AddPage()
		}
		p.paperTicket(pen, t, paperTop+float64(n%3)*(paperHeight+8))
		n++
	}
	if n == 0 {
		doc.AddPage()
		pen.write(paperLeft, paperTop+8, 14, paperWidth, 3, "The tickets of this order are no longer valid.")
	}
	var b bytes.Buffer
	if err := doc.Output(&b); err != nil {
		return nil, fmt.Errorf("views: print an order: %w", err)
	}
	return b.Bytes(), nil
}

func (p OrderPage) paperTicket(pen *pen, t orders.Ticket, top float64) {
	pen.doc.SetDrawColor(120, 120, 120)
	pen.doc.RoundedRect(paperLeft, top, paperWidth, paperHeight, 4, "1234", "D")
	width := paperWidth - paperCode - 18
	y := top + 11
	for _, line := range []struct {
		size  float64
		lines int
		text  string
	}{
		{16, 2, p.Event.Name},
		{10, 2, strings.TrimSuffix(when(p.Event)+" · "+p.Event.Venue, " · ")},
		{14, 3, p.Plan.Words(t.Idx)},
		{10, 1, p.Plan.Categories[p.Plan.Seats[t.Idx].Category].Name + ", " + price(t.Price, p.Order.Currency)},
		{12, 4, p.Order.Name},
	} {
		y = pen.write(paperLeft+7, y, line.size, width, line.lines, line.text) + 1.5
	}
	if due := toPay(p.Order); due != "" && !orders.Ahead(p.Order.Method) {
		pen.write(paperLeft+7, y, 10, width, 1, "Of the whole order: "+due)
	}
	pen.code(paperLeft+paperWidth-paperCode-5, top+5, paperCode, t.Code)
	pen.write(paperLeft+7, top+paperHeight-5, 7, width, 1, "Order "+p.Order.Code)
}

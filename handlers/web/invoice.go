package web

import (
	"net/http"
	"time"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/text"
	"github.com/usherbox/usher/views/shop"
)

// InvoiceBody is an invoice or credit note as programs get it.
type InvoiceBody struct {
	Number   string          `json:"number"`
	Kind     string          `json:"kind"`
	Order    string          `json:"order"`
	Booking  string          `json:"booking,omitempty"`
	IssuedOn string          `json:"issued_on"`
	Corrects string          `json:"corrects,omitempty"`
	Currency string          `json:"currency"`
	Net      int64           `json:"net"`
	Tax      int64           `json:"tax"`
	Gross    int64           `json:"gross"`
	Buyer    string          `json:"buyer"`
	XML      bool            `json:"xml"`
	Lines    []invoices.Line `json:"lines"`

	Deposit *invoices.Deposit `json:"deposit,omitempty"`
}

// DescribeInvoice makes the answer of a document.
func DescribeInvoice(d invoices.Document) InvoiceBody {
	b := InvoiceBody{
		Number: d.Label, Kind: d.Kind, Order: d.Order, Booking: d.Booking, IssuedOn: d.IssuedOn.Format(time.DateOnly), Currency: d.Currency, Net: d.Net, Tax: d.Tax, Gross: d.Gross, Deposit: d.Deposit,
		Buyer: d.Buyer.Name, XML: d.Electronic(), Lines: d.Lines,
	}
	if d.Corrects != nil {
		b.Corrects = d.Corrects.Label
	}
	return b
}

// InvoiceLanguage is the language of a document: that of ?lang=, of its buyer, or what the reader prefers.
func (h *Server) InvoiceLanguage(r *http.Request, d invoices.Document) string {
	if tag, found := chosen(r); found {
		return tag
	}
	if tag, known := text.Shipped(d.Language); known {
		return tag
	}
	if tag, asked := h.LanguageOf(r); asked {
		return tag
	}
	return text.Source
}

// WriteInvoice answers with a document of a team, as .pdf in its InvoiceLanguage, or as .xml.
func (h *Server) WriteInvoice(w http.ResponseWriter, r *http.Request, d invoices.Document, ending string, team int64) error {
	var content []byte
	var err error
	kind := "application/pdf"
	switch {
	case ending == ".pdf":
		content, err = shop.InvoicePaper(text.With(r.Context(), h.InvoiceLanguage(r, d)), d, h.Print(r, team))
	case ending == ".xml" && d.Electronic():
		kind = "application/xml"
		content, err = d.XML()
	default:
		return ErrNoPage
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Language", h.InvoiceLanguage(r, d))
	w.Header().Set("Vary", "Accept-Language, Cookie")
	w.Header().Set("Content-Disposition", `inline; filename="`+d.Label+ending+`"`)
	_, _ = w.Write(content) // a reader who is gone needs none
	return nil
}

// Seller is a team as an invoice for a company needs it.
func (h *Server) Seller(r *http.Request, team int64, b *orders.Billing) (s orders.Seller, err error) {
	if s.Country, s.VATID, err = h.Invoices.Issuer(r.Context(), team); err == nil {
		s.Refused = h.refusedVATID(r, b)
	}
	return s, err
}

// refusedVATID is the VAT ID of a company if VIES is switched on and does not have it. Without an answer, format and check digit decide.
func (h *Server) refusedVATID(r *http.Request, b *orders.Billing) string {
	v := &h.Invoices.VIES
	if b == nil || v.Address == "" {
		return ""
	}
	id, country, err := pricing.ReadVATID(b.VATID)
	if _, of := pricing.Rates().Country(country); err != nil || !of && country != "XI" { // VIES knows no others
		return ""
	}
	yes, err := v.Registered(r.Context(), id)
	if err != nil {
		h.Log.Warn("a VAT ID was not looked up", "error", err)
		return ""
	}
	if yes {
		return ""
	}
	return id
}

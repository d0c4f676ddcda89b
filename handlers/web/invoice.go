package web

import (
	"net/http"
	"slices"
	"time"

	"golang.org/x/text/language"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/views/shop"
)

// InvoiceBody is an invoice or credit note as programs get it.
type InvoiceBody struct {
	Number   string          `json:"number"`
	Kind     string          `json:"kind"`
	Order    string          `json:"order"`
	IssuedOn string          `json:"issued_on"`
	Corrects string          `json:"corrects,omitempty"`
	Currency string          `json:"currency"`
	Net      int64           `json:"net"`
	Tax      int64           `json:"tax"`
	Gross    int64           `json:"gross"`
	Buyer    string          `json:"buyer"`
	XML      bool            `json:"xml"`
	Lines    []invoices.Line `json:"lines"`
}

// DescribeInvoice makes the answer of a document.
func DescribeInvoice(d invoices.Document) InvoiceBody {
	b := InvoiceBody{
		Number: d.Label, Kind: d.Kind, Order: d.Order, IssuedOn: d.IssuedOn.Format(time.DateOnly), Currency: d.Currency, Net: d.Net, Tax: d.Tax, Gross: d.Gross,
		Buyer: d.Buyer.Name, XML: d.Electronic(), Lines: d.Lines,
	}
	if d.Corrects != nil {
		b.Corrects = d.Corrects.Label
	}
	return b
}

// PreferredLanguage is the language of a list that the reader prefers: by ?lang=, or by what the browser asks for.
func PreferredLanguage(r *http.Request, list []string) string {
	tags := make([]language.Tag, len(list))
	for i, l := range list {
		tags[i] = language.Make(l)
	}
	_, at := language.MatchStrings(language.NewMatcher(tags), r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
	return list[at]
}

// InvoiceLanguage is the language of a document: that of ?lang=, of its buyer, or what the reader prefers.
func InvoiceLanguage(r *http.Request, d invoices.Document) string {
	if r.URL.Query().Get("lang") == "" && slices.Contains(invoices.Languages, d.Language) {
		return d.Language
	}
	return PreferredLanguage(r, invoices.Languages)
}

// WriteInvoice answers with a document, as .pdf in its InvoiceLanguage, or as .xml.
func WriteInvoice(w http.ResponseWriter, r *http.Request, d invoices.Document, ending string) error {
	var content []byte
	var err error
	kind := "application/pdf"
	switch {
	case ending == ".pdf":
		content, err = shop.InvoicePaper(d, InvoiceLanguage(r, d))
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
	w.Header().Set("Content-Language", InvoiceLanguage(r, d))
	w.Header().Set("Vary", "Accept-Language")
	w.Header().Set("Content-Disposition", `inline; filename="`+d.Label+ending+`"`)
	_, _ = w.Write(content) // a reader who is gone needs none
	return nil
}

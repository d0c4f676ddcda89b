package shop

import (
	"bytes"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/text"
)

func TestInvoicePaper_IsTheSameEachTimeAndContainsItsXML(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, country := range []string{"", "AT"} {
		d := invoices.Document{Label: "2030-000017", Kind: invoices.Invoice, IssuedAt: at, IssuedOn: at, Currency: "EUR", Net: 1000, Gross: 1000, Content: invoices.Content{
			Seller: invoices.Party{Name: "Theatre", Country: "AT"}, Buyer: invoices.Party{Name: "Ann", Country: country}, Day: "2030-05-02",
			Lines: []invoices.Line{{Kind: invoices.LineTicket, Text: "A", Net: 1000, Gross: 1000}},
		}}
		first, err := InvoicePaper(text.With(t.Context(), "de"), d, Print{})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := InvoicePaper(text.With(t.Context(), "de"), d, Print{}); err != nil || !bytes.Equal(first, again) {
			t.Errorf("printed again the PDF differs: %v", err)
		}
		for _, part := range []string{"/AFRelationship /Alternative", "/AF [", "<rsm:CrossIndustryInvoice", "<fx:ConformanceLevel>EN 16931<"} {
			if bytes.Contains(first, []byte(part)) != (country != "") {
				t.Errorf("the country of the buyer is %q, and %s is there or not", country, part)
			}
		}
		for _, part := range []string{"<pdfaid:part>3<", "/OutputIntents [", "/ID [<"} {
			if !bytes.Contains(first, []byte(part)) {
				t.Errorf("%s is missing", part)
			}
		}
	}
}

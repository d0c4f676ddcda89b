package invoices_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/invoices"
)

// mixed is a document with two rates, a line that reduces it, and characters that XML escapes.
func mixed(kind string) invoices.Document {
	on := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	d := invoices.Document{Year: 2030, Number: 17, Label: "2030-000017", Kind: kind, Order: "CODE", IssuedAt: on, IssuedOn: on, Currency: "EUR", Content: invoices.Content{
		Seller: invoices.Party{Name: "Theatre <Ring>", Street: "Ring 1", Postcode: "1010", City: "Vienna", Country: "AT", VATID: "ATU13585627"},
		Buyer:  invoices.Party{Name: "Ann Ørsted", Company: "Acme & Co", Street: "Lane 2", City: "Graz", Country: "AT"}, Event: "Evening", Day: "2030-05-02", Paid: true,
		Lines: []invoices.Line{
			{Kind: invoices.LineTicket, Text: "A", Place: "Stalls 3 19", Net: 9091, Rate: 10_000, Tax: 909, Gross: 10_000},
			{Kind: invoices.LineTicket, Text: "B", Place: "Stalls 3 20", Net: 1000, Gross: 1000},
			{Kind: invoices.LineKept, Net: -455, Rate: 10_000, Tax: -45, Gross: -500},
		},
	}}
	for _, l := range d.Lines {
		d.Net, d.Tax, d.Gross = d.Net+l.Net, d.Tax+l.Tax, d.Gross+l.Gross
	}
	if kind == invoices.Credit {
		d.Corrects = &invoices.Reference{Label: "2030-000001", On: "2030-04-30"}
	}
	return d
}

func TestXML_SaysWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	for kind, code := range map[string]string{invoices.Invoice: "380", invoices.Credit: "381"} {
		content, err := mixed(kind).XML()
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(content)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		text := string(content)
		for _, want := range []string{
			"<ram:TypeCode>" + code + "</ram:TypeCode>", "<ram:ID>2030-000017</ram:ID>", `<udt:DateTimeString format="102">20300501<`, "Theatre &lt;Ring&gt;", "Acme &amp; Co",
			"<ram:CalculatedAmount>8.64<", "<ram:BasisAmount>86.36<", "<ram:ExemptionReason>Exempt from VAT<", `unitCode="C62">-1<`,
			"<ram:LineTotalAmount>96.36<", `currencyID="EUR">8.64<`, "<ram:GrandTotalAmount>105.00<",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s is missing", kind, want)
			}
		}
		paid, corrects := strings.Contains(text, "<ram:DuePayableAmount>0.00<"), strings.Contains(text, "<ram:IssuerAssignedID>2030-000001<")
		if credit := kind == invoices.Credit; paid == credit || corrects != credit {
			t.Errorf("%s: paid %t, corrects an invoice %t", kind, paid, corrects)
		}
	}
	d := mixed(invoices.Invoice)
	d.Buyer.Country = ""
	if _, err := d.XML(); !errors.Is(err, invoices.ErrNotElectronic) {
		t.Errorf("without the buyer's country there is XML: %v", err)
	}
}

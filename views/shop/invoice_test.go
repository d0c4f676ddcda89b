package shop

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/invoices"
	"github.com/usherbox/usher/seats/pages"
	"github.com/usherbox/usher/seats/text"
)

// aPrint is a branding with a logo.
func aPrint(t *testing.T) Print {
	t.Helper()
	m := image.NewYCbCr(image.Rect(0, 0, 400, 160), image.YCbCrSubsampleRatio420)
	for i := range m.Cb {
		m.Cb[i], m.Cr[i] = 90, 200
	}
	for i := range m.Y {
		m.Y[i] = uint8(i % 256)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return Print{Branding: &pages.Branding{Accent: "#b0301a", Pictures: []pages.Picture{{Kind: pages.Logo, Width: 400, Height: 160}}}, Logo: b.Bytes()}
}

// A logo that cannot be read leaves the paper without one.
func TestPrint_ABrokenLogoCostsNoTicket(t *testing.T) {
	t.Parallel()
	look := aPrint(t)
	look.Logo = look.Logo[:len(look.Logo)/40]
	d := invoices.Document{Label: "1", Kind: invoices.Invoice, IssuedAt: time.Unix(2e9, 0), Currency: "EUR", Content: invoices.Content{Day: "2030-05-02"}}
	if _, err := InvoicePaper(text.With(t.Context(), "de"), d, look); err != nil {
		t.Error(err)
	}
}

func TestInvoicePaper_IsTheSameEachTimeAndContainsItsXML(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, look := range []Print{{}, aPrint(t)} {
		country := map[bool]string{true: "", false: "AT"}[look.Logo == nil]
		d := invoices.Document{Label: "2030-000017", Kind: invoices.Invoice, IssuedAt: at, IssuedOn: at, Currency: "EUR", Net: 1000, Gross: 1000, Content: invoices.Content{
			Seller: invoices.Party{Name: "Theatre", Country: "AT"}, Buyer: invoices.Party{Name: "Ann", Country: country}, Day: "2030-05-02",
			Lines: []invoices.Line{{Kind: invoices.LineTicket, Text: "A", Net: 1000, Gross: 1000}},
		}}
		first, err := InvoicePaper(text.With(t.Context(), "de"), d, look)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := InvoicePaper(text.With(t.Context(), "de"), d, look); err != nil || !bytes.Equal(first, again) {
			t.Errorf("printed again the PDF differs: %v", err)
		}
		for _, part := range []string{"/AFRelationship /Alternative", "/AF [", "<rsm:CrossIndustryInvoice", "<fx:ConformanceLevel>EN 16931<"} {
			if bytes.Contains(first, []byte(part)) != (country != "") {
				t.Errorf("the country of the buyer is %q, and %s is there or not", country, part)
			}
		}
		if dir := os.Getenv("PAPER"); dir != "" {
			_ = os.WriteFile(dir+"/invoice"+country+".pdf", first, 0o600)
		}
		if bytes.Contains(first, []byte("/DCTDecode")) != (look.Logo != nil) {
			t.Errorf("the logo is there or not, of %d bytes", len(look.Logo))
		}
		for _, part := range []string{"<pdfaid:part>3<", "/OutputIntents [", "/ID [<"} {
			if !bytes.Contains(first, []byte(part)) {
				t.Errorf("%s is missing", part)
			}
		}
	}
}

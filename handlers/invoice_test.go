package handlers

import (
	"archive/zip"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
)

func TestInvoices_AreOnTheOrderAndAtTheDesk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner := s.owner(t)
	sells := func() string {
		free := s.sale.FreeSeats()
		code, err := s.sold.SellAtOffice(t.Context(), s.sale, orders.OfficeForm{Key: seats.NewID().String(), Name: "Bea", Seats: free[len(free)-2:], Method: payments.Cash}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	before := sells()
	seller := url.Values{"key": {"a"}, "name": {"Haus"}, "street": {"Ring 1"}, "city": {"Wien"}, "country": {"AT"}, "vat_id": {"ATU13585628"}}
	if a, page := s.submit(t, owner, "/desk/invoices", seller); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, "Enter a valid VAT ID") || !strings.Contains(page, `value="Ring 1"`) {
		t.Errorf("a mistyped VAT ID gets %d %.300s", a.StatusCode, words(page))
	}
	seller.Set("vat_id", "ATU13585627")
	if a, page := s.submit(t, owner, "/desk/invoices", seller); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("the seller is not saved: %d %.300s", a.StatusCode, words(page))
	}
	code := sells()
	who := person(t)
	if _, page := send(t, who, "GET", s.url+"/orders/"+before, "", "Accept", asPage); strings.Contains(page, "/invoices/") {
		t.Error("an order from before has an invoice")
	}
	_, page := send(t, who, "GET", s.url+"/orders/"+code, "", "Accept", asPage)
	link := regexp.MustCompile(`/orders/\w+/invoices/(\d{4})-000001\.pdf`).FindStringSubmatch(page)
	if link == nil {
		t.Fatal("the order's page has no invoice")
	}
	for _, path := range []string{link[0], "/desk/invoices/" + link[1] + "-000001.pdf"} {
		if a, pdf := send(t, owner, "GET", s.url+path, ""); a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "application/pdf" || !strings.HasPrefix(pdf, "%PDF") || !strings.Contains(pdf, "<pdfaid:part>3") {
			t.Errorf("%s gets %d", path, a.StatusCode)
		}
	}
	for path, want := range map[string]int{
		strings.Replace(link[0], ".pdf", ".xml", 1):   404, // the buyer's country is not known
		strings.Replace(link[0], "0001.", "0002.", 1): 404, strings.Replace(link[0], code, before, 1): 404, "/orders/" + code + "/invoices": 303, "/orders/none/invoices": 404,
	} {
		if a, _ := send(t, who, "GET", s.url+path, "", "Accept", asPage); a.StatusCode != want {
			t.Errorf("%s gets %d, want %d", path, a.StatusCode, want)
		}
	}
	order, err := s.sold.Find(t.Context(), code)
	if err == nil {
		err = s.sold.Revoke(t.Context(), s.sale, order, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, body := send(t, who, "GET", s.url+"/orders/"+code+"/invoices", ""); !strings.Contains(body, `"kind":"credit"`) || !strings.Contains(body, `"corrects":"`+link[1]+`-000001"`) {
		t.Errorf("after it was cancelled the order has %s", body)
	}
	if _, page := s.page(t, owner, "/desk/invoices"); !strings.Contains(page, link[1]+"-000002") || !strings.Contains(page, "Credit note") {
		t.Error("the credit note is not in the list")
	}
	if _, csv := send(t, owner, "GET", s.url+"/desk/invoices/"+link[1]+".csv", ""); strings.Count(csv, "\n") != 3 || !strings.Contains(csv, `-000002","credit"`) {
		t.Errorf("the list says %q", csv)
	}
	_, file := send(t, owner, "GET", s.url+"/desk/invoices/"+link[1]+".zip", "")
	if files, err := zip.NewReader(strings.NewReader(file), int64(len(file))); err != nil || len(files.File) != 2 {
		t.Errorf("the ZIP has %v, %v", files, err)
	}
}

// An invoice is in the language that its buyer asked for when they ordered, for every reader, unless the address names another.
func TestInvoices_AreInTheLanguageOfTheBuyer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner := s.owner(t)
	s.does(t, owner, "/desk/invoices", url.Values{"name": {"Haus"}, "street": {"Ring 1"}, "city": {"Wien"}, "country": {"AT"}, "vat_id": {"ATU13585627"}})
	who := person(t)
	form := fill(s.held(t, who, 1), "Ann", "ann@example.org")
	a, body := send(t, who, "POST", s.url+"/events/evening/orders", form.Encode(), "Content-Type", asForm, "Accept", asPage, "Accept-Language", "de-AT, en;q=0.5")
	if a.StatusCode != http.StatusSeeOther {
		t.Fatalf("the order: %d %.300s", a.StatusCode, words(body))
	}
	code := strings.TrimPrefix(a.Header.Get("Location"), "/payments/")
	s.confirms(t, code)
	_, page := send(t, who, "GET", s.url+"/orders/"+code, "", "Accept", asPage)
	link := regexp.MustCompile(`/orders/\w+/invoices/\d{4}-000001\.pdf`).FindString(page)
	for more, want := range map[string]string{"": "de", "?lang=en": "en"} {
		if a, _ := send(t, owner, "GET", s.url+link+more, "", "Accept-Language", "en"); a.StatusCode != http.StatusOK || a.Header.Get("Content-Language") != want {
			t.Errorf("%q is in %q: %d", link+more, a.Header.Get("Content-Language"), a.StatusCode)
		}
	}
}

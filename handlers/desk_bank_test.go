package handlers

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/payments"
	"github.com/usherbox/usher/seats/payments/banktransfer"
)

// hands imports a bank statement as a browser does.
func (s *site) hands(t *testing.T, who *http.Client, key, content string) (*http.Response, string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("key", key) // to memory
	file, err := form.CreateFormFile("file", "statement.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write([]byte(content))
	_ = form.Close()
	return send(t, who, "POST", s.url+"/desk/bank/statements", body.String(), "Accept", asPage, "Content-Type", form.FormDataContentType())
}

func TestBank_StatementMarksTransfersAsPaid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, body := send(t, ann, "POST", s.url+"/desk/events/evening/settings", `{"key":"i","invoices":true}`); a.StatusCode != 200 && a.StatusCode != 204 {
		t.Fatal(a.StatusCode, body)
	}
	sale, err := s.office.Sale(t.Context(), "evening")
	if err != nil {
		t.Fatal(err)
	}
	if a, page := s.submit(t, ann, "/desk/bank", url.Values{"key": {"a"}, "holder": {"Haus am See"}, "iban": {"DE75 5121 0800 1245 1261 98"}}); a.StatusCode != 422 || !strings.Contains(page, "check digits") || !strings.Contains(page, "Haus am See") {
		t.Errorf("a mistyped IBAN: %d", a.StatusCode)
	}
	if a, page := s.submit(t, ann, "/desk/bank", url.Values{"key": {"b"}, "holder": {"Haus am See"}, "iban": {"DE75 5121 0800 1245 1261 99"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("the account: %d %s", a.StatusCode, page)
	}
	who := seats.NewID()
	hold, err := sale.Claim(t.Context(), who, "", seats.ClaimRequest{Best: 2})
	if err != nil {
		t.Fatal(err)
	}
	code, err := s.sold.Place(t.Context(), sale, who, orders.Form{Hold: hold.ID, Seats: hold.Seats, Name: "Bea", Email: "bea@example.org", Method: payments.Invoice, Verified: "bea@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	order, err := s.sold.Find(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	reference := banktransfer.Reference(order.ID)
	_, page := s.page(t, person(t), "/orders/"+code)
	for _, want := range []string{"Bank transfer", "Haus am See", "DE75 5121 0800 1245 1261 99", reference, "banking app"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the order is without %q", want)
		}
	}
	line := func(amount int64, reference string) string {
		return fmt.Sprintf("2030-03-01,%d.%02d,%s,Bea\n", amount/100, amount%100, reference)
	}
	content := "Date,Amount,Text,Name\n" + line(order.Total, reference) + line(1234, "a gift")
	a, page := s.hands(t, ann, "1", content)
	if a.StatusCode != 200 || !strings.Contains(page, "2 payments in this file. 1 order marked as paid.") || !strings.Contains(page, "No reference") {
		t.Errorf("the statement: %d", a.StatusCode)
	}
	for _, key := range []string{"1", "2"} {
		if a, page := s.hands(t, ann, key, content); a.StatusCode != 200 || key == "2" && !strings.Contains(page, "imported before") {
			t.Errorf("the statement once more with key %s: %d", key, a.StatusCode)
		}
	}
	if order, err = s.sold.Find(t.Context(), code); err != nil || order.Due() != 0 {
		t.Errorf("%d is due, %v", order.Due(), err)
	}
	if _, page = s.page(t, person(t), "/orders/"+code); strings.Contains(page, "DE75") {
		t.Error("a paid order shows where to transfer")
	}
	var entry string
	if err := s.db.QueryRow(t.Context(), `SELECT id::text FROM statement_entry WHERE state = 'open'`).Scan(&entry); err != nil {
		t.Fatal(err)
	}
	for order, want := range map[string]int{"RF18539007547034": 422, "": 422, code: http.StatusSeeOther} {
		if order == code {
			continue
		}
		if a, page := s.submit(t, ann, "/desk/bank/entries/"+entry, url.Values{"key": {"x" + order}, "order": {order}}); a.StatusCode != want || !strings.Contains(page, "no order with this code") {
			t.Errorf("applied to %q: %d, want %d", order, a.StatusCode, want)
		}
	}
	if a, _ := s.submit(t, ann, "/desk/bank/entries/"+entry, url.Values{"key": {"c"}, "order": {code}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("applied to a paid order: %d", a.StatusCode)
	}
	if order, _ = s.sold.Find(t.Context(), code); order.ByHand != 1234 {
		t.Errorf("%d is to be paid out", order.ByHand)
	}
	if a, page := s.submit(t, ann, "/desk/bank/entries/"+entry, url.Values{"key": {"d"}, "aside": {"yes"}}); a.StatusCode != 409 || !strings.Contains(page, "applied or set aside before") {
		t.Errorf("decided again: %d", a.StatusCode)
	}
}

func TestBank_UnreadableFilesGetAClearAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	for content, want := range map[string]string{
		"": "The file is empty.", "%PDF-1.4": "This is a PDF.", "<x/>": "no statement in CAMT.053", "Date,Amount\n2030-03-01,many\n": "Line 2",
	} {
		if a, page := s.hands(t, ann, want, content); a.StatusCode != 422 || !strings.Contains(page, want) {
			t.Errorf("%q: %d, without %q", content, a.StatusCode, want)
		}
	}
	if a, _ := s.hands(t, ann, "large", strings.Repeat("x", banktransfer.MaxBytes+100_000)); a.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a huge file: %d", a.StatusCode)
	}
	if a, page := s.submit(t, ann, "/desk/bank/statements", url.Values{"key": {"k"}}); a.StatusCode != 422 || !strings.Contains(page, "Choose a file.") {
		t.Errorf("no file: %d", a.StatusCode)
	}
}

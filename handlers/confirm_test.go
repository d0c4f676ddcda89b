package handlers

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/views/shop"
)

func TestConfirm_ButtonPlacesTheOrder(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	hold := s.held(t, who, 2)
	if _, page := s.page(t, who, "/events/evening/checkout"); !strings.Contains(page, "nless you confirmed your email address here before") {
		t.Error("the checkout does not say that the email is to be confirmed")
	}
	a, _ := send(t, who, "POST", s.url+"/events/evening/orders", fill(hold, "Ann", "ann@example.org").Encode(), "Content-Type", asForm, "Accept", asPage)
	at := a.Header.Get("Location")
	_, page := s.page(t, who, at)
	for _, says := range []string{"Confirm your email", "ann@example.org", "Nothing is ordered yet.", "2 seats held <b", "Send the email again", "Change my details", "?back"} {
		if !strings.Contains(page, says) {
			t.Errorf("the page lacks %q", says)
		}
	}
	if _, page := s.page(t, who, "/events/evening/checkout"); !strings.Contains(page, "Nothing is ordered yet: confirm the email that we sent to ann@example.org") {
		t.Error("the checkout does not say that it waits")
	}
	if s.count(t, "orders") != 0 || s.count(t, `mail WHERE kind = 'confirm'`) != 1 {
		t.Error("there is an order before the click, or no mail")
	}
	code := strings.TrimPrefix(at, "/payments/")
	letters := Letters{Inventory: s.office, Orders: s.sold, URL: "https://tickets.example.org"}
	letter, err := letters.Write(t.Context(), mail.Mail{ID: 1, Order: code, Kind: orders.MailConfirm})
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`https://tickets\.example\.org(/confirmations/[0-9A-Z]{26})`).FindStringSubmatch(letter.Text)
	if letter.Email != "ann@example.org" || link == nil || !strings.Contains(letter.Text, "Nothing is ordered before you confirm") || strings.Contains(letter.Text, code) || !strings.Contains(letter.HTML, link[0]) {
		t.Fatalf("the mail is %+v", letter)
	}
	reader := person(t)
	if a, page := s.page(t, reader, link[1]); a.StatusCode != http.StatusOK || !strings.Contains(page, "Confirm my order") || a.Header.Get("Cache-Control") != "no-store" || s.count(t, "orders") != 0 {
		t.Errorf("the link shows %d %.300s", a.StatusCode, page)
	}
	if a, _ := send(t, reader, "POST", s.url+link[1], "", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); a.StatusCode != http.StatusForbidden {
		t.Errorf("another site confirms: %d", a.StatusCode)
	}
	for range 2 {
		if a, _ := send(t, reader, "POST", s.url+link[1], "key=k", "Content-Type", asForm, "Accept", asPage); a.Header.Get("Location") != at {
			t.Errorf("the button leads to %q", a.Header.Get("Location"))
		}
	}
	for _, browser := range []*http.Client{reader, who} {
		if a, _ := s.page(t, browser, at); a.Header.Get("Location") != shop.OrderPath(code) {
			t.Errorf("the page that waited leads to %q", a.Header.Get("Location"))
		}
	}
	if a, _ := s.page(t, reader, link[1]); a.Header.Get("Location") != at {
		t.Errorf("the link once more leads to %q", a.Header.Get("Location"))
	}
	if a, page := s.page(t, reader, "/confirmations/"+strings.Repeat("0", 26)); a.StatusCode != http.StatusNotFound || !strings.Contains(page, "confirms no order") {
		t.Errorf("a link that is none: %d", a.StatusCode)
	}
	if _, err := letters.Write(t.Context(), mail.Mail{ID: 2, Order: code, Kind: orders.MailConfirm}); err == nil {
		t.Error("a mail asks to confirm what is ordered")
	}
	if s.count(t, "orders") != 1 {
		t.Errorf("%d orders", s.count(t, "orders"))
	}
	s.wantBooks(t)
}

func TestConfirm_KnownAddressIsNotAsked(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{}), person(t)
	s.signsIn(t, who, "ann@example.org")
	orders := func(email string) string {
		a, _ := send(t, who, "POST", s.url+"/events/evening/orders", fill(s.held(t, who, 1), "Ann", email).Encode(), "Content-Type", asForm, "Accept", asPage)
		return a.Header.Get("Location")
	}
	if at := orders("Ann+work@example.org"); !strings.HasPrefix(at, "/orders/") {
		t.Errorf("the address they signed in with leads to %q", at)
	}
	if at := orders("bob@example.org"); !strings.HasPrefix(at, "/payments/") {
		t.Errorf("another address leads to %q", at)
	}
}

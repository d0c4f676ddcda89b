package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/giftcards"
	"github.com/usherbox/usher/seats/mail"
)

// giftLetter writes the mail of a kind about the newest gift card.
func (s *site) giftLetter(t *testing.T, kind string) mail.Letter {
	t.Helper()
	m := mail.Mail{Kind: kind}
	if err := s.db.QueryRow(t.Context(), `SELECT id, gift_card_id::text FROM mail WHERE kind = $1 ORDER BY id DESC LIMIT 1`, kind).Scan(&m.ID, &m.GiftCard); err != nil {
		t.Fatal(err)
	}
	l, err := Letters{GiftCards: s.config.GiftCards, Pages: s.config.Pages, URL: s.url}.Write(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestGiftCard_IsBoughtMailedAndSpentWithTheRestByCard(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	owner, ann, bea := s.owner(t), person(t), person(t)
	if _, page := s.page(t, ann, "/gift-cards"); !strings.Contains(page, "No gift cards are on sale") {
		t.Error("a server without gift cards sells some")
	}
	offer := url.Values{"key": {"a"}, "open": {"on"}, "currency": {"eur"}, "amounts": {"10, ten"}, "months": {"36"}}
	if a, page := s.submit(t, owner, "/desk/gift-cards", offer); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `value="10, ten"`) || !strings.Contains(page, "The largest is 10000.00.") {
		t.Errorf("wrong amounts get %d %.400s", a.StatusCode, words(page))
	}
	offer.Set("amounts", "10, 25.50")
	if a, page := s.submit(t, owner, "/desk/gift-cards", offer); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("the offer is not saved: %d %.300s", a.StatusCode, words(page))
	}
	s.publishes(t, owner, "terms", "Cards are for tickets.")
	if _, page := s.page(t, ann, "/gift-cards"); !strings.Contains(page, "<span>Pay €10</span>") || !strings.Contains(page, `<input type="checkbox" name="terms" value="1" required`) {
		t.Errorf("the form does not say what its button costs, or not for which terms: %.900s", words(page))
	}
	if _, body := send(t, ann, "GET", s.url+"/gift-cards", ""); !strings.Contains(body, `"terms":{"version":1,"path":"/legal/1/terms?version=1"}`) {
		t.Errorf("programs are not told of the terms: %s", body)
	}
	if a, body := send(t, ann, "POST", s.url+"/gift-cards", `{"team":1,"amount":1000,"email":"ann@example.org"}`); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "Please accept the terms.") {
		t.Errorf("a card without consent to the terms: %d %s", a.StatusCode, body)
	}
	form := url.Values{"key": {"buy"}, "team": {"1"}, "terms": {"1"}, "amount": {"1000"}, "email": {"ann"}, "recipient": {"bea@example.org"}, "giver": {"Ann <b>"}, "message": {"Enjoy\nit"}}
	if a, page := s.submit(t, ann, "/gift-cards", form); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, "in the format name@example.com") || !strings.Contains(page, "Enjoy") {
		t.Errorf("a wrong address gets %d %.300s", a.StatusCode, words(page))
	}
	form.Set("email", "ann@example.org")
	form.Set("key", "buy-again")
	a, page := s.submit(t, ann, "/gift-cards", form)
	if a.StatusCode != http.StatusSeeOther {
		t.Fatalf("a gift card to buy: %d %.400s", a.StatusCode, words(page))
	}
	at, _, _ := strings.Cut(a.Header.Get("Location"), "?")
	if again, _ := s.submit(t, ann, "/gift-cards", form); again.Header.Get("Location") != a.Header.Get("Location") {
		t.Error("a form that was sent twice buys two cards")
	}
	if a, page := s.page(t, ann, at+"?go"); !strings.HasPrefix(a.Header.Get("Refresh"), "0; url="+bank.URL) || !strings.Contains(page, "Continue payment") {
		t.Errorf("the card leads to %q", a.Header.Get("Refresh"))
	}
	var consented bool
	if err := s.db.QueryRow(t.Context(), `SELECT terms = 1 AND agreed_at <= clock_timestamp() FROM gift_card`).Scan(&consented); err != nil || !consented {
		t.Error("the consent is not noted:", err)
	}
	all := bank.Sessions()
	session := all[len(all)-1].ID
	bank.Pays(session, false)
	s.tells(t, bank.Event(session, "checkout.session.completed"))
	if _, page := s.page(t, ann, at+"?back"); !strings.Contains(page, "Your gift card is on its way") || !strings.Contains(page, ". Valid until 31 December") {
		t.Errorf("after it is paid the page says %.300s", words(page))
	}
	if a, pdf := send(t, ann, "GET", s.url+at+"/card.pdf", ""); a.StatusCode != http.StatusOK || !strings.HasPrefix(pdf, "%PDF") {
		t.Errorf("the card to print: %d", a.StatusCode)
	}
	if l := s.giftLetter(t, giftcards.MailReceipt); l.Email != "ann@example.org" || !strings.Contains(l.Text, "No VAT was charged") || !strings.Contains(l.Text, s.url+at) {
		t.Errorf("the receipt is %+v", l)
	}
	l := s.giftLetter(t, giftcards.MailCard)
	code := between(l.Text, "Code: ", "\n")
	if l.Email != "bea@example.org" || len(code) != 19 || len(l.Files) != 1 || strings.Contains(l.HTML, "<b>") || strings.Contains(l.Text, at) {
		t.Errorf("the mail of the card is %+v", l)
	}
	s.signsIn(t, bea, "bea@example.org")
	if a, body := send(t, bea, "POST", s.url+"/account/vouchers", `{"code":"`+code+`"}`); a.StatusCode != http.StatusCreated || !strings.Contains(body, `"amount":1000`) {
		t.Fatal(a.StatusCode, body)
	}
	hold := s.held(t, bea, 2)
	order := fill(hold, "Bea", "bea@example.org")
	order.Set("method", "card")
	order.Set("credit", "1000")
	order.Set("terms", "1")
	a, body := s.post(t, bea, order)
	paid, _, _ := strings.Cut(a.Header.Get("Location"), "?")
	all = bank.Sessions()
	last := all[len(all)-1]
	if last.Amount != hold.Total-1000 {
		t.Fatalf("the card pays %d of %d: %s", last.Amount, hold.Total, words(body))
	}
	bank.Pays(last.ID, false)
	s.tells(t, bank.Event(last.ID, "checkout.session.completed"))
	if o, found := s.orderOf(t, strings.TrimPrefix(paid, "/payments/")); !found || o.Due != 0 || o.Total != hold.Total {
		t.Errorf("the order is %+v", o)
	}
	if _, page := s.page(t, owner, "/desk/gift-cards"); !strings.Contains(page, "Redeemed") || strings.Contains(page, ">Refund<") {
		t.Error("the desk does not say that the card was redeemed")
	}
	s.wantBooks(t)
}

func TestGiftCards_TheDeskNamesTheLawOfTheTeamsCountry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner := s.owner(t)
	const at = "/desk/gift-cards"
	if _, page := s.page(t, owner, at); !strings.Contains(page, "We don’t know that of your country") || !strings.Contains(page, `value="36"`) {
		t.Errorf("a team without a country: %s", words(page))
	}
	s.exec(t, sellerSQL)
	if _, page := s.page(t, owner, at); !strings.Contains(page, "In Austria, claims from a gift card end after 30 years") || !strings.Contains(page, `value="360"`) {
		t.Errorf("in Austria: %s", words(page))
	}
	s.exec(t, `UPDATE invoice_sender SET country = 'IE'`)
	for months, shorter := range map[string]bool{"59": true, "60": false, "": false} {
		s.does(t, owner, at, url.Values{"open": {"on"}, "currency": {"EUR"}, "amounts": {"10"}, "months": {months}})
		if _, page := s.page(t, owner, at); strings.Contains(page, "Your time is shorter than that of the law.") != shorter || !strings.Contains(page, "In Ireland, a gift card is valid for at least 5 years (Consumer Protection (Gift Vouchers) Act 2019") {
			t.Errorf("%q months in Ireland: %s", months, words(page))
		}
	}
}

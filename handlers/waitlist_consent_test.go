package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestConsent_SavedCardPaysTheOffer(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	first, ann, bob := s.soldOut(t), person(t), person(t)
	at := s.waits(t, ann, "ann@example.org", url.Values{"method": {"card"}, "name": {"Ann Ørsted"}, "most": {"500"}})
	_, page := send(t, ann, "GET", s.url+at, "", "Accept", asPage)
	for _, want := range []string{"One more step: save a card", "charge this card once, without asking you again", "for €500 at most", "Save a card</button>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of a place lacks %q", want)
		}
	}
	for range 2 {
		a, body := send(t, ann, "POST", s.url+at+"/card", url.Values{}.Encode(), "Content-Type", asForm, "Accept", asPage)
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != at+"?go" || len(bank.Sessions()) != 1 {
			t.Fatalf("to the provider: %d %s %.200s, which made %d pages", a.StatusCode, a.Header.Get("Location"), body, len(bank.Sessions()))
		}
	}
	session := bank.Sessions()[0]
	if a, _ := send(t, ann, "GET", s.url+at+"?go", "", "Accept", asPage); a.Header.Get("Refresh") != "0; url="+bank.URL+"/pay/"+session.ID {
		t.Errorf("on the way they are led to %q", a.Header.Get("Refresh"))
	}
	if got := s.entry(t, ann, at); got.Card != "wanted" || got.CardPage == "" || !strings.Contains(session.Says, "for €500 at most") {
		t.Errorf("before they gave one it is %+v; there it says %q", got, session.Says)
	}
	bank.Pays(session.ID, false)
	if _, page = send(t, ann, "GET", s.url+at+"?card", "", "Accept", asPage); !strings.Contains(page, "saved with the card provider") {
		t.Error("who comes back does not read that their card is saved")
	}
	if a, _ := send(t, ann, "POST", s.url+at+"/card", ""); a.StatusCode != http.StatusOK || s.entry(t, ann, at).Card != "saved" {
		t.Errorf("once more: %d", a.StatusCode)
	}
	bobAt := s.waits(t, bob, "bob@example.org", nil)
	if a, _ := send(t, bob, "POST", s.url+bobAt+"/card", ""); a.StatusCode != http.StatusConflict {
		t.Errorf("who agreed to nothing saves a card: %d", a.StatusCode)
	}
	if a, body := send(t, first, "DELETE", s.url+"/events/evening/claims", ""); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, body)
	}
	s.stands(t, ann, at, "served")
	eventually(t, "the order is paid", func() bool {
		var paid int
		err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM orders WHERE method = 'card' AND paid = total AND email = 'ann@example.org'`).Scan(&paid)
		return err == nil && paid == 1
	})
}

func TestConsent_UnreachableProviderIsNamedOnTheOffersPage(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t)
	first, ann := s.soldOut(t), person(t)
	at := s.waits(t, ann, "ann@example.org", url.Values{"method": {"card"}, "name": {"Ann"}, "most": {"500"}})
	bank.Down(true)
	a, body := send(t, ann, "POST", s.url+at+"/card", "")
	if a.StatusCode != http.StatusConflict || !strings.Contains(body, "reach the card provider") {
		t.Errorf("a provider that is down: %d %s", a.StatusCode, body)
	}
	bank.Down(false)
	if a, body = send(t, ann, "POST", s.url+at+"/card", ""); a.StatusCode != http.StatusOK || !strings.Contains(body, `"card_page"`) || len(bank.Sessions()) != 1 {
		t.Errorf("afterwards: %d %s", a.StatusCode, body)
	}
	bank.Pays(bank.Sessions()[0].ID, false)
	bank.Refuses("card_declined")
	send(t, first, "DELETE", s.url+"/events/evening/claims", "")
	letter := s.waitMail(t, "ann@example.org", "offer")
	why := "at once, but that wasn’t possible. Your payment was declined: the bank declined the card. Nothing was charged."
	if !strings.Contains(letter.Text, why) || !strings.Contains(letter.Text, "We hold them for you until") {
		t.Errorf("the mail says %q", letter.Text)
	}
	if _, page := send(t, ann, "GET", s.url+at, "", "Accept", asPage); !strings.Contains(page, why) {
		t.Error("the page of the offer does not say why nothing was ordered")
	}
}

func TestConsent_TermsAreAcceptedOnJoiningAndRecordedWithTheOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner := s.owner(t)
	s.publishes(t, owner, "terms", "No shouting.")
	second := person(t)
	s.held(t, second, 1)
	first, ann, bob := s.soldOut(t), person(t), person(t)
	_, page := send(t, ann, "GET", s.url+"/events/evening/waitlist", "", "Accept", asPage)
	for _, want := range []string{`name="terms" value="1"`, `href="/legal/1/terms?version=1"`, `value="door" data-binds`, `<span class="binds">Join the waiting list · order with obligation to pay</span>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the form of the waiting list lacks %s", want)
		}
	}
	agrees := url.Values{"method": {"door"}, "name": {"Ann"}, "most": {"500"}}
	for terms, words := range map[string]string{"": "Accept the terms", "7": "have changed"} {
		form := url.Values{"email": {"ann@example.org"}, "quantity": {"1"}, "key": {"no" + terms}, "method": {"door"}, "name": {"Ann"}, "most": {"500"}, "terms": {terms}}
		if a, body := send(t, ann, "POST", s.url+"/events/evening/waitlist", form.Encode(), "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, words) {
			t.Errorf("the terms %q: %d, and the page does not say %q", terms, a.StatusCode, words)
		}
	}
	asked := s.waits(t, person(t), "cy@example.org", nil) // an entry that is asked needs no terms
	send(t, person(t), "POST", s.url+asked+"/leave", "")
	agrees.Set("terms", "1")
	annAt, bobAt := s.waits(t, ann, "ann@example.org", agrees), s.waits(t, bob, "bob@example.org", agrees)
	if got := s.entry(t, ann, annAt); got.Terms != 1 {
		t.Errorf("the entry accepted version %d", got.Terms)
	}
	send(t, first, "DELETE", s.url+"/events/evening/claims", "")
	s.stands(t, ann, annAt, "served")
	var same bool
	if err := s.db.QueryRow(t.Context(), `
		SELECT count(*) = 1 FROM consent c JOIN orders o ON o.id = c.order_id JOIN entry n ON n.email = o.email
		 WHERE o.email = 'ann@example.org' AND c.version = 1 AND c.at = n.agreed_at AND c.at < o.created_at`).Scan(&same); err != nil || !same {
		t.Error("the order does not have the consent of the entry", err)
	}
	s.publishes(t, owner, "terms", "No whispering.")
	send(t, second, "DELETE", s.url+"/events/evening/claims", "")
	letter := s.waitMail(t, "bob@example.org", "offer")
	if !strings.Contains(letter.Text, "The organizer has new terms since then") {
		t.Errorf("the mail says %q", letter.Text)
	}
	if got := s.entry(t, bob, bobAt); got.State != "offered" || got.Method != "" || got.Terms != 0 {
		t.Errorf("with new terms it is %+v", got)
	}
}

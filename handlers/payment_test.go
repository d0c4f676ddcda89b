package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/payments/stripe/stripetest"
)

// pays sends the form of the checkout with the demo card and returns where it leads.
func (s *site) pays(t *testing.T, who *http.Client, hold shop.HoldBody) string {
	t.Helper()
	form := fill(hold, "Ann", "ann@example.org")
	form.Set("method", "demo")
	a, body := s.post(t, who, form)
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/demo-card/") {
		t.Fatal(a.StatusCode, a.Header, body)
	}
	return a.Header.Get("Location")
}

// answers tells the demo card what to do and returns the payment's address.
func (s *site) answers(t *testing.T, who *http.Client, card, way string) string {
	t.Helper()
	if a, page := send(t, who, "GET", s.url+card, "", "Accept", asPage); a.StatusCode != 200 || !strings.Contains(page, "No money moves here.") {
		t.Errorf("the page of the card: %d", a.StatusCode)
	}
	a, body := send(t, who, "POST", s.url+card, url.Values{"answer": {way}}.Encode(), "Content-Type", asForm, "Accept", asPage)
	if a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	path, _, _ := strings.Cut(a.Header.Get("Location"), "?")
	return path
}

func (s *site) untilState(t *testing.T, who *http.Client, path, state string) shop.PaymentBody {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		_, body := send(t, who, "GET", s.url+path, "")
		var answer shop.PaymentAnswer
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Payment.State == state {
			return answer.Payment
		}
		if time.Now().After(deadline) {
			t.Fatalf("the payment is %s, want it %s", body, state)
		}
	}
}

func TestTheDemoCardPaysDeclinesAndSaysSoTwice(t *testing.T) {
	t.Parallel()
	for way, state := range map[string]string{"pay": "done", "twice": "done", "decline": "over"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s, who := newSiteFor(t, events.Settings{Demo: true, PaidAhead: true}), person(t)
			hold := s.held(t, who, 2)
			payment := s.answers(t, who, s.pays(t, who, hold), way)
			p := s.untilState(t, who, payment, state)
			if state == "over" {
				_, page := send(t, who, "GET", s.url+payment, "", "Accept", asPage)
				if !strings.Contains(p.Reason, "told to decline") || !strings.Contains(page, p.Reason) || !strings.Contains(page, `value="Ann"`) {
					t.Errorf("the reason is %q, and the checkout lacks it or what was typed", p.Reason)
				}
				payment = s.answers(t, who, s.pays(t, who, hold), "pay")
				p = s.untilState(t, who, payment, "done")
			}
			for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				if _, body := send(t, who, "GET", s.url+p.Order, ""); strings.Contains(body, `"due":0`) {
					break
				} else if time.Now().After(deadline) {
					t.Fatalf("the order is %s, want nothing due", body)
				}
			}
			if a, _ := send(t, who, "GET", s.url+payment, "", "Accept", asPage); a.Header.Get("Location") != p.Order {
				t.Errorf("the payment leads to %q, want its order %q", a.Header.Get("Location"), p.Order)
			}
		})
	}
}

func TestTheDemoCardTakesOneAnswerOnly(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Demo: true, PaidAhead: true}), person(t)
	card := s.pays(t, who, s.held(t, who, 1))
	payment := s.answers(t, who, card, "pay")
	for way, want := range map[string]int{"pay": 200, "decline": 409} {
		if a, body := send(t, who, "POST", s.url+card, `{"answer":"`+way+`"}`); a.StatusCode != want {
			t.Errorf("%s after pay: %d %s, want %d", way, a.StatusCode, body, want)
		}
	}
	s.untilState(t, who, payment, "done")
}

func TestAPaymentCanBeStoppedAndOrderedAnotherWay(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Demo: true}), person(t)
	hold := s.held(t, who, 1)
	card := s.pays(t, who, hold)
	if _, page := s.leads(t, who, fill(hold, "Ann", "ann@example.org")); !strings.Contains(page, "being paid for") {
		t.Error("ordering at the door while a payment runs is not refused")
	}
	_, page := send(t, who, "GET", s.url+"/events/evening/checkout", "", "Accept", asPage)
	if !strings.Contains(page, "You have an unfinished payment") || !strings.Contains(page, `value="ann@example.org"`) {
		t.Error("the checkout does not tell of the payment, or forgot what was typed")
	}
	if again := s.pays(t, who, hold); again != card {
		t.Errorf("the same form led to %s, want %s", again, card)
	}
	_, page = send(t, who, "GET", s.url+card, "", "Accept", asPage)
	_, back, _ := strings.Cut(page, `class="home" href="`)
	back, _, _ = strings.Cut(back, `"`)
	if a, body := send(t, who, "POST", s.url+back+"/stop", "", "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	if a, _ := s.post(t, who, fill(hold, "Ann", "ann@example.org")); a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/orders/") {
		t.Errorf("at the door after all: %d", a.StatusCode)
	}
}

func TestPayment_RealEventsRefuseDemoCardsAndOthersCharges(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	form := fill(s.held(t, who, 1), "Ann", "ann@example.org")
	form.Set("method", "demo")
	if _, page := s.leads(t, who, form); !strings.Contains(page, "Choose how to pay") {
		t.Error("the demo card is taken at a real event")
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/demo-card/none", ""},
		{"POST", "/demo-card/none", `{"answer":"pay"}`},
		{"GET", "/payments/none", ""},
		{"POST", "/payments/none/stop", ""},
		{"POST", "/webhooks/stripe", `{}`},
	} {
		a, body := send(t, who, c.method, s.url+c.path, c.body)
		if a.StatusCode != 404 {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.StatusCode, body)
		}
	}
}

func TestPayment_DelayedMethodIsShownUntilItsMoneyComes(t *testing.T) {
	t.Parallel()
	for _, arrives := range []bool{true, false} {
		s, bank := newStripeSite(t)
		code, session := s.begins(t, bank)
		bank.Debits(session)
		_, page := s.page(t, person(t), "/payments/"+code+"?back")
		for _, want := range []string{"Your payment is on its way", "Your seats are held until", `data-state="processing"`} {
			if !strings.Contains(page, want) {
				t.Errorf("while the bank works on it the page is without %q", want)
			}
		}
		if _, body := send(t, person(t), "GET", s.url+"/payments/"+code, ""); !strings.Contains(body, `"state":"processing"`) || !strings.Contains(body, `"until":"2`) {
			t.Errorf("while the bank works on it: %s", body)
		}
		if a, _ := s.submit(t, person(t), "/payments/"+code+"/stop", url.Values{"key": {"k"}}); a.StatusCode != http.StatusSeeOther {
			t.Errorf("stopped: %d", a.StatusCode)
		}
		bank.Settles(session, arrives)
		kind, want := "checkout.session.async_payment_succeeded", "done"
		if !arrives {
			kind, want = "checkout.session.async_payment_failed", "over"
		}
		for range 2 {
			if status := stripetest.Deliver(t, s.url+"/webhooks/stripe", bank.Event(session, kind)); status != http.StatusNoContent {
				t.Fatal(status)
			}
		}
		s.untilState(t, person(t), "/payments/"+code, want)
	}
}

func TestPayment_StopCallsTheProviderOutsideOfTransactions(t *testing.T) {
	t.Parallel()
	s, bank := newStripeSite(t) // fails if a transaction is open while the provider is called
	code, session := s.begins(t, bank)
	for range 2 {
		if a, body := s.submit(t, person(t), "/payments/"+code+"/stop", url.Values{"key": {"one"}}); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/payments/"+code {
			t.Fatal(a.StatusCode, a.Header, body)
		}
	}
	s.untilState(t, person(t), "/payments/"+code, "over")
	for _, one := range bank.Sessions() {
		if one.ID == session && one.Status != "expired" {
			t.Errorf("the provider's page is %s", one.Status)
		}
	}
}

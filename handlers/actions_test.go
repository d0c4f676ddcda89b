package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/web"
)

// bought places an order for so many places and returns its address and what it is.
func (s *site) bought(t *testing.T, who *http.Client, n int) (at string, order web.OrderBody) {
	t.Helper()
	a, body := s.post(t, who, fill(s.held(t, who, n), "Ann", "ann@example.org"))
	if a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	at = s.url + a.Header.Get("Location")
	return at, s.orderAt(t, at)
}

func (s *site) orderAt(t *testing.T, at string) web.OrderBody {
	t.Helper()
	_, body := send(t, person(t), "GET", at, "")
	var answer web.OrderAnswer
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Order
}

func TestTheOrderPageCancelsSomeTicketsAndThenAll(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	at, order := s.bought(t, who, 2)
	_, page := send(t, who, "GET", at, "", "Accept", asPage)
	key := regexp.MustCompile(`name="key" value="(\w+c)"`).FindStringSubmatch(page)
	if key == nil {
		t.Fatal("the page has no form to cancel")
	}
	form := url.Values{"key": {key[1]}, "ticket": {order.Tickets[0].ID}}
	for range 2 { // a double click
		if a, body := send(t, who, "POST", at+"/cancellations", form.Encode(), "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusSeeOther {
			t.Fatal(a.StatusCode, body)
		}
	}
	if now := s.orderAt(t, at); !now.Tickets[0].Revoked || now.Tickets[1].Revoked || now.Due != order.Total/2 {
		t.Errorf("the order is %+v", now)
	}
	form.Set("ticket", order.Tickets[1].ID)
	if a, body := send(t, who, "POST", at+"/cancellations", form.Encode(), "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusConflict || !strings.Contains(body, "sent before with other content") {
		t.Errorf("the key with another ticket: %d", a.StatusCode)
	}
	if a, _ := send(t, who, "POST", at+"/cancellations", `{"key":"k2","tickets":["`+order.Tickets[1].ID+`"]}`); a.StatusCode != http.StatusCreated {
		t.Errorf("the other ticket: %d", a.StatusCode)
	}
	if _, page := send(t, who, "GET", at, "", "Accept", asPage); !strings.Contains(page, "This order was cancelled") || strings.Contains(page, "/tickets.pdf") {
		t.Error("the page does not say that it was cancelled")
	}
}

func TestBadActionsHaveTheirAnswersAndChangeNothing(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	at, order := s.bought(t, who, 1)
	for _, bad := range []struct {
		name, path, body string
		status           int
	}{
		{"no key", "/cancellations", `{"tickets":["` + order.Tickets[0].ID + `"]}`, 422},
		{"no ticket", "/cancellations", `{"key":"k"}`, 422},
		{"a ticket that is none", "/cancellations", `{"key":"k","tickets":["x"]}`, 404},
		{"another order's ticket", "/cancellations", `{"key":"k","tickets":["00000000-0000-4000-8000-000000000000"]}`, 404},
		{"a long key", "/mails", `{"key":"` + strings.Repeat("k", 201) + `"}`, 422},
		{"an order that is not there", "x/mails", `{"key":"k"}`, 404},
	} {
		if a, body := send(t, who, "POST", at+bad.path, bad.body); a.StatusCode != bad.status || len(body) < 60 {
			t.Errorf("%s: %d %s, want %d and a sentence", bad.name, a.StatusCode, body, bad.status)
		}
	}
	if a, _ := send(t, who, "POST", at+"/mails", `{"key":"k"}`, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); a.StatusCode != http.StatusForbidden {
		t.Errorf("another site's form: %d", a.StatusCode)
	}
	if now := s.orderAt(t, at); now.Tickets[0].Revoked || now.State != "confirmed" {
		t.Errorf("the order is %+v", now)
	}
}

func TestPolicy_CancellingAfterItsTimeIsRefusedOnPageByProgramAndAtTheDesk(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	at, order := s.bought(t, who, 2)
	ann, desk := s.owner(t), "/desk/events/evening/orders/"+order.Code
	s.exec(t, `UPDATE event SET starts_at = clock_timestamp() + interval '6 days 23 hours'`)
	if _, page := send(t, who, "GET", at, "", "Accept", asPage); strings.Contains(page, "/cancellations") {
		t.Error("the page offers to cancel")
	}
	form := url.Values{"key": {"a"}, "ticket": {order.Tickets[0].ID}}
	if a, body := send(t, who, "POST", at+"/cancellations", form.Encode(), "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusConflict || !strings.Contains(body, "The time for cancelling is over") {
		t.Errorf("the form: %d %s", a.StatusCode, words(body))
	}
	if a, body := send(t, who, "POST", at+"/cancellations", `{"key":"b","tickets":["`+order.Tickets[0].ID+`"]}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, `"policy"`) {
		t.Errorf("a program: %d %s", a.StatusCode, body)
	}
	s.refused(t, ann, desk+"/cancellations", form, http.StatusConflict)
	if now := s.orderAt(t, at); now.Tickets[0].Revoked {
		t.Error("a ticket was cancelled")
	}
	form.Set("override", "on")
	s.does(t, ann, desk+"/cancellations", form)
	if now := s.orderAt(t, at); !now.Tickets[0].Revoked || now.Tickets[1].Revoked {
		t.Errorf("the organizer cancels one ticket nevertheless, and the order is %+v", now)
	}
}

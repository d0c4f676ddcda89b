package handlers

import (
	"net/http"
	"strings"
	"testing"
)

func TestErrorPage_LinksBackToItsSubject(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range []struct{ method, path, form, to string }{
		{"GET", "/events/evening/checkout", "", "/events/evening"},
		{"POST", "/events/evening/claims", "best=many&category=F", "/events/evening"},
		{"GET", "/events/evening/sections/99", "", "/events/evening"},
		{"GET", "/events/none/checkout", "", "/events"},
		{"GET", "/orders/NONE/tickets.pdf", "", "/account"},
		{"POST", "/account/vouchers", "code=none", "/account"},
		{"GET", "/nowhere", "", "/events"},
	} {
		header := []string{"Accept", "text/html"}
		if c.form != "" {
			header = append(header, "Content-Type", "application/x-www-form-urlencoded")
		}
		a, body := send(t, person(t), c.method, s.url+c.path, c.form, header...)
		if a.StatusCode < 400 || !strings.Contains(body, `<a class="primary" href="`+c.to+`">`) {
			t.Errorf("%s %s is %d and does not lead to %s:\n%s", c.method, c.path, a.StatusCode, c.to, body)
		}
	}
}

func TestAnAddressThatIsNearlyThatOfAPageLeadsToIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, to := range map[string]string{
		"/events/evening/claims": "/events/evening", // a browser shows it after a refusal
		"/orders/CODE/mails":     "/orders/CODE",
		"/account/vouchers":      "/account",
		"/desk/teams":            "/desk",
		"/events/evening/":       "/events/evening",
		"/events/":               "/events",

		"/events/evening/?price=A&accessible=1": "/events/evening?price=A&accessible=1",
	} {
		if a, _ := send(t, person(t), "GET", s.url+path, "", "Accept", "text/html"); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != to {
			t.Errorf("%s: %d to %q, not to %s", path, a.StatusCode, a.Header.Get("Location"), to)
		}
	}
	for _, path := range []string{"/nowhere/", `/%5cevil.example/`, "/events/evening/nowhere/"} {
		if a, _ := send(t, person(t), "GET", s.url+path, "", "Accept", "text/html"); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d to %q", path, a.StatusCode, a.Header.Get("Location"))
		}
	}
	if a, _ := send(t, person(t), "GET", s.url+"/events/evening/claims", ""); a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") == "" {
		t.Errorf("a program gets %d", a.StatusCode)
	}
	if a, body := s.page(t, person(t), "/events/EVENING"); a.StatusCode != http.StatusOK || !strings.Contains(body, "Evening") {
		t.Errorf("in capitals it is %d", a.StatusCode)
	}
}

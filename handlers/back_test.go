package handlers

import (
	"net/url"
	"strings"
	"testing"
)

// Who goes back to a page that answered a form has it shown again by their browser, if that kept it: else the form would
// have to be sent once more, and Chromium says ERR_CACHE_MISS instead (e2e: TestWithoutScriptAConflict…).
func TestAPageThatAnswersAFormIsKeptForTheWayBackAndNoOtherPageIs(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	at, order := s.bought(t, ann, 2)
	for _, c := range []struct {
		path, form string
		status     int
		keeps      string
	}{
		{"/events/evening/claims", "seat=" + url.QueryEscape(order.Tickets[0].Seat), 409, "private, no-cache"},
		{"/events/evening/claims", "seat=Moon", 404, "private, no-cache"},
		{"/events/evening/waitlist", "quantity=1&email=nobody", 422, "private, no-cache"},
		{"/account/links", "email=nobody", 422, "private, no-cache"},
		{"/account/session", "token=none", 404, "private, no-cache"},
		{strings.TrimPrefix(at, s.url) + "/cancellations", "key=k", 422, "private, no-cache"},
		{"/nowhere", "a=b", 404, "private, no-cache"},
		{"/desk/session", "email=nobody@example.org&password=nothing", 403, "no-store"},
		{"/desk/events", "name=x", 303, "no-store"},
	} {
		a, body := send(t, ann, "POST", s.url+c.path, c.form, "Content-Type", asForm, "Accept", asPage)
		if got := a.Header.Get("Cache-Control"); a.StatusCode != c.status || got != c.keeps {
			t.Errorf("%s %s: %d, kept %q; want %d, %q: %.300s", c.path, c.form, a.StatusCode, got, c.status, c.keeps, body)
		}
	}
	for _, path := range []string{"/events", "/events/evening", "/events/evening/waitlist", "/account", strings.TrimPrefix(at, s.url), "/nowhere"} {
		if a, _ := s.page(t, ann, path); a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: kept %q", path, a.Header.Get("Cache-Control"))
		}
	}
	if a, _ := send(t, ann, "POST", s.url+"/account/links", `{"email":"nobody"}`); a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer to a program is kept %q", a.Header.Get("Cache-Control"))
	}
}

package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/views/desk"
)

// Why the box office gives tickets away is asked for, and stands at the order, in the books and in the log. Buyers do not read it.
func TestOffice_FreeTicketsHaveAReason(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	ann, at := s.owner(t), "/desk/events/evening/sales"
	free := url.Values{"seat": {s.sale.Plan.Label(0)}, "method": {"free"}, "free_reason": {" "}}
	s.refused(t, ann, at, free, http.StatusUnprocessableEntity, "Enter why these tickets are free.", `name="free_reason"`)
	if a, body := s.submit(t, ann, at, url.Values{"key": {"q"}, "seat": {s.sale.Plan.Label(0)}, "method": {"free"}, "free_reason": {""}, "update": {"on"}}); a.StatusCode >= 400 {
		t.Errorf("a quote before the reason is entered: %d %s", a.StatusCode, body)
	}
	free.Set("free_reason", strings.Repeat("x", 201))
	s.refused(t, ann, at, free, http.StatusUnprocessableEntity, "at most 200 characters")
	free.Set("free_reason", "For  the press")
	where := s.does(t, ann, at, free)
	s.does(t, ann, at, url.Values{"seat": {s.sale.Plan.Label(1)}, "method": {"cash"}, "free_reason": {"not free"}})
	s.does(t, ann, at, url.Values{"seat": {s.sale.Plan.Label(2)}, "method": {"free"}}) // as a program that names none

	if _, page := s.page(t, ann, where); !strings.Contains(page, "Free: For the press") {
		t.Error("the order at the desk does not say why it is free")
	}
	code := where[strings.LastIndex(where, "/")+1:]
	read := func(path string) string {
		t.Helper()
		a, body := send(t, ann, "GET", s.url+path, "", "Accept", "application/json")
		if a.StatusCode != http.StatusOK {
			t.Fatal(path, a.StatusCode, body)
		}
		return body
	}
	if body := read(desk.OrderPath("evening", code)); !strings.Contains(body, `"free_reason":"For the press"`) {
		t.Errorf("a program reads %s", body)
	}
	if body := read("/orders/" + code); strings.Contains(body, "press") {
		t.Errorf("a buyer reads %s", body)
	}
	body := read("/desk/books?by=reason")
	for _, want := range []string{`"key":"For the press"`, `"key":""`} {
		if !strings.Contains(body, want) {
			t.Errorf("the books lack %s: %s", want, body)
		}
	}
	if strings.Contains(body, "not free") {
		t.Errorf("the books have the reason of a sale for money: %s", body)
	}
	if _, page := s.page(t, ann, "/desk/books?by=reason"); !strings.Contains(page, "For the press") || !strings.Contains(page, "Not free, or no reason noted") {
		t.Error("the page of the books does not say why tickets were free")
	}
	var noted int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM deed WHERE what = 'sold at the box office' AND detail->>'reason' = 'For the press'`).Scan(&noted); err != nil || noted != 1 {
		t.Errorf("%d lines of the log have the reason, %v", noted, err)
	}
	s.wantBooks(t)
}

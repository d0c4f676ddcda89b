package handlers

import (
	"net/http"
	"strings"
	"testing"
)

func TestCustomers_AreManagersAndOfTheTeam(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, body := s.submit(t, ann, "/desk/events/evening/sales", map[string][]string{"key": {"one"}, "seat": {s.sale.Plan.Label(7)}, "method": {"cash"}, "name": {"Zoe Ørsted"}, "email": {"zoe@example.org"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(body))
	}
	_, list := s.page(t, ann, "/desk/customers?q=zoe+ors")
	_, at, _ := strings.Cut(list, `<td><a href="/desk/customers/`)
	id, _, _ := strings.Cut(at, `"`)
	if !strings.Contains(list, "zoe@example.org") || id == "" {
		t.Fatalf("the list is %s", words(list))
	}
	if _, page := s.page(t, ann, "/desk/customers/"+id); !strings.Contains(page, "<h1>Zoe Ørsted</h1>") || !strings.Contains(page, "/desk/privacy/exports") || strings.Contains(id, "@") {
		t.Errorf("the record is %s", words(page))
	}
	if a, body := s.submit(t, ann, "/desk/customers/"+id, map[string][]string{"key": {"note"}, "note": {"Likes the aisle."}, "tags": {"Member, press"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the note is answered %d %s", a.StatusCode, words(body))
	}
	if _, page := s.page(t, ann, "/desk/customers/"+id); !strings.Contains(page, ">Likes the aisle.</textarea>") || !strings.Contains(page, `value="member, press"`) {
		t.Errorf("the record has no note: %s", words(page))
	}
	if _, page := s.page(t, ann, "/desk/customers?tag=press"); !strings.Contains(page, ">zoe@example.org</textarea>") || !strings.Contains(page, `href="/desk/customers?tag=member"`) {
		t.Errorf("the list by tag is %s", words(page))
	}
	if a, page := s.submit(t, ann, "/desk/customers/"+id, map[string][]string{"key": {"long"}, "note": {"Typed."}, "tags": {strings.Repeat("x", 41)}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, ">Typed.</textarea>") || !strings.Contains(page, "at most 40 characters") {
		t.Errorf("a long tag is answered %d %s", a.StatusCode, words(page))
	}
	for _, path := range []string{"/desk/customers/x", "/desk/customers/" + strings.Repeat("0", 8) + "-0000-4000-8000-000000000000"} {
		if a, body := send(t, ann, "GET", s.url+path, ""); a.StatusCode != http.StatusNotFound || !strings.Contains(body, "There is no such customer in your team.") {
			t.Errorf("%s: %d %s", path, a.StatusCode, body)
		}
	}
	if a, body := send(t, ann, "GET", s.url+"/desk/customers?before=yesterday", ""); a.StatusCode != http.StatusUnprocessableEntity && a.StatusCode != http.StatusBadRequest {
		t.Errorf("a place that is none: %d %s", a.StatusCode, body)
	}
}

package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
)

const dinnerPlan = `{"format": "usher-plan/1", "name": "Dinner", "categories": [{"key": "A", "name": "Dinner", "price": 100}],
 "sections": [{"name": "Hall", "category": "A", "tables": [
  {"table": "Table 1", "whole": true, "center": [200, 200], "radius": 40, "count": 6}, {"table": "Table 2", "center": [400, 200], "radius": 40, "count": 6}]}]}`

// dinner opens an event with a table that is sold whole and one that is not, and returns its address.
func (s *site) dinner(t *testing.T) string {
	t.Helper()
	r, err := plan.Read(strings.NewReader(dinnerPlan))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.Create(t.Context(), s.db, events.Settings{Name: "Dinner", Slug: "dinner", StartsAt: time.Unix(2e9, 0), SeatsPerHolder: 12}, r.Plan); err != nil {
		t.Fatal(err)
	}
	return "/events/dinner"
}

func TestWholeTable_PageHoldsAllOfItAndAProgramIsRefusedAPart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	at, ann, bob := s.dinner(t), person(t), person(t)
	answer, body := send(t, bob, "POST", s.url+at+"/claims", `{"seats": ["Hall/Table 1/2"]}`, "Content-Type", "application/json", "Accept", "application/json")
	if answer.StatusCode != http.StatusConflict || !strings.Contains(body, `"whole_table"`) || !strings.Contains(body, "Hall/Table 1/6") || !strings.Contains(body, "sold together") {
		t.Errorf("a program that asks for a chair: %d %s", answer.StatusCode, body)
	}
	_, page := s.page(t, ann, at+"/sections/0")
	if strings.Count(page, "all seats sold together") != 1 {
		t.Error("the list does not say once that a table is sold together")
	}
	if a, body := s.submit(t, ann, at+"/claims", url.Values{"seat": {"Hall/Table 1/2", "Hall/Table 1/1", "Hall/Table 2/4"}, "key": {"k"}, "from": {at + "/sections/0"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("two chairs on the page: %d %s", a.StatusCode, body)
	}
	_, body = send(t, ann, "GET", s.url+at+"/hold", "")
	if h := holdOf(t, body); len(h.Seats) != 7 {
		t.Errorf("held are %v, want a table and a chair", h.Seats)
	}
	if a, body := send(t, ann, "DELETE", s.url+at+"/claims/0", "", "Accept", "application/json"); a.StatusCode != http.StatusOK || len(holdOf(t, body).Seats) != 1 {
		t.Errorf("after one chair is removed: %d %s", a.StatusCode, body)
	}
	_, geometry := s.page(t, ann, at+"/map")
	_, rest, _ := strings.Cut(geometry, `data-geometry="`)
	address, _, _ := strings.Cut(rest, `"`)
	if _, drawn := s.page(t, ann, address); strings.Count(drawn, `"whole":true`) != 1 {
		t.Errorf("the drawing at %q does not say once that a table is sold whole", address)
	}
}

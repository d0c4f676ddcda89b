package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/shop"
)

// proposed asks for places as programs do.
func (s *site) proposed(t *testing.T, who *http.Client, query string) (a shop.ProposalsAnswer) {
	t.Helper()
	answer, body := send(t, who, "GET", s.url+"/events/evening/proposals?"+query, "", "Accept", "application/json")
	if err := json.Unmarshal([]byte(body), &a); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", query, answer.StatusCode, body)
	}
	return a
}

func TestProposals_HoldNothingAndOneIsClaimed(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	first := s.proposed(t, ann, "best=2")
	if len(first.Proposals) == 0 || first.Anew || len(first.Proposals[0].Seats) != 2 || first.Proposals[0].Price <= 0 {
		t.Fatalf("two are proposed %+v", first)
	}
	var before []string
	for _, p := range first.Proposals {
		before = append(before, strings.Trim(strings.Join(strings.Fields(strings.ReplaceAll(jsonOf(t, p.Idx), ",", " ")), " "), "[]"))
	}
	for _, p := range s.proposed(t, ann, "best=2&not="+url.QueryEscape(strings.Join(before, " "))).Proposals {
		for _, p1 := range first.Proposals {
			if p.Idx[0] == p1.Idx[0] {
				t.Errorf("%v is proposed again", p.Seats)
			}
		}
	}
	if a, _ := send(t, ann, "GET", s.url+"/events/evening/hold", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("after proposals there is a hold: %d", a.StatusCode)
	}
	_, page := s.page(t, ann, "/events/evening/proposals?best=2&party=1&together=1")
	if strings.Count(page, `type="radio" name="proposal"`) != len(first.Proposals) || !strings.Contains(page, "Hold these seats") {
		t.Error("the page does not offer them")
	}
	a, body := s.submit(t, ann, "/events/evening/claims", url.Values{"proposal": {before[0]}, "key": {"one"}, "from": {"/events/evening/map"}})
	if a.StatusCode != http.StatusSeeOther {
		t.Fatalf("claiming one: %d %s", a.StatusCode, body)
	}
	_, body = send(t, ann, "GET", s.url+"/events/evening/hold", "")
	if got := holdOf(t, body).Seats; strings.Join(got, ",") != strings.Join(first.Proposals[0].Seats, ",") {
		t.Errorf("held are %v, want %v", got, first.Proposals[0].Seats)
	}

	other := s.proposed(t, ann, "best=2").Proposals[0]
	if _, page = s.page(t, ann, "/events/evening/proposals?best=2&party=1&together=1"); !strings.Contains(page, "Seats that you found this way before are released.") {
		t.Error("the page does not say that the first proposal is released")
	}
	s.submit(t, ann, "/events/evening/claims", url.Values{"proposal": {strings.Trim(strings.ReplaceAll(jsonOf(t, other.Idx), ",", " "), "[]")}, "key": {"two"}, "from": {"/events/evening/map"}})
	_, body = send(t, ann, "GET", s.url+"/events/evening/hold", "")
	if got := holdOf(t, body).Seats; strings.Join(got, ",") != strings.Join(other.Seats, ",") {
		t.Errorf("after another proposal %v are held, want %v", got, other.Seats)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestProposals_BadQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	for _, query := range []string{"", "best=0", "best=-1", "best=x", "best=99", "best=2&category=none", "best=2&most=x", "best=2&most=-1", "best=2&not=x", "best=2&not=999999"} {
		if a, body := send(t, ann, "GET", s.url+"/events/evening/proposals?"+query, "", "Accept", "application/json"); a.StatusCode < 400 || a.StatusCode > 499 {
			t.Errorf("%q: %d %s", query, a.StatusCode, body)
		}
	}
	if a, _ := s.submit(t, ann, "/events/evening/claims", url.Values{"proposal": {"999999"}, "key": {"k"}}); a.StatusCode < 400 || a.StatusCode > 499 {
		t.Errorf("a proposal of no seat: %d", a.StatusCode)
	}
	if got := s.proposed(t, ann, "best=2&most=1"); len(got.Proposals) != 0 {
		t.Errorf("for a cent there are %v", got)
	}
}

func TestSeatView_IsADrawingUnderTheHashOfThePlan(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	at := "/events/evening/views/" + s.sale.Event.PlanHash + "/"
	a, body := send(t, ann, "GET", s.url+at+"3.svg", "")
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(body, "<svg ") || !strings.Contains(a.Header.Get("Cache-Control"), "max-age") {
		t.Errorf("a view: %d %v %.60s", a.StatusCode, a.Header, body)
	}
	for _, path := range []string{at + "999999.svg", at + "-1.svg", at + "3", at + "x.svg", "/events/evening/views/other/3.svg"} {
		if a, _ := send(t, ann, "GET", s.url+path, ""); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
}

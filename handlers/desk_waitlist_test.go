package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

func TestWaitlist_IsSteeredAtTheDeskWithAuditEntries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	olga, eve := s.owner(t), s.memberOf(t, "eve", organizers.Viewer, s.sale.Event.Team)
	const path = liveDesk + "/waitlist"
	if a, page := s.page(t, olga, path); a.StatusCode != http.StatusOK || !strings.Contains(page, "The waiting list is empty.") {
		t.Errorf("an empty list: %d", a.StatusCode)
	}
	first := s.soldOut(t)
	ann, bob := person(t), person(t)
	annAt, bobAt := s.waits(t, ann, "ann@example.org", nil), s.waits(t, bob, "bob@example.org", url.Values{"quantity": {"2"}, "together": {"1"}})
	feed := s.opens(t, olga, "")
	hears(t, feed, "live-waitlist", "<dt>Waiting</dt><dd>2</dd>")

	s.does(t, olga, path, url.Values{"do": {"pause"}, "reason": {"We count <b>."}})
	send(t, first, "DELETE", s.url+"/events/evening/claims", "")
	for _, who := range []*http.Client{olga, eve} {
		_, page := s.page(t, who, path)
		for _, want := range []string{"We count &lt;b&gt;.", "ann@example.org", "2 seats together", "No. 1", "No. 2"} {
			if !strings.Contains(page, want) {
				t.Errorf("the list at the desk lacks %q", want)
			}
		}
		for _, code := range []string{annAt, bobAt} {
			if strings.Contains(page, strings.TrimPrefix(code, "/waitlist/")) {
				t.Error("the desk shows the code of an entry, with which one takes its offers")
			}
		}
		if may := strings.Contains(page, "Out of turn"); may != (who == olga) {
			t.Errorf("a viewer may act: %v", may)
		}
	}
	if _, page := send(t, ann, "GET", s.url+annAt, "", "Accept", asPage); !strings.Contains(page, "We count &lt;b&gt;.") {
		t.Error("who waits does not read why the list is paused")
	}
	s.refused(t, olga, path, url.Values{"do": {"first"}, "email": {"bob@example.org"}}, 422, "need a reason")
	s.refused(t, olga, path, url.Values{"do": {"first"}, "email": {"unknown@example.org"}, "reason": {"x"}}, 404, "This address is not on the waiting list")
	s.refused(t, olga, path, url.Values{"do": {"offer"}, "email": {"bob@example.org"}, "reason": {"x"}}, 409, "No seats that fit", `value="bob@example.org"`)
	s.refused(t, olga, path, url.Values{"do": {"offer"}, "email": {"bob@example.org"}, "reason": {"x"}, "seats": {"Moon/1"}}, 422, "Moon/1")
	s.refused(t, olga, path, url.Values{"do": {"pause"}, "reason": {strings.Repeat("x", 501)}}, 422, "at most 500 characters")
	s.refused(t, olga, path, url.Values{"do": {"dance"}}, 422, "has no such action")
	s.does(t, olga, path, url.Values{"do": {"first"}, "email": {"bob@example.org"}, "reason": {"He plays."}})
	if got := s.entry(t, bob, bobAt); got.Place != 1 {
		t.Errorf("who was put first is %d", got.Place)
	}
	s.does(t, olga, path, url.Values{"do": {"offer"}, "email": {"ann@example.org"}, "reason": {"She helped."}})
	if got := s.entry(t, ann, annAt); got.State != "offered" {
		t.Errorf("who was offered a seat by hand is %s", got.State)
	}
	s.does(t, olga, path, url.Values{"do": {"remove"}, "email": {"bob@example.org"}, "reason": {"He called."}})
	s.does(t, olga, path, url.Values{"do": {"resume"}})
	for _, what := range []string{"paused the waiting list", "put an entry first in the waiting list", "offered seats out of turn", "took an entry off the waiting list", "resumed the waiting list"} {
		if n := s.audited(t, what); n != 1 {
			t.Errorf("%d audit entries say %q", n, what)
		}
	}
	if _, page := s.page(t, olga, "/desk/log"); !strings.Contains(page, "He plays.") {
		t.Error("the log does not say why")
	}
	if _, page := s.page(t, olga, path+"?email=bob@example.org"); !strings.Contains(page, "He plays.") || strings.Contains(page, "ann@example.org") {
		t.Error("of one address the desk does not show what happened to it alone")
	}
	s.wantBooks(t)
}

func TestProgramsSteerAWaitListByJSON(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	olga := s.owner(t)
	s.soldOut(t)
	s.waits(t, person(t), "ann@example.org", nil)
	ask := func(body string) (*http.Response, string) {
		return send(t, olga, "POST", s.url+liveDesk+"/waitlist", body, "Idempotency-Key", seats.NewID().String())
	}
	for body, want := range map[string]int{
		`{"do":"pause","reason":"We count."}`: 200, `{"do":"resume"}`: 200, `{"do":"first","email":"ann@example.org"}`: 422,
		`{"do":"offer","email":"ann@example.org","reason":"x"}`: 409, `{"do":"first","email":"bob@example.org","reason":"x"}`: 404, `{"do":7}`: 422, `[]`: 422, "{\"do\":\"\xff\"}": 422,
	} {
		if a, answer := ask(body); a.StatusCode != want {
			t.Errorf("%q: %d, want %d: %s", body, a.StatusCode, want, answer)
		}
	}
	_, body := send(t, olga, "GET", s.url+liveDesk+"/waitlist", "")
	var list desk.WaitListBody
	if err := json.Unmarshal([]byte(body), &list); err != nil || list.Waiting != 1 || len(list.Entries) != 1 || list.Entries[0].Place != 1 || len(list.Steps) < 4 {
		t.Errorf("the list is %s, %v", body, err)
	}
}

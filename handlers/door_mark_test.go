package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// The page of the doors asks for itself every few seconds.
func TestDesk_DoorsPageIsMadeAnewWhenSomethingHappened(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, at := s.owner(t), "/desk/events/evening/doors"
	_, order := s.bought(t, person(t), 2)
	_, page := s.submit(t, owner, at, keyed("name", "Anna’s phone"))
	link := regexp.MustCompile(`href="(http[^"]*/door/[0-9A-Z]+)"`).FindStringSubmatch(page)
	mark := ""
	asks := func(says string) {
		t.Helper()
		a, page := send(t, owner, "GET", s.url+at, "", "Accept", asPage, "If-None-Match", mark)
		if now := a.Header.Get("ETag"); a.StatusCode != http.StatusOK || now == mark || !strings.Contains(page, says) {
			t.Errorf("%d with the mark %s after %s; it does not say %q", a.StatusCode, now, mark, says)
		}
		mark = a.Header.Get("ETag")
		for try := 0; ; try++ { // a minute may end between two of these
			a, page = send(t, owner, "GET", s.url+at, "", "Accept", asPage, "If-None-Match", mark)
			if a.StatusCode == http.StatusNotModified && page == "" {
				return
			}
			if mark = a.Header.Get("ETag"); try > 0 {
				t.Fatalf("without a change it gets %d with the mark %s", a.StatusCode, mark)
			}
		}
	}
	asks("Anna’s phone")
	for i, ticket := range order.Tickets {
		send(t, person(t), "POST", link[1]+"/scans", url.Values{"key": {fmt.Sprint(i)}, "code": {ticket.Code}}.Encode(), "Content-Type", asForm, "Accept", asPage)
		asks(fmt.Sprintf("<strong>%d</strong> <span>of 2 tickets", i+1))
	}
	s.submit(t, owner, at, keyed("name", "Ben"))
	asks("Ben")
	s.does(t, owner, at+"/closing", keyed())
	asks("No longer valid")
	if a, _ := send(t, person(t), "GET", s.url+at, "", "Accept", asPage, "If-None-Match", mark); a.StatusCode == http.StatusNotModified {
		t.Error("a person without an account is told that nothing changed")
	}
}

func TestDesk_DoorsPageListsTheNewestConflicts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, at := s.owner(t), "/desk/events/evening/doors"
	s.bought(t, person(t), 1)
	s.submit(t, owner, at, keyed("name", "Anna’s phone"))
	s.exec(t, `INSERT INTO scan (event_id, door_id, ticket_id, key, place, scanned_at, admitted, offline, said)
		SELECT d.event_id, d.id, t.id, n::text, '', timestamptz '2030-05-01 19:00:00+00' + n * interval '1 second', n = 0, true, CASE n WHEN 0 THEN 'in' ELSE 'again' END
		  FROM door d, ticket t, generate_series(0, 207) n WHERE t.event_id = d.event_id`)
	_, page := s.page(t, owner, at)
	from := strings.Index(page, `id="conflicts"`)
	list := page[from : from+strings.Index(page[from:], `</section>`)]
	if n := strings.Count(list, "<li>"); n != 200 || !strings.Contains(list, "207 entries to look into") || !strings.Contains(list, "and 7 more") {
		t.Errorf("it lists %d of 207: %s", n, list[len(list)-200:])
	}
	if first, _, _ := strings.Cut(list, "</li>"); !strings.Contains(first, ":03:27") || strings.Contains(list, ":00:06") {
		t.Errorf("the newest one is not the first: %s", first)
	}
	if _, body := send(t, owner, "GET", s.url+at, ""); strings.Count(body, `"why":"twice"`) != 207 {
		t.Error("a program does not get all of them")
	}
}

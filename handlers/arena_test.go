package handlers

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/arena"
	"github.com/usherbox/usher/seats/events"
)

func TestArena_HouseThatIsNoneHasNoSuchPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, accept := range []string{"text/html", "application/json"} {
		if a, _ := send(t, person(t), "GET", s.url+"/arena", "", "Accept", accept); a.StatusCode != http.StatusNotFound {
			t.Errorf("as %s it is answered %d", accept, a.StatusCode)
		}
	}
}

func TestArena_PageShowsSaleRefereesFindingsAndTwin(t *testing.T) {
	t.Parallel()
	a, err := arena.Open(filepath.Join(t.TempDir(), "arena.json"))
	if err != nil {
		t.Fatal(err)
	}
	a.Every, a.For = time.Hour, 20*time.Minute
	a.Twin = []arena.Caught{{Bug: "a seat is sold twice", Referee: arena.Verify, Seconds: 4.3, Words: "P1"}}
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.Arena = a })
	read := func(headers ...string) string {
		t.Helper()
		answer, body := send(t, person(t), "GET", s.url+"/arena", "", headers...)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("it is answered %d %s", answer.StatusCode, body)
		}
		return body
	}
	german := func() {
		t.Helper()
		for _, found := range english(t, read("Accept", "text/html", "Accept-Language", "de")) {
			t.Errorf("the German page says %q", found)
		}
	}
	german()
	now := time.Now()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(a.Begin("evening", now.Add(-2*time.Hour), now.Add(-time.Hour), 300))
	check(a.Looked(arena.Look{Referee: arena.Verify, At: now, Of: 71, Seconds: .13}, []arena.Finding{{Promise: "P1", Words: "Seat A1 has two holders <b>."}}, ""))
	_, err = a.End(true)
	check(err)
	check(a.Begin("evening", now.Add(-time.Minute), now.Add(time.Hour), 300))
	check(a.Looked(arena.Look{Referee: arena.Audit, At: now, Of: 9, Seconds: .02}, nil, "seen"))
	for range 1234 {
		a.Answered("POST /events/{slug}/claims", 429)
	}
	german()
	page := read("Accept", "text/html")
	for _, want := range []string{"Sale 2 ends in", `href="/events/evening"`, "1,234", "Seat A1 has two holders &lt;b&gt;.", "a seat is sold twice", "71 promises", "9 leaves"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, words(page))
		}
	}
	var screen arena.Screen
	check(json.Unmarshal([]byte(read("Accept", "application/json")), &screen))
	if screen.Found != 1 || screen.Sale.Number != 2 || screen.Sale.Refused[arena.TooMany] != 1234 || len(screen.Past) != 1 || screen.Past[0].Verdict != arena.Broken || len(screen.Twin) != 1 {
		t.Errorf("programs read %+v", screen)
	}
}

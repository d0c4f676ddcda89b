package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
)

const deskPassword = "three plain words"

// owner is a browser in which the first organizer is signed in; Ann owns the team of the event.
func (s *site) owner(t *testing.T) *http.Client {
	t.Helper()
	token, err := s.organizers.SetupLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	who := person(t)
	form := url.Values{"name": {"Ann"}, "email": {"ann@example.org"}, "password": {deskPassword}}
	if a, body := s.submit(t, who, "/desk/setup/"+token, form); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/desk" {
		t.Fatal(a.StatusCode, body)
	}
	return who
}

// memberOf makes an organizer with a role in a team and returns a browser in which they are signed in.
func (s *site) memberOf(t *testing.T, name string, role organizers.Role, team int64) *http.Client {
	t.Helper()
	s.exec(t, `WITH o AS (INSERT INTO organizer (email, name, password) SELECT $1 || '@example.org', $1, password FROM organizer WHERE email = 'ann@example.org' RETURNING id)
		INSERT INTO member (team_id, organizer_id, role) SELECT $2, id, $3 FROM o`, name, team, role)
	return s.atDesk(t, name)
}

// atDesk is a browser in which an organizer with the usual password signs in.
func (s *site) atDesk(t *testing.T, name string) *http.Client {
	t.Helper()
	who := person(t)
	form := url.Values{"email": {name + "@example.org"}, "password": {deskPassword}}
	if a, body := s.submit(t, who, "/desk/session", form); a.StatusCode != http.StatusSeeOther {
		t.Fatal(name, a.StatusCode, body)
	}
	return who
}

// others makes a second team with an event of its own.
func (s *site) others(t *testing.T, slug string) (team int64) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), `INSERT INTO team (name) VALUES ('Others') RETURNING id`).Scan(&team); err != nil {
		t.Fatal(err)
	}
	club, _ := plan.Named("club")
	if _, err := events.Create(t.Context(), s.db, events.Settings{Name: slug, StartsAt: time.Unix(2e9, 0), Team: team}, club); err != nil {
		t.Fatal(err)
	}
	return team
}

func TestDesk_NeedsASession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, _ := s.page(t, person(t), "/desk/events/evening?tab=1")
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/desk/session?to=%2Fdesk%2Fevents%2Fevening%3Ftab%3D1" {
		t.Errorf("without signing in, the page: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	if a, body := send(t, person(t), "GET", s.url+"/desk", ""); a.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "not_signed_in") {
		t.Errorf("without signing in, JSON: %d %s", a.StatusCode, body)
	}
	ann := s.owner(t)
	if a, page := s.page(t, ann, "/desk"); a.StatusCode != 200 || !strings.Contains(page, "/desk/events/evening") || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the desk: %d", a.StatusCode)
	}
	if a, page := s.page(t, ann, "/desk/events/evening"); a.StatusCode != 200 || !strings.Contains(page, "Evening") {
		t.Errorf("the event: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, ann, "/desk/session/end", nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("signing out: %d", a.StatusCode)
	}
	if a, _ := s.page(t, ann, "/desk"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("after signing out: %d", a.StatusCode)
	}
	form := url.Values{"email": {"ann@example.org"}, "password": {deskPassword}, "to": {"/desk/events/evening"}}
	if a, _ := s.submit(t, ann, "/desk/session", form); a.Header.Get("Location") != "/desk/events/evening" {
		t.Errorf("signed in again, to %q", a.Header.Get("Location"))
	}
}

func TestAWrongPasswordAndAnUnknownAddressGetTheSameAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.owner(t)
	var pages []string
	for _, email := range []string{"ann@example.org", "eve@example.org"} {
		a, page := s.submit(t, person(t), "/desk/session", url.Values{"email": {email}, "password": {"some other words"}})
		if a.StatusCode != http.StatusForbidden || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d, cookie %q", email, a.StatusCode, a.Header.Get("Set-Cookie"))
		}
		page = regexp.MustCompile(`nonce="[^"]*"`).ReplaceAllString(page, "")
		pages = append(pages, strings.ReplaceAll(page, email, ""))
	}
	if pages[0] != pages[1] {
		t.Error("the two answers differ")
	}
}

func TestSignIn_RenewsTheTokenAndKeepsTheHold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.owner(t)
	who := person(t)
	s.held(t, who, 1)
	site, _ := url.Parse(s.url)
	before := who.Jar.Cookies(site)[0].Value
	form := url.Values{"email": {"ann@example.org"}, "password": {deskPassword}}
	if a, _ := s.submit(t, who, "/desk/session", form); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode)
	}
	if after := who.Jar.Cookies(site)[0].Value; after == before {
		t.Error("a token from before signing in is signed in, too")
	}
	thief := person(t)
	thief.Jar.SetCookies(site, []*http.Cookie{{Name: "usher", Value: before}})
	if a, _ := s.page(t, thief, "/desk"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the token of before opens the desk: %d", a.StatusCode)
	}
	if a, _ := send(t, who, "GET", s.url+"/events/evening/hold", ""); a.StatusCode != 200 {
		t.Errorf("the hold is gone: %d", a.StatusCode)
	}
}

func TestSigningInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/desk/events/x?a=b": "/desk/events/x?a=b", "/desk": "/desk", "/desk?x": "/desk?x", "": "/desk", "//evil.example": "/desk", "https://evil.example/desk": "/desk",
		"/deskevil": "/desk", "/desk\\@evil.example": "/desk", "/desk/session": "/desk", "/desk/session/end": "/desk", "/desk/\nx": "/desk",
	} {
		if got := desk.DeskBack(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

func TestARoleIsOfOneTeamAndEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.owner(t)
	team := s.others(t, "theirs")
	eve, bob := s.memberOf(t, "eve", organizers.Owner, team), s.memberOf(t, "bob", organizers.Till, s.sale.Event.Team)
	for _, c := range []struct {
		who    *http.Client
		path   string
		status int
	}{
		{eve, "/desk/events/theirs", 200},
		{eve, "/desk/events/evening", 404},
		{eve, "/desk/events/nothing", 404},
		{eve, "/desk", 200},
		{bob, "/desk/events/theirs", 404},
		{bob, "/desk/events/evening", 403},
		{bob, "/desk", 200},
		{s.atDesk(t, "ann"), "/desk/events/theirs", 404},
	} {
		if a, body := s.page(t, c.who, c.path); a.StatusCode != c.status || c.path == "/desk" && c.who == eve && strings.Contains(body, "/desk/events/evening") {
			t.Errorf("%s: %d, want %d", c.path, a.StatusCode, c.status)
		}
	}
	s.exec(t, `DELETE FROM member WHERE team_id = $1 AND role = 'till'`, s.sale.Event.Team)
	if a, _ := s.page(t, bob, "/desk"); a.StatusCode != 403 {
		t.Errorf("Bob, removed: %d", a.StatusCode)
	}
}

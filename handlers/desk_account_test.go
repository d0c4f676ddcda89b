package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/organizers"
)

// formKey is the key in the form of a page that leads to path.
func formKey(t *testing.T, page, path string) string {
	t.Helper()
	found := regexp.MustCompile(`action="` + regexp.QuoteMeta(path) + `"><input type="hidden" name="key" value="([^"]+)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no form to %s with a key", path)
	}
	return found[1]
}

// deskMail makes the latest mail to an address as it goes out, and returns its link.
func (s *site) deskMail(t *testing.T, email, kind string) (link string) {
	t.Helper()
	m := mail.Mail{Email: email, Kind: kind}
	if err := s.db.QueryRow(t.Context(), `SELECT id, coalesce(invitation_id, 0), about FROM mail WHERE email = $1 AND kind = $2 ORDER BY id DESC LIMIT 1`, email, kind).Scan(&m.ID, &m.Invitation, &m.About); err != nil {
		t.Fatal(err)
	}
	l, err := Letters{Desk: s.organizers, URL: s.url}.Write(t.Context(), m)
	if err != nil || l.Email != email || !strings.Contains(l.HTML, s.url+"/desk/") {
		t.Fatalf("the mail is %+v, %v", l, err)
	}
	link = regexp.MustCompile(regexp.QuoteMeta(s.url) + `(/desk/\S+)`).FindStringSubmatch(l.Text)[1]
	return link
}

func TestInvitation_ComesByMailAndJoinsTheTeam(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	_, page := s.page(t, ann, "/desk/team")
	form := url.Values{"key": {formKey(t, page, "/desk/team/invitations")}, "email": {"bob@example.org"}, "role": {"manager"}}
	for range 2 { // a double click
		if a, body := s.submit(t, ann, "/desk/team/invitations", form); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/desk/team?done=invited" {
			t.Fatal(a.StatusCode, body)
		}
	}
	form.Set("role", "owner")
	if a, body := s.submit(t, ann, "/desk/team/invitations", form); a.StatusCode != http.StatusConflict || !strings.Contains(body, "sent before with other content") {
		t.Errorf("the key with another role: %d", a.StatusCode)
	}
	link, bob := s.deskMail(t, "bob@example.org", organizers.MailInvitation), person(t)
	for range 2 { // as programs that read mail do
		if a, page := s.page(t, bob, link); a.StatusCode != 200 || !strings.Contains(page, "Join Box office") || a.Header.Get("Referrer-Policy") != "no-referrer" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("the link: %d", a.StatusCode)
		}
	}
	if a, page := s.submit(t, bob, link, url.Values{"name": {"Bob"}, "password": {"password1234"}}); a.StatusCode != 422 || !strings.Contains(page, "tried first") || !strings.Contains(page, `value="Bob"`) || strings.Contains(page, "password1234") {
		t.Errorf("a common password: %d", a.StatusCode)
	}
	if a, body := s.submit(t, bob, link, url.Values{"name": {"Bob"}, "password": {deskPassword}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	if a, _ := s.page(t, bob, "/desk/log"); a.StatusCode != 200 {
		t.Errorf("Bob, a manager, at the log: %d", a.StatusCode)
	}
	if a, _ := s.page(t, person(t), link); a.StatusCode != 404 {
		t.Errorf("the link that was used: %d", a.StatusCode)
	}
}

func TestAnOrganizerOfAnotherTeamJoinsSignedIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.owner(t)
	bob := s.memberOf(t, "bob", organizers.Owner, s.others(t, "theirs"))
	m, err := s.organizers.Operator(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.organizers.InviteLink(t.Context(), m, "bob@example.org", organizers.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	link := "/desk/invitations/" + token
	if _, page := s.page(t, person(t), link); !strings.Contains(page, "/desk/session?to=%2Fdesk%2Finvitations%2F") && !strings.Contains(page, "/desk/session?to=/desk/invitations/") {
		t.Error("a visitor is not led to sign in")
	}
	if a, _ := s.submit(t, person(t), link, url.Values{"name": {"Eve"}, "password": {deskPassword}}); a.StatusCode != 401 {
		t.Errorf("without a session joining answers %d", a.StatusCode)
	}
	if _, page := s.page(t, s.atDesk(t, "ann"), link); !strings.Contains(page, "Sign out") {
		t.Error("Ann is not told the invitation's address")
	}
	if a, _ := s.submit(t, bob, link, nil); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode)
	}
	_, page := s.page(t, bob, "/desk")
	if !strings.Contains(page, "/desk/events/evening") || !strings.Contains(page, "Your teams") {
		t.Error("Bob is not in the team they joined")
	}
	if a, _ := s.page(t, bob, "/desk/events/theirs"); a.StatusCode != 200 {
		t.Errorf("Bob at the event of their first team: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, bob, "/desk/session/team", url.Values{"team": {"2"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("Bob switches: %d", a.StatusCode)
	}
	if _, page := s.page(t, bob, "/desk"); strings.Contains(page, "/desk/events/evening") {
		t.Error("Bob did not switch")
	}
	if a, _ := s.submit(t, s.atDesk(t, "ann"), "/desk/session/team", url.Values{"team": {"2"}}); a.StatusCode != 404 {
		t.Errorf("Ann switches to a team of others: %d", a.StatusCode)
	}
}

func TestPasswordLink_DoesNotTellWhetherAnAddressIsKnown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	elsewhere := s.owner(t)
	var pages []string
	for _, email := range []string{"ann@example.org", "eve@example.org"} {
		a, page := s.submit(t, person(t), "/desk/password", url.Values{"email": {email}})
		page = regexp.MustCompile(`nonce="[^"]*"`).ReplaceAllString(page, "")
		if pages = append(pages, strings.ReplaceAll(page, email, "")); a.StatusCode != 200 {
			t.Errorf("%s: %d", email, a.StatusCode)
		}
	}
	if pages[0] != pages[1] {
		t.Error("the answer tells who is there")
	}
	link, ann := s.deskMail(t, "ann@example.org", organizers.MailPassword), person(t)
	if a, page := s.page(t, ann, link); a.StatusCode != 200 || !strings.Contains(page, "ann@example.org") {
		t.Errorf("the link: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, ann, link, url.Values{"password": {"four other plain words"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode)
	}
	if a, _ := s.page(t, ann, "/desk"); a.StatusCode != 200 {
		t.Errorf("signed in by the link: %d", a.StatusCode)
	}
	if a, _ := s.page(t, elsewhere, "/desk"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("elsewhere: %d", a.StatusCode)
	}
	if a, _ := s.page(t, ann, link); a.StatusCode != 404 {
		t.Errorf("the link that was used: %d", a.StatusCode)
	}
}

func TestAnAccountChangesItsNameItsPasswordAndSignsOutEverywhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	here := s.owner(t)
	there := s.atDesk(t, "ann")
	if a, page := s.submit(t, here, "/desk/account", url.Values{"name": {" "}}); a.StatusCode != 422 || !strings.Contains(page, "Enter a name.") {
		t.Errorf("no name: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, here, "/desk/account", url.Values{"name": {"Ann Ørsted"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("a name: %d", a.StatusCode)
	}
	change := url.Values{"before": {"something else"}, "password": {"four other plain words"}}
	if a, page := s.submit(t, here, "/desk/account/password", change); a.StatusCode != 403 || !strings.Contains(page, "not your current password") {
		t.Errorf("without the password: %d", a.StatusCode)
	}
	change.Set("before", deskPassword)
	if a, _ := s.submit(t, here, "/desk/account/password", change); a.StatusCode != http.StatusSeeOther {
		t.Errorf("with it: %d", a.StatusCode)
	}
	if a, page := s.page(t, here, "/desk/account"); a.StatusCode != 200 || !strings.Contains(page, "Ann Ørsted") {
		t.Errorf("afterwards here: %d", a.StatusCode)
	}
	if a, _ := s.page(t, there, "/desk/account"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("afterwards there: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, here, "/desk/session/everywhere", nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("signing out everywhere: %d", a.StatusCode)
	}
	if a, _ := s.page(t, here, "/desk/account"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("afterwards: %d", a.StatusCode)
	}
}

func TestDesk_PagesAreNotStored(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	for _, path := range []string{"/desk", "/desk/events/evening", "/desk/team", "/desk/log", "/desk/account", "/desk/session", "/desk/password", "/desk/events/nothing", "/desk/setup/none"} {
		for _, accept := range []string{asPage, "application/json"} {
			if a, _ := send(t, ann, "GET", s.url+path, "", "Accept", accept); a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s as %s may be kept: %q", path, accept, a.Header.Get("Cache-Control"))
			}
		}
	}
}

func TestTheLogSpeaksToProgramsToo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	a, body := send(t, ann, "GET", s.url+"/desk/log?what=desk", "")
	if a.StatusCode != 200 || !strings.Contains(body, `"who":"Ann"`) || !strings.Contains(body, `"what":"set the desk up"`) {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "GET", s.url+"/desk/log?day=soon", ""); a.StatusCode != 422 || !strings.Contains(body, "2030-12-31") {
		t.Errorf("a day that is none: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "GET", s.url+"/desk/team", ""); a.StatusCode != 200 || !strings.Contains(body, `"role":"owner"`) {
		t.Errorf("%d %s", a.StatusCode, body)
	}
}

func TestPasskeysAreRefusedInWordsWhereBrowsersKeepNone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, body := send(t, ann, "POST", s.url+"/desk/account/passkeys/options", "{}"); a.StatusCode != 409 || !strings.Contains(body, "https") {
		t.Errorf("at an address of numbers: %d %s", a.StatusCode, body)
	}
	s = newSiteFor(t, events.Settings{}, func(c *Config) { c.PublicURL = "https://tickets.example.org" })
	who := person(t)
	a, body := send(t, who, "POST", s.url+"/desk/session/options", "{}")
	if a.StatusCode != 200 || !strings.Contains(body, `"rpId":"tickets.example.org"`) || !strings.Contains(body, `"userVerification":"required"`) {
		t.Errorf("at an address with https: %d %s", a.StatusCode, body)
	}
	for name, answer := range map[string]string{"nothing": ``, "null": `,"answer":null`, "no passkey": `,"answer":{"id":"x"}`} {
		if a, body := send(t, who, "POST", s.url+"/desk/session/passkey", `{"to":"/desk"`+answer+`}`); a.StatusCode != 403 || !strings.Contains(body, "is not known here") {
			t.Errorf("%s: %d %s", name, a.StatusCode, body)
		}
	}
}

func TestAPIKey_IsShownOnceAndWorksUntilRevoked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	_, page := s.page(t, ann, "/desk/keys")
	form := url.Values{"key": {formKey(t, page, "/desk/keys")}, "name": {"Till"}}
	if a, body := s.submit(t, ann, "/desk/keys", form); a.StatusCode != 422 || !strings.Contains(body, "Choose what the key may do.") || !strings.Contains(body, `value="Till"`) {
		t.Errorf("without a scope: %d", a.StatusCode)
	}
	form["scope"] = []string{"look", "sell"}
	a, page := s.submit(t, ann, "/desk/keys", form)
	key := regexp.MustCompile(`usher_[0-9a-z]{26}`).FindString(page)
	if a.StatusCode != 201 || key == "" {
		t.Fatal(a.StatusCode, page)
	}
	if a, _ := s.submit(t, ann, "/desk/keys", form); a.StatusCode != http.StatusSeeOther {
		t.Errorf("a repeat: %d", a.StatusCode)
	}
	if _, page := s.page(t, ann, "/desk/keys"); strings.Contains(page, key) || strings.Count(page, "<b>Till</b>") != 1 {
		t.Error("the key is shown again, or there are two")
	}
	var kept int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM api_key WHERE api_key::text LIKE '%' || $1 || '%'`, key[8:]).Scan(&kept); err != nil || kept != 0 {
		t.Errorf("the key stands in the database (%d), %v", kept, err)
	}
	program := person(t)
	program.Transport = withKey(key)
	for path, want := range map[string]int{"/desk": 200, "/desk/events/evening": 200, "/desk/team": 200, "/desk/log": 403, "/desk/account": 403, "/desk/keys": 403, "/desk/events/nothing": 404} {
		if a, body := send(t, program, "GET", s.url+path, "", "Accept", "*/*"); a.StatusCode != want || !strings.HasPrefix(body, "{") {
			t.Errorf("%s with the key: %d %.80s", path, a.StatusCode, body)
		}
	}
	program.Transport = withKey(key + "x")
	if a, body := send(t, program, "GET", s.url+"/desk", ""); a.StatusCode != 401 || !strings.Contains(body, "This key does not work") {
		t.Errorf("another key: %d %s", a.StatusCode, body)
	}
	ann.Transport = withKey(key + "x") // a session does not help a wrong key
	if a, _ := s.page(t, ann, "/desk"); a.StatusCode != 401 {
		t.Errorf("a wrong key beside a session: %d", a.StatusCode)
	}
	ann.Transport, program.Transport = nil, withKey(key)
	_, page = s.page(t, ann, "/desk/keys")
	path := regexp.MustCompile(`/desk/keys/\d+/revocation`).FindString(page)
	if a, _ := s.submit(t, ann, path, url.Values{"key": {formKey(t, page, path)}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("revoking: %d", a.StatusCode)
	}
	if a, _ := send(t, program, "GET", s.url+"/desk", ""); a.StatusCode != 401 {
		t.Errorf("the key that was revoked: %d", a.StatusCode)
	}
}

func TestAPIKey_EndsWithItsMakersMembership(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.owner(t)
	bob := s.memberOf(t, "bob", organizers.Owner, s.sale.Event.Team)
	a, body := send(t, bob, "POST", s.url+"/desk/keys", `{"key":"k","name":"Till","scopes":["look"]}`)
	key := regexp.MustCompile(`usher_[0-9a-z]{26}`).FindString(body)
	if a.StatusCode != 201 || key == "" {
		t.Fatal(a.StatusCode, body)
	}
	program := person(t)
	program.Transport = withKey(key)
	if a, body := send(t, program, "GET", s.url+"/desk/events/evening", ""); a.StatusCode != 200 {
		t.Errorf("%d %s", a.StatusCode, body)
	}
	s.exec(t, `DELETE FROM member USING organizer WHERE id = organizer_id AND name = 'bob'`)
	if a, _ := send(t, program, "GET", s.url+"/desk/events/evening", ""); a.StatusCode != 401 {
		t.Errorf("afterwards: %d", a.StatusCode)
	}
	if _, page := s.page(t, s.atDesk(t, "ann"), "/desk/keys"); !strings.Contains(page, "no longer works") {
		t.Error("the page of keys does not say so")
	}
}

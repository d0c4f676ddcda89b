package handlers

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/openid"
	"github.com/usherbox/usher/seats/openid/openidtest"
	"github.com/usherbox/usher/seats/organizers"
)

// newOpenIDSite is a box office whose organizers may sign in at a provider.
func newOpenIDSite(t *testing.T) (*site, *openidtest.Provider) {
	t.Helper()
	there := openidtest.New(t)
	provider, err := openid.New(openid.Settings{Issuer: there.URL, Client: openidtest.Client, Secret: openidtest.Secret, Name: "Playhouse ID"})
	if err != nil {
		t.Fatal(err)
	}
	return newSiteFor(t, events.Settings{}, func(c *Config) { c.Desk.OpenID = provider }), there
}

// as is a person with an account at the provider.
func as(name string) openidtest.Person {
	return openidtest.Person{Subject: "subject of " + name, Email: name + "@example.org", Name: strings.ToUpper(name[:1]) + name[1:]}
}

// plain is a page whose status may be anything.
func plain(t *testing.T, who *http.Client, address string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", asPage)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := who.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }() // it is read to its end
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a, string(text)
}

// leaves follows a link of ours to the provider, where the person of p signs in, and returns the address that it leads back to.
func (s *site) leaves(t *testing.T, who *http.Client, p *openidtest.Provider, path string, person openidtest.Person) (back string) {
	t.Helper()
	p.Set(func(p *openidtest.Provider) { p.Who = person })
	a, page := plain(t, who, s.url+path, "Sec-Fetch-Site", "same-origin")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), p.URL+"/authorize?") {
		t.Fatalf("%s: %d to %q %s", path, a.StatusCode, a.Header.Get("Location"), page)
	}
	a, page = plain(t, who, a.Header.Get("Location"))
	back = a.Header.Get("Location")
	if a.StatusCode != http.StatusFound || !strings.HasPrefix(back, s.url+"/desk/session/openid/return?") {
		t.Fatalf("the provider answers %d to %q %s", a.StatusCode, back, page)
	}
	return back
}

// signsInThere signs a browser in at the provider, and returns the answer of ours.
func (s *site) signsInThere(t *testing.T, who *http.Client, p *openidtest.Provider, person openidtest.Person) (*http.Response, string) {
	t.Helper()
	return plain(t, who, s.leaves(t, who, p, "/desk/session/openid?to=/desk/account", person))
}

// isAtDesk reports whether a browser is signed in at the desk.
func (s *site) isAtDesk(t *testing.T, who *http.Client) bool {
	t.Helper()
	a, _ := s.page(t, who, "/desk/account")
	return a.StatusCode == http.StatusOK
}

// tally is the number that a query answers.
func (s *site) tally(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// reported checks that a security event is told so many times at least.
func (s *site) reported(t *testing.T, kind, detail string, want int) {
	t.Helper()
	if _, err := s.organizers.OwnEvents(t.Context(), organizers.Member{}); err != nil { // who looks has them written
		t.Fatal(err)
	}
	if n := s.tally(t, `SELECT coalesce(sum(n), 0) FROM security_event WHERE kind = $1 AND detail LIKE $2`, kind, detail); n < want {
		t.Errorf("%s %s was reported %d times, want %d", kind, detail, n, want)
	}
}

func TestOpenID_AnAddressOpensNoAccountUntilItsOrganizerConfirms(t *testing.T) {
	t.Parallel()
	s, there := newOpenIDSite(t)
	s.owner(t)
	s.memberOf(t, "bob", organizers.Owner, s.sale.Event.Team)
	connections := func() int { return s.tally(t, `SELECT count(*) FROM openid`) }
	if _, page := s.page(t, person(t), "/desk/session"); !strings.Contains(page, "Sign in with Playhouse ID") {
		t.Error("the sign-in page names no provider")
	}

	who := person(t)
	a, _ := s.signsInThere(t, who, there, as("ann"))
	if to := a.Header.Get("Location"); a.StatusCode != http.StatusSeeOther || to != "/desk/session?to=%2Fdesk%2Faccount" || s.isAtDesk(t, who) || connections() != 0 {
		t.Fatalf("an unconfirmed identity: %d to %q, signed in %t", a.StatusCode, to, s.isAtDesk(t, who))
	}
	if _, page := s.page(t, who, "/desk/session"); !strings.Contains(page, "ann@example.org has an account here already") || !strings.Contains(page, `value="ann@example.org"`) {
		t.Error("the sign-in page does not say what to do")
	}
	s.submit(t, who, "/desk/session", url.Values{"email": {"ann@example.org"}, "password": {"not her password"}})
	s.submit(t, who, "/desk/session", url.Values{"email": {"bob@example.org"}, "password": {deskPassword}})
	if connections() != 0 {
		t.Error("a wrong password, or another organizer, connected the identity")
	}

	who = person(t)
	s.signsInThere(t, who, there, as("ann"))
	if a, _ := s.submit(t, who, "/desk/session", url.Values{"email": {"ann@example.org"}, "password": {deskPassword}}); a.StatusCode != http.StatusSeeOther || connections() != 1 {
		t.Fatalf("her password: %d, %d connections", a.StatusCode, connections())
	}
	if about := s.tally(t, `SELECT count(*) FROM mail WHERE email = 'ann@example.org' AND about LIKE 'Your account can now be opened with Playhouse ID.%'`); about != 1 {
		t.Errorf("%d mails tell of it", about)
	}

	moved := as("ann") // from now on the subject decides
	moved.Email, moved.Unverified = "bob@example.org", true
	who = person(t)
	if a, _ := s.signsInThere(t, who, there, moved); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/desk/account" {
		t.Errorf("the same subject: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	if _, page := s.page(t, who, "/desk/account"); !strings.Contains(page, "You sign in as ann@example.org.") {
		t.Error("the address decided who is signed in")
	}
	other := as("ann")
	other.Subject = "somebody who got her old address"
	who = person(t)
	if s.signsInThere(t, who, there, other); s.isAtDesk(t, who) {
		t.Error("another subject with her address is signed in")
	}
	s.reported(t, organizers.SignedIn, "openid%", 1)
}

func TestOpenID_AnInvitationIsAcceptedByItsVerifiedAddress(t *testing.T) {
	t.Parallel()
	s, there := newOpenIDSite(t)
	ann := s.owner(t)
	for _, name := range []string{"cleo", "dan"} {
		s.submit(t, ann, "/desk/team/invitations", url.Values{"key": {name}, "email": {name + "@example.org"}, "role": {"viewer"}})
	}
	if _, page := s.page(t, person(t), s.deskMail(t, "cleo@example.org", organizers.MailInvitation)); !strings.Contains(page, "Join with Playhouse ID") {
		t.Error("the page of the invitation names no provider")
	}
	unverified := as("dan")
	unverified.Unverified = true
	for _, c := range []struct {
		who  openidtest.Person
		says string
	}{{as("eve"), "eve@example.org has no account here and no open invitation"}, {unverified, "has not verified your email address"}} {
		who := person(t)
		if a, page := s.signsInThere(t, who, there, c.who); a.StatusCode != http.StatusForbidden || !strings.Contains(page, c.says) || s.isAtDesk(t, who) {
			t.Errorf("%s: %d %s", c.who.Email, a.StatusCode, page)
		}
	}
	s.reported(t, organizers.SignInFailed, "openid", 2)
	if n := s.tally(t, `SELECT count(*) FROM invitation WHERE accepted_at IS NULL`); n != 2 {
		t.Fatalf("%d invitations are open", n)
	}

	known := as("cleo")
	known.Email = "Cleo@Example.ORG"
	cleo := person(t)
	if a, page := s.signsInThere(t, cleo, there, known); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/desk/account" {
		t.Fatalf("an invited person: %d %s", a.StatusCode, page)
	}
	if n := s.tally(t, `SELECT count(*) FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE o.email = 'cleo@example.org' AND o.name = 'Cleo' AND o.password = '' AND m.role = 'viewer'`); n != 1 {
		t.Error("she is no viewer of the team")
	}
	if n := s.tally(t, `SELECT count(*) FROM mail WHERE email = 'ann@example.org' AND about LIKE 'Cleo joined the team%'`); n != 1 {
		t.Errorf("%d mails tell the owner", n)
	}
	for _, password := range []string{"", "some other words"} {
		if a, _ := s.submit(t, person(t), "/desk/session", url.Values{"email": {"cleo@example.org"}, "password": {password}}); a.StatusCode != http.StatusForbidden {
			t.Errorf("the password %q of an account without one: %d", password, a.StatusCode)
		}
	}
	if _, page := s.page(t, cleo, "/desk/account"); !strings.Contains(page, "It is your only way to sign in.") || !strings.Contains(page, "You have no password here.") {
		t.Error("the account's page does not say how she signs in")
	}
	if a, page := s.submit(t, cleo, "/desk/account/openid/removal", url.Values{"key": {"k"}}); a.StatusCode != http.StatusConflict || !strings.Contains(page, "your only way to sign in") {
		t.Errorf("removing the only way in: %d", a.StatusCode)
	}

	s.exec(t, `DELETE FROM member WHERE organizer_id = (SELECT id FROM organizer WHERE email = 'cleo@example.org')`)
	cleo = person(t)
	s.signsInThere(t, cleo, there, known)
	if a, page := s.page(t, cleo, "/desk"); a.StatusCode != http.StatusForbidden || !strings.Contains(page, "no longer in a team") {
		t.Errorf("after she was removed: %d", a.StatusCode)
	}
}

func TestOpenID_AnAnswerIsGoodOnceForTheBrowserThatWasAsked(t *testing.T) {
	t.Parallel()
	s, there := newOpenIDSite(t)
	ann := s.owner(t)
	if a, _ := plain(t, ann, s.leaves(t, ann, there, "/desk/account/openid", as("ann"))); a.Header.Get("Location") != "/desk/account?done=connected" {
		t.Fatal(a.StatusCode, a.Header.Get("Location"))
	}
	refused := func(what string, who *http.Client, back string) {
		t.Helper()
		a, page := plain(t, who, back)
		if a.StatusCode != http.StatusForbidden || !strings.Contains(page, "The answer of Playhouse ID does not belong to this browser") || s.isAtDesk(t, who) {
			t.Errorf("%s: %d, signed in %t", what, a.StatusCode, s.isAtDesk(t, who))
		}
	}
	who := person(t)
	back := s.leaves(t, who, there, "/desk/session/openid", as("ann"))
	refused("another browser", person(t), back)
	refused("another state", who, strings.Replace(back, "state=", "state=x", 1))
	refused("another issuer", who, strings.Replace(back, "iss=", "iss=x", 1))
	if a, _ := plain(t, who, back); a.StatusCode != http.StatusSeeOther || !s.isAtDesk(t, who) {
		t.Fatalf("the right answer: %d", a.StatusCode)
	}
	s.submit(t, who, "/desk/session/end", nil)
	refused("a replay", who, back)

	late := func(state string) string {
		var asked organizers.OpenIDState
		if err := json.Unmarshal([]byte(state), &asked); err != nil {
			t.Fatal(err)
		}
		asked.At = asked.At.Add(-11 * time.Minute)
		text, _ := json.Marshal(asked)
		return string(text)
	}
	address, state, err := s.organizers.BeginOpenID(t.Context(), s.url+"/desk/session/openid/return", organizers.OpenIDState{For: organizers.ToSignIn}, organizers.Client{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := plain(t, who, address)
	answer, _ := url.Parse(a.Header.Get("Location"))
	for i, c := range []struct {
		state string
		want  error
	}{{late(state), openid.ErrAnswer}, {"", openid.ErrAnswer}, {state, nil}, {state, openid.ErrAnswer}} {
		before := there.Asked()
		_, _, err := s.organizers.AnswerOpenID(t.Context(), c.state, answer.Query(), organizers.Client{})
		if asked := there.Asked() != before; !errors.Is(err, c.want) || asked != (c.want == nil) {
			t.Errorf("answer %d of one question: %v, want %v; the provider is asked: %t", i, err, c.want, asked)
		}
	}

	for what, change := range map[string]func(map[string]any){
		"another nonce":      func(c map[string]any) { c["nonce"] = "another" },
		"no nonce":           func(c map[string]any) { delete(c, "nonce") },
		"another audience":   func(c map[string]any) { c["aud"] = "another program" },
		"more audiences":     func(c map[string]any) { c["aud"] = []string{openidtest.Client, "another program"} },
		"another party":      func(c map[string]any) { c["azp"] = "another program" },
		"another issuer":     func(c map[string]any) { c["iss"] = "https://accounts.example.org" },
		"an expired token":   func(c map[string]any) { c["exp"] = time.Now().Add(-time.Minute).Unix() },
		"no subject":         func(c map[string]any) { c["sub"] = "" },
		"a token from ahead": func(c map[string]any) { c["nbf"] = time.Now().Add(time.Hour).Unix() },
		"a token of another": nil,
	} {
		there.Set(func(p *openidtest.Provider) { p.Change, p.Forges = change, change == nil })
		who := person(t)
		refused(what, who, s.leaves(t, who, there, "/desk/session/openid", as("ann")))
	}
	s.reported(t, organizers.SignInFailed, "openid", 10)
}

func TestOpenID_LeadsOnToTheDeskAlone(t *testing.T) {
	t.Parallel()
	s, there := newOpenIDSite(t)
	ann := s.owner(t)
	plain(t, ann, s.leaves(t, ann, there, "/desk/account/openid", as("ann")))
	for _, to := range []string{"https://evil.example/", "//evil.example", "/desk\\@evil.example", "/account", "/desk/session/openid"} {
		who := person(t)
		a, _ := plain(t, who, s.leaves(t, who, there, "/desk/session/openid?to="+url.QueryEscape(to), as("ann")))
		if at := a.Header.Get("Location"); at != "/desk" {
			t.Errorf("%s leads to %q", to, at)
		}
	}
	for path, page := range map[string]string{"/desk/session/openid": "/desk/session", "/desk/session/proof/openid": "/desk/session/proof", "/desk/account/openid": "/desk/account"} {
		for _, from := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "none"}, {"Referer", "https://evil.example" + page}, nil} {
			if a, _ := plain(t, ann, s.url+path, from...); a.Header.Get("Location") != page {
				t.Errorf("%s from %q leads to %q, not to the page that asks", path, from, a.Header.Get("Location"))
			}
		}
	}
}

func TestOpenID_AProviderThatIsDownIsSaidAndAskedAgain(t *testing.T) {
	t.Parallel()
	s, there := newOpenIDSite(t)
	s.owner(t)
	down := func(is bool) { there.Set(func(p *openidtest.Provider) { p.Down = is }) }
	if there.Asked() != 0 {
		t.Error("the provider is asked before anybody signs in")
	}
	down(true)
	isDown := func(address string) {
		t.Helper()
		if a, page := plain(t, person(t), address, "Referer", s.url+"/desk/session"); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(page, "Playhouse ID cannot sign you in at the moment.") {
			t.Errorf("%d %s", a.StatusCode, page)
		}
	}
	isDown(s.url + "/desk/session/openid")
	down(false)
	who := person(t)
	s.leaves(t, who, there, "/desk/session/openid", as("ann"))
	asked := there.Asked()
	back := s.leaves(t, who, there, "/desk/session/openid", as("ann"))
	if n := there.Asked() - asked; n != 1 {
		t.Errorf("a second sign-in asks the provider %d times before the person is there, want 0", n-1)
	}
	down(true)
	if a, _ := plain(t, who, back); a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("down when the code comes: %d", a.StatusCode)
	}
	down(false)
	there.Set(func(p *openidtest.Provider) { p.Cancels = true })
	who = person(t)
	if a, page := s.signsInThere(t, who, there, as("ann")); a.StatusCode != http.StatusForbidden || !strings.Contains(page, "You did not sign in at Playhouse ID.") {
		t.Errorf("cancelled: %d %s", a.StatusCode, page)
	}
}

func TestOpenID_TheSecondFactorIsStillAskedFor(t *testing.T) {
	t.Parallel()
	s, there := newOpenIDSite(t)
	ann := s.owner(t)
	plain(t, ann, s.leaves(t, ann, there, "/desk/account/openid", as("ann")))
	secret, step, _ := s.enrols(t, ann)
	who := person(t)
	a, _ := s.signsInThere(t, who, there, as("ann"))
	if at := a.Header.Get("Location"); at != "/desk/session/second?to=%2Fdesk%2Faccount" || s.isAtDesk(t, who) {
		t.Fatalf("to %q, signed in %t", at, s.isAtDesk(t, who))
	}
	if a, _ := s.submit(t, who, "/desk/session/second", url.Values{"code": {app(t, secret, step+1)}}); a.StatusCode != http.StatusSeeOther || !s.isAtDesk(t, who) {
		t.Errorf("the code: %d", a.StatusCode)
	}

	s.submit(t, ann, "/desk/team/invitations", url.Values{"key": {"k"}, "email": {"cleo@example.org"}, "role": {"viewer"}})
	s.exec(t, `UPDATE team SET second_factor = true`)
	cleo := person(t)
	s.signsInThere(t, cleo, there, as("cleo"))
	if a, _ := s.page(t, cleo, "/desk"); a.Header.Get("Location") != "/desk/account/second-factor" {
		t.Errorf("a new member of a team that demands one: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	s.enrols(t, cleo)
	if a, _ := s.page(t, cleo, "/desk"); a.StatusCode != http.StatusOK {
		t.Errorf("with an app: %d", a.StatusCode)
	}
}

func TestOpenID_ProvesByAFreshSignInOfTheSameIdentity(t *testing.T) {
	t.Parallel()
	s, there := newOpenIDSite(t)
	ann := s.owner(t)
	s.submit(t, ann, "/desk/team/invitations", url.Values{"key": {"k"}, "email": {"cleo@example.org"}, "role": {"owner"}})
	cleo := person(t)
	s.signsInThere(t, cleo, there, as("cleo"))
	proved := func() bool {
		t.Helper()
		a, _ := s.page(t, cleo, "/desk/account/second-factor")
		return a.StatusCode == http.StatusOK
	}
	if !proved() {
		t.Error("signing in is no proof")
	}
	s.exec(t, `UPDATE desk_session SET proved_at = proved_at - interval '11 minutes'`)
	_, page := s.page(t, cleo, "/desk/session/proof?to=/desk/team")
	if proved() || !strings.Contains(page, "Confirm with Playhouse ID") || strings.Contains(page, "Confirm with your password") {
		t.Error("the page of the proof does not offer the one way that she has")
	}
	const path = "/desk/session/proof/openid?to=/desk/team"
	if a, page := plain(t, cleo, s.leaves(t, cleo, there, path, as("eve"))); a.StatusCode != http.StatusForbidden || !strings.Contains(page, "not connected with yours") || proved() {
		t.Errorf("another identity: %d", a.StatusCode)
	}
	there.Set(func(p *openidtest.Provider) { p.Stale = true })
	if a, page := plain(t, cleo, s.leaves(t, cleo, there, path, as("cleo"))); a.StatusCode != http.StatusForbidden || !strings.Contains(page, "does not say that you signed in just now") || proved() {
		t.Errorf("a provider that did not ask again: %d", a.StatusCode)
	}
	there.Set(func(p *openidtest.Provider) { p.Stale = false })
	if a, _ := plain(t, cleo, s.leaves(t, cleo, there, path, as("cleo"))); a.Header.Get("Location") != "/desk/team" || !proved() {
		t.Errorf("a fresh sign-in: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	s.reported(t, organizers.ProofFailed, "openid", 2)

	// Who signs in as another organizer meanwhile gets no proof for them.
	back := s.leaves(t, cleo, there, path, as("cleo"))
	s.submit(t, cleo, "/desk/session", url.Values{"email": {"ann@example.org"}, "password": {deskPassword}})
	if a, _ := plain(t, cleo, back); a.StatusCode != http.StatusForbidden {
		t.Errorf("an answer for another organizer: %d", a.StatusCode)
	}
}

func TestOpenID_IsConnectedAndRemovedOnTheAccountsPage(t *testing.T) {
	t.Parallel()
	s, there := newOpenIDSite(t)
	ann := s.owner(t)
	bob := s.memberOf(t, "bob", organizers.Viewer, s.sale.Event.Team)
	s.exec(t, `UPDATE desk_session SET proved_at = proved_at - interval '11 minutes'`)
	if a, _ := s.page(t, ann, "/desk/account/openid"); a.Header.Get("Location") != "/desk/session/proof?to=%2Fdesk%2Faccount%2Fopenid" {
		t.Errorf("connecting without proof leads to %q", a.Header.Get("Location"))
	}
	s.exec(t, `UPDATE desk_session SET proved_at = clock_timestamp()`)
	private := as("ann")
	private.Email = "ann@home.example"
	plain(t, ann, s.leaves(t, ann, there, "/desk/account/openid", private))
	if _, page := s.page(t, ann, "/desk/account"); !strings.Contains(page, "You sign in with Playhouse ID as ann@home.example.") {
		t.Error("the account's page does not show the connection")
	}
	if a, page := plain(t, bob, s.leaves(t, bob, there, "/desk/account/openid", private)); a.StatusCode != http.StatusConflict || !strings.Contains(page, "already signs in another organizer") {
		t.Errorf("her identity for Bob: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, ann, "/desk/account/openid/removal", url.Values{"key": {"k"}}); a.Header.Get("Location") != "/desk/account?done=disconnected" {
		t.Errorf("removing it: %d to %q", a.StatusCode, a.Header.Get("Location"))
	}
	who := person(t)
	if a, _ := s.signsInThere(t, who, there, private); a.StatusCode != http.StatusForbidden || s.isAtDesk(t, who) {
		t.Errorf("a removed connection: %d", a.StatusCode)
	}
	if a, body := send(t, ann, "POST", s.url+"/desk/account/openid/removal", `{}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("removing none: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "GET", s.url+"/desk/account/openid", ""); a.StatusCode != http.StatusOK || !strings.Contains(body, there.URL) {
		t.Errorf("a program that begins: %d %s", a.StatusCode, body)
	}
	if n := s.tally(t, `SELECT count(*) FROM deed WHERE what IN ('connected a sign-in provider', 'disconnected a sign-in provider')`); n != 2 {
		t.Errorf("the log has %d entries", n)
	}
}

package handlers

import (
	"crypto/hmac"
	"crypto/sha1" // as apps do
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
)

// app is an authenticator app, written once more: RFC 6238 as apps have it. A step is half a minute since 1970.
func app(t *testing.T, secret string, step int64) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ReplaceAll(secret, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, step)
	sum := mac.Sum(nil)
	at := sum[19] & 15
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[at:])&0x7fffffff)%1000000)
}

var shownSecret = regexp.MustCompile(`data-secret>([A-Z2-7 ]+)<`)

// enrols turns on codes for a person at the desk, and returns the secret of their app, the step whose code it used up, and
// their recovery codes. The code of the next step is right at once, and for a minute.
func (s *site) enrols(t *testing.T, who *http.Client) (secret string, step int64, recovery []string) {
	t.Helper()
	a, page := s.page(t, who, "/desk/account/second-factor")
	found := shownSecret.FindStringSubmatch(page)
	if a.StatusCode != 200 || found == nil {
		t.Fatal(a.StatusCode, page)
	}
	step = time.Now().Unix() / 30
	a, body := send(t, who, "POST", s.url+"/desk/account/codes", `{"code":"`+app(t, found[1], step)+`"}`)
	var said struct {
		Codes []string `json:"recovery_codes"`
	}
	if a.StatusCode != 201 || json.Unmarshal([]byte(body), &said) != nil || len(said.Codes) != 10 {
		t.Fatal(a.StatusCode, body)
	}
	return found[1], step, said.Codes
}

// from is a person in another network.
func (s *site) from(t *testing.T, address string) *http.Client {
	t.Helper()
	who := person(t)
	who.Transport = behind(address)
	return who
}

type behind string

func (b behind) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func newProxiedSite(t *testing.T) *site {
	t.Helper()
	return newSiteFor(t, events.Settings{}, func(c *Config) { c.AddressHeader, c.Proxies = "X-Forwarded-For", web.Proxies })
}

func TestSignIn_StrangerCannotLockAnOrganizerOut(t *testing.T) {
	t.Parallel()
	s := newProxiedSite(t)
	known := s.owner(t)
	if a, _ := s.submit(t, known, "/desk/session/end", nil); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode)
	}
	wrong := `{"email":"ann@example.org","password":"wrong wrong wrong"}`
	answers := make(chan int, 11)
	for range 11 {
		go func() {
			r, _ := http.NewRequestWithContext(t.Context(), "POST", s.url+"/desk/session", strings.NewReader(wrong))
			r.Header.Set("Content-Type", "application/json")
			a, err := s.from(t, "203.0.113.7").Do(r)
			if err != nil {
				answers <- 0
				return
			}
			defer a.Body.Close()
			if a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") == "" {
				t.Error("a try that was refused does not say for how long")
			}
			answers <- a.StatusCode
		}()
	}
	counts := map[int]int{}
	for range 11 {
		counts[<-answers]++
	}
	if counts[403] < 3 || counts[403]+counts[429]+counts[503] != 11 {
		t.Errorf("the stranger is answered %v", counts)
	}
	right := `{"email":"ann@example.org","password":"` + deskPassword + `"}`
	began := time.Now()
	if a, body := send(t, known, "POST", s.url+"/desk/session", right); a.StatusCode != http.StatusNoContent {
		t.Errorf("the device that signed in before: %d %s", a.StatusCode, body)
	}
	if took := time.Since(began); took > 6*time.Second { // who is slowed down waits 8 s by now
		t.Errorf("the device that signed in before waits %s", took)
	}
	if a, body := send(t, s.from(t, "198.51.100.7"), "POST", s.url+"/desk/session", right); a.StatusCode != http.StatusNoContent {
		t.Errorf("a new device of another network: %d %s", a.StatusCode, body)
	}
	s.exec(t, `UPDATE attempt SET tries = 900 WHERE who = sha256('network 203.0.113.0/24')`)
	if a, _ := send(t, s.from(t, "203.0.113.9"), "POST", s.url+"/desk/session", `{"email":"bob@example.org","password":"wrong wrong wrong"}`); a.StatusCode != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("a network that tried too often: %d", a.StatusCode)
	}
}

// A botnet has another address for each try, so no network is slowed or refused: the address that it tries is.
func TestSignIn_BotnetIsSlowedAndTheOrganizerStillSignsIn(t *testing.T) {
	t.Parallel()
	s := newProxiedSite(t)
	known := s.owner(t)
	if a, _ := s.submit(t, known, "/desk/session/end", nil); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode)
	}
	const wrong = `{"email":"ann@example.org","password":"wrong wrong wrong"}`
	for n := range 20 {
		if a, _ := send(t, s.from(t, fmt.Sprintf("203.0.%d.7", n)), "POST", s.url+"/desk/session", wrong); a.StatusCode != http.StatusForbidden {
			t.Fatalf("try %d: %d", n, a.StatusCode)
		}
	}
	s.exec(t, `UPDATE attempt SET tries = 5000 WHERE who = sha256('email ann@example.org')`)
	began := time.Now()
	if a, _ := send(t, s.from(t, "203.0.99.7"), "POST", s.url+"/desk/session", wrong); a.StatusCode != http.StatusForbidden {
		t.Errorf("a try of another address: %d", a.StatusCode)
	}
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("try 5001 takes %s", took)
	}
	right := `{"email":"ann@example.org","password":"` + deskPassword + `"}`
	tries := func() (n int) {
		if err := s.db.QueryRow(t.Context(), `SELECT tries FROM attempt WHERE who = sha256('email ann@example.org')`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := tries()
	if a, _ := send(t, known, "POST", s.url+"/desk/session", wrong); a.StatusCode != http.StatusForbidden || tries() != before {
		t.Errorf("a try of the organizer's own device counts with those of others, and is slowed like them: %d, %d tries", a.StatusCode, tries())
	}
	if a, body := send(t, known, "POST", s.url+"/desk/session", right); a.StatusCode != http.StatusNoContent {
		t.Errorf("the organizer's own device: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, s.from(t, "198.51.100.7"), "POST", s.url+"/desk/session", right); a.StatusCode != http.StatusNoContent {
		t.Errorf("a new device of theirs: %d %s", a.StatusCode, body)
	}
}

func TestPassword_TeamsNameIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.exec(t, `UPDATE team SET name = 'Seagull Players' WHERE id = (SELECT min(id) FROM team)`)
	change := func(password string) (*http.Response, string) {
		return send(t, ann, "POST", s.url+"/desk/account/password", fmt.Sprintf(`{"before":%q,"password":%q}`, deskPassword, password))
	}
	for _, password := range []string{"seagullplayers2026", "usher-boxoffice-1", "Ticket Festival 2026"} {
		if a, body := change(password); a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d %s", password, a.StatusCode, body)
		}
	}
	if a, body := change("five quiet green lamps"); a.StatusCode != http.StatusNoContent {
		t.Errorf("a password: %d %s", a.StatusCode, body)
	}
}

func TestSignIn_PrivateNetworksAreLimitedToo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.owner(t)
	s.exec(t, `INSERT INTO attempt (who, tries) VALUES (sha256('network 127.0.0.0/24'), 600)`)
	if a, _ := send(t, person(t), "POST", s.url+"/desk/session", `{"email":"bob@example.org","password":"wrong wrong wrong"}`); a.StatusCode != 429 {
		t.Errorf("the 601st failure from this machine: %d", a.StatusCode)
	}
}

func TestSecondFactor_CodeIsAskedAfterThePasswordAndTheResetLink(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	secret, step, recovery := s.enrols(t, ann)
	who := person(t)
	a, body := send(t, who, "POST", s.url+"/desk/session", `{"email":"ann@example.org","password":"`+deskPassword+`"}`)
	if a.StatusCode != http.StatusAccepted || !strings.Contains(body, "/desk/session/second") {
		t.Fatalf("the password alone: %d %s", a.StatusCode, body)
	}
	if a, _ := send(t, who, "GET", s.url+"/desk", ""); a.StatusCode != 401 {
		t.Errorf("the desk after the password alone: %d", a.StatusCode)
	}
	for code, want := range map[string]int{"000000": 403, app(t, secret, step): 403} { // wrong, and used when it was turned on
		if a, body := send(t, who, "POST", s.url+"/desk/session/second", `{"code":"`+code+`"}`); a.StatusCode != want {
			t.Errorf("%s: %d %s", code, a.StatusCode, body)
		}
	}
	if a, page := s.submit(t, who, "/desk/session/second", url.Values{"code": {"123"}}); a.StatusCode != 403 || !strings.Contains(page, "This code does not work") {
		t.Errorf("a short code on the page: %d", a.StatusCode)
	}
	if a, body := send(t, who, "POST", s.url+"/desk/session/second", `{"code":"`+app(t, secret, step+1)+`"}`); a.StatusCode != http.StatusNoContent {
		t.Fatalf("the right code: %d %s", a.StatusCode, body)
	}
	if a, _ := send(t, who, "GET", s.url+"/desk/team", ""); a.StatusCode != 200 {
		t.Errorf("the desk after both: %d", a.StatusCode)
	}

	token, _, err := s.organizers.PasswordLink(t.Context(), "ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	reset := person(t)
	if a, body := s.submit(t, reset, "/desk/password/"+token, url.Values{"password": {"four other plain words"}}); a.StatusCode != 303 || !strings.HasPrefix(a.Header.Get("Location"), "/desk/session/second") {
		t.Fatalf("the reset link: %d to %s %s", a.StatusCode, a.Header.Get("Location"), body)
	}
	if a, _ := send(t, reset, "GET", s.url+"/desk", ""); a.StatusCode != 401 {
		t.Errorf("the desk after the reset link alone: %d", a.StatusCode)
	}
	if a, body := send(t, reset, "POST", s.url+"/desk/session/second", `{"code":"`+strings.ToLower(recovery[3])+`"}`); a.StatusCode != http.StatusNoContent {
		t.Errorf("a recovery code: %d %s", a.StatusCode, body)
	}
	again := person(t)
	send(t, again, "POST", s.url+"/desk/session", `{"email":"ann@example.org","password":"four other plain words"}`)
	if a, _ := send(t, again, "POST", s.url+"/desk/session/second", `{"code":"`+recovery[3]+`"}`); a.StatusCode != 403 {
		t.Errorf("a recovery code once more: %d", a.StatusCode)
	}
	if a, body := send(t, reset, "POST", s.url+"/desk/account/recovery", `{}`); a.StatusCode != 201 || strings.Contains(body, recovery[4]) {
		t.Errorf("new recovery codes: %d", a.StatusCode)
	}
	if a, _ := send(t, reset, "POST", s.url+"/desk/account/codes/removal", `{}`); a.StatusCode != http.StatusNoContent {
		t.Errorf("turning codes off: %d", a.StatusCode)
	}
	if a, _ := send(t, person(t), "POST", s.url+"/desk/session", `{"email":"ann@example.org","password":"four other plain words"}`); a.StatusCode != http.StatusNoContent {
		t.Errorf("afterwards the password alone: %d", a.StatusCode)
	}
}

func TestSecondFactor_TeamThatDemandsItLeadsMembersToEnrolment(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	bob := s.memberOf(t, "bob", organizers.Till, s.sale.Event.Team)
	if a, body := send(t, ann, "POST", s.url+"/desk/team/second-factor", `{"key":"k","on":true}`); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, body)
	}
	for _, who := range []*http.Client{ann, bob} {
		if a, _ := s.page(t, who, "/desk"); a.StatusCode != 303 || a.Header.Get("Location") != "/desk/account/second-factor" {
			t.Errorf("without a second factor: %d to %s", a.StatusCode, a.Header.Get("Location"))
		}
		if a, body := send(t, who, "GET", s.url+"/desk", ""); a.StatusCode != 403 || !strings.Contains(body, `"second_factor"`) {
			t.Errorf("as a program: %d %s", a.StatusCode, body)
		}
	}
	s.enrols(t, bob)
	if a, _ := s.page(t, bob, "/desk"); a.StatusCode != 200 {
		t.Errorf("with one: %d", a.StatusCode)
	}
	var mails int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM mail WHERE kind = 'security' AND (email = 'ann@example.org' AND about LIKE '%demands a second factor%' OR email = 'bob@example.org' AND about LIKE '%code of an app%')`).Scan(&mails); err != nil || mails != 2 {
		t.Errorf("%d mails tell of it, %v", mails, err)
	}
}

func TestProof_IsNeededToChangeAccountsKeysAndTeams(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.memberOf(t, "bob", organizers.Till, s.sale.Event.Team)
	s.exec(t, `UPDATE desk_session SET proved_at = proved_at - interval '11 minutes'`)
	for path, body := range map[string]string{
		"/desk/account/passkeys/options": `{}`, "/desk/account/passkeys/eA/removal": `{}`, "/desk/account/codes": `{"code":"1"}`, "/desk/account/codes/removal": `{}`, "/desk/account/recovery": `{}`,
		"/desk/keys": `{"key":"k","name":"Till","scopes":["look"]}`, "/desk/hooks": `{"key":"k","url":"https://example.org/","kinds":["order.confirmed"]}`,
		"/desk/team/invitations": `{"key":"k","email":"eve@example.org","role":"door"}`, "/desk/team/members/2": `{"key":"k","role":"owner"}`, "/desk/team/members/2/removal": `{"key":"k"}`,
		"/desk/team/second-factor": `{"key":"k","on":true}`, "/desk/session/everywhere": `{}`,
	} {
		if a, body := send(t, ann, "POST", s.url+path, body); a.StatusCode != 403 || !strings.Contains(body, `"proof"`) {
			t.Errorf("%s without proof: %d %s", path, a.StatusCode, body)
		}
	}
	if a, _ := s.submit(t, ann, "/desk/team/members/2/removal", url.Values{"key": {"k"}}); a.StatusCode != 403 {
		t.Errorf("a form without proof: %d", a.StatusCode)
	}
	if a, page := s.submit(t, ann, "/desk/session/proof", url.Values{"password": {"not the password"}}); a.StatusCode != 403 || !strings.Contains(page, "This is not your current password.") {
		t.Errorf("a wrong password: %d", a.StatusCode)
	}
	if a, body := send(t, ann, "POST", s.url+"/desk/session/proof", `{"password":"`+deskPassword+`"}`); a.StatusCode != http.StatusNoContent {
		t.Errorf("the right password: %d %s", a.StatusCode, body)
	}
	if a, _ := s.submit(t, ann, "/desk/team/members/2/removal", url.Values{"key": {"k"}}); a.StatusCode != 303 || a.Header.Get("Location") != "/desk/team?done=removed" {
		t.Errorf("with proof: %d to %s", a.StatusCode, a.Header.Get("Location"))
	}
	var told int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM mail WHERE kind = 'security' AND (about LIKE 'Ann removed bob%' AND email = 'ann@example.org' OR about LIKE 'You are no longer%' AND email = 'bob@example.org')`).Scan(&told); err != nil || told != 2 {
		t.Errorf("%d mails tell of it, %v", told, err)
	}
}

// A form that needs proof is not lost: the page that asks for it has the form in it, and sends it again with the proof.
func TestProof_FormGoesOnWithIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	ago := func() {
		s.exec(t, `UPDATE desk_session SET proved_at = proved_at - interval '11 minutes'`)
	}
	ago()
	form := url.Values{"key": {"k"}, "url": {"https://example.org/a?b=1&c=\"2\""}, "kind": {"order.confirmed", "order.cancelled"}}
	kept := []string{`action="/desk/hooks"`, `name="key" value="k"`, `value="https://example.org/a?b=1&amp;c=&#34;2&#34;"`, `name="kind" value="order.confirmed"`, `name="kind" value="order.cancelled"`}
	asks := func(what string, status int, says string, proof ...string) {
		t.Helper()
		sent := maps.Clone(form)
		if len(proof) > 0 {
			sent.Set(proof[0], proof[1])
		}
		a, page := s.submit(t, ann, "/desk/hooks", sent)
		if a.StatusCode != status || !strings.Contains(page, says) {
			t.Errorf("%s: %d, without %q", what, a.StatusCode, says)
		}
		for _, part := range kept {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the page lost %s", what, part)
			}
		}
		if strings.Contains(page, "not the password") {
			t.Errorf("%s: the page repeats the password", what)
		}
	}
	asks("without proof", 403, "Your change was not saved yet. It is saved once you confirm it’s you.")
	asks("with a wrong password", 403, "This is not your current password.", "proof_password", "not the password")
	asks("with a code, without an app", 403, "Your change was not saved yet.", "proof_code", "123456")
	var hooks int
	count := func() int {
		if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM hook`).Scan(&hooks); err != nil {
			t.Fatal(err)
		}
		return hooks
	}
	if n := count(); n != 0 {
		t.Fatalf("%d webhooks were made without proof", n)
	}
	form.Set("proof_password", deskPassword)
	if a, page := s.submit(t, ann, "/desk/hooks", form); a.StatusCode >= 400 || count() != 1 {
		t.Errorf("with the password: %d, %d webhooks\n%.300s", a.StatusCode, hooks, page)
	}
	for range 2 { // a second press, and the form of before, within ten minutes: it is the same form
		if a, _ := s.submit(t, ann, "/desk/hooks", form); a.StatusCode >= 400 || count() != 1 {
			t.Errorf("the form again, with %d fields: %d, %d webhooks", len(form), a.StatusCode, hooks)
		}
		form.Del("proof_password")
	}
	ago()
	for path, sent := range map[string]url.Values{"/desk/privacy/exports": {"email": {"eve@example.org"}}, "/desk/session/everywhere": {"key": {"e"}}} { // a file, and what cannot be undone
		if a, _ := s.submit(t, ann, path, sent); a.StatusCode != 303 || !strings.HasPrefix(a.Header.Get("Location"), "/desk/session/proof?again=yes&to=") {
			t.Errorf("%s: %d to %s", path, a.StatusCode, a.Header.Get("Location"))
		}
	}
	form.Set("key", "other")
	if a, _ := s.submit(t, ann, "/desk/hooks", form); a.StatusCode != 403 || count() != 1 {
		t.Errorf("another form after eleven minutes: %d, %d webhooks", a.StatusCode, hooks)
	}
}

// Of a member with a second factor that this session did not show, a password is no proof, and a code is.
func TestProof_PasswordIsNotEnoughOfAMemberWithCodes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	secret, step, _ := s.enrols(t, ann)
	s.exec(t, `UPDATE desk_session SET proved_at = proved_at - interval '11 minutes', second = false`)
	makes := func(proof, value string) (status, hooks int) {
		t.Helper()
		a, _ := s.submit(t, ann, "/desk/hooks", url.Values{"key": {"k"}, "url": {"https://example.org/"}, "kind": {"order.confirmed"}, proof: {value}})
		if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM hook`).Scan(&hooks); err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, hooks
	}
	if status, hooks := makes("proof_password", deskPassword); status != 403 || hooks != 0 {
		t.Errorf("a password: %d, %d webhooks", status, hooks)
	}
	if status, hooks := makes("proof_code", app(t, secret, step+1)); status >= 400 || hooks != 1 {
		t.Errorf("a code: %d, %d webhooks", status, hooks)
	}
}

func TestProof_TooManyTriesAreReported(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	for n, sent := range []struct{ path, body string }{
		{"/desk/session/proof", `{"code":"000000"}`}, {"/desk/session/proof", `{"password":"not the password"}`}, {"/desk/account/codes", `{"code":"000000"}`},
	} {
		s.exec(t, `DELETE FROM attempt`)
		for try := range 21 {
			a, body := send(t, ann, "POST", s.url+sent.path, sent.body)
			if refused := a.StatusCode == http.StatusTooManyRequests; a.StatusCode < 400 || refused != (try == 20) {
				t.Fatalf("%s %s, try %d: %d %s", sent.path, sent.body, try+1, a.StatusCode, body)
			}
		}
		s.reported(t, organizers.SignInSlowed, "proof", n+1)
	}
}

func TestOwners_AreToldWhereMoneyAndOrdersGo(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	own := func(path string) string { return w.things()[path].own }
	order, hook := "/desk/events/evening/orders/"+own("/desk/events/{slug}/orders/{code}"), "/desk/hooks/"+own("/desk/hooks/{id}")
	manager, owner := w.people[string(organizers.Manager)], w.people[string(organizers.Owner)]
	for _, c := range []struct {
		who             *http.Client
		to, body, words string
	}{
		{manager, order + "/refunds", `{"key":"a","amount":"1.00","reason":"late"}`, ""},
		{manager, order + "/payouts", `{"key":"b"}`, "noted that the money of order"},
		{manager, "/desk/gift-cards/" + own("/desk/gift-cards/{id}") + "/refunds", `{"key":"c"}`, "paid a gift card back"},
		{owner, "/desk/bank", `{"key":"d","holder":"Haus am See","iban":"DE75 5121 0800 1245 1261 99"}`, "orders are paid to (it ends with 6199)"},
		{owner, "/desk/bank", `{"key":"e"}`, "removed the bank account"},
		{owner, "/desk/hooks", `{"key":"f","url":"https://hook.example.org/new","kinds":["order.confirmed"]}`, "made a webhook that sends orders to https://hook.example.org/new"},
		{owner, hook, `{"key":"g","url":"https://hook.example.org/other","kinds":["order.confirmed"]}`, "it sends orders to https://hook.example.org/other"},
		{owner, hook + "/secrets", `{"key":"h"}`, "changed the secret of a webhook"},
		{owner, hook + "/switch", `{"key":"i","on":false}`, "switched off a webhook of the team"},
		{owner, hook + "/switch", `{"key":"j","on":true}`, "switched on a webhook of the team"},
		{owner, hook + "/removal", `{"key":"k"}`, "removed a webhook of the team"},
		{owner, "/desk/keys/" + own("/desk/keys/{id}") + "/revocation", `{"key":"l"}`, "revoked the key “Extra” for programs"},
		{owner, "/desk/team/invitations/" + own("/desk/team/invitations/{id}") + "/withdrawal", `{"key":"m"}`, "withdrew the invitation for extra@example.org"},
		{owner, "/desk/site", `{"key":"n","sites":["https://www.example.org"]}`, "changed the list of websites"},
		{owner, "/desk/site/keys", `{"key":"o"}`, "created a site key"},
		{owner, "/desk/site/keys/" + own("/desk/site/keys/{id}") + "/end", `{"key":"p"}`, "ended a site key"},
		{owner, "/desk/site/domain", `{"key":"q","domain":"tickets.theatre.org"}`, "entered the domain tickets.theatre.org"},
		{owner, "/desk/site/domain/removal", `{"key":"r"}`, "removed the domain tickets.theatre.org"},
		{owner, "/desk/invoices", `{"key":"s","name":"Haus","street":"Ring 1","city":"Wien","country":"AT","vat_id":"ATU13585627"}`, "changed the seller on invoices"},
		{owner, "/desk/team", `{"key":"t","name":"Summer stage"}`, "Its name is now “Summer stage”."},
	} {
		if a, body := send(t, c.who, "POST", w.url+c.to, c.body); a.StatusCode >= 300 {
			t.Errorf("%s: %d %s", c.to, a.StatusCode, body)
		}
		var told int
		if err := w.db.QueryRow(t.Context(), `SELECT count(*) FROM mail WHERE kind = 'security' AND email = 'ann@example.org' AND strpos(about, $1) > 0 AND $1 <> ''`, c.words).Scan(&told); err != nil || told != min(1, len(c.words)) {
			t.Errorf("%d mails tell of %s, %v", told, c.to, err)
		}
	}
}

// A session that was stolen does not take a team from its owner unseen.
func TestOwners_AnOwnerWhoIsNoLongerOneIsTold(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	ann := w.people[string(organizers.Owner)]
	for n, c := range []struct {
		name, role, words string
		mails             int // with these words, since the first change
	}{
		{"Extra", "owner", "the role owner in the team", 1}, {"Extra", "viewer", "is now viewer.", 1}, {"Extra", "owner", "the role owner in the team", 2}, {"Ann", "viewer", "is now viewer.", 1},
	} {
		id := w.id("SELECT id FROM organizer WHERE name = '" + c.name + "'")
		if a, body := send(t, ann, "POST", w.url+"/desk/team/members/"+id, fmt.Sprintf(`{"key":"%d","role":%q}`, n, c.role)); a.StatusCode >= 300 {
			t.Fatal(c, a.StatusCode, body)
		}
		var told int
		if err := w.db.QueryRow(t.Context(), `SELECT count(*) FROM mail WHERE kind = 'security' AND email = (SELECT email FROM organizer WHERE id = $1::bigint) AND strpos(about, $2) > 0`, id, c.words).Scan(&told); err != nil || told != c.mails {
			t.Errorf("%d mails tell %s that their role is %s, %v", told, c.name, c.role, err)
		}
	}
}

func TestSessions_AreListedAndSignedOutOneByOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	here := s.owner(t)
	there := s.atDesk(t, "ann")
	_, page := s.page(t, here, "/desk/account")
	end := regexp.MustCompile(`/desk/account/sessions/\d+/end`).FindAllString(page, -1)
	if len(end) != 1 || !strings.Contains(page, "(this device)") || !strings.Contains(page, "127.0.0.0/24") || !strings.Contains(page, "Signed in</b>") {
		t.Fatalf("the page offers %v", end)
	}
	if a, _ := send(t, here, "POST", s.url+"/desk/account/sessions/99999/end", `{}`); a.StatusCode != 404 {
		t.Errorf("an unknown session: %d", a.StatusCode)
	}
	if a, body := send(t, here, "POST", s.url+end[0], `{}`); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, body)
	}
	if a, _ := send(t, there, "GET", s.url+"/desk", ""); a.StatusCode != 401 {
		t.Errorf("there: %d", a.StatusCode)
	}
	if a, _ := send(t, here, "GET", s.url+"/desk", ""); a.StatusCode != 200 {
		t.Errorf("here: %d", a.StatusCode)
	}
	seen := func() (at time.Time) {
		if err := s.db.QueryRow(t.Context(), `SELECT max(seen_at) FROM desk_session`).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	before := seen()
	send(t, here, "GET", s.url+"/desk", "")
	if !seen().Equal(before) {
		t.Error("a request within five minutes writes")
	}
	s.exec(t, `UPDATE desk_session SET seen_at = seen_at - interval '11 hours'`)
	if a, _ := send(t, here, "GET", s.url+"/desk", ""); a.StatusCode != 200 || seen().Before(before) {
		t.Errorf("after 11 hours: %d", a.StatusCode)
	}
	s.exec(t, `UPDATE desk_session SET seen_at = seen_at - interval '13 hours'`)
	if a, _ := send(t, here, "GET", s.url+"/desk", ""); a.StatusCode != 401 {
		t.Errorf("after 13 hours without a request: %d", a.StatusCode)
	}
	old := s.atDesk(t, "ann")
	s.exec(t, `UPDATE desk_session SET started_at = started_at - interval '8 days'`)
	if a, _ := send(t, old, "GET", s.url+"/desk", ""); a.StatusCode != 401 {
		t.Errorf("after 8 days: %d", a.StatusCode)
	}
}

func TestSecurityLog_GroupsFailures(t *testing.T) {
	t.Parallel()
	s := newProxiedSite(t)
	ann := s.owner(t)
	bob := s.memberOf(t, "bob", organizers.Viewer, s.sale.Event.Team)
	for range 3 { // within a second, while they are gathered
		send(t, s.from(t, "203.0.113.7"), "POST", s.url+"/desk/session", `{"email":"ann@example.org","password":"wrong wrong wrong"}`)
	}
	send(t, bob, "GET", s.url+"/desk/log", "")
	send(t, bob, "GET", s.url+"/desk/events/nothing", "")
	s.exec(t, `INSERT INTO attempt (who, tries) VALUES (sha256('network 198.51.100.0/24'), 60)`)
	send(t, s.from(t, "198.51.100.7"), "POST", s.url+"/desk/session", `{"email":"ann@example.org","password":"wrong wrong wrong"}`)
	s.exec(t, `INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start) SELECT team_id, organizer_id, 'Till', '{look}', sha256('till'), 'x' FROM member WHERE role = 'owner'`)
	for _, key := range []withKey{"till", "another"} {
		program := person(t)
		program.Transport = key
		send(t, program, "GET", s.url+"/desk", "")
	}
	send(t, person(t), "POST", s.url+"/events/evening/claims", `{"best":1}`, "Origin", "https://evil.example")
	want := map[string]int{
		organizers.SignedIn: 2, organizers.SignInFailed: 3, organizers.SignInSlowed: 1, organizers.RefusedByRole: 1, organizers.RefusedByTeam: 1,
		organizers.KeyRefused: 1, organizers.KeyNewNetwork: 1, organizers.Foreign: 1,
	}
	deadline := time.After(90 * time.Second)
	for {
		a, body := send(t, ann, "GET", s.url+"/desk/log?about=security", "")
		var said struct {
			Events []struct {
				Kind, Email, Network string
				Times                int
			}
		}
		if a.StatusCode != 200 || json.Unmarshal([]byte(body), &said) != nil {
			t.Fatal(a.StatusCode, body)
		}
		got := map[string]int{}
		for _, e := range said.Events {
			got[e.Kind] += e.Times
		}
		if fmt.Sprint(got) == fmt.Sprint(want) {
			if strings.Contains(body, "wrong wrong") {
				t.Error("the log has a password in it")
			}
			break
		}
		select {
		case <-deadline:
			t.Fatalf("the log has %v, want %v: %s", got, want, body)
		case <-time.After(50 * time.Millisecond): // they are written within seconds, repeats at the end of the minute
		}
	}
	var rows int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM security_event WHERE kind = 'sign_in_failed'`).Scan(&rows); err != nil || rows > 2 { // two minutes at most
		t.Errorf("three failures are %d rows, %v", rows, err)
	}
	if a, page := s.page(t, ann, "/desk/log?about=security"); a.StatusCode != 200 || !strings.Contains(page, "203.0.113.0/24") {
		t.Errorf("the page: %d", a.StatusCode)
	}
	manager := s.memberOf(t, "eve", organizers.Manager, s.sale.Event.Team)
	if a, _ := send(t, manager, "GET", s.url+"/desk/log?about=security", ""); a.StatusCode != 403 {
		t.Errorf("a manager at the security log: %d", a.StatusCode)
	}
}

func TestAPIKey_ExpiresAndItsOwnersAreToldBefore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if a, body := send(t, ann, "POST", s.url+"/desk/keys", `{"key":"a","name":"Till","scopes":["look"],"days":366}`); a.StatusCode != 422 {
		t.Errorf("a key for longer than a year: %d %s", a.StatusCode, body)
	}
	a, body := send(t, ann, "POST", s.url+"/desk/keys", `{"key":"b","name":"Till","scopes":["look"],"days":30}`)
	key := regexp.MustCompile(`usher_[0-9a-z]{26}`).FindString(body)
	if a.StatusCode != 201 || key == "" {
		t.Fatal(a.StatusCode, body)
	}
	program := person(t)
	program.Transport = withKey(key)
	if a, _ := send(t, program, "GET", s.url+"/desk", ""); a.StatusCode != 200 {
		t.Errorf("the key: %d", a.StatusCode)
	}
	s.exec(t, `UPDATE api_key SET expires_at = clock_timestamp() + interval '6 days'`)
	for range 2 {
		if err := s.organizers.WarnOfKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var warned int
	if err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM mail WHERE about LIKE 'The key “Till”%expires on%' AND email = 'ann@example.org'`).Scan(&warned); err != nil || warned != 1 {
		t.Errorf("%d mails warn, %v", warned, err)
	}
	if s.deskMail(t, "ann@example.org", organizers.MailSecurity) != "/desk/account" {
		t.Error("the mail does not lead to the account")
	}
	s.exec(t, `UPDATE api_key SET created_at = clock_timestamp() - interval '2 days', expires_at = clock_timestamp() - interval '1 second'`)
	if a, _ := send(t, program, "GET", s.url+"/desk", ""); a.StatusCode != 401 {
		t.Errorf("the key that expired: %d", a.StatusCode)
	}
	if _, page := s.page(t, ann, "/desk/keys"); !strings.Contains(page, "expired <time") {
		t.Error("the page does not say that it expired")
	}
}

// The token of before, which others may have seen, is worth nothing after a proof.
func TestProof_GivesTheSessionAnotherToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	site, _ := url.Parse(s.url)
	for how, prove := range map[string]func() int{
		"proof": func() int {
			a, _ := send(t, ann, "POST", s.url+"/desk/session/proof", `{"password":"`+deskPassword+`"}`)
			return a.StatusCode
		},
		"form with its proof": func() int {
			s.exec(t, `UPDATE desk_session SET proved_at = proved_at - interval '11 minutes'`)
			a, _ := s.submit(t, ann, "/desk/hooks", url.Values{"key": {"k"}, "url": {"https://example.org/"}, "kind": {"order.confirmed"}, "proof_password": {deskPassword}})
			return a.StatusCode
		},
	} {
		all := ann.Jar.Cookies(site)
		before := all[slices.IndexFunc(all, func(c *http.Cookie) bool { return c.Name == "usher" })].Value
		if status := prove(); status >= 400 {
			t.Fatalf("%s: %d", how, status)
		}
		thief := person(t)
		thief.Jar.SetCookies(site, []*http.Cookie{{Name: "usher", Value: before}})
		if a, _ := s.page(t, thief, "/desk"); a.StatusCode != http.StatusSeeOther {
			t.Errorf("after a %s the token of before opens the desk: %d", how, a.StatusCode)
		}
		if a, _ := s.page(t, ann, "/desk"); a.StatusCode != http.StatusOK {
			t.Errorf("after a %s its member is signed out: %d", how, a.StatusCode)
		}
	}
}

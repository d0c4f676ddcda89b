package handlers

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/credit"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/passkeys"
)

const passkeyOrigin = "http://localhost:8080"

// withPasskeys is a site at an address for which browsers keep passkeys.
func withPasskeys(t *testing.T) *site {
	t.Helper()
	return newSiteFor(t, events.Settings{}, func(c *Config) { c.PublicURL = passkeyOrigin })
}

// addsKey adds the passkey of a device to the account that a person is signed in to.
func (s *site) addsKey(t *testing.T, who *http.Client, device *authenticator, name string) (status int, body string) {
	t.Helper()
	o := s.passkeyOptions(t, who, "/account/passkeys/options")
	device.handle = o.PublicKey.User.ID
	answer := fmt.Sprintf(`{"id":%[1]q,"rawId":%[1]q,"type":"public-key","response":{"clientDataJSON":%q,"attestationObject":%q}}`,
		b64(device.id), b64(device.client("create", o.PublicKey.Challenge)), b64(device.attestation(t)))
	a, body := send(t, who, "POST", s.url+"/account/passkeys", fmt.Sprintf(`{"name":%q,"answer":%s}`, name, answer))
	return a.StatusCode, body
}

// signed is what a device answers to a challenge; flags are turned over in what it says of its user.
func (a *authenticator) signed(t *testing.T, challenge string, flags byte) string {
	t.Helper()
	client, data := a.client("get", challenge), a.data(0)
	data[32] ^= flags
	of := sha256.Sum256(client)
	digest := sha256.Sum256(append(data, of[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"id":%[1]q,"rawId":%[1]q,"type":"public-key","response":{"clientDataJSON":%q,"authenticatorData":%q,"signature":%q,"userHandle":%q}}`,
		b64(a.id), b64(client), b64(data), b64(signature), a.handle)
}

// opensAccount signs in with a device and returns what it sent and the status of the answer.
func (s *site) opensAccount(t *testing.T, who *http.Client, device *authenticator) (sent string, status int) {
	t.Helper()
	o := s.passkeyOptions(t, who, "/account/session/options")
	sent = `{"answer":` + device.signed(t, o.PublicKey.Challenge, 0) + `}`
	a, _ := send(t, who, "POST", s.url+"/account/session/passkey", sent)
	return sent, a.StatusCode
}

// isIn is the address that a person is signed in with; empty for none.
func (s *site) isIn(t *testing.T, who *http.Client) string {
	t.Helper()
	var answer struct{ Email string }
	if a, body := send(t, who, "GET", s.url+"/account", ""); a.StatusCode == http.StatusOK && json.Unmarshal([]byte(body), &answer) != nil {
		t.Fatal(body)
	}
	return answer.Email
}

func TestAccountPasskey_OpensItsAccountUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	s, ann, elsewhere := withPasskeys(t), person(t), person(t)
	phone := newAuthenticator(t, passkeyOrigin)
	s.signsIn(t, ann, "ann@example.org")
	if status, body := s.addsKey(t, ann, phone, " My \t phone "); status != http.StatusCreated || !strings.Contains(body, `"to":"/account?added"`) {
		t.Fatal(status, body)
	}
	if strings.Contains(phone.handle, b64([]byte("ann"))) || len(phone.handle) < 40 {
		t.Errorf("the device knows the address by %q", phone.handle)
	}
	if _, status := s.opensAccount(t, elsewhere, phone); status != http.StatusOK || s.isIn(t, elsewhere) != "ann@example.org" {
		t.Fatalf("the passkey: %d, and they are %q", status, s.isIn(t, elsewhere))
	}
	_, page := s.page(t, ann, "/account?added")
	path := "/account/passkeys/" + b64(phone.id) + "/removal"
	for _, want := range []string{"My phone", "last used", path, "The passkey was added."} {
		if !strings.Contains(page, want) {
			t.Errorf("the account has no %q", want)
		}
	}
	eve := person(t)
	s.signsIn(t, eve, "eve@example.org")
	if a, _ := send(t, eve, "POST", s.url+path, `{}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("another address removes it: %d", a.StatusCode)
	}
	if a, _ := s.submit(t, ann, path, url.Values{"key": {"k"}}); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/account?removed" {
		t.Fatal(a.StatusCode)
	}
	stranger := person(t)
	if _, status := s.opensAccount(t, stranger, phone); status != http.StatusForbidden || s.isIn(t, stranger) != "" {
		t.Errorf("a passkey that was removed: %d", status)
	}
}

func TestAccountPasskey_OpensNothingOfAnotherAddress(t *testing.T) {
	t.Parallel()
	s, ann, eve := withPasskeys(t), person(t), person(t)
	hers, theirs := newAuthenticator(t, passkeyOrigin), newAuthenticator(t, passkeyOrigin)
	s.signsIn(t, ann, "ann@example.org")
	s.signsIn(t, eve, "eve@example.org")
	if status, body := s.addsKey(t, ann, hers, "Phone"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	if status, body := s.addsKey(t, eve, theirs, "Phone"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	own := theirs.handle
	theirs.handle = hers.handle // it says that it is Ann's
	who := person(t)
	if _, status := s.opensAccount(t, who, theirs); status != http.StatusForbidden || s.isIn(t, who) != "" {
		t.Errorf("another address's handle: %d", status)
	}
	for what, plant := range map[string]func() string{
		"a user that was not verified": func() string {
			theirs.handle = own
			return theirs.signed(t, s.passkeyOptions(t, who, "/account/session/options").PublicKey.Challenge, 0x04)
		},
		"another site": func() string {
			other := *theirs
			other.handle, other.origin = own, "https://evil.example"
			return other.signed(t, s.passkeyOptions(t, who, "/account/session/options").PublicKey.Challenge, 0)
		},
		"a challenge of its own": func() string {
			s.passkeyOptions(t, who, "/account/session/options")
			return theirs.signed(t, b64([]byte(strings.Repeat("x", 32))), 0)
		},
		"nothing": func() string { return `{}` },
	} {
		if a, body := send(t, who, "POST", s.url+"/account/session/passkey", `{"answer":`+plant()+`}`); a.StatusCode != http.StatusForbidden || !strings.Contains(body, `"passkey"`) || s.isIn(t, who) != "" {
			t.Errorf("%s: %d %s", what, a.StatusCode, body)
		}
	}
}

func TestAccountPasskey_WhatWasAskedIsGoodForOneAnswer(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	phone := newAuthenticator(t, passkeyOrigin)
	s.signsIn(t, ann, "ann@example.org")
	if status, body := s.addsKey(t, ann, phone, "Phone"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	who := person(t)
	sent, status := s.opensAccount(t, who, phone)
	if status != http.StatusOK {
		t.Fatal(status)
	}
	if a, _ := send(t, who, "POST", s.url+"/account/session/passkey", sent); a.StatusCode != http.StatusForbidden {
		t.Errorf("the same answer once more: %d", a.StatusCode)
	}
	late := person(t)
	o := s.passkeyOptions(t, late, "/account/session/options")
	if a, _ := send(t, late, "POST", s.url+"/account/session/passkey", `{"answer":`+phone.signed(t, o.PublicKey.Challenge, 0x04)+`}`); a.StatusCode != http.StatusForbidden {
		t.Fatal(a.StatusCode)
	}
	if a, _ := send(t, late, "POST", s.url+"/account/session/passkey", `{"answer":`+phone.signed(t, o.PublicKey.Challenge, 0)+`}`); a.StatusCode != http.StatusForbidden || s.isIn(t, late) != "" {
		t.Errorf("another answer after a wrong one: %d", a.StatusCode)
	}
}

func TestAccountPasskey_WhatWasAskedEndsAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	phone := newAuthenticator(t, passkeyOrigin)
	s.signsIn(t, ann, "ann@example.org")
	if status, body := s.addsKey(t, ann, phone, "Phone"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	ledger := credit.New(s.db)
	c, err := ledger.BeginSignIn(passkeyOrigin)
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal([]byte(c.State), &state); err != nil {
		t.Fatal(err)
	}
	ends, err := time.Parse(time.RFC3339Nano, state["expires"].(string))
	if left := time.Until(ends); err != nil || left < 4*time.Minute || left > 5*time.Minute {
		t.Fatalf("it ends in %s, %v", left, err)
	}
	answer := []byte(phone.signed(t, state["challenge"].(string), 0))
	state["expires"] = time.Now().Add(-time.Second)
	late, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	if email, err := ledger.SignInWith(t.Context(), passkeyOrigin, string(late), answer); !errors.Is(err, passkeys.ErrUnknown) || email != "" {
		t.Errorf("after its end: %q, %v", email, err)
	}
	if email, err := ledger.SignInWith(t.Context(), passkeyOrigin, c.State, answer); err != nil || email != "ann@example.org" {
		t.Errorf("in time: %q, %v", email, err)
	}
}

func TestAccountPasskey_OneNetworkDoesNotTryForEver(t *testing.T) {
	t.Parallel()
	s := behindProxy(t, func(c *Config) { c.PublicURL = passkeyOrigin })
	ask := func(from string) int {
		a, _ := send(t, person(t), "POST", s.url+"/account/session/options", `{}`, "X-Forwarded-For", from)
		return a.StatusCode
	}
	for range web.LinksPerNetwork {
		if status := ask("203.0.113.7"); status != http.StatusOK {
			t.Fatal(status)
		}
	}
	if status := ask("203.0.113.8"); status != http.StatusTooManyRequests {
		t.Errorf("one more: %d", status)
	}
}

func TestAccountPasskey_BadInputIsRefusedWithASentence(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	for _, path := range []string{"/account/passkeys/options", "/account/passkeys", "/account/passkeys/YQ/removal"} {
		if a, _ := send(t, ann, "POST", s.url+path, `{}`); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without an account: %d", path, a.StatusCode)
		}
	}
	s.signsIn(t, ann, "ann@example.org")
	phone := newAuthenticator(t, passkeyOrigin)
	for _, name := range []string{"", " ", strings.Repeat("a", 101), "a\u0000b"} {
		if status, body := s.addsKey(t, ann, phone, name); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
			t.Errorf("the name %q: %d %s", name, status, body)
		}
	}
	for range credit.MostPasskeys {
		if status, body := s.addsKey(t, ann, newAuthenticator(t, passkeyOrigin), "Phone"); status != http.StatusCreated {
			t.Fatal(status, body)
		}
	}
	if a, body := send(t, ann, "POST", s.url+"/account/passkeys/options", `{}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, "ten passkeys") {
		t.Errorf("an eleventh: %d %s", a.StatusCode, body)
	}
	if a, _ := send(t, ann, "POST", s.url+"/account/passkeys/%2E%2E/removal", `{}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("an id that is none: %d", a.StatusCode)
	}
	plain := newSiteFor(t, events.Settings{}, func(c *Config) { c.PublicURL = "http://tickets.example.org" })
	if a, body := send(t, person(t), "POST", plain.url+"/account/session/options", `{}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, "no_passkeys") {
		t.Errorf("a site without https: %d %s", a.StatusCode, body)
	}
	if _, page := plain.page(t, person(t), "/account"); strings.Contains(page, `data-passkey="`) || strings.Contains(page, "a passkey") {
		t.Error("a site without https offers passkeys")
	}
}

func TestAccountPasskey_OfOneWhoSignedOutIsNotAddedForTheNext(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	s.signsIn(t, ann, "ann@example.org")
	o := s.passkeyOptions(t, ann, "/account/passkeys/options")
	s.signsIn(t, ann, "eve@example.org")
	device := newAuthenticator(t, passkeyOrigin)
	answer := fmt.Sprintf(`{"id":%[1]q,"rawId":%[1]q,"type":"public-key","response":{"clientDataJSON":%q,"attestationObject":%q}}`,
		b64(device.id), b64(device.client("create", o.PublicKey.Challenge)), b64(device.attestation(t)))
	if a, body := send(t, ann, "POST", s.url+"/account/passkeys", `{"name":"Phone","answer":`+answer+`}`); a.StatusCode != http.StatusForbidden {
		t.Errorf("it was added to another account: %d %s", a.StatusCode, body)
	}
}

func TestAccountPasskey_IsBoundToTheDomainOfATeam(t *testing.T) {
	t.Parallel()
	n := &named{site: newSiteFor(t, events.Settings{}, func(c *Config) {
		c.PublicURL, c.Sites.URL = "https://tickets.example.org", "https://tickets.example.org"
	})}
	n.handler = New(n.config)
	n.exec(t, `INSERT INTO team_domain (team_id, domain, proof, proven_at) SELECT id, 'kasse.playhouse.org', rpad('x', 26), now() FROM team`)
	for _, host := range []string{"kasse.playhouse.org", "tickets.example.org"} {
		r := httptest.NewRequest(http.MethodPost, "https://"+host+"/account/session/options", strings.NewReader(`{}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		n.handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"rpId":"`+host+`"`) {
			t.Errorf("%s asks for passkeys of another site: %d %s", host, w.Code, w.Body)
		}
	}
}

func TestAccountPasskey_IsExportedAndErasedWithItsAddress(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	phone := newAuthenticator(t, passkeyOrigin)
	s.signsIn(t, ann, "zaphod@example.org")
	if status, body := s.addsKey(t, ann, phone, "Zaphods phone"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	owner := s.owner(t)
	if a, body := send(t, owner, "POST", s.url+"/desk/privacy/exports", `{"email":"zaphod@example.org"}`); a.StatusCode != http.StatusOK || !strings.Contains(body, `"name": "Zaphods phone"`) {
		t.Errorf("the record: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, owner, "POST", s.url+"/desk/privacy/erasures", `{"key":"k","email":"zaphod@example.org"}`); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	for _, trace := range s.traces(t, "Zaphods phone") {
		t.Error(trace)
	}
	if _, status := s.opensAccount(t, person(t), phone); status != http.StatusForbidden {
		t.Errorf("the passkey of an erased person: %d", status)
	}
}

func TestAccountPasskey_ThatIsNotUsedEndsAfterTheRetentionTime(t *testing.T) {
	t.Parallel()
	s := withPasskeys(t)
	s.exec(t, `INSERT INTO account_passkey (id, email, handle, name, credential, created_at, used_at) VALUES
		('old', 'a@example.org', 'a', 'Phone', '{}', now() - interval '5 years', now() - interval '13 months'),
		('used', 'b@example.org', 'b', 'Phone', '{}', now() - interval '5 years', now() - interval '11 months'),
		('new', 'c@example.org', 'c', 'Phone', '{}', now() - interval '11 months', NULL)`)
	left := func() (ids string) {
		if err := credit.EraseOld(t.Context(), s.db); err != nil {
			t.Fatal(err)
		}
		if err := s.db.QueryRow(t.Context(), `SELECT string_agg(encode(id, 'escape'), ' ' ORDER BY id) FROM account_passkey`).Scan(&ids); err != nil {
			t.Fatal(err)
		}
		return ids
	}
	if ids := left(); ids != "new old used" {
		t.Errorf("without a retention time there are %s", ids)
	}
	s.exec(t, `INSERT INTO retention (team_id, months) SELECT id, 12 FROM team`)
	if ids := left(); ids != "new used" {
		t.Errorf("after it there are %s", ids)
	}
}

// signedInAgo makes all sessions those of people who signed in so long ago.
func (s *site) signedInAgo(t *testing.T, ago string) {
	t.Helper()
	s.exec(t, `UPDATE session SET data = convert_to(jsonb_set(convert_from(data, 'UTF8')::jsonb, '{values,proved}', to_jsonb(to_char(now() - '`+ago+`'::interval, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))::text, 'UTF8')`)
}

// Seats renew a session, and not that it is the one of an address.
func TestAccount_EndsADayAfterSigningIn(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	s.signsIn(t, ann, "ann@example.org")
	s.signedInAgo(t, "23 hours 59 minutes")
	if who := s.isIn(t, ann); who != "ann@example.org" {
		t.Errorf("within a day the account is open to %q", who)
	}
	s.signedInAgo(t, "24 hours 1 minute")
	if who := s.isIn(t, ann); who != "" {
		t.Errorf("after a day the account is open to %q", who)
	}
	s.signsIn(t, ann, "ann@example.org")
	if who := s.isIn(t, ann); who != "ann@example.org" {
		t.Errorf("after signing in again the account is open to %q", who)
	}
}

func TestAccountPasskey_SessionThatIsFoundOpenChangesNone(t *testing.T) {
	t.Parallel()
	s, ann := withPasskeys(t), person(t)
	phone := newAuthenticator(t, passkeyOrigin)
	s.signsIn(t, ann, "ann@example.org")
	if status, body := s.addsKey(t, ann, phone, "Phone"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	s.signedInAgo(t, "11 minutes")
	for path, body := range map[string]string{
		"/account/passkeys/options": `{}`, "/account/passkeys": `{"name":"Eve","answer":{}}`, "/account/passkeys/" + b64(phone.id) + "/removal": `{"key":"k"}`,
	} {
		if a, said := send(t, ann, "POST", s.url+path, body); a.StatusCode != http.StatusForbidden || !strings.Contains(said, `"proof"`) {
			t.Errorf("%s eleven minutes after signing in: %d %s", path, a.StatusCode, said)
		}
	}
	if _, status := s.opensAccount(t, ann, phone); status != http.StatusOK {
		t.Fatal(status)
	}
	if status, body := s.addsKey(t, ann, newAuthenticator(t, passkeyOrigin), "Laptop"); status != http.StatusCreated {
		t.Errorf("after signing in again: %d %s", status, body)
	}
}

// Package openidtest is a provider of OpenID Connect for tests: discovery, a page to sign in at, codes that are good once and
// bound to their client, redirect address and PKCE challenge, signed ID tokens, keys, and userinfo.
package openidtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// The client that the provider knows.
const (
	Client = "usher"
	Secret = "four:odd/words+here" // a header escapes it
)

// Person has an account at the provider.
type Person struct {
	Subject, Email, Name string
	Unverified           bool // the provider did not make sure of the address
}

// Provider is one of a test.
type Provider struct {
	*httptest.Server
	key, other *rsa.PrivateKey

	mu    sync.Mutex
	codes map[string]grant
	asks  int

	// Who signs in at once, without a page. The zero Person: the page asks.
	Who Person
	// Cancels has everybody turn back.
	Cancels bool
	// Stale has a provider that ignores prompt=login: they signed in there an hour ago.
	Stale bool
	// Bare keeps email and name for userinfo.
	Bare bool
	// Change changes the claims of an ID token before it is signed.
	Change func(claims map[string]any)
	// Forges signs ID tokens with a key that is not its own.
	Forges bool
	// Down has it answer nothing but 503.
	Down bool
}

// grant is what a code stands for.
type grant struct {
	who                        Person
	redirect, challenge, nonce string
	at                         time.Time // when they signed in
}

// New starts a provider, which ends with the test.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{codes: map[string]grant{}}
	for _, key := range []**rsa.PrivateKey{&p.key, &p.other} {
		var err error
		if *key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /userinfo", p.userinfo)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asks++
		down := p.Down
		p.mu.Unlock()
		if down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// Set changes how the provider behaves from now on.
func (p *Provider) Set(change func(*Provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// Asked is how many requests came.
func (p *Provider) Asked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asks
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys", "userinfo_endpoint": p.URL + "/userinfo",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

// authorize leads back with a code, or asks who signs in.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != Client || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("state") == "" || q.Get("nonce") == "" {
		http.Error(w, "this is no request of OpenID Connect with PKCE: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	who := p.Who
	if name := q.Get("as"); name != "" {
		who = Person{Subject: "subject of " + name, Email: name, Name: name}
	}
	says := url.Values{"state": {q.Get("state")}, "iss": {p.URL}}
	switch {
	case p.Cancels || q.Has("cancel"):
		says.Set("error", "access_denied")
	case who.Subject == "":
		p.page(w, r)
		return
	default:
		code, at := rand.Text(), time.Now()
		if p.Stale || q.Get("prompt") != "login" {
			at = at.Add(-time.Hour)
		}
		p.codes[code] = grant{who, q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce"), at}
		says.Set("code", code)
	}
	back.RawQuery = says.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// page asks a person in a browser who they are.
func (p *Provider) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Playhouse ID</title><link rel="icon" href="data:,"><h1>Playhouse ID</h1><form action="/authorize">`)
	for name, values := range r.URL.Query() {
		fmt.Fprintf(w, `<input type="hidden" name="%s" value="%s">`, html.EscapeString(name), html.EscapeString(values[0]))
	}
	fmt.Fprint(w, `<p><label>Account <input name="as"></label> <button>Continue</button> <button name="cancel" value="yes">Cancel</button></p></form></html>`)
}

// token exchanges a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	client, secret, _ := r.BasicAuth()
	if client, _ = url.QueryUnescape(client); client != Client {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if secret, _ = url.QueryUnescape(secret); secret != Secret {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	g, known := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	proof := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || r.PostFormValue("grant_type") != "authorization_code" || r.PostFormValue("redirect_uri") != g.redirect || base64.RawURLEncoding.EncodeToString(proof[:]) != g.challenge {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{
		"iss": p.URL, "aud": Client, "sub": g.who.Subject, "nonce": g.nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(5 * time.Minute).Unix(), "auth_time": g.at.Unix(),
	}
	if !p.Bare {
		maps.Copy(claims, about(g.who))
	}
	if p.Change != nil {
		p.Change(claims)
	}
	access := rand.Text()
	p.codes["access "+access] = g
	answer(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": p.signed(claims)})
}

func about(who Person) map[string]any {
	return map[string]any{"email": who.Email, "email_verified": !who.Unverified, "name": who.Name}
}

// signed is a JWT, RS256.
func (p *Provider) signed(claims map[string]any) string {
	said, _ := json.Marshal(claims) // texts and numbers
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"one","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(said)
	sum := sha256.Sum256([]byte(text))
	key := p.key
	if p.Forges {
		key = p.other
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // a key of 2048 bits signs 32 bytes
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one",
		"n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()),
	}}})
}

func (p *Provider) userinfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var access string
	_, _ = fmt.Sscanf(r.Header.Get("Authorization"), "Bearer %s", &access)
	g, known := p.codes["access "+access]
	if !known {
		http.Error(w, "no such token", http.StatusUnauthorized)
		return
	}
	claims := about(g.who)
	claims["sub"] = g.who.Subject
	answer(w, http.StatusOK, claims)
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the reader may be gone
}

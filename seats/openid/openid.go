// Package openid signs people in at a provider of OpenID Connect that the operator names: the authorization code flow with
// PKCE.
//
// Begin sends a browser to the provider, and Finish says who came back. What is remembered between them, Asked, stays on this
// side: state and nonce are good for one answer (Take), within ten minutes. The provider is looked up when it is first needed,
// so that a node starts without it. What an identity opens is the caller's.
package openid

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"

	"github.com/usherbox/usher/seats/idempotency"
	"github.com/usherbox/usher/seats/outbound"
)

// Why somebody is not signed in.
var (
	ErrDown      = errors.New("the provider does not answer as a provider of OpenID Connect does")
	ErrCancelled = errors.New("nobody signed in at the provider")
	ErrAnswer    = errors.New("this is no answer to what was asked of this browser")
	ErrNotFresh  = errors.New("the provider does not say that they signed in just now")
)

const (
	answerWithin = 10 * time.Minute
	clockSkew    = 30 * time.Second // between the provider and this side
	patience     = 10 * time.Second // with one answer of the provider
)

// Settings name a provider, and this program there.
type Settings struct {
	Issuer string // its address, as its ID tokens name it
	Client string // the id that it gave this program
	Secret string // that belongs to it; empty: a public client
	Name   string // as people know it; empty: the host of Issuer
}

// Provider is one that organizers sign in at.
type Provider struct {
	Settings
	client *http.Client
	found  atomic.Pointer[oidc.Provider] // nil until it answered once
}

// New returns the provider of the settings. It asks nothing of it yet.
func New(s Settings) (*Provider, error) {
	at, err := url.Parse(s.Issuer)
	if err != nil || at.Host == "" || at.RawQuery != "" || at.Fragment != "" || at.User != nil || at.Scheme != "https" && !(at.Scheme == "http" && isLocal(at.Hostname())) {
		return nil, fmt.Errorf("%q is not an https address such as https://accounts.example.org", s.Issuer)
	}
	if s.Client == "" {
		return nil, errors.New("the id of the client at the provider is missing")
	}
	if s.Name == "" {
		s.Name = at.Hostname()
	}
	// A redirect would carry the secret and the code elsewhere.
	client := &http.Client{Timeout: patience, CheckRedirect: outbound.Stay}
	return &Provider{Settings: s, client: client}, nil
}

// isLocal reports whether a host is this machine.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Asked is what was asked of a browser.
type Asked struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE
	Redirect string    `json:"redirect"`
	At       time.Time `json:"at"`
	Fresh    bool      `json:"fresh,omitempty"` // they had to sign in anew
}

// Identity is who came back from the provider.
type Identity struct {
	Issuer   string `json:"issuer"`
	Subject  string `json:"subject"` // of the provider's account: never another person's
	Email    string `json:"email"`
	Verified bool   `json:"verified"` // the provider made sure that the address is theirs
	Name     string `json:"name"`
}

// discover looks the provider up, once.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	if known := p.found.Load(); known != nil {
		return known, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDown, err)
	}
	if e := found.Endpoint(); e.AuthURL == "" || e.TokenURL == "" {
		return nil, fmt.Errorf("%w: it names no addresses to sign in at", ErrDown)
	}
	p.found.Store(found)
	return found, nil
}

// flow is how this program speaks with a provider. Secrets go as the provider says that it takes them.
func (p *Provider) flow(found *oidc.Provider, redirect string) *oauth2.Config {
	var says struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	_ = found.Claims(&says) // what cannot be read is not said
	e := found.Endpoint()
	e.AuthStyle = oauth2.AuthStyleInHeader
	if p.Secret == "" || len(says.Methods) > 0 && !slices.Contains(says.Methods, "client_secret_basic") {
		e.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{ClientID: p.Client, ClientSecret: p.Secret, Endpoint: e, RedirectURL: redirect, Scopes: []string{oidc.ScopeOpenID, oidc.ScopeEmail, oidc.ScopeProfile}}
}

// Begin returns the address at the provider that a browser goes to, and what to remember until it comes back to redirect. With
// fresh they have to sign in there anew. now is the database's time. ErrDown if the provider does not answer.
func (p *Provider) Begin(ctx context.Context, redirect string, now time.Time, fresh bool) (address string, a Asked, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", a, err
	}
	a = Asked{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect, At: now, Fresh: fresh}
	more := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if fresh {
		more = append(more, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return p.flow(found, redirect).AuthCodeURL(a.State, more...), a, nil
}

// Check reports what is wrong with how a browser came back, before anything is asked of the provider.
//
// Errors: ErrAnswer if it answers something else, or too late; ErrCancelled; ErrDown if the provider says so itself.
func (p *Provider) Check(a Asked, answer url.Values, now time.Time) error {
	issuer, refused := answer.Get("iss"), answer.Get("error")
	switch {
	case a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(answer.Get("state"))) != 1:
		return fmt.Errorf("%w: another state", ErrAnswer)
	case now.Sub(a.At) > answerWithin:
		return fmt.Errorf("%w: it came too late", ErrAnswer)
	case issuer != "" && issuer != p.Issuer:
		return fmt.Errorf("%w: another provider answered", ErrAnswer)
	case refused == "access_denied", refused == "login_required", refused == "interaction_required", refused == "consent_required", refused == "account_selection_required":
		return fmt.Errorf("%w: %s", ErrCancelled, refused)
	case refused != "":
		return fmt.Errorf("%w: it says %.60q", ErrDown, refused)
	case answer.Get("code") == "":
		return fmt.Errorf("%w: no code", ErrAnswer)
	}
	return nil
}

// Take takes what a browser was asked. Of many answers one counts: the others get ErrAnswer.
func Take(ctx context.Context, tx pgx.Tx, a Asked) error {
	key, err := idempotency.New("openid", a.State)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	first, _, err := key.Take(ctx, tx, nil)
	if err == nil && !first {
		err = fmt.Errorf("%w: this was answered already", ErrAnswer)
	}
	return err
}

// claims are those of an ID token that count here.
type claims struct {
	Party    string `json:"azp"`
	AuthTime int64  `json:"auth_time"`
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some providers write it as a text
	Name     string `json:"name"`
}

// Finish asks the provider who came back with a code. Check was passed, and Take.
//
// Errors: ErrDown; ErrAnswer if the code or the token is not good, or not for this program and this browser; ErrNotFresh.
func (p *Provider) Finish(ctx context.Context, a Asked, code string, now time.Time) (id Identity, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return id, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	flow := p.flow(found, a.Redirect)
	tokens, err := flow.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode == "invalid_grant":
		return id, fmt.Errorf("%w: the provider does not take the code", ErrAnswer)
	case err != nil: // also if it does not know this program: the operator can mend it
		return id, fmt.Errorf("%w: %w", ErrDown, err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := found.Verifier(&oidc.Config{ClientID: p.Client, Now: func() time.Time { return now }}).Verify(ctx, raw)
	if err != nil {
		return id, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return id, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(a.Nonce), []byte(token.Nonce)) != 1:
		return id, fmt.Errorf("%w: another nonce", ErrAnswer)
	case c.Party != "" && c.Party != p.Client, c.Party == "" && len(token.Audience) > 1:
		return id, fmt.Errorf("%w: a token for another program", ErrAnswer)
	case token.Subject == "" || len(token.Subject) > 255:
		return id, fmt.Errorf("%w: no subject", ErrAnswer)
	case a.Fresh && time.Unix(c.AuthTime, 0).Before(a.At.Add(-clockSkew)):
		return id, ErrNotFresh
	}
	if c.Email == "" { // a provider may keep claims for its userinfo address
		if c, err = moreClaims(ctx, found, flow.TokenSource(ctx, tokens), token.Subject); err != nil {
			return id, err
		}
	}
	return Identity{Issuer: p.Issuer, Subject: token.Subject, Email: c.Email, Verified: c.Verified == true || c.Verified == "true", Name: c.Name}, nil
}

// moreClaims reads the claims of a subject at the provider's userinfo address, if it has one.
func moreClaims(ctx context.Context, found *oidc.Provider, with oauth2.TokenSource, subject string) (c claims, err error) {
	if found.UserInfoEndpoint() == "" {
		return c, nil
	}
	info, err := found.UserInfo(ctx, with)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrDown, err)
	}
	if info.Subject != subject {
		return c, fmt.Errorf("%w: another subject", ErrAnswer)
	}
	if err := info.Claims(&c); err != nil {
		return c, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return c, nil
}

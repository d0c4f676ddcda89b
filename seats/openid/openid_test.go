package openid_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/openid"
	"github.com/usherbox/usher/seats/openid/openidtest"
)

const home = "https://tickets.example.org/desk/session/openid/return"

func newProvider(t *testing.T, issuer, secret string) *openid.Provider {
	t.Helper()
	p, err := openid.New(openid.Settings{Issuer: issuer, Client: openidtest.Client, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// goes has a browser go to the provider, and returns what is asked and how it comes back.
func goes(t *testing.T, p *openid.Provider, fresh bool) (openid.Asked, url.Values) {
	t.Helper()
	address, asked, err := p.Begin(t.Context(), home, time.Now(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	a, err := stay.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close() // it says nothing
	back, err := url.Parse(a.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(back.String(), home+"?") {
		t.Fatalf("the provider answers %d, and leads to %s", a.StatusCode, back)
	}
	if err := p.Check(asked, back.Query(), time.Now()); err != nil {
		t.Fatal(err)
	}
	return asked, back.Query()
}

func TestNew_RefusesWhatIsNoProvider(t *testing.T) {
	t.Parallel()
	for _, issuer := range []string{"", "accounts.example.org", "http://accounts.example.org", "https://a:b@accounts.example.org", "https://accounts.example.org?x=1", "https://accounts.example.org/#x", "ftp://accounts.example.org"} {
		if _, err := openid.New(openid.Settings{Issuer: issuer, Client: "usher"}); err == nil {
			t.Errorf("%q is taken", issuer)
		}
	}
	if _, err := openid.New(openid.Settings{Issuer: "https://accounts.example.org"}); err == nil {
		t.Error("a provider without a client id is taken")
	}
	if p, err := openid.New(openid.Settings{Issuer: "https://accounts.example.org/realms/house", Client: "usher"}); err != nil || p.Name != "accounts.example.org" {
		t.Errorf("%v, %v", p, err)
	}
}

func TestProvider_ReadsClaimsOfUserinfo(t *testing.T) {
	t.Parallel()
	there := openidtest.New(t)
	there.Who, there.Bare = openidtest.Person{Subject: "1", Email: "ann@example.org", Name: "Ann"}, true
	p := newProvider(t, there.URL, openidtest.Secret)
	asked, answer := goes(t, p, false)
	id, err := p.Finish(t.Context(), asked, answer.Get("code"), time.Now())
	if want := (openid.Identity{Issuer: there.URL, Subject: "1", Email: "ann@example.org", Verified: true, Name: "Ann"}); err != nil || id != want {
		t.Errorf("%+v, %v", id, err)
	}
	if _, err := p.Finish(t.Context(), asked, answer.Get("code"), time.Now()); !errors.Is(err, openid.ErrAnswer) {
		t.Errorf("a code that was used: %v", err)
	}
	asked, answer = goes(t, p, false)
	asked.Verifier += "x"
	if _, err := p.Finish(t.Context(), asked, answer.Get("code"), time.Now()); !errors.Is(err, openid.ErrAnswer) {
		t.Errorf("the code of another browser: %v", err)
	}
}

func TestProvider_AWrongSecretIsTheOperatorsToMend(t *testing.T) {
	t.Parallel()
	there := openidtest.New(t)
	there.Who = openidtest.Person{Subject: "1", Email: "ann@example.org"}
	p := newProvider(t, there.URL, "another")
	asked, answer := goes(t, p, false)
	if _, err := p.Finish(t.Context(), asked, answer.Get("code"), time.Now()); !errors.Is(err, openid.ErrDown) || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("%v", err)
	}
}

func TestProvider_OtherMetadataIsRefused(t *testing.T) {
	t.Parallel()
	there := openidtest.New(t)
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, there.URL+r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(liar.Close)
	copies := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"issuer":"` + there.URL + `","authorization_endpoint":"` + there.URL + `/authorize","token_endpoint":"` + there.URL + `/token","jwks_uri":"` + there.URL + `/keys"}`))
	}))
	t.Cleanup(copies.Close)
	for what, issuer := range map[string]string{"a redirect": liar.URL, "another issuer": copies.URL} {
		if _, _, err := newProvider(t, issuer, openidtest.Secret).Begin(t.Context(), home, time.Now(), false); !errors.Is(err, openid.ErrDown) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestCheck_SaysWhyNobodyComesIn(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "https://accounts.example.org", "")
	now := time.Now()
	asked := openid.Asked{State: "S", At: now}
	for _, c := range []struct {
		asked  openid.Asked
		answer string
		want   error
	}{
		{asked, "state=S&code=1", nil},
		{asked, "state=S&code=1&iss=https://accounts.example.org", nil},
		{asked, "state=S&code=1&iss=https://other.example.org", openid.ErrAnswer},
		{asked, "state=s&code=1", openid.ErrAnswer},
		{asked, "code=1", openid.ErrAnswer},
		{asked, "state=S", openid.ErrAnswer},
		{openid.Asked{}, "state=&code=1", openid.ErrAnswer},
		{openid.Asked{State: "S", At: now.Add(-11 * time.Minute)}, "state=S&code=1", openid.ErrAnswer},
		{asked, "state=S&error=access_denied", openid.ErrCancelled},
		{asked, "state=S&error=server_error", openid.ErrDown},
		{asked, "state=x&error=access_denied", openid.ErrAnswer},
	} {
		answer, _ := url.ParseQuery(c.answer)
		if err := p.Check(c.asked, answer, now); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.answer, err, c.want)
		}
	}
}

package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
)

// customer is one customer of a program: it sends the key with each request, and keeps the session of the customer.
type customer struct{ key, session string }

func (p *customer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+p.key)
	if p.session != "" {
		r.Header.Set(web.SiteSession, p.session)
	}
	a, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && a.Header.Get(web.SiteSession) != "" {
		p.session = a.Header.Get(web.SiteSession)
	}
	return a, err
}

func customerOf(key string) *http.Client {
	return &http.Client{Transport: &customer{key: key}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// gives makes a key of a member of the team that has an event.
func (s *site) gives(t *testing.T, key, slug string, scopes ...organizers.Scope) string {
	t.Helper()
	key = organizers.KeyStart + key
	s.exec(t, `INSERT INTO api_key (team_id, organizer_id, name, scopes, hash, start)
		SELECT m.team_id, m.organizer_id, $1, $3, sha256(convert_to($1, 'UTF8')), 'x' FROM member m JOIN event e ON e.team_id = m.team_id WHERE e.slug = $2 AND m.role = 'owner'`, key, slug, scopes)
	return key
}

func TestAPIKey_AProgramBuysForItsCustomers(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{SeatsPerHolder: 3}, func(c *Config) { c.AddressHeader, c.Requests = "X-Forwarded-For", web.RequestsPerProgram })
	owner := s.owner(t)
	s.limits(t, limit.Settings{Challenge: limit.Automatic, SeatsPerNetwork: 3, UnpaidPerNetwork: 1})
	key := s.gives(t, "kiosk", "evening", organizers.ScopeSell)
	at := s.url + "/api/v1/events/evening"

	var ids []string
	for _, name := range []string{"Ann", "Bob", "Cleo"} { // of one network, which may have three seats and one unpaid order
		who := customerOf(key)
		a, body := send(t, who, "POST", at+"/claims", `{"area":"Floor","quantity":3}`, "X-Forwarded-For", "203.0.113.9")
		if a.StatusCode != http.StatusCreated || a.Header.Get("Set-Cookie") != "" || a.Header.Get("RateLimit") == "" {
			t.Fatal(name, a.StatusCode, a.Header, body)
		}
		if a, body := send(t, who, "POST", at+"/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, `"code":"limit"`) {
			t.Errorf("%s takes a fourth seat: %d %s", name, a.StatusCode, body)
		}
		hold := holdOf(t, body)
		ids = append(ids, hold.ID)
		a, body = send(t, who, "POST", at+"/orders", `{"hold":"`+hold.ID+`","seats":["`+strings.Join(hold.Seats, `","`)+`"],"name":"`+name+`","email":"`+strings.ToLower(name)+`@example.org","method":"door","total":`+jsonNumber(int(hold.Total))+`}`)
		if a.StatusCode != http.StatusAccepted || !strings.Contains(body, `"confirm":"`+strings.ToLower(name)) {
			t.Errorf("%s orders: %d %s", name, a.StatusCode, body)
		}
		var code string
		if err := s.db.QueryRow(t.Context(), `SELECT code FROM payment ORDER BY created_at DESC LIMIT 1`).Scan(&code); err != nil || !s.confirms(t, code) {
			t.Errorf("%s does not confirm %s, %v", name, body, err)
		}
	}
	if _, report := send(t, owner, "GET", s.url+"/desk/books?by=channel", ""); !strings.Contains(report, `"key":"key `+key+`","name":"API key `+key+`","tickets":9`) || strings.Contains(report, `"key":"web"`) {
		t.Errorf("the books have orders of the key %s", report)
	}
	if ids[0] == ids[1] || ids[1] == ids[2] {
		t.Errorf("customers share a hold: %v", ids)
	}
	if a, body := send(t, customerOf(key), "GET", at+"/hold", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("the hold of a new customer: %d %s", a.StatusCode, body)
	}
}

func TestAPIKey_OpensTheShopOnlyToSellersOfTheTeam(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.owner(t)
	s.memberOf(t, "theo", organizers.Owner, s.others(t, "theirs"))
	for name, c := range map[string]struct {
		key    string
		status int
		says   string
	}{
		"looks only":     {s.gives(t, "looks", "evening", organizers.ScopeLook), http.StatusForbidden, "This key may not sell."},
		"is not known":   {organizers.KeyStart + "nothing", http.StatusUnauthorized, "key"},
		"sells":          {s.gives(t, "sells", "evening", organizers.ScopeSell), http.StatusCreated, `"hold"`},
		"of other teams": {s.gives(t, "theirs", "theirs", organizers.ScopeSell), http.StatusNotFound, "no such event"},
		"of a proxy":     {"a-token-of-a-proxy", http.StatusCreated, `"hold"`},
	} {
		a, body := send(t, customerOf(c.key), "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`)
		if a.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("a key that %s: %d %s, want %d", name, a.StatusCode, body, c.status)
		}
	}
}

func TestAPIKey_ItsLimitIsToldAndHeld(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.Requests = 3 })
	s.owner(t)
	who := customerOf(s.gives(t, "till", "evening", organizers.ScopeSell, organizers.ScopeLook))
	for i, path := range []string{"/api/v1/desk/events/evening", "/api/v1/events/evening/proposals?n=1", "/api/v1/desk"} {
		a, body := send(t, who, "GET", s.url+path, "")
		if want := `"key";r=` + jsonNumber(2-i) + `;t=`; !strings.HasPrefix(a.Header.Get("RateLimit"), want) || a.Header.Get("RateLimit-Policy") != `"key";q=3;w=60` {
			t.Errorf("%s: %d %v, want %s… %s", path, a.StatusCode, a.Header, want, body)
		}
	}
	for _, path := range []string{"/api/v1/desk", "/api/v1/events/evening/hold"} {
		a, body := send(t, who, "GET", s.url+path, "")
		if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || !strings.Contains(body, `"code":"too_many"`) {
			t.Errorf("%s: %d %v %s", path, a.StatusCode, a.Header, body)
		}
	}
	if a, _ := send(t, customerOf(s.gives(t, "other", "evening", organizers.ScopeLook)), "GET", s.url+"/api/v1/desk", ""); a.StatusCode != http.StatusOK {
		t.Errorf("another key waits, too: %d", a.StatusCode)
	}
}

func TestAPIKey_ARequestWithoutAKeyOfItsOwnIsDoneEachTime(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	program, at := w.people["key of an owner"], w.url+"/desk/events/evening/blocks"
	for n := range 2 {
		if a, body := send(t, program, "POST", at, fmt.Sprintf(`{"seats":%q,"reason":"a camera"}`, w.label(t, n)), "Content-Type", "application/json"); a.StatusCode/100 != 2 {
			t.Errorf("%d: %d %s", n, a.StatusCode, body)
		}
	}
	if a, _ := send(t, w.people["owner"], "POST", at, "seats="+url.QueryEscape(w.label(t, 2)), "Content-Type", "application/x-www-form-urlencoded"); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a form without a key: %d", a.StatusCode)
	}
}

package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/waitingroom"
)

const (
	anotherSite = "https://www.others.example"
	allowOrigin = "Access-Control-Allow-Origin"
)

// Keys of the teams of embedded and others.
const (
	ourKey   = "site_AAAAAAAAAAAAAAAAAAAAAAAAAA"
	endedKey = "site_BBBBBBBBBBBBBBBBBBBBBBBBBB"
	theirKey = "site_CCCCCCCCCCCCCCCCCCCCCCCCCC"
)

// scripted is an embedded box office with site keys, and another team with a site and a key of its own.
func scripted(t *testing.T, e events.Settings, with ...func(*Config)) *site {
	t.Helper()
	s := newSiteFor(t, e, append(with, func(c *Config) { c.PublicURL = "https://tickets.example.org" })...)
	ours, theirs := s.sale.Event.Team, s.others(t, "theirs")
	s.exec(t, `INSERT INTO team_site (team_id, origin) VALUES ($1, $2), ($3, $4)`, ours, theirSite, theirs, anotherSite)
	s.exec(t, `INSERT INTO team_site_key (team_id, key, ended_at) VALUES ($1, $2, NULL), ($1, $3, now()), ($4, $5, NULL)`, ours, ourKey, endedKey, theirs, theirKey)
	return s
}

// siteScript is a script of another site: a browser sends its requests without cookies, and it keeps its session itself.
type siteScript struct{ key, origin, session string }

func newScript() (*http.Client, *siteScript) {
	c := &siteScript{key: ourKey, origin: theirSite}
	return &http.Client{Transport: c, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, c
}

func (c *siteScript) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Origin", c.origin)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	r.Header.Set("Accept", "*/*")
	r.Header.Set(web.SiteKey, c.key)
	if c.session != "" {
		r.Header.Set(web.SiteSession, c.session)
	}
	a, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		if kept := a.Header[web.SiteSession]; kept != nil {
			c.session = kept[0]
		}
	}
	return a, err
}

// sold are the routes that a site key opens, written by hand once more.
var sold = strings.Fields(`GET/events/{slug} GET/events/{slug}/badge GET/events/{slug}/seats GET/events/{slug}/map.bin GET/events/{slug}/geometry/{file} GET/events/{slug}/proposals
	GET/series/{slug} GET/series/{slug}/badge POST/events/{slug}/claims DELETE/events/{slug}/claims/{idx} DELETE/events/{slug}/claims GET/events/{slug}/hold POST/events/{slug}/codes
	POST/events/{slug}/hold/extension POST/events/{slug}/hold/types GET/events/{slug}/challenge POST/events/{slug}/challenge POST/events/{slug}/orders GET/orders/{code} GET/payments/{code}`)

func TestSiteKey_OpensTheShopToListedSitesAndNothingElse(t *testing.T) {
	t.Parallel()
	s := scripted(t, events.Settings{})
	order := s.places(t, 1, "Ann")
	s.exec(t, `WITH s AS (INSERT INTO series (team_id, slug, lead_id) SELECT team_id, slug, id FROM event RETURNING id, lead_id) UPDATE event SET series_id = s.id FROM s WHERE s.lead_id = event.id`)
	h, opened := newHandlers(s.config), []string{}
	for _, route := range h.table() {
		method, pattern, _ := strings.Cut(route.pattern, " ")
		open := route.rule.Keyed
		if open {
			opened = append(opened, method+pattern)
		}
		path := strings.NewReplacer("{$}", "", "{slug}", "evening", "{code}", order.Code).Replace(pattern)
		path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "1")
		everybody := ""
		if route.rule.Shared {
			everybody = "*"
		}
		public := strings.HasPrefix(route.rule.Cache, "public")
		for name, c := range map[string]struct{ origin, key, allowed string }{
			"no key":                     {theirSite, "", everybody},
			"a key at a listed site":     {theirSite, ourKey, theirSite},
			"a key at an unlisted site":  {"https://www.elsewhere.example", ourKey, ""},
			"a key at a site beside":     {theirSite + ":8443", ourKey, ""},
			"a key without a site":       {"", ourKey, ""},
			"a key in a sandbox":         {"null", ourKey, ""},
			"an ended key":               {theirSite, endedKey, theirSite},
			"no such key":                {theirSite, "site_X", theirSite},
			"another team's key":         {anotherSite, theirKey, anotherSite},
			"our key on another's site":  {anotherSite, ourKey, anotherSite},
			"their key on a site of our": {theirSite, theirKey, theirSite},
		} {
			asked := []string{"Sec-Fetch-Site", "cross-site", "Cookie", "__Host-usher=x"}
			if c.origin != "" {
				asked = append(asked, "Origin", c.origin)
			}
			if c.key != "" {
				asked = append(asked, web.SiteKey, c.key)
			}
			a, body := send(t, person(t), method, s.url+path, "", asked...)
			want := everybody
			if open && !public && c.key != "" {
				want = c.allowed
			}
			if got := a.Header.Get(allowOrigin); got != want || a.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s with %s: %d lets %q read, want %q", route.pattern, name, a.StatusCode, got, want)
			}
			refused := strings.Contains(body, `"site"`) || strings.Contains(body, `"site_key"`)
			if wanted := open && !public && c.key != "" && name != "a key at a listed site"; refused != wanted || refused && a.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %s is refused: %t, %d %.200s", route.pattern, name, refused, a.StatusCode, body)
			}
			if changes := method != http.MethodGet && !(open && c.key != ""); changes && a.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %s is not refused as of another site: %d %.200s", route.pattern, name, a.StatusCode, body)
			}
			if c.origin == "" {
				continue
			}
			a, body = send(t, person(t), http.MethodOptions, s.url+path, "", "Origin", c.origin, "Access-Control-Request-Method", method, "Access-Control-Request-Headers", "content-type,"+web.SiteKey)
			known := c.origin == theirSite || c.origin == anotherSite
			takes := a.StatusCode == http.StatusNoContent && a.Header.Get(allowOrigin) == c.origin && slices.Contains(strings.Split(a.Header.Get("Access-Control-Allow-Methods"), ", "), method)
			if takes != (open && known) {
				t.Errorf("OPTIONS %s for %s of %s: %d %v %.200s", path, method, c.origin, a.StatusCode, a.Header, body)
			}
		}
	}
	slices.Sort(opened)
	if want := slices.Sorted(slices.Values(sold)); !slices.Equal(opened, want) {
		t.Errorf("a site key opens %v, want %v", opened, want)
	}
}

func TestSiteKey_AScriptBuysWithoutCookies(t *testing.T) {
	t.Parallel()
	s := scripted(t, events.Settings{Demo: true, PaidAhead: true})
	who, c := newScript()
	at := s.url + "/events/evening"
	claim := func(n string) shop.HoldBody {
		t.Helper()
		a, body := send(t, who, "POST", at+"/claims", `{"area":"Floor","quantity":`+n+`}`)
		if a.StatusCode != http.StatusCreated || a.Header.Get("Set-Cookie") != "" || !strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), web.SiteSession) {
			t.Fatal(a.StatusCode, a.Header, body)
		}
		return holdOf(t, body)
	}
	hold := claim("2")
	if c.session == "" {
		t.Fatal("there is no session")
	}
	if a, body := send(t, who, "GET", at+"/hold", ""); holdOf(t, body).ID != hold.ID || !strings.Contains(a.Header.Get("Vary"), "Origin") {
		t.Errorf("the hold: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, who, "POST", at+"/hold/extension", "{}"); a.StatusCode != http.StatusOK {
		t.Errorf("an extension: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, who, "DELETE", at+"/claims/"+jsonNumber(hold.Idx[0]), ""); a.StatusCode != http.StatusOK || len(holdOf(t, body).Seats) != 1 {
		t.Errorf("a release: %d %s", a.StatusCode, body)
	}
	hold = claim("1")
	stranger, _ := newScript()
	if a, body := send(t, stranger, "GET", at+"/hold", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("without the session: %d %s", a.StatusCode, body)
	}
	a, _ := send(t, person(t), "POST", at+"/claims", `{"area":"Floor","quantity":1}`)
	cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	if a, _ := send(t, person(t), "GET", at+"/hold", "", "Cookie", cookie); a.StatusCode != http.StatusOK {
		t.Fatalf("a browser's hold: %d", a.StatusCode)
	}
	if a, body := send(t, stranger, "GET", at+"/hold", "", "Cookie", cookie); a.StatusCode != http.StatusNotFound {
		t.Errorf("with a browser's cookie: %d %s", a.StatusCode, body)
	}

	a, body := send(t, who, "POST", at+"/orders", `{"hold":"`+hold.ID+`","seats":["`+strings.Join(hold.Seats, `","`)+`"],"name":"Ann","email":"ann@example.org","method":"demo","total":`+jsonNumber(int(hold.Total))+`}`)
	var paid shop.PaymentAnswer
	if err := json.Unmarshal([]byte(body), &paid); err != nil {
		t.Fatal(err, body)
	}
	home := "https://tickets.example.org"
	if a.StatusCode != http.StatusAccepted || !strings.HasPrefix(paid.Payment.Page, home+"/demo-card/") || a.Header.Get("Location") != home+"/payments/"+paid.Payment.Code {
		t.Fatal(a.StatusCode, a.Header, body)
	}
	s.answers(t, person(t), strings.TrimPrefix(paid.Payment.Page, home), "pay")
	done := s.untilState(t, who, "/payments/"+paid.Payment.Code, "done")
	if a, body := send(t, who, "GET", s.url+done.Order, ""); a.StatusCode != http.StatusOK || strings.Count(body, `"revoked":false`) != 2 {
		t.Errorf("the order: %d %s", a.StatusCode, body)
	}
	c.key, c.origin = theirKey, anotherSite
	for _, path := range []string{done.Order, "/payments/" + paid.Payment.Code, "/events/evening", "/events/evening/hold"} {
		if a, body := send(t, who, "GET", s.url+path, ""); a.StatusCode != http.StatusForbidden || !strings.Contains(body, "another team") || strings.Contains(body, "Ann") {
			t.Errorf("%s by another team's key: %d %s", path, a.StatusCode, body)
		}
	}
	c.key, c.origin, c.session = ourKey, theirSite, "no session"
	if a, body := send(t, who, "GET", at+"/hold", ""); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "Usher-Session") {
		t.Errorf("a session that no answer had: %d %s", a.StatusCode, body)
	}
}

func TestSiteKey_IsLimitedAsAnyBrowserIs(t *testing.T) {
	t.Parallel()
	s := scripted(t, events.Settings{}, func(c *Config) { c.AddressHeader = "X-Forwarded-For" })
	s.limits(t, limit.Settings{Challenge: limit.Automatic, SeatsPerNetwork: 2})
	const from = "203.0.113.9"
	one, _ := newScript()
	if a, body := s.claims(t, one, from, 0, 1); a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, body)
	}
	two, _ := newScript()
	a, body := s.claims(t, two, from, 2)
	if a.StatusCode != shop.StatusChallenge || !strings.Contains(body, `"to":"https://tickets.example.org/events/evening/challenge"`) {
		t.Fatal(a.StatusCode, body)
	}
	if status := s.solves(t, two, s.browserWork(t, two)); status != http.StatusNoContent {
		t.Errorf("the work: %d", status)
	}
	if a, body = s.claims(t, two, from, 2); a.StatusCode != http.StatusCreated {
		t.Errorf("after the work: %d %s", a.StatusCode, body)
	}
	opens := time.Now().Add(time.Hour)
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	until(t, "a script is sent to the waiting room", func() bool {
		three, _ := newScript()
		a, body = s.claims(t, three, "203.0.115.9", 9)
		return a.StatusCode == http.StatusForbidden
	})
	if !strings.Contains(body, `"to":"https://tickets.example.org/rooms/evening"`) {
		t.Error(body)
	}
}

func TestSiteKey_IsMadeAndEndedByAnOwner(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const at = "http://localhost:8080"
	if a, body := s.submit(t, ann, "/desk/site", url.Values{"key": {"sites"}, "sites": {at}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	for _, key := range []string{"1", "2", "3", "4", "5", "1"} { // a repeat makes no other
		if a, body := s.submit(t, ann, "/desk/site/keys", url.Values{"key": {key}}); a.StatusCode != http.StatusSeeOther {
			t.Fatal(a.StatusCode, body)
		}
	}
	if a, page := s.submit(t, ann, "/desk/site/keys", url.Values{"key": {"6"}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, "Your team has 5 site keys. End one before you create another.") {
		t.Error(a.StatusCode)
	}
	_, page := s.page(t, ann, "/desk/site")
	keys := regexp.MustCompile(`<code>(site_[A-Z2-7]{26})</code>`).FindAllStringSubmatch(page, -1)
	if len(keys) != 5 {
		t.Fatalf("the page shows %d keys", len(keys))
	}
	who, c := newScript()
	c.key, c.origin = keys[0][1], at
	if a, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusCreated || c.session == "" {
		t.Fatal(a.StatusCode, body)
	}
	end := regexp.MustCompile(`/desk/site/keys/\d+/end`).FindString(page)
	if a, _ := s.submit(t, ann, end, url.Values{"key": {"end"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("%s: %d", end, a.StatusCode)
	}
	if a, body := send(t, who, "GET", s.url+"/events/evening/hold", ""); a.StatusCode != http.StatusForbidden || !strings.Contains(body, "This site key has ended.") {
		t.Errorf("the key is ended: %d %s", a.StatusCode, body)
	}
	c.key = keys[1][1]
	if a, body := send(t, who, "GET", s.url+"/events/evening/hold", ""); a.StatusCode != http.StatusOK {
		t.Errorf("with another key of the team: %d %s", a.StatusCode, body)
	}
	if n := s.audited(t, "created a site key"); n != 5 {
		t.Errorf("%d keys are in the log", n)
	}
}

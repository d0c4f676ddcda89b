package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
)

const (
	theirSite  = "https://www.playhouse.example"
	frameMark  = "__Host-usher-frame-on"
	policyHead = "Content-Security-Policy"
)

// embedded is a box office under https. Its team lists a site.
func embedded(t *testing.T, e events.Settings) *site {
	t.Helper()
	s := newSiteFor(t, e, func(c *Config) { c.PublicURL = "https://tickets.example.org" })
	s.exec(t, `INSERT INTO team_site (team_id, origin) VALUES ($1, $2)`, s.sale.Event.Team, theirSite)
	return s
}

// inFrame is what a browser sends for a page in a frame on a foreign site, with cookies.
func inFrame(cookies ...string) []string {
	return []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "same-origin", "Accept", asPage, "Cookie", strings.Join(cookies, "; ")}
}

func ancestors(a *http.Response) string {
	_, list, _ := strings.Cut(a.Header.Get(policyHead), "frame-ancestors ")
	return list
}

const wayHome = `class="home" href="/events"`

func TestFrame_OnlyListedSitesFrameTheShopAndNothingElse(t *testing.T) {
	t.Parallel()
	s := embedded(t, events.Settings{})
	mark := frameMark + "=" + jsonNumber(int(s.sale.Event.Team)) + "..foreign"
	source, err := os.ReadFile("../static/js/frame.js")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`const inside = /(.+)/\n`).FindSubmatch(source)
	inside := regexp.MustCompile(strings.ReplaceAll(string(pattern[1]), `\/`, `/`))
	order := s.places(t, 1, "Ann")
	h := newHandlers(s.config)
	for _, route := range h.table() {
		path, get := strings.CutPrefix(route.pattern, "GET ")
		if !get {
			continue
		}
		path = strings.NewReplacer("{$}", "", "{slug}", "evening", "{section}", "0", "{code}", order.Code).Replace(path)
		path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "1")
		if knows := inside.MatchString(path); knows != route.rule.Frame {
			t.Errorf("%s: the script of frames opens it there: %t, the table says %t", path, knows, route.rule.Frame)
		}
		if strings.HasSuffix(path, "/live") {
			continue
		}
		a, page := send(t, person(t), "GET", s.url+path, "", inFrame(mark)...)
		if strings.Contains(page, wayHome) {
			t.Errorf("%s in a frame leads to the programme of the box office", path)
		}
		switch leave := strings.Contains(page, `target="_blank" rel="noopener">Open in a new tab</a>`); {
		case route.rule.Frame == leave:
			t.Errorf("%s in a frame: %d, a link to a new tab: %t", path, a.StatusCode, leave)
		case leave && ancestors(a) != theirSite:
			t.Errorf("%s: the link may be framed by %s", path, ancestors(a))
		}
		if a, _ := send(t, person(t), "GET", s.url+path, "", inFrame()...); !strings.HasSuffix(path, "/embed") && a.Header.Get(policyHead) != "" && ancestors(a) != "'none'" {
			t.Errorf("%s, in a frame that did not begin at /embed, may be framed by %s", path, ancestors(a))
		}
		if a, _ := send(t, person(t), "GET", s.url+path, "", "Accept", asPage); a.Header.Get(policyHead) != "" && ancestors(a) != "'none'" {
			t.Errorf("%s, not in a frame, may be framed by %s", path, ancestors(a))
		}
	}
	if _, page := send(t, person(t), "GET", s.url+"/events/evening", "", "Accept", asPage); !strings.Contains(page, wayHome) {
		t.Error("an event that is not in a frame does not lead to the programme")
	}
	for _, path := range []string{"/events/evening", "/events/evening/sections/0", "/events/evening/waitlist", "/orders/" + order.Code} {
		if a, _ := send(t, person(t), "GET", s.url+path, "", inFrame(mark)...); ancestors(a) != theirSite {
			t.Errorf("%s may be framed by %s", path, ancestors(a))
		}
	}
	s.others(t, "theirs") // its team lists no site, with or without the mark
	if a, _ := send(t, person(t), "GET", s.url+"/events/theirs", "", inFrame(mark)...); ancestors(a) != "'none'" {
		t.Errorf("an event of another team may be framed by %s", ancestors(a))
	}
	if a, page := send(t, person(t), "POST", s.url+"/events/evening/claims", "seat=none&key=k", append(inFrame(mark), "Content-Type", asForm)...); a.StatusCode < 400 || ancestors(a) != theirSite {
		t.Errorf("a refusal in a frame: %d, framed by %s, %.80s", a.StatusCode, ancestors(a), page)
	}
}

func TestFrame_BeginsWithAMarkAndIsALinkWithoutCookies(t *testing.T) {
	t.Parallel()
	s := embedded(t, events.Settings{})
	begin := func(site string) string {
		a, _ := send(t, person(t), "GET", s.url+"/events/evening/embed?scheme=dark&lang=de", "", "Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", site, "Accept", asPage)
		if to := a.Header.Get("Location"); to != "/events/evening?in=frame&lang=de" {
			t.Errorf("%s leads to %s", site, to)
		}
		for _, cookie := range a.Header["Set-Cookie"] {
			if strings.HasPrefix(cookie, frameMark) {
				return cookie
			}
		}
		return ""
	}
	foreign := begin("cross-site")
	if want := ".dark.foreign; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=None; Partitioned"; !strings.HasSuffix(foreign, want) {
		t.Errorf("on a foreign site the mark is %s", foreign)
	}
	if own := begin("same-site"); !strings.HasSuffix(own, ".dark.own; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax") {
		t.Errorf("on a site of the same owner the mark is %s", own)
	}
	if a, page := send(t, person(t), "GET", s.url+"/events/evening?in=frame", "", inFrame()...); ancestors(a) != theirSite || !strings.Contains(page, "Your browser keeps no cookies") || !strings.Contains(page, `href="/events/evening" target="_blank"`) {
		t.Errorf("without cookies: %d, framed by %s", a.StatusCode, ancestors(a))
	}
	_, page := send(t, person(t), "GET", s.url+"/events/evening?in=frame", "", inFrame(strings.Split(foreign, ";")[0])...)
	if !strings.Contains(page, "color-scheme:dark") || !strings.Contains(page, "/static/frame.") {
		t.Error("the page in the frame is not dark, or has no script for its height")
	}
	if a, _ := send(t, person(t), "GET", s.url+"/events/evening/embed", "", "Sec-Fetch-Dest", "document", "Accept", asPage); a.Header.Get("Location") != "/events/evening" || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("in a tab of its own it leads to %s", a.Header.Get("Location"))
	}
	a, _ := send(t, person(t), "GET", s.url+"/events/evening", "", "Sec-Fetch-Dest", "document", "Accept", asPage, "Cookie", strings.Split(foreign, ";")[0])
	if gone := a.Header.Get("Set-Cookie"); !strings.HasPrefix(gone, frameMark+"=; ") || !strings.Contains(gone, "Max-Age=0") {
		t.Errorf("a browser that parts no cookies keeps the mark: %s", gone)
	}
}

func TestFrame_ItsCookiesAreItsOwn(t *testing.T) {
	t.Parallel()
	s := embedded(t, events.Settings{})
	mark := frameMark + "=1..foreign"
	claim := func(cookies ...string) (*http.Response, string) {
		return send(t, person(t), "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`, "Sec-Fetch-Site", "same-origin", "Cookie", strings.Join(cookies, "; "))
	}
	a, body := claim(mark)
	set := a.Header.Get("Set-Cookie")
	if a.StatusCode != http.StatusCreated || !strings.HasPrefix(set, "__Host-usher-frame=") || !strings.HasSuffix(set, "; Secure; SameSite=None; Partitioned") || strings.Contains(set, "Lax") || strings.Count(set, "Secure") != 1 {
		t.Fatalf("%d, the cookie is %s", a.StatusCode, set)
	}
	session, _, _ := strings.Cut(set, ";")
	hold := holdOf(t, body)
	holds := func(cookies ...string) bool {
		_, body := send(t, person(t), "GET", s.url+"/events/evening/hold", "", "Cookie", strings.Join(cookies, "; "))
		return strings.Contains(body, hold.ID)
	}
	token := strings.TrimPrefix(session, "__Host-usher-frame=")
	for name, c := range map[string]struct {
		cookies []string
		want    bool
	}{
		"in the frame": {[]string{mark, session}, true}, "outside": {[]string{session}, false},
		"another one outside": {[]string{mark, "__Host-usher=" + token}, false}, "with one outside": {[]string{"__Host-usher=other", mark, session, "theirs=x"}, true},
	} {
		if got := holds(c.cookies...); got != c.want {
			t.Errorf("%s: holds the seat %t", name, got)
		}
	}
	for _, from := range []string{"cross-site", "same-site"} {
		a, _ := send(t, person(t), "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`, "Sec-Fetch-Site", from, "Origin", theirSite, "Cookie", mark+"; "+session)
		if a.StatusCode != http.StatusForbidden {
			t.Errorf("the site around the frame claims seats with the cookies of the frame: %d", a.StatusCode)
		}
	}
}

func TestFrame_CardIsPaidInATabOfItsOwn(t *testing.T) {
	t.Parallel()
	s := embedded(t, events.Settings{Demo: true, PaidAhead: true})
	mark := frameMark + "=1..foreign"
	a, body := send(t, person(t), "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`, "Cookie", mark)
	session, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	form := fill(holdOf(t, body), "Ann", "ann@example.org")
	form.Set("method", "demo")
	a, page := send(t, person(t), "POST", s.url+"/events/evening/orders", form.Encode(), append(inFrame(mark, session), "Content-Type", asForm)...)
	to := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/payments/") {
		t.Fatalf("%d %s %.300s", a.StatusCode, to, page)
	}
	a, page = send(t, person(t), "GET", s.url+to, "", inFrame(mark, session)...)
	if ancestors(a) != theirSite || a.Header.Get("Refresh") != "" || !regexp.MustCompile(`href="/demo-card/[^"]+" target="_blank"`).MatchString(page) {
		t.Errorf("the page of the payment: framed by %s, %s", ancestors(a), a.Header.Get("Refresh"))
	}
}

func TestBadge_SaysToEverySiteWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := embedded(t, events.Settings{})
	var b struct {
		Free  int
		Price int64
		Words struct{ Price, Left, Open string }
	}
	a, body := send(t, person(t), "GET", s.url+"/events/evening/badge?lang=de", "", "Origin", "https://elsewhere.example", "Cookie", frameMark+"=1..foreign")
	if err := json.Unmarshal([]byte(body), &b); err != nil || b.Price == 0 || b.Free == 0 {
		t.Fatal(err, body)
	}
	if b.Words.Open != "Tickets kaufen" || !strings.HasPrefix(b.Words.Price, "ab ") {
		t.Errorf("in German it says %+v", b.Words)
	}
	for name, want := range map[string]string{"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "public, max-age=1", "Access-Control-Allow-Credentials": "", "Set-Cookie": ""} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	left := b.Free
	s.held(t, person(t), 2)
	if _, body = send(t, person(t), "GET", s.url+"/events/evening/badge", ""); json.Unmarshal([]byte(body), &b) != nil || b.Free != left-2 {
		t.Errorf("after a claim of 2 of %d: %s", left, body)
	}
	if a, script := send(t, person(t), "GET", s.url+"/embed.js", ""); !strings.Contains(script, "usher-event") || a.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || a.Header.Get("Cache-Control") != "public, max-age=3600" {
		t.Errorf("embed.js: %d %v", a.StatusCode, a.Header)
	}
}

func TestSites_OnlySecureOriginsAreListed(t *testing.T) {
	t.Parallel()
	s := embedded(t, events.Settings{})
	s.exec(t, `DELETE FROM team_site`)
	plain := newSite(t)
	ann := plain.owner(t)
	if a, body := plain.submit(t, ann, "/desk/site", url.Values{"key": {"1"}, "sites": {" https://WWW.Playhouse.example/shop?x=1 \r\n\r\nhttps://müller.example\nhttp://localhost:8080"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	_, body := send(t, ann, "GET", plain.url+"/desk/site", "")
	if want := `"sites":["http://localhost:8080","https://www.playhouse.example","https://xn--mller-kva.example"]`; !strings.Contains(body, want) {
		t.Error(body)
	}
	for _, bad := range []string{"http://www.playhouse.example", "playhouse", "https://*.example.org", "https://", "javascript:alert(1)", "https://a.example;script-src *", "https://a.example 'self'", "https://user@a.example", "data:text/html,x", "https://[::1]", "https://a.example:123456", "https://a.example.", "https://.example.org"} {
		a, page := plain.submit(t, ann, "/desk/site", url.Values{"key": {bad}, "sites": {bad}})
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `id="sites-wrong"`) {
			t.Errorf("%s is listed: %d", bad, a.StatusCode)
		}
	}
	if _, err := s.db.Exec(t.Context(), `INSERT INTO team_site SELECT id, 'https://a.example; script-src *' FROM team`); err == nil {
		t.Error("the database takes a policy as a site")
	}
}

func TestFrame_ShowsASeries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const at = "http://localhost:8080"
	for path, form := range map[string]url.Values{"/desk/site": {"sites": {at}}, "/desk/events/evening/series": {"dates": {"2033-07-01 19:30"}}} {
		form.Set("key", path)
		if a, body := s.submit(t, ann, path, form); a.StatusCode != http.StatusSeeOther {
			t.Fatal(path, a.StatusCode, words(body))
		}
	}
	a, _ := send(t, person(t), "GET", s.url+"/series/evening/embed", "", "Sec-Fetch-Dest", "iframe", "Sec-Fetch-Site", "cross-site", "Accept", asPage)
	mark, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	if to := a.Header.Get("Location"); to != "/series/evening?in=frame" || mark != "usher-frame-on=1..foreign" {
		t.Fatalf("it leads to %s with %s", to, mark)
	}
	if a, page := send(t, person(t), "GET", s.url+"/series/evening?in=frame", "", inFrame(mark)...); ancestors(a) != at || !strings.Contains(page, `href="/events/evening`) {
		t.Errorf("the series may be framed by %s: %d", ancestors(a), a.StatusCode)
	}
	if a, body := send(t, person(t), "GET", s.url+"/series/evening/badge?lang=de", ""); a.Header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(body, `"open":"Tickets kaufen"`) || !strings.Contains(body, `"dates":1,`) || !strings.Contains(body, `"price":"ab `) {
		t.Error(body)
	}
}

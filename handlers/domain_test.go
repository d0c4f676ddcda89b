package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/orders"
	"github.com/usherbox/usher/seats/waitingroom"
)

// named is a box office with two teams. Their domains are proven by records that the test sets.
type named struct {
	*site
	records map[string][]string
	handler http.Handler
}

func newNamed(t *testing.T) *named {
	t.Helper()
	n := &named{records: map[string][]string{}}
	n.site = newSiteFor(t, events.Settings{Venue: "Playhouse"}, func(c *Config) {
		c.PublicURL, c.Sites.URL = "http://tickets.example.org", "http://tickets.example.org"
		c.Sites.Records = func(_ context.Context, name string) ([]string, error) {
			if found := n.records[name]; found != nil {
				return found, nil
			}
			return nil, errors.New("no such host")
		}
	})
	n.handler = New(n.config)
	return n
}

// at asks a page by a host.
func (n *named) at(host, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "https://"+host+path, nil)
	r.Header.Set("Accept", asPage)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	n.handler.ServeHTTP(w, r)
	return w
}

var recordShown = regexp.MustCompile(`<code>(_usher\.[^<]+)</code>[\s\S]*?<code>(usher-domain=[^<]+)</code>`)

// proves has an organizer ask for a domain, put its record and check it.
func (n *named) proves(t *testing.T, who *http.Client, domain string) {
	t.Helper()
	if a, body := n.submit(t, who, "/desk/site/domain", url.Values{"key": {"ask " + domain}, "domain": {domain}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	_, page := n.page(t, who, "/desk/site")
	shown := recordShown.FindStringSubmatch(page)
	if shown == nil {
		t.Fatal("the desk does not say which record proves the domain")
	}
	n.records[shown[1]] = []string{"v=spf1 -all", shown[2]}
	if a, body := n.submit(t, who, "/desk/site/domain/proof", url.Values{"key": {"prove " + domain}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
}

func TestDomain_ShowsItsTeamAloneAndIsInLinksAndMails(t *testing.T) {
	t.Parallel()
	n := newNamed(t)
	ann, order := n.owner(t), n.places(t, 1, "Bob")
	n.others(t, "theirs")
	n.exec(t, `WITH s AS (INSERT INTO subscription (team_id, slug, name, currency, closes_at) SELECT team_id, slug || '-season', 'Season', currency, starts_at FROM event RETURNING id, slug)
		INSERT INTO subscription_price (subscription_id, event_id, category, price) SELECT s.id, e.id, 'A', 900 FROM s JOIN event e ON s.slug = e.slug || '-season'`)
	newRoom(t, n.site, waitingroom.NewRoom{})
	if _, err := (waitingroom.Control{DB: n.db, Who: "test"}).Create(t.Context(), waitingroom.NewRoom{Name: "Theirs", Events: []string{"theirs"}}); err != nil {
		t.Fatal(err)
	}
	until(t, "their event has its room", func() bool { return n.at("127.0.0.1", "/rooms/theirs/status").Code == http.StatusOK })
	const host = "kasse.playhouse.org"
	n.submit(t, ann, "/desk/site/domain", url.Values{"key": {"ask"}, "domain": {host}})
	if page := n.at(host, "/events").Body.String(); !strings.Contains(page, "theirs") || strings.Contains(page, host) {
		t.Error("a domain that is not proven changes the programme, or is in a link")
	}
	n.proves(t, ann, host)
	page := n.at(host, "/events").Body.String()
	if strings.Contains(page, "theirs") || !strings.Contains(page, "/events/evening") {
		t.Error("the programme of the domain is not that of its team")
	}
	for path, want := range map[string]int{
		"/events/evening": 200, "/events/evening/sections/0": 200, "/orders/" + order.Code: 200, "/subscriptions/evening-season": 200, "/events/theirs": 404, "/subscriptions/theirs-season": 404, "/events/theirs/sections/0": 404, "/events/theirs/badge": 404,
		"/rooms/evening": 200, "/rooms/evening/status": 200, "/rooms/theirs": 404, "/rooms/theirs/status": 404,
		"/desk": 303, "/desk/session": 303, "/door/x": 303, "/boards/x": 303, "/sitemap.xml": 200,
	} {
		a := n.at(host, path)
		if a.Code != want {
			t.Errorf("%s: %d, want %d", path, a.Code, want)
		}
		if want == 303 && a.Header().Get("Location") != "http://tickets.example.org"+path {
			t.Errorf("%s leads to %s", path, a.Header().Get("Location"))
		}
		if said := a.Body.String(); want == 200 && strings.Contains(said, "theirs") {
			t.Errorf("%s names another team's event", path)
		}
	}
	if page := n.at(strings.ToUpper(host)+":443", "/events/evening").Body.String(); !strings.Contains(page, `href="http://`+host+`/events/evening"`) {
		t.Error("the page of the event is not canonical at its domain")
	}
	for _, other := range []string{"tickets.example.org", "evil.example"} {
		if page := n.at(other, "/events").Body.String(); !strings.Contains(page, "theirs") || strings.Contains(page, "evil.example") || strings.Contains(page, host) {
			t.Errorf("the programme at %s is another one", other)
		}
	}
	for domain, want := range map[string]int{host: 200, "tickets.example.org": 200, "evil.example": 404, "": 404, "x" + host: 404} {
		if a := n.at("127.0.0.1", "/tls-domain?domain="+domain); a.Code != want {
			t.Errorf("a certificate of %q: %d", domain, a.Code)
		}
	}
	letters := Letters{Inventory: n.office, Orders: n.sold, Desk: n.organizers, Pages: n.config.Pages, Sites: n.config.Sites, Invoices: n.config.Invoices, Banks: n.config.Banks, URL: "http://tickets.example.org"}
	l, err := letters.Write(t.Context(), mail.Mail{ID: 1, Order: order.Code, Kind: orders.MailConfirmation})
	if err != nil || !strings.Contains(l.Text, "http://"+host+"/orders/"+order.Code) || strings.Contains(l.Text+l.HTML, "tickets.example.org") {
		t.Errorf("the mail leads elsewhere: %v %s", err, l.Text)
	}
	if a, body := n.submit(t, ann, "/desk/site/domain/removal", url.Values{"key": {"gone"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	if a := n.at(host, "/events/theirs"); a.Code != http.StatusOK {
		t.Errorf("a domain that was removed: %d", a.Code)
	}
}

func TestDomain_WhatIsBelowItIsNotToldToUseTLS(t *testing.T) {
	t.Parallel()
	n := &named{site: newSiteFor(t, events.Settings{}, func(c *Config) { c.PublicURL = "https://tickets.example.org" })}
	n.handler = New(n.config)
	n.exec(t, `INSERT INTO team_domain (team_id, domain, proof, proven_at) SELECT id, 'playhouse.org', rpad('x', 26), now() FROM team`)
	for host, want := range map[string]string{"playhouse.org": "max-age=31536000", "tickets.example.org": "max-age=31536000; includeSubDomains"} {
		if got := n.at(host, "/events").Header().Get("Strict-Transport-Security"); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

func TestDomain_OfOthersIsRefusedWithASentence(t *testing.T) {
	t.Parallel()
	n := newNamed(t)
	ann := n.owner(t)
	team := n.others(t, "theirs")
	eve := n.memberOf(t, "eve", "owner", team)
	refused := func(who *http.Client, path, domain, says string) {
		t.Helper()
		a, page := n.submit(t, who, path, url.Values{"key": {path + domain + says}, "domain": {domain}})
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, says) {
			t.Errorf("%q: %d, not %s", domain, a.StatusCode, says)
		}
	}
	for domain, says := range map[string]string{
		"tickets.example.org": "is the address of this box office itself.", "TICKETS.example.org.": "is the address of this box office itself.",
		"playhouse": "is not a domain", "127.0.0.1": "is not a domain", "https://playhouse.org": "is not a domain", "play house.org": "is not a domain", "": "is not a domain", "*.playhouse.org": "is not a domain",
		"playhouse.local": "not on the internet", "a.localhost": "not on the internet", strings.Repeat("a.", 130) + "org": "longer than a domain",
	} {
		refused(ann, "/desk/site/domain", domain, says)
	}
	refused(ann, "/desk/site/domain/proof", "", "Enter a domain first.")
	for _, who := range []*http.Client{ann, eve} { // asking bars no other team
		if a, _ := n.submit(t, who, "/desk/site/domain", url.Values{"key": {"both"}, "domain": {"kasse.playhouse.org"}}); a.StatusCode != http.StatusSeeOther {
			t.Fatal(a.StatusCode)
		}
	}
	refused(ann, "/desk/site/domain/proof", "", "There is no TXT record _usher.kasse.playhouse.org that says usher-domain=")
	n.records["_usher.kasse.playhouse.org"] = []string{"usher-domain=WRONG"}
	refused(ann, "/desk/site/domain/proof", "x", "The TXT record of _usher.kasse.playhouse.org does not say usher-domain=")
	n.proves(t, ann, "kasse.playhouse.org")
	refused(eve, "/desk/site/domain/proof", "", "does not say usher-domain=") // the record of another team proves nothing
	_, page := n.page(t, eve, "/desk/site")
	n.records["_usher.kasse.playhouse.org"] = []string{recordShown.FindStringSubmatch(page)[2]}
	refused(eve, "/desk/site/domain/proof", "y", "is the domain of another team here.")
	refused(eve, "/desk/site/domain", "kasse.playhouse.org", "is the domain of another team here.")
	if a := n.at("kasse.playhouse.org", "/events/theirs"); a.Code != http.StatusNotFound {
		t.Errorf("the other team has the domain: %d", a.Code)
	}
	if _, err := n.db.Exec(t.Context(), `UPDATE team_domain SET proven_at = clock_timestamp(), domain = 'kasse.playhouse.org'`); err == nil {
		t.Error("the database takes a domain of two teams")
	}
}

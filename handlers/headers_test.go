package handlers

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/plan"
)

func TestHeaders_EveryAnswerHasThem(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.PublicURL, c.Contact = "https://tickets.example.org", "mailto:safety@example.org" })
	order := s.places(t, 1, "Ann")
	shared := map[string]bool{"/events": true, "/events.ics": true, "/events.atom": true, "/events/evening": true, "/events/none": true, "/events/evening/seats": true, "/events/evening/map.bin": true, "/openapi.yaml": true} // the same for everybody, or nothing personal without cookies
	beside := map[string]bool{"/events.ics": true, "/events.atom": true, "/events/evening/seats": true, "/events/evening/map.bin": true}
	for _, path := range []string{
		"/events", "/events.ics", "/events.atom", "/sitemap.xml", "/robots.txt", "/events/evening", "/events/none", "/nowhere", "/nowhere/live", "/%ff", "/a//b", "/static/none", "/openapi.yaml", "/events/evening/live", "/events/evening/map.bin", "/events/evening/seats",
		"/orders/" + order.Code, "/orders/" + order.Code + "/calendar.ics", "/orders/" + order.Code + "/tickets.pdf", "/desk", "/door/none", "/door/worker.js", "/push.js", "/.well-known/security.txt",
	} {
		for _, method := range []string{"GET", "POST", "BREW"} {
			a, body := send(t, person(t), method, s.url+path, "")
			if kind := a.Header.Get("Content-Type"); body != "" && (kind == "" || strings.HasPrefix(kind, "text/") && !strings.HasSuffix(kind, "; charset=utf-8")) {
				t.Errorf("%s %s: %d, Content-Type is %q", method, path, a.StatusCode, kind)
			}
			wanted := map[string]string{
				"Strict-Transport-Security": "max-age=31536000; includeSubDomains", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
				"Content-Security-Policy": "frame-ancestors 'none'",
			}
			if a.Header.Get("Location") == "" && strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
				wanted["Cross-Origin-Opener-Policy"], wanted["Referrer-Policy"] = "same-origin", "same-origin"
			}
			if beside[path] && method == "GET" {
				wanted["Cross-Origin-Resource-Policy"] = "cross-origin"
			}
			for name, want := range wanted {
				if !strings.Contains(a.Header.Get(name), want) {
					t.Errorf("%s %s: %d, %s is %q", method, path, a.StatusCode, name, a.Header.Get(name))
				}
			}
			if kept := a.Header.Get("Cache-Control"); kept == "" || a.StatusCode >= 400 && strings.Contains(kept, "public") {
				t.Errorf("%s %s: %d, Cache-Control is %q", method, path, a.StatusCode, kept)
			}
		}
		a, _ := send(t, person(t), "GET", s.url+path, "", "Origin", "https://elsewhere.example")
		for name := range a.Header {
			if strings.HasPrefix(name, "Access-Control-") && !(shared[path] && name == "Access-Control-Allow-Origin" && a.Header.Get(name) == "*") {
				t.Errorf("%s says to another site %s: %s", path, name, a.Header.Get(name))
			}
		}
	}
	plainly := newSite(t)
	if a, _ := send(t, person(t), "GET", plainly.url+"/events", ""); a.Header.Get("Strict-Transport-Security") != "" {
		t.Error("a site without TLS demands it")
	}
	if a, _ := send(t, person(t), "GET", plainly.url+"/.well-known/security.txt", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("without a contact: %d", a.StatusCode)
	}
	if _, text := send(t, person(t), "GET", s.url+"/.well-known/security.txt", ""); !strings.Contains(text, "Contact: mailto:safety@example.org\n") || !strings.Contains(text, "Expires: 20") {
		t.Error(text)
	}
}

func TestHeaders_VaryNamesAccept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/events", "/events/evening", "/events/none", "/events/evening/sections/0", "/desk"} {
		for _, accept := range []string{"application/json", asPage} {
			a, _ := send(t, person(t), "GET", s.url+path, "", "Accept", accept)
			if !strings.HasPrefix(a.Header.Get("Vary"), "Accept, ") || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s as %s: Vary %q, Cache-Control %q", path, accept, a.Header.Values("Vary"), a.Header.Get("Cache-Control"))
			}
		}
	}
}

func TestHost_NeverReachesALink(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{})
	ann, order := s.owner(t), s.places(t, 1, "Ann")
	h := newHandlers(s.config)
	site := h.Wrap(h.routes(h.table()))
	for _, ask := range []struct{ method, path, body string }{
		{"GET", "/orders/" + order.Code + "/calendar.ics", ""},
		{"GET", "/orders/" + order.Code, ""},
		{"POST", "/desk/events/evening/doors", `{"key":"d"}`},
		{"POST", "/desk/events/evening/shares", `{"key":"s","name":"Wall","days":1}`},
		{"POST", "/desk/password", `{"key":"p","email":"ann@example.org"}`},
		{"GET", "/desk/events/evening", ""},
	} {
		r := httptest.NewRequest(ask.method, "http://evil.example"+ask.path, strings.NewReader(ask.body))
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, must(net.ResolveTCPAddr("tcp", "192.0.2.7:8080"))))
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", "application/json")
		for _, c := range ann.Jar.Cookies(must(url.Parse(s.url))) {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r)
		if said := w.Body.String() + w.Header().Get("Location"); w.Code >= 400 || strings.Contains(said, "evil.example") {
			t.Errorf("%s %s: %d %.300s", ask.method, ask.path, w.Code, said)
		} else if ask.method == "POST" && strings.Contains(said, "http://") && !strings.Contains(said, "http://192.0.2.7:8080/") {
			t.Errorf("%s: %s", ask.path, said)
		}
	}
	s.deskMail(t, "ann@example.org", organizers.MailPassword) // its link leads to the site
	if n := s.count(t, "mail WHERE mail::text LIKE '%evil.example%'"); n != 0 {
		t.Errorf("%d mails name the host that the request named", n)
	}
}

func TestSignOut_ClearsTheBrowsersData(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/desk/session", "/account/session"} {
		if a, _ := send(t, person(t), "DELETE", s.url+path, ""); a.Header.Get("Clear-Site-Data") != `"cache"` {
			t.Errorf("%s: %q", path, a.Header.Get("Clear-Site-Data"))
		}
	}
}

func TestReady_NeedsAWritableDatabase(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if a, body := ask(t, s.url+"/readyz"); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	was := s.count(t, "ready WHERE written_at > clock_timestamp() - interval '1 minute'")
	if was != 1 {
		t.Fatal("nothing was written")
	}
	s.exec(t, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`) // as on a disk that is full
	s.db.Reset()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if a, _ := ask(t, s.url+"/readyz"); a.StatusCode == http.StatusServiceUnavailable {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is ready while nothing can be sold")
		}
	}
	if a, _ := ask(t, s.url+"/events"); a.StatusCode != http.StatusOK {
		t.Errorf("the list of events: %d", a.StatusCode)
	}
}

func TestCSV_NoTextIsAFormulaWhateverSeparatesCells(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`x;=cmd|' /C calc'!A0;y`, "a\t+1", "a|-1", "x;\"=1\"", "=1", "a\n@x", "a; =1", "a;|@y", "Ann; Bob"} {
		var out strings.Builder
		c := desk.NewCSV(&out)
		if err := c.Line("Ann", text, "end"); err != nil || c.Flush() != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), `"Ann","`) || !strings.HasSuffix(out.String(), `","end"`+"\n") {
			t.Errorf("%q is written %s", text, out.String())
		}
		for _, separator := range []string{",", ";", "\t", "|", "\n"} {
			for cell := range strings.SplitSeq(out.String(), separator) {
				if bare := strings.TrimLeft(cell, "\" "); bare != "" && strings.ContainsAny(bare[:1], "=+-@") {
					t.Errorf("%q with %q between cells has the cell %q", text, separator, cell)
				}
			}
		}
	}
	for _, text := range []string{"\t=1", " =1", "\n=1", "\u00a0=1", "＝1+1"} {
		if plan.Harmless(text)[0] != '\'' {
			t.Errorf("%q is a formula", text)
		}
		var out strings.Builder
		p := &seats.Plan{Sections: []seats.Section{{Name: text}}, Categories: []seats.Category{{Name: "A"}}, Seats: []seats.Seat{{Number: "1"}}}
		if err := plan.WriteCSV(&out, p); err != nil || !strings.Contains(out.String(), "'") {
			t.Errorf("the section %q is in %q, %v", text, out.String(), err)
		}
	}
}

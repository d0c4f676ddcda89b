package handlers

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/waitingroom"
)

// lobby is a site with a waiting room, and a visitor in its lobby.
func lobby(t *testing.T) (s *site, c waitingroom.Control, ann *http.Client) {
	t.Helper()
	s = newSiteFor(t, events.Settings{}, func(c *Config) { c.AddressHeader = "X-Forwarded-For" })
	opens := time.Now().Add(time.Hour)
	c, ann = newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens, Slots: 1}), person(t)
	joins(t, s, ann)
	return s, c, ann
}

// rows is the number that a query gives.
func (s *site) rows(t *testing.T, sql string) (n int) {
	t.Helper()
	if err := s.db.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (s *site) asksTurn(t *testing.T, who *http.Client, form url.Values, header ...string) (*http.Response, string) {
	t.Helper()
	return send(t, who, "POST", s.url+"/rooms/evening/notifications", form.Encode(), append([]string{"Content-Type", asForm}, header...)...)
}

func TestTurn_IsToldByOneEmailWithoutScripts(t *testing.T) {
	t.Parallel()
	s, c, ann := lobby(t)
	_, page := send(t, ann, "GET", s.url+"/rooms/evening", "", "Accept", asPage)
	if !strings.Contains(page, "Tell me when it’s my turn") || !strings.Contains(page, "Notify me in this browser") {
		t.Fatalf("the page offers nothing: %.900s", readable(page))
	}
	a, _ := s.asksTurn(t, ann, url.Values{"email": {"ann@example.org"}}, "Accept", asPage)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/rooms/evening#tell" {
		t.Fatalf("asking: %d %s", a.StatusCode, a.Header.Get("Location"))
	}
	_, page = send(t, ann, "GET", s.url+"/rooms/evening", "", "Accept", asPage)
	if !strings.Contains(page, "We email you when your number is called.") || strings.Contains(page, "ann@example.org") {
		t.Errorf("the page after it: %.900s", readable(page))
	}
	if n := s.rows(t, `SELECT count(*) FROM mail WHERE kind = 'turn'`); n != 0 {
		t.Fatalf("%d mails before the number is called", n)
	}
	if err := c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the mail is written", func() bool { return s.rows(t, `SELECT count(*) FROM mail WHERE kind = 'turn'`) == 1 })

	address, got := mailServer(t)
	by, err := mail.NewSMTP("smtp://"+address, mail.Sender{Name: "Box office", Email: "tickets@example.org"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(by.Rest)
	outbox := mail.New(s.db, by)
	outbox.Write = Letters{Inventory: s.office, Rooms: s.config.Rooms, Pages: s.config.Pages, Sites: s.config.Sites, URL: "https://tickets.example.org"}.Write
	for range 2 {
		if _, err := outbox.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	arrived, err := netmail.ReadMessage(strings.NewReader(<-got))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	mailParts(t, arrived.Header.Get("Content-Type"), arrived.Body, found)
	for _, want := range []string{"in the waiting room is called. Enter by ", "https://tickets.example.org/rooms/evening\n", "in the browser in which you joined"} {
		if !strings.Contains(found["text/plain"], want) {
			t.Errorf("the mail lacks %q: %s", want, found["text/plain"])
		}
	}
	if arrived.Header.Get("To") != "<ann@example.org>" || arrived.Header.Get("Subject") != "It is your turn: Evening" {
		t.Errorf("headers %v", arrived.Header)
	}
	if len(got) > 0 {
		t.Error("it was sent twice")
	}
	if n := s.rows(t, `SELECT count(*) FROM mail WHERE email = 'ann@example.org'`) + s.rows(t, `SELECT count(*) FROM turn_request`); n != 0 {
		t.Errorf("%d rows have the address after it was sent", n)
	}
}

func TestTurn_BadRequestsAreAnsweredClearly(t *testing.T) {
	t.Parallel()
	s, _, ann := lobby(t)
	stranger := person(t)
	for name, c := range map[string]struct {
		who    *http.Client
		form   url.Values
		status int
		says   string
	}{
		"no place":     {stranger, url.Values{"email": {"ann@example.org"}}, 403, "no place"},
		"no address":   {ann, url.Values{"email": {"ann at example"}}, 422, "name@example.com"},
		"nothing":      {ann, url.Values{}, 422, "name@example.com"},
		"no endpoint":  {ann, url.Values{"endpoint": {"javascript:alert(1)"}, "p256dh": {"A"}, "auth": {"A"}}, 422, "push subscription"},
		"another port": {ann, url.Values{"endpoint": {"https://push.example.com:8443/1"}, "p256dh": {"A"}, "auth": {"A"}}, 422, "port 443"},
		"inside names": {ann, url.Values{"endpoint": {"http://127.0.0.1/"}, "p256dh": {"A"}, "auth": {"A"}}, 422, "push subscription"},
	} {
		a, body := s.asksTurn(t, c.who, c.form)
		if a.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", name, a.StatusCode, body)
		}
	}
	a, page := s.asksTurn(t, ann, url.Values{"email": {"ann at example"}}, "Accept", asPage)
	if a.StatusCode != 422 || !strings.Contains(page, `role="alert"`) || !strings.Contains(page, `value="ann at example"`) {
		t.Errorf("on the page: %d %.900s", a.StatusCode, readable(page))
	}
	for range web.TurnsPerNetwork + 1 {
		if a, _ = s.asksTurn(t, ann, url.Values{"email": {"x"}}, "X-Forwarded-For", "8.8.8.8"); a.StatusCode == http.StatusTooManyRequests {
			break
		}
	}
	if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
		t.Errorf("a network that asks without end gets %d", a.StatusCode)
	}
}

// The page offers each way once, also after the address was corrected.
func TestTurn_CorrectedAddressKeepsTheBrowser(t *testing.T) {
	t.Parallel()
	s, _, ann := lobby(t)
	browser, _ := s.push(t)
	for _, form := range []url.Values{{"email": {"an@example.org"}}, browser, {"email": {"ann@example.org"}}} {
		if a, body := s.asksTurn(t, ann, form); a.StatusCode != http.StatusNoContent {
			t.Fatalf("asking: %d %s", a.StatusCode, body)
		}
	}
	_, page := send(t, ann, "GET", s.url+"/rooms/evening", "", "Accept", asPage)
	if strings.Contains(page, "Notify me in this browser") {
		t.Errorf("the page offers notifications again: %.900s", readable(page))
	}
}

func TestTurn_IsTakenBackWithThePlace(t *testing.T) {
	t.Parallel()
	s, _, ann := lobby(t)
	count := func() int { return s.rows(t, `SELECT count(*) FROM turn_request`) }
	if a, body := s.asksTurn(t, ann, url.Values{"email": {"ann@example.org"}}); a.StatusCode != http.StatusNoContent || count() != 1 {
		t.Fatalf("asking: %d %s", a.StatusCode, body)
	}
	if a, body := s.asksTurn(t, ann, url.Values{"stop": {"1"}}); a.StatusCode != http.StatusNoContent || count() != 0 {
		t.Errorf("stopping: %d %s", a.StatusCode, body)
	}
	s.asksTurn(t, ann, url.Values{"email": {"ann@example.org"}})
	if a, body := send(t, ann, "POST", s.url+"/rooms/evening/departure", ""); a.StatusCode != http.StatusNoContent || count() != 0 {
		t.Errorf("leaving: %d %s, %d requests are kept", a.StatusCode, body, count())
	}
}

// push is a browser with a push service, which counts its messages.
func (s *site) push(t *testing.T) (form url.Values, got chan http.Header) {
	t.Helper()
	got = make(chan http.Header, 9)
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case got <- r.Header:
		default: // the test looks at the first ones
		}
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(service.Close)
	s.config.Turns.Client = service.Client()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return url.Values{"endpoint": {"https://push.example.com/1"}, "p256dh": {encode(key.PublicKey().Bytes())}, "auth": {encode(make([]byte, 16))}}, got
}

func TestOffer_IsToldToTheBrowsersOfAnEntryOnceEach(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.soldOut(t)
	ann := person(t)
	at := s.waits(t, ann, "ann@example.org", nil)
	form, got := s.push(t)
	_, page := send(t, ann, "GET", s.url+at, "", "Accept", asPage)
	if !strings.Contains(page, `data-push="`+s.config.Turns.PublicKey(t.Context())+`"`) {
		t.Error("the page offers no notifications")
	}
	for range 2 {
		if a, body := send(t, ann, "POST", s.url+at+"/notifications", form.Encode(), "Content-Type", asForm); a.StatusCode != http.StatusNoContent {
			t.Fatalf("asking: %d %s", a.StatusCode, body)
		}
	}
	if _, page := send(t, ann, "GET", s.url+at, "", "Accept", asPage); !strings.Contains(page, "1 browser notifies you") || !strings.Contains(page, "Stop notifications") {
		t.Errorf("the page after it: %.900s", readable(page))
	}
	if a, body := send(t, first, "DELETE", s.url+"/events/evening/claims", ""); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, body)
	}
	s.stands(t, ann, at, "offered")
	s.config.Turns.Wake()
	select {
	case <-got:
	case <-time.After(40 * time.Second):
		t.Fatal("the browser was told of no offer")
	}
	until(t, "the offer is noted as told", func() bool { return s.rows(t, `SELECT count(*) FROM turn_request WHERE offer_id IS NOT NULL`) == 1 })
	s.config.Turns.Wake()
	time.Sleep(300 * time.Millisecond)
	if len(got) > 0 {
		t.Error("the offer was told twice")
	}
	if a, body := send(t, ann, "POST", s.url+at+"/leave", url.Values{}.Encode(), "Content-Type", asForm); a.StatusCode >= 500 {
		t.Error(a.StatusCode, body)
	}
	if a, body := send(t, ann, "POST", s.url+at+"/notifications", "stop=1", "Content-Type", asForm); a.StatusCode != http.StatusNoContent || s.rows(t, `SELECT count(*) FROM turn_request`) != 0 {
		t.Errorf("stopping: %d %s", a.StatusCode, body)
	}
}

package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
)

// tab is an open page of the event: its socket, in JSON.
type tab struct {
	name string
	conn *websocket.Conn
	told []spoken // what it holds, each time it was told
}

type spoken struct {
	Type       string
	Version    int64 // of a map
	To         int64 // of news
	Deadline   int64 // ms since 1970
	Extensions int   `json:"extensions_left"`
	Idx        []int
}

func (s *site) tab(t *testing.T, name string, who *http.Client) *tab {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), s.url+"/events/evening/live?as=json", &websocket.DialOptions{HTTPClient: who})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	p := &tab{name: name, conn: conn}
	p.until(t, func(m spoken) bool { return m.Type == "snap" })
	return p
}

// until reads what the page is told up to what it waits for.
func (p *tab) until(t *testing.T, enough func(spoken) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		_, text, err := p.conn.Read(ctx)
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		var m spoken
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s is told %s: %v", p.name, text, err)
		}
		if m.Type == "mine" {
			p.told = append(p.told, m)
		}
		if enough(m) {
			return
		}
	}
}

func isMine(m spoken) bool { return m.Type == "mine" }

// A visitor's change, in another tab or as a program, is sent to each open page of theirs, and to no
// other visitor's.
func TestLive_ChangesReachTheVisitorsOtherTabsOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, bob := person(t), person(t)
	hold := s.held(t, ann, 2)
	s.held(t, bob, 1)
	mine := []*tab{s.tab(t, "Ann", ann), s.tab(t, "Ann, in another tab", ann)}
	others := []*tab{s.tab(t, "Bob", bob), s.tab(t, "a new visitor", person(t))}

	event := s.url + "/events/evening"
	does := func(what string, do func() shop.HoldBody) {
		t.Helper()
		want := do()
		for _, p := range mine {
			p.until(t, isMine)
			got := p.told[len(p.told)-1]
			if !slices.Equal(got.Idx, want.Idx) || got.Extensions != want.ExtensionsLeft || len(want.Idx) > 0 && got.Deadline != want.ExpiresAt.UnixMilli() {
				t.Errorf("%s: %s is told %+v, want %+v", what, p.name, got, want)
			}
		}
	}
	asks := func(method, path, body string) func() shop.HoldBody {
		return func() shop.HoldBody { _, body := send(t, ann, method, event+path, body); return holdOf(t, body) }
	}
	does("a place more", asks("POST", "/claims", `{"area":"Floor","quantity":1}`))
	does("more time", asks("POST", "/hold/extension", ""))
	does("a place less", asks("DELETE", "/claims/"+jsonNumber(hold.Idx[0]), ""))
	does("an order", func() shop.HoldBody {
		_, body := send(t, ann, "GET", event+"/hold", "")
		a, _ := s.post(t, ann, fill(holdOf(t, body), "Ann", "ann@example.org"))
		send(t, ann, "GET", s.url+strings.Replace(a.Header.Get("Location"), "/orders/", "/payments/", 1), "", "Accept", asPage) // the page that waited goes on
		return shop.HoldBody{}
	})
	s.signsIn(t, ann, "ann@example.org") // her session has another token now
	does("places again", func() shop.HoldBody { return s.held(t, ann, 2) })
	does("none", func() shop.HoldBody { send(t, ann, "DELETE", event+"/claims", ""); return shop.HoldBody{} })
	if _, err := s.sale.Claim(t.Context(), seats.NewID(), "", seats.ClaimRequest{Area: "Floor", Quantity: 1}); err != nil {
		t.Fatal(err)
	}
	last := s.sale.Version()
	for _, p := range others {
		p.until(t, func(m spoken) bool { return m.To == last })
		if len(p.told) > 0 {
			t.Errorf("%s is told what another visitor holds: %+v", p.name, p.told)
		}
	}
}

func TestLive_PageOpenedBeforeItsSessionIsToldOfItsHold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := person(t)
	first, second := s.tab(t, "Ann", ann), s.tab(t, "Ann, in another tab", ann)
	stranger := s.tab(t, "another visitor", person(t))
	want := s.held(t, ann, 2)
	for _, p := range []*tab{first, second} {
		p.until(t, isMine)
		if got := p.told[0]; !slices.Equal(got.Idx, want.Idx) || got.Deadline != want.ExpiresAt.UnixMilli() {
			t.Errorf("%s is told %+v, want %+v", p.name, got, want)
		}
	}
	a, body := send(t, ann, "POST", s.url+"/events/evening/hold/extension", `{}`)
	if a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	want = holdOf(t, body)
	for _, p := range []*tab{first, second} {
		p.until(t, isMine)
		if got := p.told[1]; got.Deadline != want.ExpiresAt.UnixMilli() || got.Extensions != want.ExtensionsLeft {
			t.Errorf("%s is told of the extension %+v, want %+v", p.name, got, want)
		}
	}
	version := s.sale.Version()
	stranger.until(t, func(m spoken) bool { return max(m.Version, m.To) >= version })
	if len(stranger.told) > 0 {
		t.Error("another visitor is told what Ann holds")
	}
}

func TestRenew_PageKeepsTheSessionAndCookieOfAHold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := person(t)
	s.held(t, ann, 1)
	soon := func() {
		var holder seats.ID
		if err := s.db.QueryRow(t.Context(), `SELECT holder FROM hold`).Scan(&holder); err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(time.Hour).UTC()
		s.exec(t, `UPDATE session SET data = $1, expires_at = $2`, web.NewRecord(end, holder), end)
	}
	long := func() bool {
		return s.count(t, `session WHERE expires_at > clock_timestamp() + interval '23 hours'`) == 1
	}
	for _, ask := range [][]string{
		{"GET", "/events/evening", "", "Accept", asPage},
		{"GET", "/events/evening/hold", ""},
		{"POST", "/events/evening/hold/extension", `{}`},
	} {
		soon()
		a, body := send(t, ann, ask[0], s.url+ask[1], ask[2], ask[3:]...)
		var kept time.Duration
		for _, c := range a.Cookies() {
			if c.Name == "usher" {
				kept = time.Duration(c.MaxAge) * time.Second
			}
		}
		if a.StatusCode != http.StatusOK || !long() || kept < 23*time.Hour {
			t.Errorf("%v: %d %.80s; the session was renewed: %v, its cookie is kept for %v", ask, a.StatusCode, body, long(), kept)
		}
	}
	if a, _ := send(t, ann, "DELETE", s.url+"/events/evening/claims", ""); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode)
	}
	soon()
	if send(t, ann, "GET", s.url+"/events/evening", "", "Accept", asPage); long() {
		t.Error("a session without seats was renewed")
	}
}

func TestLive_AnotherSiteGetsNoSocket(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for origin, want := range map[string]int{"https://elsewhere.example": http.StatusForbidden, "null": http.StatusForbidden, s.url: http.StatusSwitchingProtocols} {
		conn, a, err := websocket.Dial(t.Context(), s.url+"/events/evening/live?as=json", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
		if a == nil || a.StatusCode != want {
			t.Errorf("a page of %s gets %v, %v", origin, a, err)
		}
		if err == nil {
			_ = conn.CloseNow() // it is not needed any more
		}
	}
}

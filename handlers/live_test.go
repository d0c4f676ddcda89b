package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/usherbox/usher/seats"
)

// tab is a page of the event that somebody has open: its socket, in the words for people.
type tab struct {
	whose string
	conn  *websocket.Conn
	told  []spoken // what it holds, each time it was told
}

type spoken struct {
	Type       string
	Version    int64 // of a map
	To         int64 // of news
	Deadline   int64 // ms since 1970
	Extensions int   `json:"extensions_left"`
	Idx        []int
}

func (s *site) tab(t *testing.T, whose string, who *http.Client) *tab {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), s.url+"/events/evening/live?as=json", &websocket.DialOptions{HTTPClient: who})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	p := &tab{whose: whose, conn: conn}
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
			t.Fatalf("%s: %v", p.whose, err)
		}
		var m spoken
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s is told %s: %v", p.whose, text, err)
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

// Whatever somebody does elsewhere, in another tab or as a program, is on each page they have open within a second, and on
// nobody else's.
func TestWhatSomebodyDoesInOneTabIsInTheirOtherTabsAtOnceAndInNobodyElses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, bob := person(t), person(t)
	hold := s.held(t, ann, 2)
	s.held(t, bob, 1)
	mine := []*tab{s.tab(t, "Ann", ann), s.tab(t, "Ann, in another tab", ann)}
	others := []*tab{s.tab(t, "Bob", bob), s.tab(t, "somebody new", person(t))}

	event, least := s.url+"/events/evening", time.Hour // of all deeds: a busy machine is late with some
	does := func(what string, do func() holdBody) {
		t.Helper()
		began := time.Now()
		want := do()
		for _, p := range mine {
			p.until(t, isMine)
			got := p.told[len(p.told)-1]
			if !slices.Equal(got.Idx, want.Idx) || got.Extensions != want.ExtensionsLeft || len(want.Idx) > 0 && got.Deadline != want.ExpiresAt.UnixMilli() {
				t.Errorf("%s: %s is told %+v, want %+v", what, p.whose, got, want)
			}
		}
		least = min(least, time.Since(began))
	}
	asks := func(method, path, body string) func() holdBody {
		return func() holdBody { _, body := send(t, ann, method, event+path, body); return holdOf(t, body) }
	}
	does("a place more", asks("POST", "/claims", `{"area":"Floor","quantity":1}`))
	does("more time", asks("POST", "/hold/extension", ""))
	does("a place less", asks("DELETE", "/claims/"+jsonNumber(hold.Idx[0]), ""))
	does("an order", func() holdBody {
		_, body := send(t, ann, "GET", event+"/hold", "")
		s.post(t, ann, fill(holdOf(t, body), "Ann", "ann@example.org"))
		return holdBody{}
	})
	s.signsIn(t, ann, "ann@example.org") // her session has another token now
	does("places again", func() holdBody { return s.held(t, ann, 2) })
	does("none", func() holdBody { send(t, ann, "DELETE", event+"/claims", ""); return holdBody{} })
	if least > time.Second {
		t.Errorf("her pages hear of it after %v at the least, want it within a second", least)
	}

	if _, err := s.sale.Claim(t.Context(), seats.NewID(), "", seats.Wish{Area: "Floor", Quantity: 1}); err != nil {
		t.Fatal(err)
	}
	last := s.sale.Version()
	for _, p := range others {
		p.until(t, func(m spoken) bool { return m.To == last })
		if len(p.told) > 0 {
			t.Errorf("%s is told what somebody else holds: %+v", p.whose, p.told)
		}
	}
}

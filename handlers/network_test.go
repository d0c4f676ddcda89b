package handlers

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/waitingroom"
)

func TestRetryAfter_IsNeverNothing(t *testing.T) {
	t.Parallel()
	h := &Handlers{Server: &web.Server{Limits: limit.NewEvents(nil, nil)}}
	r := newRequest(t, "203.0.113.7:4711")
	for range 100_000 {
		w := httptest.NewRecorder()
		if h.Hurried(w, r, web.CountsJoins, 600) {
			if after := w.Header().Get("Retry-After"); after != "1" {
				t.Errorf("who is to wait a tenth of a second is told to wait %q", after)
			}
			return
		}
	}
	t.Error("no visitor had to wait")
}

// Seats of the first events and what networks do are counted by one limiter.
func TestNetwork_SeatsOfAnEventAreCountedApart(t *testing.T) {
	t.Parallel()
	h := &Handlers{Server: &web.Server{Limits: limit.NewEvents(nil, nil)}}
	r := newRequest(t, "203.0.113.7:4711")
	for id := range int64(100) {
		e := h.Limits.Of(&seats.Sale{Event: seats.Event{ID: id + 1, HoldLength: time.Hour}, Plan: &seats.Plan{}})
		for !e.Asks(web.NetworkOf(r), 1, time.Now()) {
			continue // until its seats are taken
		}
	}
	for _, what := range []uint64{web.CountsJoins, web.CountsPatience, web.CountsClaims, web.CountsLinks, web.CountsGiftCards, web.CountsWaits, web.CountsOrders, web.CountsDeposits} {
		if h.Hurried(httptest.NewRecorder(), r, what, 10) {
			t.Errorf("seats of event %d count as something else", what)
		}
	}
}

func TestJoins_OfAPrivateNetworkHaveALargeLimit(t *testing.T) {
	t.Parallel()
	h := &Handlers{Server: &web.Server{Limits: limit.NewEvents(nil, nil)}}
	for from, want := range map[string]int{"203.0.113.7:4711": 5, "10.0.0.7:4711": 500} {
		r, got := newRequest(t, from), 0
		for got <= 2*want && !h.Hurried(httptest.NewRecorder(), r, web.CountsJoins, 5) { // the minute goes on meanwhile
			got++
		}
		if got < want || got > want+want/2 {
			t.Errorf("%d of %s join at once, want %d", got, from, want)
		}
	}
}

func newRequest(t *testing.T, from string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.RemoteAddr = from
	return r
}

func TestJoin_NetworkLimitSaysWhenAndKeepsPlaces(t *testing.T) {
	t.Parallel()
	opens := time.Now().Add(time.Hour)
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.Joins, c.AddressHeader = 3, "X-Forwarded-For" })
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	join := func(who *http.Client, from, accept string) (*http.Response, string) {
		t.Helper()
		a, body := send(t, who, "POST", s.url+"/rooms/evening/places", "", "X-Forwarded-For", from, "Accept", accept)
		if a.StatusCode == http.StatusTemporaryRedirect {
			a, body = send(t, who, "POST", s.url+a.Header.Get("Location"), "", "X-Forwarded-For", from, "Accept", accept)
		}
		return a, body
	}
	people := make([]*http.Client, 3)
	for i := range people {
		people[i] = person(t)
		if a, body := join(people[i], fmt.Sprintf("198.51.100.9, 203.0.113.%d", i), "application/json"); a.StatusCode != http.StatusCreated {
			t.Fatalf("person %d of 3 got %d %s", i, a.StatusCode, body)
		}
	}
	next := person(t)
	for accept, words := range map[string]string{"application/json": `"too_many"`, "text/html": "If you have a place already, you keep it"} {
		a, body := join(next, "192.0.2.44, 203.0.113.77", accept) // what stands first they wrote themselves
		if a.StatusCode != http.StatusTooManyRequests || !strings.Contains(body, words) || a.Header.Get("Retry-After") == "" {
			t.Errorf("the fourth of a network got %d, Retry-After %q: %s", a.StatusCode, a.Header.Get("Retry-After"), body)
		}
	}
	for i, who := range people {
		if a, body := join(who, "203.0.113.1", "application/json"); a.StatusCode != http.StatusCreated {
			t.Errorf("person %d, who has a place, got %d %s", i, a.StatusCode, body)
		}
		if st := stand(t, s, who); st.Index != int64(i+1) {
			t.Errorf("person %d has place %d", i, st.Index)
		}
	}
	for _, from := range []string{"203.0.115.1", "2001:db8::1", "127.0.0.1"} {
		if a, body := join(person(t), from, "application/json"); a.StatusCode != http.StatusCreated {
			t.Errorf("a visitor at %s got %d %s", from, a.StatusCode, body)
		}
	}
	if a, _ := send(t, next, "GET", s.url+"/rooms/evening/status", "", "X-Forwarded-For", "203.0.113.77"); a.StatusCode != http.StatusOK {
		t.Errorf("who may not join yet may not look: %d", a.StatusCode)
	}
}

func TestAddress_IsReadFromTheHeaderOfAKnownProxyOnly(t *testing.T) {
	t.Parallel()
	const stranger, proxy = "192.0.2.1:5", "10.0.0.1:5"
	for _, c := range []struct {
		header, peer, want string
		sent               []string
		warns              bool
	}{
		{"", proxy, proxy, []string{"203.0.113.7"}, true},
		{"", proxy, proxy, nil, false},
		{"x-forwarded-for", proxy, proxy, nil, false},
		{"X-Forwarded-For", proxy, "203.0.113.7:0", []string{"203.0.113.7"}, false},
		{"X-Forwarded-For", stranger, stranger, []string{"203.0.113.7"}, true},
		{"X-Forwarded-For", proxy, "[2001:db8::2]:0", []string{"203.0.113.7, 2001:db8::2"}, false},
		{"X-Forwarded-For", proxy, "198.51.100.3:4711", []string{"203.0.113.7, 198.51.100.3:4711"}, false},
		{"X-Forwarded-For", proxy, proxy, []string{"203.0.113.7, nobody"}, false},
		{"X-Forwarded-For", proxy, "198.51.100.3:0", []string{"203.0.113.7", "198.51.100.3"}, false}, // the proxy wrote a header of its own
	} {
		var log bytes.Buffer
		h := &Handlers{Server: &web.Server{AddressHeader: http.CanonicalHeaderKey(c.header), Proxies: web.Proxies, Log: slog.New(slog.NewTextHandler(&log, nil))}}
		seen := ""
		look := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.RemoteAddr })
		for range 3 {
			r := newRequest(t, c.peer)
			for _, value := range c.sent {
				r.Header.Add("X-Forwarded-For", value)
			}
			h.Addressed(look).ServeHTTP(nil, r)
		}
		if seen != c.want {
			t.Errorf("%+v: it is %s", c, seen)
		}
		if warned := strings.Count(log.String(), "level=WARN"); warned > 1 || (warned == 1) != c.warns {
			t.Errorf("%+v: warned %d times: %s", c, warned, log.String())
		}
	}
}

func TestSignInLinks_OneNetworkDoesNotMailTheWorld(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	ask := func(from string, n int) (*http.Response, string) {
		return send(t, person(t), "POST", s.url+"/account/links", fmt.Sprintf(`{"email":"person%d@example.org"}`, n), "X-Forwarded-For", from)
	}
	for n := range web.LinksPerNetwork {
		if a, body := ask("203.0.113.7", n); a.StatusCode != http.StatusAccepted {
			t.Fatalf("link %d: %d %s", n, a.StatusCode, body)
		}
	}
	if a, body := ask("203.0.113.8", web.LinksPerNetwork); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %d %s", a.StatusCode, body)
	}
	if a, body := ask("198.51.100.7", web.LinksPerNetwork); a.StatusCode != http.StatusAccepted {
		t.Errorf("another network: %d %s", a.StatusCode, body)
	}
}

func TestWaitList_OneNetworkDoesNotMailTheWorld(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	s.soldOut(t)
	join := func(from string, n int) (*http.Response, string) {
		return send(t, person(t), "POST", s.url+"/events/evening/waitlist", fmt.Sprintf(`{"email":"person%d@example.org","quantity":1}`, n), "X-Forwarded-For", from)
	}
	for n := range web.WaitsPerNetwork {
		if a, body := join("203.0.113.7", n); a.StatusCode != http.StatusAccepted {
			t.Fatalf("entry %d: %d %s", n, a.StatusCode, body)
		}
	}
	for n := web.WaitsPerNetwork; ; n++ { // a minute goes on meanwhile
		a, body := join("203.0.113.8", n)
		if a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "" {
			break
		}
		if a.StatusCode != http.StatusAccepted || n > 2*web.WaitsPerNetwork {
			t.Fatalf("entry %d: %d %s", n, a.StatusCode, body)
		}
	}
	if a, body := join("198.51.100.7", 0); a.StatusCode != http.StatusAccepted {
		t.Errorf("another network: %d %s", a.StatusCode, body)
	}
}

func TestOrders_OneNetworkDoesNotMailTheWorld(t *testing.T) {
	t.Parallel()
	s, who := behindProxy(t), person(t)
	if a, body := s.claims(t, who, "203.0.113.7", 0); a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, body)
	}
	order := func(from string) (*http.Response, string) { // without an email, so that none is placed
		return send(t, who, "POST", s.url+"/events/evening/orders", `{"hold":"`+seats.NewID().String()+`","seats":[],"name":"Ann","email":"","method":"door"}`, "X-Forwarded-For", from)
	}
	for n := 0; ; n++ {
		a, body := order("203.0.113.7")
		if a.StatusCode == http.StatusPreconditionRequired && n >= web.OrdersPerNetwork {
			break
		}
		if a.StatusCode != http.StatusUnprocessableEntity && a.StatusCode != http.StatusNotFound || n > 2*web.OrdersPerNetwork {
			t.Fatalf("order %d: %d %s", n, a.StatusCode, body)
		}
	}
	if a, body := order("198.51.100.7"); a.StatusCode == http.StatusPreconditionRequired {
		t.Errorf("another network: %d %s", a.StatusCode, body)
	}
}

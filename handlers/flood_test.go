package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/gate"
)

func TestANetworkMayJoinSoOftenInAMinuteAndOthersAreNotHeldUp(t *testing.T) {
	t.Parallel()
	f := &flood{perMinute: 60, full: map[netip.Prefix]time.Time{}}
	now := time.Now()
	one, other := networkOf("203.0.113.7"), networkOf("203.0.114.7")
	for i := range 60 {
		if wait := f.join(one, now); wait != 0 {
			t.Fatalf("person %d of 60 waits %s", i, wait)
		}
	}
	wait := f.join(one, now)
	if wait <= 0 || wait > time.Second {
		t.Errorf("the 61st waits %s", wait)
	}
	if w := f.join(other, now); w != 0 {
		t.Errorf("another network waits %s", w)
	}
	if w := f.join(one, now.Add(wait)); w != 0 {
		t.Errorf("who waited as told waits %s more", w)
	}
	if w := f.join(one, now.Add(wait)); w <= 0 {
		t.Error("two came for one wait")
	}
	for i := range 60 {
		if w := f.join(one, now.Add(2*time.Minute)); w != 0 {
			t.Fatalf("after two minutes person %d waits %s", i, w)
		}
	}
	if w := f.join(one, now.Add(2*time.Minute)); w <= 0 {
		t.Error("an allowance grew beyond a minute's")
	}
}

func TestAFloodFromManyNetworksIsForgottenAndNotKept(t *testing.T) {
	t.Parallel()
	f := &flood{perMinute: 60, full: map[netip.Prefix]time.Time{}}
	now := time.Now()
	for i := range mostNetworks + 1000 {
		f.join(netip.PrefixFrom(netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)}), 32), now)
	}
	if len(f.full) > mostNetworks {
		t.Errorf("it remembers %d networks", len(f.full))
	}
}

func TestAFullMemoryForgetsThoseWhoWaitForNothingFirst(t *testing.T) {
	t.Parallel()
	f := &flood{perMinute: 1, full: map[netip.Prefix]time.Time{}}
	now := time.Now()
	busy := networkOf("203.0.113.7")
	for i := range mostNetworks - 1 {
		f.join(netip.PrefixFrom(netip.AddrFrom4([4]byte{11, byte(i >> 16), byte(i >> 8), byte(i)}), 32), now.Add(-time.Hour))
	}
	f.join(busy, now)
	f.join(networkOf("203.0.114.7"), now) // there was no room for it
	if f.join(busy, now) <= 0 || len(f.full) > 3 {
		t.Errorf("it forgot who is to wait, and remembers %d networks", len(f.full))
	}
}

func TestRetryAfterIsNeverNothing(t *testing.T) {
	t.Parallel()
	h := &Handlers{}
	h.flood.perMinute, h.flood.full = 600, map[netip.Prefix]time.Time{}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.RemoteAddr = "203.0.113.7:4711"
	for range 100_000 {
		w := httptest.NewRecorder()
		if hurried(w, r, &h.flood) {
			if after := w.Header().Get("Retry-After"); after != "1" {
				t.Errorf("who is to wait a tenth of a second is told to wait %q", after)
			}
			return
		}
	}
	t.Error("nobody had to wait")
}

func TestWhoIsCountedWithWhom(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"203.0.113.7": "203.0.113.0/24", "::ffff:203.0.113.9": "203.0.113.0/24", "2001:db8:1:2ff:3::4": "2001:db8:1:200::/56",
		"127.0.0.1": "", "::1": "", "10.1.2.3": "", "fd00::1": "", "fe80::1%eth0": "", "": "", "me": "",
	} {
		if got := networkOf(address); got.IsValid() != (want != "") || got.IsValid() && got.String() != want {
			t.Errorf("%s is counted with %s, not %q", address, got, want)
		}
	}
}

func TestTooManyWhoJoinFromOneNetworkAreToldWhenAndWhoHasAPlaceKeepsIt(t *testing.T) {
	t.Parallel()
	opens := time.Now().Add(time.Hour)
	s := newSiteFor(t, seats.NewEvent{}, func(c *Config) { c.Joins, c.AddressHeader = 3, "X-Forwarded-For" })
	newRoom(t, s, gate.NewRoom{OpensAt: &opens})
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
	for accept, words := range map[string]string{"application/json": `"too_many"`, "text/html": "A place you have is still yours"} {
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
			t.Errorf("somebody at %s got %d %s", from, a.StatusCode, body)
		}
	}
	if a, _ := send(t, next, "GET", s.url+"/rooms/evening/status", "", "X-Forwarded-For", "203.0.113.77"); a.StatusCode != http.StatusOK {
		t.Errorf("who may not join yet may not look: %d", a.StatusCode)
	}
}

func TestWithoutATrustedHeaderNobodyChoosesTheirAddress(t *testing.T) {
	t.Parallel()
	h := &Handlers{}
	seen := ""
	look := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.RemoteAddr })
	for _, c := range []struct{ header, sent, want string }{
		{"", "203.0.113.7", "192.0.2.1:5"},
		{"X-Forwarded-For", "", "192.0.2.1:5"},
		{"X-Forwarded-For", "203.0.113.7", "203.0.113.7:0"},
		{"X-Forwarded-For", "203.0.113.7, 2001:db8::2", "[2001:db8::2]:0"},
		{"X-Forwarded-For", "203.0.113.7, 198.51.100.3:4711", "198.51.100.3:4711"},
		{"X-Forwarded-For", "203.0.113.7, nobody", "192.0.2.1:5"},
	} {
		h.addressHeader = c.header
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = "192.0.2.1:5"
		if c.sent != "" {
			r.Header.Set("X-Forwarded-For", c.sent)
		}
		if h.addressed(look).ServeHTTP(nil, r); seen != c.want {
			t.Errorf("%+v: it is %s", c, seen)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["X-Forwarded-For"] = []string{"203.0.113.7", "198.51.100.3"} // the proxy wrote a header of its own
	if h.addressed(look).ServeHTTP(nil, r); seen != "198.51.100.3:0" {
		t.Errorf("of two headers, %s counts", seen)
	}
}

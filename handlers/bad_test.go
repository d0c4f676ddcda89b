package handlers

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
)

// zeros is a body that never seems to end.
type zeros struct{ left atomic.Int64 }

func (z *zeros) Read(b []byte) (int, error) {
	n := min(int64(len(b)), z.left.Load())
	if n <= 0 {
		return 0, io.EOF
	}
	for i := range b[:n] {
		b[i] = ' '
	}
	z.left.Add(-n)
	return int(n), nil
}

func TestBadInputHasItsAnswerAndHoldsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	label := s.sale.Plan.Label(s.sale.Plan.Sections[0].First)
	blocked := len(s.sale.Plan.Seats) - 1
	if _, err := s.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{blocked}}); err != nil {
		t.Fatal(err)
	}
	other := person(t)
	sold := s.sale.Plan.Label(blocked - 1)
	if a, b := send(t, other, "POST", s.url+"/events/evening/claims", `{"seats":["`+sold+`"]}`); a.StatusCode != 201 {
		t.Fatal(b)
	}
	before := s.sale.Snapshot().Counts
	for _, bad := range []struct {
		name, body string
		status     int
		code       string
		header     []string
	}{
		{"unknown seat", `{"seats":["Moon/A/1"]}`, 404, "unknown", nil},
		{"blocked seat", `{"seats":["` + s.sale.Plan.Label(blocked) + `"]}`, 409, "taken", nil},
		{"taken seat", `{"seats":["` + sold + `"]}`, 409, "taken", nil},
		{"doubly named seat", `{"seats":["` + label + `","` + label + `"]}`, 422, "invalid", nil},
		{"quantity 0", `{"area":"Floor","quantity":0}`, 422, "invalid", nil},
		{"quantity -1", `{"area":"Floor","quantity":-1}`, 422, "invalid", nil},
		{"quantity 10⁹", `{"area":"Floor","quantity":1000000000}`, 422, "invalid", nil},
		{"quantity over the limit", `{"area":"Floor","quantity":7}`, 409, "limit", nil},
		{"quantity that is no number", `{"area":"Floor","quantity":"two"}`, 422, "invalid", nil},
		{"nothing", `{}`, 422, "invalid", nil},
		{"two requests", `{"seats":["` + label + `"],"best":1,"category":"A"}`, 422, "invalid", nil},
		{"unknown field", `{"seat":"` + label + `"}`, 422, "invalid", nil},
		{"something after it", `{"best":1,"category":"A"} {}`, 422, "invalid", nil},
		{"invalid UTF-8", "{\"seats\":[\"\xff\xfe\"]}", 422, "invalid", nil},
		{"not JSON", `seats=1`, 422, "invalid", nil},
		{"wrong type", `x`, 415, "media_type", []string{"Content-Type", "text/plain"}},
		{"key too long", `{"best":1,"category":"A"}`, 422, "invalid", []string{"Idempotency-Key", strings.Repeat("k", 201)}},
		{"another site", `{"best":1,"category":"A"}`, 403, "foreign", []string{"Sec-Fetch-Site", "cross-site"}},
		{"another origin", `{"best":1,"category":"A"}`, 403, "foreign", []string{"Origin", "https://evil.example"}},
		{"null origin", `{"best":1,"category":"A"}`, 403, "foreign", []string{"Origin", "null"}},
	} {
		a, body := send(t, person(t), "POST", s.url+"/events/evening/claims", bad.body, bad.header...)
		var answer web.ErrorAnswer
		if err := json.Unmarshal([]byte(body), &answer); err != nil || a.StatusCode != bad.status || answer.Error.Code != bad.code || len(answer.Error.Message) < 20 {
			t.Errorf("%s: %d %s, want %d %q and a sentence", bad.name, a.StatusCode, body, bad.status, bad.code)
		}
	}
	after := s.sale.Snapshot().Counts
	if before.Remaining() != after.Remaining() {
		t.Errorf("%d were free before and %d after", before.Remaining(), after.Remaining())
	}
}

func TestAGigabyteIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := &zeros{}
	body.left.Store(1 << 30)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/events/evening/claims", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	a, err := person(t).Do(r)
	if err == nil {
		_ = a.Body.Close() // only the status counts
		if a.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d, want 413", a.StatusCode)
		}
	}
	if sent := 1<<30 - body.left.Load(); sent > 64<<20 {
		t.Errorf("%d bytes were taken before the refusal", sent)
	}
}

func TestAForgedSessionHasNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, body := send(t, person(t), "GET", s.url+"/events/evening/hold", "", "Cookie", "usher=forged-and-never-issued")
	if a.StatusCode != 404 {
		t.Errorf("a forged session got %d %s", a.StatusCode, body)
	}
	if a, body := send(t, person(t), "DELETE", s.url+"/events/evening/claims", "", "Cookie", "usher=forged"); a.StatusCode != 404 {
		t.Errorf("a forged session released: %d %s", a.StatusCode, body)
	}
}

func TestEveryChangingAddressRefusesOtherSites(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, route := range newHandlers(Config{}).table() {
		method, path, _ := strings.Cut(route.pattern, " ")
		if method == "GET" {
			continue
		}
		path = strings.NewReplacer("{slug}", "evening", "{idx}", "1").Replace(path)
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "null"}, {"Origin", "http://127.0.0.1:1"}} {
			if a, _ := send(t, person(t), method, s.url+path, "", header...); a.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %v: %d, want 403", route.pattern, header, a.StatusCode)
			}
		}
	}
}

func TestEveryAnswerHasTheSecurityHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"/events", "/events/evening", "/events/evening/sections/0", "/events/none", "/nowhere", "/healthz", "/readyz", "/openapi.yaml", "/static/none"} {
		a, _ := send(t, person(t), "GET", s.url+path, "", "Accept", "text/html")
		page := strings.HasPrefix(a.Header.Get("Content-Type"), "text/html")
		if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
			page && (!strings.Contains(a.Header.Get("Content-Security-Policy"), "default-src 'none'") || a.Header.Get("Referrer-Policy") == "") {
			t.Errorf("%s: %v", path, a.Header)
		}
		if policy := a.Header.Get("Content-Security-Policy"); page && !strings.Contains(policy, "script-src 'nonce-") || strings.Contains(policy, "unsafe-") {
			t.Errorf("%s allows scripts by %q", path, policy)
		}
	}
	for _, method := range []string{"PUT", "TRACE"} {
		if a, _ := send(t, person(t), method, s.url+"/events", ""); a.StatusCode != 405 || a.Header.Get("Allow") == "" {
			t.Errorf("%s /events: %d, Allow %q", method, a.StatusCode, a.Header.Get("Allow"))
		}
	}
}

func TestMethod_IsThatOfTheRequestWhateverAHeaderOrFieldSays(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	hold := s.held(t, who, 2)
	claims := "/events/evening/claims"
	for _, path := range []string{claims, claims + "/" + jsonNumber(hold.Idx[0]), "/events/evening/hold"} {
		for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} {
			for _, method := range []string{"GET", "POST"} {
				send(t, who, method, s.url+path, "", name, "DELETE")
			}
		}
		send(t, who, "POST", s.url+path+"?_method=DELETE", "_method=DELETE&method=DELETE", "Content-Type", asForm)
		send(t, who, "GET", s.url+path+"?_method=DELETE", "")
	}
	if _, body := send(t, who, "GET", s.url+"/events/evening/hold", ""); holdOf(t, body).ID != hold.ID || len(holdOf(t, body).Seats) != 2 {
		t.Errorf("of the hold is left %s", body)
	}
}

func FuzzDecodeClaimRequest(f *testing.F) {
	for _, seed := range []string{`{"seats":["Stalls/A/1"]}`, `{"area":"Floor","quantity":3}`, `{"best":2,"category":"A"}`, `{"best":1e9}`, "\xff", `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := shop.DecodeClaimRequest(body); err != nil && newHandlers(Config{}).Known(t.Context(), err) == nil {
			t.Errorf("%q has no words: %v", body, err)
		}
	})
}

package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/sessions"
)

// answers counts what is observed.
type answers struct {
	mu   sync.Mutex
	seen map[string]map[int]int

	traces []string
}

func (a *answers) observe(route string) func(int, time.Duration, string, string) {
	return func(status int, _ time.Duration, _, trace string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.traces = append(a.traces, trace)
		if a.seen[route] == nil {
			a.seen[route] = map[int]int{}
		}
		a.seen[route][status]++
	}
}

// failing is a site with two routes that fail, and what it logged.
func failing(t *testing.T, set ...func(*Handlers)) (url string, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	var mu sync.Mutex
	h := newHandlers(Config{Sessions: sessions.New(nil, nil), Log: slog.New(slog.NewJSONHandler(&locked{mu: &mu, to: log}, nil))})
	for _, do := range set {
		do(h)
	}
	server := httptest.NewServer(h.Wrap(h.routes([]route{
		{"GET /broken/{secret}", func(http.ResponseWriter, *http.Request) error { return errors.New("the disk is full") }, pageRule},
		{"GET /panics/{secret}", func(http.ResponseWriter, *http.Request) error { panic("planted") }, pageRule},
		{"GET /fine", func(w http.ResponseWriter, _ *http.Request) error { return web.WriteJSON(w, 200, "fine") }, pageRule},
	})))
	t.Cleanup(server.Close)
	return server.URL, log
}

type locked struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

func ask(t *testing.T, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(a.Body); err != nil {
		t.Fatal(err)
	}
	return a, body.String()
}

func TestLog_RequestIDEqualsTheAnswers(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/broken/hush", "/panics/hush"} {
		url, log := failing(t)
		a, body := ask(t, url+path)
		id := a.Header.Get(web.RequestID)
		var said web.ErrorAnswer
		if err := json.Unmarshal([]byte(body), &said); err != nil || id == "" || said.Error.Request != id || a.StatusCode != 503 {
			t.Fatalf("%s: %d %s, id %q", path, a.StatusCode, body, id)
		}
		var line map[string]any
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", log, err)
		}
		if line["request"] != id || line["route"] != "GET "+path[:7]+"/{secret}" || strings.Contains(log.String(), "hush") {
			t.Errorf("%s: %s", path, log)
		}
		_, page := ask(t, url+path, "Accept", "text/html")
		if !strings.Contains(page, "name this request") {
			t.Error("the page does not name the request")
		}
	}
}

// A node that is overloaded answers what then holds, instead of ending the connection.
func TestAnswer_AChangeThatWaitsTooLongIsUnavailable(t *testing.T) {
	t.Parallel()
	log := &bytes.Buffer{}
	h := newHandlers(Config{Sessions: sessions.New(nil, nil), Log: slog.New(slog.NewJSONHandler(log, nil))})
	synctest.Test(t, func(t *testing.T) {
		handler := func(_ http.ResponseWriter, r *http.Request) error { <-r.Context().Done(); return r.Context().Err() }
		for i, accept := range []string{"application/json", "text/html", "application/json", "text/html"} {
			waits, word := h.Answer(web.Rule{Crowd: i > 1}, handler), `"code":"unavailable"`
			if accept == "text/html" {
				word = "The box office cannot answer at the moment."
			}
			r, w, began := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/waits", strings.NewReader("a=b")), httptest.NewRecorder(), time.Now()
			r.Header.Set("Accept", accept)
			waits(w, r)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), word) || time.Since(began) >= web.LongestAnswer || time.Since(began) < web.LongestAnswer-6*time.Second {
				t.Errorf("%s: %d %s after %v", accept, w.Code, w.Body, time.Since(began))
			}
		}
		if strings.Count(log.String(), "a request failed") != 4 {
			t.Errorf("the operator was told: %s", log)
		}
	})
}

// What a client of a crowd sent is done though it left: it may be done already, and the same key does it once.
func TestAnswer_AClaimGoesOnWithoutItsClient(t *testing.T) {
	t.Parallel()
	h := newHandlers(Config{Sessions: sessions.New(nil, nil), Log: slog.New(slog.DiscardHandler)})
	type word struct{}
	for method, crowd := range map[string]bool{http.MethodPost: true, http.MethodDelete: true, http.MethodGet: true, http.MethodPut: false} {
		goesOn := crowd && method != http.MethodGet
		ctx, leave := context.WithCancel(context.WithValue(t.Context(), word{}, "kept"))
		leave()
		h.Answer(web.Rule{Crowd: crowd}, func(_ http.ResponseWriter, r *http.Request) error {
			below, end := context.WithCancel(r.Context())
			defer end()
			if within, ends := below.Deadline(); (below.Err() == nil) != goesOn || ends != (method != http.MethodGet) || goesOn && time.Until(within) > web.LongestAnswer || r.Context().Value(word{}) != "kept" {
				t.Errorf("%s: %v, deadline %v, %v", method, below.Err(), within, r.Context().Value(word{}))
			}
			return nil
		})(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, method, "/waits", nil))
	}
}

func TestAnIdIsTakenOnlyFromAProxyThatIsTrusted(t *testing.T) {
	t.Parallel()
	url, _ := failing(t)
	behind, _ := failing(t, func(h *Handlers) { h.AddressHeader = "X-Forwarded-For" })
	for _, c := range []struct {
		url, sent string
		kept      bool
	}{
		{url, "abc", false},
		{behind, "abc-1.Z_9", true},
		{behind, "a b", false},
		{behind, strings.Repeat("a", web.MostID+1), false},
		{behind, "a<script>", false},
	} {
		a, _ := ask(t, c.url+"/fine", web.RequestID, c.sent)
		if got := a.Header.Get(web.RequestID); (got == c.sent) != c.kept || got == "" {
			t.Errorf("%q: got %q", c.sent, got)
		}
	}
}

func TestEveryAnswerIsCountedAndLoggedIfAskedFor(t *testing.T) {
	t.Parallel()
	counted := &answers{seen: map[string]map[int]int{}}
	url, log := failing(t, func(h *Handlers) { h.Observe, h.LogEvery = counted.observe, 1 })
	for _, path := range []string{"/fine", "/fine", "/broken/x", "/panics/x", "/nowhere"} {
		ask(t, url+path)
	}
	counted.mu.Lock()
	defer counted.mu.Unlock()
	for route, want := range map[string]map[int]int{"GET /fine": {200: 2}, "GET /broken/{secret}": {503: 1}, "GET /panics/{secret}": {503: 1}, "none": {404: 1}} {
		for status, n := range want {
			if counted.seen[route][status] != n {
				t.Errorf("%s: %v, want %v", route, counted.seen[route], want)
			}
		}
	}
	if n := strings.Count(log.String(), `"msg":"answered"`); n != 4 || !strings.Contains(log.String(), `"status":404`) { // the panic has its own line
		t.Errorf("%d lines: %s", n, log)
	}
}

func TestTraces_RequestIsNamedByItsTraceInTheLogAndTheHistogram(t *testing.T) {
	t.Parallel()
	spans, counted := tracetest.NewSpanRecorder(), &answers{seen: map[string]map[int]int{}}
	url, log := failing(t, func(h *Handlers) {
		h.Observe, h.LogEvery, h.Tracer = counted.observe, 1, sdk.NewTracerProvider(sdk.WithSpanProcessor(spans), sdk.WithoutPanicRecording()).Tracer("test")
	})
	want := []struct {
		path, route string
		status      int64
	}{
		{"/fine", "GET /fine", 200}, {"/broken/hush", "GET /broken/{secret}", 503}, {"/panics/hush", "GET /panics/{secret}", 503}, {"/hush", "none", 404},
	}
	for _, w := range want {
		ask(t, url+w.path)
	}
	counted.mu.Lock()
	defer counted.mu.Unlock()
	list := spans.Ended()
	if len(list) != len(want) || len(counted.traces) != len(want) {
		t.Fatalf("%d spans, %d traces", len(list), len(counted.traces))
	}
	for i, w := range want {
		span := list[i]
		says := map[attribute.Key]attribute.Value{}
		for _, a := range span.Attributes() {
			says[a.Key] = a.Value
		}
		id := span.SpanContext().TraceID().String()
		if span.Name() != w.route || says["http.response.status_code"].AsInt64() != w.status || (span.Status().Code == codes.Error) != (w.status >= 500) || len(span.Events()) > 0 {
			t.Errorf("%s: %s %v %v", w.path, span.Name(), span.Attributes(), span.Status())
		}
		if counted.traces[i] != id || !strings.Contains(log.String(), `"trace_id":"`+id+`"`) && w.path != "/panics/hush" {
			t.Errorf("%s: its trace is %s, and not %q: %s", w.path, id, counted.traces[i], log)
		}
		if strings.Contains(fmt.Sprint(span.Name(), span.Attributes(), span.Status()), "hush") {
			t.Errorf("the span has the address: %v", span.Attributes())
		}
	}
}

func TestLog_SampleHasAllThatFailed(t *testing.T) {
	t.Parallel()
	url, log := failing(t, func(h *Handlers) { h.LogEvery = 1 << 40 })
	for _, path := range []string{"/fine", "/broken/x", "/fine", "/nowhere", "/broken/y"} {
		ask(t, url+path)
	}
	if n := strings.Count(log.String(), `"msg":"answered"`); n != 2 || strings.Count(log.String(), `"status":503`) != 2 {
		t.Errorf("%d lines: %s", n, log)
	}
}

func TestANodeThatClosesIsNotReadyButAlive(t *testing.T) {
	t.Parallel()
	why := ""
	var mu sync.Mutex
	s := newSiteFor(t, events.Settings{}, func(c *Config) {
		c.Unready = func() string {
			mu.Lock()
			defer mu.Unlock()
			return why
		}
	})
	if a, body := ask(t, s.url+"/readyz"); a.StatusCode != 200 {
		t.Fatal(a.StatusCode, body)
	}
	mu.Lock()
	why = "this node is closing"
	mu.Unlock()
	if a, body := ask(t, s.url+"/readyz"); a.StatusCode != 503 || !strings.Contains(body, why) {
		t.Errorf("readyz: %d %s", a.StatusCode, body)
	}
	for _, path := range []string{"/healthz", "/events", "/events/evening"} {
		if a, body := ask(t, s.url+path); a.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, a.StatusCode, body)
		}
	}
	mu.Lock()
	why = ""
	mu.Unlock()
	s.db.Close() // the database is gone
	if a, _ := ask(t, s.url+"/readyz"); a.StatusCode != 503 {
		t.Errorf("without the database: %d", a.StatusCode)
	}
	if a, _ := ask(t, s.url+"/healthz"); a.StatusCode != 200 {
		t.Errorf("alive without the database: %d", a.StatusCode)
	}
}

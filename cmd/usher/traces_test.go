package main

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
)

// receiver takes traces as a collector does.
type receiver struct {
	url   string
	mu    sync.Mutex
	all   []*wire.ResourceSpans
	wrong []string
}

func receive(t *testing.T) *receiver {
	t.Helper()
	got := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := got.read(r); err != nil {
			got.mu.Lock()
			defer got.mu.Unlock()
			got.wrong = append(got.wrong, err.Error())
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	got.url = server.URL
	return got
}

func (got *receiver) read(r *http.Request) error {
	if at := r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + r.Header.Get("Secret"); at != "POST /v1/traces application/x-protobuf a b" {
		return fmt.Errorf("a request like %q", at)
	}
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		return err
	}
	message, err := io.ReadAll(unpacked)
	if err != nil {
		return err
	}
	var data wire.TracesData
	if err := proto.Unmarshal(message, &data); err != nil {
		return err
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	got.all = append(got.all, data.GetResourceSpans()...)
	return nil
}

// spans are all spans that came, by id. Call it once the node has ended.
func (got *receiver) spans(t *testing.T) map[string]*wire.Span {
	t.Helper()
	got.mu.Lock()
	defer got.mu.Unlock()
	if len(got.wrong) > 0 {
		t.Error(got.wrong)
	}
	list := map[string]*wire.Span{}
	for _, of := range got.all {
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				list[string(s.GetSpanId())] = s
			}
		}
	}
	return list
}

// way is the names of a span's ancestors and its own, the oldest first.
func way(all map[string]*wire.Span, s *wire.Span) string {
	if above := all[string(s.GetParentSpanId())]; above != nil {
		return way(all, above) + " > " + s.GetName()
	}
	return s.GetName()
}

func attributeOf(s *wire.Span, key string) *common.AnyValue {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue()
		}
	}
	return nil
}

// sellingNode is a node with one event that is paid by the demo card.
func sellingNode(t *testing.T, cfg *Config, log *slog.Logger) *running {
	t.Helper()
	db := seatstest.DB(t)
	hall, _ := plan.Named("club")
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(4e9, 0), Demo: true, PaidAhead: true}, hall); err != nil {
		t.Fatal(err)
	}
	cfg.DatabaseURL = db.Config().ConnString()
	return runNodeWith(t, cfg, log)
}

// tracedNode is one that sends its traces to a receiver.
func tracedNode(t *testing.T, to string, with func(*Config)) (*running, *Config) {
	t.Helper()
	cfg := &Config{Log: "text", Traces: to, TraceHeaders: "secret=a%20b", TraceRatio: 1}
	with(cfg)
	return sellingNode(t, cfg, slog.New(slog.DiscardHandler)), cfg
}

// buyer is a visitor with cookies.
type buyer struct {
	t    *testing.T
	who  *http.Client
	node string
}

func newBuyer(t *testing.T, node *running) *buyer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &buyer{t, &http.Client{Jar: jar, Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, node.url}
}

func (b *buyer) send(method, path, kind, body string, header ...string) (location, text string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.node+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Accept", map[string]string{asForm: "text/html", asJSON: asJSON}[kind])
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := b.who.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }() // it is read to its end
	read, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode >= 400 {
		b.t.Fatalf("%s %s: %d %.300s (%v)", method, path, a.StatusCode, read, err)
	}
	return a.Header.Get("Location"), string(read)
}

const asForm, asJSON = "application/x-www-form-urlencoded", "application/json"

func (b *buyer) claim(header ...string) (hold, seat string) {
	b.t.Helper()
	_, body := b.send("POST", "/events/evening/claims", asJSON, `{"area":"Floor","quantity":1}`, header...)
	var answer struct {
		Hold struct {
			ID    string   `json:"id"`
			Seats []string `json:"seats"`
		} `json:"hold"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Hold.Seats) != 1 {
		b.t.Fatal(body, err)
	}
	return answer.Hold.ID, answer.Hold.Seats[0]
}

// buys goes from the claim to the mail, and returns what no span may say.
func (b *buyer) buys(mails string) (secrets []string) {
	b.t.Helper()
	hold, seat := b.claim()
	form := url.Values{"hold": {hold}, "seat": {seat}, "name": {"Ann Onymous"}, "email": {"ann@private.example.org"}, "method": {"demo"}}
	card, _ := b.send("POST", "/events/evening/orders", asForm, form.Encode())
	payment, _ := b.send("POST", card, asForm, "answer=pay")
	payment, _, _ = strings.Cut(strings.TrimPrefix(payment, b.node), "?")
	var order string
	eventually(b.t, "the payment is done", func() bool {
		_, body := b.send("GET", payment, asJSON, "")
		var answer struct {
			Payment struct{ State, Order string } `json:"payment"`
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			b.t.Fatal(body, err)
		}
		order = answer.Payment.Order
		return answer.Payment.State == "done"
	})
	eventually(b.t, "a mail is sent", func() bool {
		files, _ := filepath.Glob(filepath.Join(mails, "*"))
		return slices.ContainsFunc(files, func(file string) bool {
			letter, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(letter), "ann@private.example.org")
		})
	})
	at, _ := url.Parse(b.node)
	secrets = []string{"Onymous", "private.example", hold, at.Hostname(), filepath.Base(order), filepath.Base(payment), filepath.Base(card)}
	for _, c := range b.who.Jar.Cookies(at) {
		secrets = append(secrets, c.Value)
	}
	return secrets
}

// attributesOfSpans are all that a span may have.
var attributesOfSpans = []string{
	"http.request.method", "http.route", "http.response.status_code",
	"usher.event", "usher.seats", "usher.outcome", "usher.commands", "usher.method", "usher.kind", "usher.tries", "usher.done",
}

func TestTraces_APurchaseIsTracedFromTheClaimToTheMail(t *testing.T) {
	t.Parallel()
	got := receive(t)
	node, cfg := tracedNode(t, got.url, func(*Config) {})
	secrets := newBuyer(t, node).buys(filepath.Join(cfg.Data, "mail"))
	if err := node.group.stop(); err != nil { // it sends the spans that wait
		t.Fatal(err)
	}
	all := got.spans(t)
	ways := map[string]*wire.Span{}
	for _, s := range all {
		ways[way(all, s)] = s
	}
	for _, want := range []string{
		"POST /events/{slug}/claims > claim", "batch", "POST /events/{slug}/orders > order > payment authorize > payment provider", "job mail > mail",
	} {
		if ways[want] == nil {
			t.Errorf("there is no %q", want)
		}
	}
	for _, last := range []string{" > payment capture > payment provider", " > payment webhook", " > sell"} { // in a request or a job, which one is first
		found := false
		for w := range ways {
			found = found || strings.HasSuffix(w, last)
		}
		if !found {
			t.Errorf("there is no %q", last)
		}
	}
	if t.Failed() {
		for w := range ways {
			t.Log(w)
		}
		t.FailNow()
	}
	claim, request := ways["POST /events/{slug}/claims > claim"], ways["POST /events/{slug}/claims"]
	if n := attributeOf(claim, "usher.seats").GetIntValue(); n != 1 || attributeOf(claim, "usher.event").GetStringValue() != "evening" || attributeOf(claim, "usher.commands").GetIntValue() != 1 || attributeOf(claim, "usher.outcome").GetStringValue() != "done" {
		t.Errorf("the claim is %v", claim)
	}
	if attributeOf(request, "http.response.status_code").GetIntValue() != 200 && attributeOf(request, "http.response.status_code").GetIntValue() != 201 {
		t.Errorf("the request is %v", request)
	}
	if len(claim.GetLinks()) != 1 {
		t.Fatalf("the claim has %d links", len(claim.GetLinks()))
	}
	batch := all[string(claim.GetLinks()[0].GetSpanId())]
	if batch.GetName() != "batch" || len(batch.GetParentSpanId()) != 0 || attributeOf(batch, "usher.commands").GetIntValue() != 1 {
		t.Errorf("the claim is linked to %v", batch)
	}
	got.holdsNothingPersonal(t, secrets)
}

// holdsNothingPersonal walks all that came.
func (got *receiver) holdsNothingPersonal(t *testing.T, secrets []string) {
	t.Helper()
	got.mu.Lock()
	defer got.mu.Unlock()
	for _, of := range got.all {
		text, err := protojson.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if len(secret) < 5 || strings.Contains(string(text), secret) {
				t.Errorf("%q is in %.2000s", secret, text)
			}
		}
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				for _, a := range s.GetAttributes() {
					if !slices.Contains(attributesOfSpans, a.GetKey()) {
						t.Errorf("%s has %s", s.GetName(), a)
					}
				}
				if s.GetStatus().GetMessage() != "" || len(s.GetEvents()) > 0 || s.GetTraceState() != "" {
					t.Errorf("%s says more than its attributes: %v", s.GetName(), s)
				}
			}
		}
	}
}

const proxysTrace, proxysParent = "0af7651916cd43dd8448eb211c80319c", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestTraces_AreThoseOfATrustedProxyAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with    func(*Config)
		trusted bool
	}{
		"trusted":       {func(cfg *Config) { cfg.Header = "X-Forwarded-For" }, true},
		"no proxy":      {func(*Config) {}, false},
		"another proxy": {func(cfg *Config) { cfg.Header, cfg.Proxies = "X-Forwarded-For", "192.0.2.0/28" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := receive(t)
			node, _ := tracedNode(t, got.url, func(cfg *Config) { c.with(cfg); cfg.TraceRatio = 0 })
			newBuyer(t, node).claim("Traceparent", proxysParent, "Tracestate", "vendor=ann", "X-Forwarded-For", "198.51.100.7")
			newBuyer(t, node).claim()
			if err := node.group.stop(); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range got.spans(t) {
				names = append(names, s.GetName())
				if ours := hex.EncodeToString(s.GetTraceId()) == proxysTrace; ours == (s.GetName() == "batch") || s.GetTraceState() != "" {
					t.Errorf("the trace of %s is %x %q", s.GetName(), s.GetTraceId(), s.GetTraceState())
				}
			}
			slices.Sort(names)
			want := ""
			if c.trusted { // the batch has no parent, and is recorded because the claim is
				want = "POST /events/{slug}/claims batch claim"
			}
			if strings.Join(names, " ") != want {
				t.Errorf("there are %q, want %q", names, want)
			}
		})
	}
}

func TestTraces_CollectorThatHangsNeitherSlowsRequestsNorTheEnd(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(release) })
	node, _ := tracedNode(t, hangs.URL, func(*Config) {})
	b := newBuyer(t, node)
	for range 3000 { // more than wait in memory
		began := time.Now()
		b.send("GET", "/healthz", asJSON, "")
		if took := time.Since(began); took > uploadTime/2 {
			t.Fatalf("a request took %s", took)
		}
	}
	b.claim()
	began := time.Now()
	if err := node.group.stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second { // the rest of the node ends within less
		t.Errorf("the end took %s", took)
	}
}

func TestTraces_CollectorThatIsDownFailsNoRequestAndIsLoggedOnce(t *testing.T) {
	t.Parallel()
	got, log := receive(t), &strings.Builder{}
	down := httptest.NewServer(http.NotFoundHandler())
	c := &collector{address: down.URL + tracesAddress, header: http.Header{"Secret": {"a b"}}, log: newLog(log, "text")}
	for _, state := range []string{"answers 404", "is down", "is still down", "is back", "works"} {
		switch state {
		case "is down":
			down.Close()
		case "is back":
			c.address = got.url + tracesAddress
		}
		if err := c.UploadTraces(t.Context(), []*wire.ResourceSpans{{}}); err != nil {
			t.Errorf("%s: %v", state, err)
		}
	}
	if text := log.String(); strings.Count(text, "takes no traces") != 1 || strings.Count(text, "takes traces again") != 1 {
		t.Error(text)
	}
	node, cfg := tracedNode(t, "http://127.0.0.1:1", func(*Config) {}) // no server listens there
	newBuyer(t, node).buys(filepath.Join(cfg.Data, "mail"))
}

func TestTraces_CollectorThatRedirectsIsNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	t.Cleanup(other.Close)
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(first.Close)
	to := newCollector(&Config{Traces: first.URL, headers: http.Header{"Secret": {"a b"}}}, slog.New(slog.DiscardHandler))
	if err := to.send(t.Context(), nil); err == nil || followed.Load() {
		t.Errorf("a collector that redirects is answered with %v, and followed: %t", err, followed.Load())
	}
}

func TestTraces_HeadersGoToAnotherMachineInTLSAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, headers, wrong string }{
		{"", "", ""},
		{"http://127.0.0.1:4318", "authorization=Bearer%20x", ""},
		{"http://localhost:4318/", "a=b,c=d", ""},
		{"https://collector.example.org", "authorization=Bearer%20x", ""},
		{"http://collector.example.org:4318", "", ""},
		{"http://collector.example.org:4318", "authorization=x", "readable on the way"},
		{"", "a=b", "of no use"},
		{"collector:4318", "", "address such as"},
		{"http://ann:secret@127.0.0.1", "", "address such as"},
		{"http://127.0.0.1", "authorization", "NAME=VALUE"},
		{"http://127.0.0.1", "a=b%0Ac", "NAME=VALUE"},
	} {
		err := (&Config{Traces: c.url, TraceHeaders: c.headers, TraceRatio: 1}).checkTraces()
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q %q: %v, want %q", c.url, c.headers, err, c.wrong)
		}
	}
}

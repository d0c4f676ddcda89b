package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/web"
	seatsdb "github.com/usherbox/usher/seats/database"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/plan"
	"github.com/usherbox/usher/seats/seatstest"
	"github.com/usherbox/usher/seats/waitingroom"
)

// running is a node that runs inside the test.
type running struct {
	url, numbers string
	leaving      *leaving
	group        *group
}

func runNode(t *testing.T, cfg *Config) *running {
	t.Helper()
	return runNodeWith(t, cfg, slog.New(slog.DiscardHandler))
}

func runNodeWith(t *testing.T, cfg *Config, log *slog.Logger) *running {
	t.Helper()
	cfg.Addr, cfg.Sockets, cfg.Looks, cfg.Data, cfg.MailFrom = "127.0.0.1:0", 100, waitingroom.LooksPerSecond, t.TempDir(), ""
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	pool, err := seatsdb.Connect(t.Context(), cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	db := &database{pool: pool, dsn: cfg.DatabaseURL}
	var at [2]net.Listener
	for i := range at {
		if at[i], err = listen(t.Context(), cfg.Addr); err != nil {
			t.Fatal(err)
		}
	}
	r := &running{url: "http://" + at[0].Addr().String(), numbers: "http://" + at[1].Addr().String() + "/metrics", leaving: &leaving{}}
	_, r.group = open(t.Context(), cfg, db, at[0], at[1], r.leaving, log)
	t.Cleanup(func() {
		if err := r.group.stop(); err != nil {
			t.Error(err)
		}
		if err := db.close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }() // it is read to its end
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

var metricName = regexp.MustCompile(`\b(?:usher|go|process)_[a-z0-9_]+`)

// asked is what a file asks Prometheus for.
func asked(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../../contrib/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, ".json") {
		var board struct {
			Panels []struct{ Targets []struct{ Expr string } }
		}
		if err := json.Unmarshal(text, &board); err != nil {
			t.Fatal(err)
		}
		text = nil
		for _, p := range board.Panels {
			for _, target := range p.Targets {
				text = append(text, target.Expr+"\n"...)
			}
		}
	}
	return regexp.MustCompile(`- alert: .*`).ReplaceAllString(string(text), "")
}

var chosen = regexp.MustCompile(`(usher_[a-z_]+)\{((?:\w+=~?"[^"]*",?)+)\}`)

// unanswered lists what is asked of metrics by a label or value that they do not have.
func unanswered(questions, numbers string) (list []string) {
	for _, q := range chosen.FindAllStringSubmatch(questions, -1) {
		for _, label := range regexp.MustCompile(`(\w+)(=~?)("[^"]*")`).FindAllStringSubmatch(q[2], -1) {
			value := regexp.QuoteMeta(label[3])
			if label[2] == "=~" { // no answer of this test is a 5xx
				value = `"`
			}
			if !regexp.MustCompile(`(?m)^` + q[1] + `\{(?:[^"}]*"[^"]*",?)*` + label[1] + `=` + value).MatchString(numbers) {
				list = append(list, q[0])
			}
		}
	}
	return list
}

// missing lists the names that are not among the numbers.
func missing(names []string, numbers string) (list []string) {
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(numbers) {
			list = append(list, name)
		}
	}
	return list
}

func TestTheDashboardAndTheAlertsAskForNumbersThatThereAre(t *testing.T) {
	t.Parallel()
	db := seatstest.DB(t)
	hall, _ := plan.Named("conference")
	if _, err := events.Create(t.Context(), db, events.Settings{Name: "Evening", StartsAt: time.Unix(4e9, 0)}, hall); err != nil {
		t.Fatal(err)
	}
	node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: db.Config().ConnString()}, Log: "text", Joins: 1})
	if _, err := (waitingroom.Control{DB: db, Who: "test"}).Create(t.Context(), waitingroom.NewRoom{Slug: "tour", Name: "Tour", Events: []string{"evening"}, Slots: 5}); err != nil {
		t.Fatal(err)
	}
	questions := asked(t, "grafana.json") + asked(t, "alerts.yml")
	names := metricName.FindAllString(questions, -1)
	if len(names) < 30 {
		t.Fatalf("only %d names were found: this test sees nothing", len(names))
	}
	var lacks []string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if status, body := get(t, node.url+"/events/evening"); status != 200 {
			t.Fatal(status, body)
		}
		if a, err := http.Post(node.url+"/events/evening/claims", "application/json", strings.NewReader(`{"best":1}`)); err != nil || a.Body.Close() != nil {
			t.Fatal(err)
		}
		_, numbers := get(t, node.numbers)
		if lacks = append(missing(names, numbers), unanswered(questions, numbers)...); lacks == nil {
			if missing([]string{"usher_seats_sold"}, numbers) == nil {
				t.Error("a name that there is not was not noticed")
			}
			drawn := asked(t, "grafana.json")
			for _, name := range regexp.MustCompile(`(?m)^# TYPE (usher_\w+)`).FindAllStringSubmatch(numbers, -1) {
				if !regexp.MustCompile(`\b` + name[1] + `(_bucket|_sum|_count)?\b`).MatchString(drawn) {
					t.Errorf("the dashboard does not draw %s", name[1])
				}
			}
			for _, wrong := range []string{`usher_sockets_most{of="each"}`, `usher_room_people{kind="called"}`, `usher_http_requests_total{route="POST /claims",code="200"}`} {
				if len(unanswered(wrong, numbers)) == 0 {
					t.Errorf("%s was not noticed", wrong)
				}
			}
			return
		}
	}
	t.Errorf("they ask for %v", lacks)
}

func TestMetrics_TellThatNATSIsAway(t *testing.T) {
	t.Parallel()
	for address, away := range map[string]string{"nats://127.0.0.1:1": "usher_nats_away 1\n", "": "usher_nats_away 0\n"} {
		node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: seatstest.DB(t).Config().ConnString()}, Log: "text", Joins: 1, NATS: address})
		if _, numbers := get(t, node.numbers); !strings.Contains(numbers, away) {
			t.Errorf("with NATS at %q the numbers do not have %q", address, away)
		}
	}
}

func TestContrib_NamesSettingsThatThereAre(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, flag := range settingsOf("serve") {
		name := flag.Tag.Get("setting")
		known[name], known[name+"_FILE"] = true, true
	}
	named := 0
	for _, file := range []string{"Caddyfile", "Dockerfile", "compose.yml", "kubernetes.yml", "nginx.conf", "usher.service"} {
		text, err := os.ReadFile("../../contrib/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(USHER|DATABASE)_[A-Z_]+`).FindAllString(string(text), -1) {
			if named++; !known[name] {
				t.Errorf("%s sets %s, which there is not", file, name)
			}
		}
	}
	if named < 15 {
		t.Errorf("only %d settings are named: the test reads the wrong files", named)
	}
}

func TestMetrics_SlowAnswersNameTheirRequest(t *testing.T) {
	t.Parallel()
	m := newMetrics()
	of := m.observe("GET /slow")
	of(200, time.Millisecond, "fast", "")
	of(200, 300*time.Millisecond, "slow-1", "")
	traced := m.observe("GET /traced")
	traced(200, 300*time.Millisecond, strings.Repeat("r", web.MostID), strings.Repeat("0a", 16))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, r)
	example := regexp.MustCompile(`# \{[^}]*trace_id="(0a){16}"`)
	if body := w.Body.String(); !strings.Contains(body, `# {request="slow-1"} 0.3`) || strings.Contains(body, `"fast"`) || !example.MatchString(body) {
		t.Error(body)
	}
}

func TestMetrics_ProfilesAreWhereTheNumbersAre(t *testing.T) {
	t.Parallel()
	node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: seatstest.DB(t).Config().ConnString()}, Log: "text"})
	if status, body := get(t, strings.TrimSuffix(node.numbers, "/metrics")+"/debug/pprof/goroutine?debug=1"); status != 200 || !strings.Contains(body, "goroutine profile") {
		t.Error(status, body)
	}
	if status, _ := get(t, node.url+"/debug/pprof/goroutine?debug=1"); status != 404 {
		t.Error("visitors see profiles:", status)
	}
}

func TestANodeToldToEndIsNotReadyAndGoesOnForAWhile(t *testing.T) {
	t.Parallel()
	node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: seatstest.DB(t).Config().ConnString()}, Log: "text"})
	if status, body := get(t, node.url+"/readyz"); status != 200 {
		t.Fatal(status, body)
	}
	addr := strings.TrimPrefix(node.url, "http://")
	if out, err := try(t, "healthcheck", "--addr", addr); err != nil || out != "ready\n" {
		t.Error("a container would be taken for ill:", out, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- node.leaving.wait(time.Hour, node.group, slog.New(slog.DiscardHandler)) }()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if status, _ := get(t, node.url+"/readyz"); status == 503 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is ready all the time")
		}
	}
	if _, err := try(t, "healthcheck", "--addr", addr); err == nil || !strings.Contains(err.Error(), "503") {
		t.Error("a container that ends is taken for ready:", err)
	}
	if status, body := get(t, node.url+"/events"); status != 200 {
		t.Error("it does not go on:", status, body)
	}
	if _, numbers := get(t, node.numbers); !strings.Contains(numbers, "usher_ready 0\n") {
		t.Error("Prometheus is told that it is ready")
	}
	select {
	case err := <-ended:
		t.Error("it ended at once:", err)
	default:
	}
	node.group.failed <- io.ErrUnexpectedEOF // a part that fails ends the wait
	if err := <-ended; err == nil {
		t.Error("a part that failed was not noticed")
	}
	if err := (&leaving{}).wait(0, node.group, nil); err != nil {
		t.Error(err)
	}
}

func TestANodeThatHearsNothingSaysSo(t *testing.T) {
	t.Parallel()
	if why := deaf(2 * time.Second); why != "" {
		t.Error(why)
	}
	if why := deaf(14*time.Second + time.Millisecond); why != "nothing was heard of the database for 14s" {
		t.Error(why)
	}
}

func TestMetrics_AreNowhereUnlessAnAddressIsSetAndNameNothingThatStrangersAskFor(t *testing.T) {
	t.Parallel()
	var all commands
	if _, err := newParser(&all, &shell{env: func(string) string { return "" }}).Parse([]string{"serve"}); err != nil {
		t.Fatal(err)
	}
	if l, err := listenMetrics(t.Context(), all.Serve.Metrics); l != nil || err != nil {
		t.Errorf("without a setting the metrics are at %v, %v", l, err)
	}
	node := runNode(t, &Config{DatabaseSettings: DatabaseSettings{DatabaseURL: seatstest.DB(t).Config().ConnString()}, Log: "text"})
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/vars", "/events/hush", "/orders/hush", "/hush"} {
		if status, _ := get(t, node.url+path); status != 404 {
			t.Errorf("%s: visitors get %d", path, status)
		}
	}
	status, numbers := get(t, node.numbers)
	_, rest, found := strings.Cut(numbers, "hush")
	if status != 200 || found {
		t.Errorf("%d, what was asked for is among the numbers: hush%.100s", status, rest)
	}
}

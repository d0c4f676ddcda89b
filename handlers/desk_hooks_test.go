package handlers

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats/jobs"
)

func TestAnOwnerAddsAWebhookSendsATestAndReadsTheAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	calls := make(chan string, 9)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- r.Header.Get("webhook-id")
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(other.Close)
	form := url.Values{"key": {"k"}, "url": {"http://nowhere"}}
	if a, page := s.submit(t, ann, "/desk/hooks", form); a.StatusCode != 422 || !strings.Contains(page, "Choose what it is notified of.") || !strings.Contains(page, "http://nowhere") {
		t.Errorf("without kinds: %d", a.StatusCode)
	}
	form["url"], form["kind"] = []string{other.URL + "/<b>"}, []string{"order.confirmed", "order.refunded"}
	a, page := s.submit(t, ann, "/desk/hooks", form)
	if a.StatusCode != 201 || !regexp.MustCompile(`<code>whsec_[A-Za-z0-9+/=]{44}</code>`).MatchString(page) {
		t.Fatalf("made: %d", a.StatusCode)
	}
	if a, page := s.page(t, ann, "/desk/hooks"); a.StatusCode != 200 || strings.Contains(page, "whsec_") || !strings.Contains(page, "/&lt;b&gt;") {
		t.Errorf("the list: %d", a.StatusCode)
	}
	path := regexp.MustCompile(`action="(/desk/hooks/\d+)/tests"`).FindStringSubmatch(page)
	if path == nil {
		t.Fatal("there is no button for a test")
	}
	go func() {
		_ = jobs.NewRunner(s.db, slog.New(slog.DiscardHandler), s.config.Hooks.Jobs()...).Run(t.Context())
	}() // it ends with the test
	if a, _ := s.submit(t, ann, path[1]+"/tests", url.Values{"key": {"t"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("a test: %d", a.StatusCode)
	}
	select {
	case <-calls:
	case <-time.After(30 * time.Second):
		t.Fatal("no test came")
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		_, page = s.page(t, ann, path[1])
		if strings.Contains(page, "Answered 202, after") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the answer is not on the page")
		}
	}
	again := regexp.MustCompile(`action="(` + path[1] + `/notices/msg_[0-9a-f-]+/repeats)"`).FindStringSubmatch(page)
	if again == nil {
		t.Fatal("there is no button to send it again")
	}
	if a, _ := s.submit(t, ann, again[1], url.Values{"key": {"again"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("again: %d", a.StatusCode)
	}
	select {
	case <-calls:
	case <-time.After(30 * time.Second):
		t.Fatal("it did not come again")
	}
	var answer desk.HookAnswer
	if a, body := send(t, ann, "GET", s.url+path[1], ""); a.StatusCode != 200 || json.Unmarshal([]byte(body), &answer) != nil || len(answer.Deliveries) != 1 || answer.Deliveries[0].Answers[0].Status != 202 || !answer.Hook.On {
		t.Errorf("as JSON: %d %s", a.StatusCode, body)
	}
}

func TestAWebhookThatFailsStandsOnTheLiveDesk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.exec(t, `INSERT INTO hook (team_id, url, kinds, failures, failing_since) VALUES ($1, 'https://slow.example.org', '{order.paid}', 5, clock_timestamp() - interval '2 hours')`, s.sale.Event.Team)
	s.exec(t, `INSERT INTO hook (team_id, url, kinds, off_at, off_why) VALUES ($1, 'https://gone.example.org', '{order.paid}', clock_timestamp(), 'It answered that it is gone for good (410).')`, s.sale.Event.Team)
	s.exec(t, `INSERT INTO hook (team_id, url, kinds, off_at) VALUES ($1, 'https://off.example.org', '{order.paid}', clock_timestamp())`, s.sale.Event.Team)
	_, page := s.page(t, ann, "/desk/events/evening")
	for words, want := range map[string]bool{"slow.example.org has accepted no deliveries": true, "gone.example.org no longer gets deliveries": true, "off.example.org": false} {
		if strings.Contains(page, words) != want {
			t.Errorf("%q is on the desk: %v", words, !want)
		}
	}
}

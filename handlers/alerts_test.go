package handlers

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/alerts"
)

func TestAlerts_AreChosenTriedAndMailedWithTheirPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.does(t, ann, "/desk/alerts", url.Values{"kind": {"sold", "stopped"}})
	if _, page := s.page(t, ann, "/desk/alerts"); !strings.Contains(page, `value="sold" checked`) || strings.Contains(page, `value="money" checked`) || !strings.Contains(page, "None yet.") {
		t.Error("the page does not show what was chosen")
	}
	if a, body := send(t, ann, "POST", s.url+"/desk/alerts", `{"key":"x","kind":["weather"]}`); a.StatusCode != http.StatusUnprocessableEntity && a.StatusCode != http.StatusBadRequest {
		t.Errorf("a kind that is none: %d %s", a.StatusCode, body)
	}
	s.does(t, ann, "/desk/alerts/tests", url.Values{})
	if m, parts := s.arriving(t, alerts.Mail); !strings.HasPrefix(m.Header.Get("Subject"), "Test: alerts") || !strings.Contains(parts["text/plain"], "nothing happened") {
		t.Errorf("a test is %q: %s", m.Header.Get("Subject"), parts["text/plain"])
	}

	s.exec(t, `UPDATE event SET status = 'paused', reason = 'A lamp fell.'`)
	s.exec(t, `UPDATE alert_look SET looked_at = looked_at - interval '1 minute'`)
	if _, err := s.config.Alerts.Jobs()[0].Do(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	m, parts := s.arriving(t, alerts.Mail)
	if subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil || !strings.HasPrefix(subject, "The sale is paused · Evening") {
		t.Errorf("the subject is %q, %v", subject, err)
	}
	if !strings.Contains(parts["text/plain"], "- The sale is paused · Evening") || !strings.Contains(parts["text/html"], "/desk/events/evening/settings") {
		t.Errorf("the mail is %s", parts["text/plain"])
	}
	if _, page := s.page(t, ann, "/desk/alerts"); !strings.Contains(page, "The sale is paused") || !strings.Contains(page, ">Now<") {
		t.Error("the page does not list the alert")
	}
}

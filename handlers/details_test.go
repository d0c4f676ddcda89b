package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/views/shop"
)

func TestDetails_AreChangedOnThePageOfTheOrder(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Questions: []seats.Question{{Kind: seats.AskText, Label: "Company", Required: true, Choices: []string{}}}}), person(t)
	_, o := (&wall{site: s}).ordered(t)
	at := shop.OrderPath(o.Code)
	if a, page := s.submit(t, who, at+"/details", url.Values{"key": {"a"}, "name": {"Bea Ek"}, "answer-1": {""}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `value="Bea Ek"`) || !strings.Contains(page, "Answer this question.") {
		t.Errorf("without an answer: %d", a.StatusCode)
	}
	s.does(t, who, at+"/details", url.Values{"name": {"Bea Ek"}, "answer-1": {"Ek & Daughters"}})
	if _, page := s.page(t, who, at); !strings.Contains(page, "<dd>Bea Ek</dd>") || !strings.Contains(page, "Ek &amp; Daughters</textarea>") {
		t.Error("the page does not show what was saved")
	}
	if a, body := send(t, who, "POST", s.url+at+"/details", `{"key":"b","name":"Cid","answers":{"1":"none"}}`); a.StatusCode != http.StatusCreated || !strings.Contains(body, `"name":"Cid"`) {
		t.Errorf("a program gets %d %s", a.StatusCode, body)
	}
	if a, _ := send(t, who, "POST", s.url+at+"/details", `{"key":"c","name":""}`); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a program without a name gets %d", a.StatusCode)
	}
	s.exec(t, `UPDATE event SET starts_at = clock_timestamp()`)
	if a, page := s.submit(t, who, at+"/details", url.Values{"key": {"d"}, "name": {"Dan"}, "answer-1": {"x"}}); a.StatusCode != http.StatusConflict || !strings.Contains(page, "can no longer be changed") {
		t.Errorf("after the start: %d", a.StatusCode)
	}
}

package handlers

import (
	"net/http"
	"strings"
	"testing"
)

// What a program is told about a request that cannot be read has no words of Go in it, and says nothing twice.
func TestErrors_SpeakOfTheRequestAndSayNothingTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	for _, c := range []struct {
		who      *http.Client
		at, body string
		says     string
	}{
		{person(t), "/events/evening/claims", `{"seats":"x"}`, "The field “seats” has a value of another kind than it takes."},
		{person(t), "/events/evening/claims", `{"seats":[`, "It is not JSON"},
		{person(t), "/events/evening/claims", `[]`, "It is no JSON object."},
		{person(t), "/events/evening/claims", `{"seat":["x"]}`, "There is no field “seat” here."},
		{ann, "/desk/events/evening/status", `status`, "It is not JSON from character 1 on."},
		{ann, "/desk/events/evening/status", `"draft"`, "It is no JSON object."},
		{ann, "/desk/events/evening/status", `{"key":"k","status":"gone"}`, "never “gone”. Nothing was changed. Correct it"},
	} {
		a, body := send(t, c.who, "POST", s.url+c.at, c.body, "Content-Type", "application/json", "Accept", "application/json")
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, c.says) {
			t.Errorf("%s %s: %d %s, want %q", c.at, c.body, a.StatusCode, body, c.says)
		}
		for _, never := range []string{"Go ", "struct", "unmarshal", "invalid character", "best of the seats", "What you hold"} {
			if strings.Contains(body, never) && (never != "What you hold" || strings.HasPrefix(c.at, "/desk")) {
				t.Errorf("%s %s says %q: %s", c.at, c.body, never, body)
			}
		}
	}
	who := person(t)
	claim := func(body string) (*http.Response, string) {
		return send(t, who, "POST", s.url+"/events/evening/claims", body, "Idempotency-Key", "once", "Content-Type", "application/json")
	}
	if a, body := claim(`{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusCreated && a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	if a, body := claim(`{"area":"Floor","quantity":2}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, `"code":"key"`) {
		t.Errorf("a key with another request: %d %s, want 409 key as at the desk", a.StatusCode, body)
	}
}

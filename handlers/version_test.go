package handlers

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/usherbox/usher/handlers/web"
)

func TestAPI_ErrorsAreProblems(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	for _, c := range []struct {
		method, path, body string
		status             int
		code               string
	}{
		{"GET", "/events/none", "", 404, "unknown"},
		{"GET", "/nowhere", "", 404, "unknown"},
		{"GET", "/events", "", 200, ""},
		{"PUT", "/events", "", 405, "method"},
		{"GET", "/desk/events/evening/orders", "", 401, "not_signed_in"},
		{"POST", "/events/evening/claims", `{"seats":"x"}`, 422, "invalid"},
		{"POST", "/events/evening/claims", `{"area":"Moon","quantity":1}`, 404, "unknown"},
	} {
		a, body := send(t, who, c.method, s.url+web.APIPath+c.path, c.body, "Accept", "text/html")
		var said struct {
			Title, Detail, Code, Message string
			Status                       int
		}
		if err := json.Unmarshal([]byte(body), &said); err != nil {
			t.Fatalf("%s %s: %v in %s", c.method, c.path, err, body)
		}
		if kind := a.Header.Get("Content-Type"); a.StatusCode != c.status || c.code != "" && kind != "application/problem+json" {
			t.Errorf("%s %s: status %d, %s: %s", c.method, c.path, a.StatusCode, kind, body)
		}
		if c.code != "" && (said.Code != c.code || said.Status != c.status || said.Title != http.StatusText(c.status) || said.Detail == "" || said.Message != "") {
			t.Errorf("%s %s: %s", c.method, c.path, body)
		}
	}
	for _, path := range []string{"/api", "/api/v1", "/api/v10/events", "/api/v2/events"} {
		if a, body := send(t, who, http.MethodGet, s.url+path, ""); a.StatusCode != http.StatusNotFound || a.Header.Get("Content-Type") == "application/problem+json" {
			t.Errorf("GET %s: status %d, %s", path, a.StatusCode, body)
		}
	}
}

// Other sites have no more way to act through the API than through the pages.
func TestAPI_KeepsTheGuardsOfPages(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	if a, body := send(t, who, http.MethodPost, s.url+web.APIPath+"/events/evening/claims", `{"area":"Floor","quantity":2}`, "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site"); a.StatusCode != http.StatusForbidden {
		t.Errorf("another site claimed seats: %d %s", a.StatusCode, body)
	}
}

func TestOpenAPI_OperationsHaveNames(t *testing.T) {
	t.Parallel()
	var names []string
	for path, item := range description(t).Paths.Map() {
		for method, op := range item.Operations() {
			if !regexp.MustCompile(`^[a-z][A-Za-z0-9]+$`).MatchString(op.OperationID) || slices.Contains(names, op.OperationID) || len(op.Tags) != 1 {
				t.Errorf("%s %s has the operationId %q and the tags %q", method, path, op.OperationID, op.Tags)
			}
			names = append(names, op.OperationID)
		}
	}
}

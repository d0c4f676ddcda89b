package handlers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func description(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// undescribed lists the routes that are not described, and the descriptions that have no route.
func undescribed(doc *openapi3.T, table []route) (missing []string) {
	described := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			described[method+" "+path] = true
		}
	}
	for _, r := range table {
		_, path, _ := strings.Cut(r.pattern, " ")
		page := path == "/{$}" || path == "/desk" || strings.HasPrefix(path, "/desk/") // for people; those of the desk that are described are for programs, too
		if !described[r.pattern] && !page {
			missing = append(missing, r.pattern+" is not described")
		}
		delete(described, r.pattern)
	}
	for pattern := range described {
		missing = append(missing, pattern+" has no route")
	}
	return missing
}

func TestTheDescriptionNamesEveryRouteAndNoOther(t *testing.T) {
	t.Parallel()
	table := (&Handlers{}).table()
	for _, problem := range undescribed(description(t), table) {
		t.Error(problem)
	}
	if len(undescribed(description(t), table[1:len(table)-1])) == 0 || len(undescribed(description(t), append(table, route{pattern: "GET /new"}))) == 0 {
		t.Error("a missing and a new route were not noticed")
	}
}

// check holds an answer against its description.
func check(t *testing.T, doc *openapi3.T, method, path string, status int, kind, body string) error {
	t.Helper()
	responses := doc.Paths.Value(path).GetOperation(method).Responses
	response := responses.Status(status)
	if response == nil {
		response = responses.Default()
	}
	if response == nil {
		t.Fatalf("%s %s: status %d is not described", method, path, status)
	}
	media := response.Value.Content.Get(kind)
	if media == nil {
		t.Fatalf("%s %s: %s is not described", method, path, kind)
	}
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatal(err)
	}
	return media.Schema.Value.VisitJSON(value, openapi3.MultiErrors())
}

// memory is what a program keeps of answers for its next requests.
type memory struct {
	Hold  holdBody
	Order orderBody
}

func (m *memory) learn(t *testing.T, body string) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), m); err != nil {
		t.Fatal(err)
	}
}

func (m *memory) seat(i int) string {
	if i >= len(m.Hold.Seats) {
		return ""
	}
	return m.Hold.Seats[i]
}

func TestRealAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	s, doc, who := newSite(t), description(t), person(t)
	var seen memory
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/events", ""},
		{"GET", "/events/{slug}", ""},
		{"POST", "/events/{slug}/claims", `{"area":"Floor","quantity":2}`},
		{"POST", "/events/{slug}/claims", `{"area":"Floor","quantity":6}`},
		{"POST", "/events/{slug}/claims", `{"area":"Moon","quantity":6}`},
		{"GET", "/events/{slug}/hold", ""},
		{"POST", "/events/{slug}/hold/extension", ""},
		{"GET", "/events/{slug}/checkout", ""},
		{"POST", "/events/{slug}/orders", `{"hold":"HOLD","seats":["SEAT","SEAT2"],"name":"","email":"ann@example.org","method":"door"}`},
		{"POST", "/events/{slug}/orders", `{"hold":"HOLD","seats":["SEAT"],"name":"Ann","email":"ann@example.org","method":"door"}`},
		{"POST", "/events/{slug}/orders", `{"hold":"HOLD","seats":["SEAT","SEAT2"],"name":"Ann","email":"ann@example.org","method":"door"}`},
		{"POST", "/events/{slug}/orders", `{"hold":"HOLD","seats":["SEAT","SEAT2"],"name":"Eve","email":"eve@example.org","method":"door"}`},
		{"GET", "/orders/{code}", ""},
		{"GET", "/credit", ""},
		{"POST", "/credit/links", `{"email":"ann@example.org"}`},
		{"POST", "/credit/links", `{"email":"ann"}`},
		{"POST", "/credit/session", `{"token":"x"}`},
		{"POST", "/credit/vouchers", `{"code":"x"}`},
		{"GET", "/desk", ""},
		{"GET", "/healthz", ""},
		{"GET", "/readyz", ""},
	} {
		known := strings.NewReplacer("{slug}", "evening", "{code}", seen.Order.Code, "HOLD", seen.Hold.ID, "SEAT2", seen.seat(1), "SEAT", seen.seat(0))
		a, body := send(t, who, c.method, s.url+known.Replace(c.path), known.Replace(c.body))
		seen.learn(t, body)
		if err := check(t, doc, c.method, c.path, a.StatusCode, "application/json", body); err != nil {
			t.Errorf("%s %s: %s: %v", c.method, c.path, body, err)
		}
	}
	if check(t, doc, "GET", "/events/{slug}/hold", 200, "application/json", `{"hold":{"id":"x"}}`) == nil {
		t.Error("an answer that lacks fields was not noticed")
	}
}

func TestRealAnswersOfTheDeskAreAsDescribed(t *testing.T) {
	t.Parallel()
	s, doc := newSite(t), description(t)
	ann := s.owner(t)
	if a, body := send(t, ann, "POST", s.url+"/desk/team/invitations", `{"key":"k","email":"bob@example.org","role":"door"}`); a.StatusCode != 204 {
		t.Fatal(a.StatusCode, body)
	}
	for _, path := range []string{"/desk", "/desk/events/{slug}", "/desk/team", "/desk/log"} {
		a, body := send(t, ann, "GET", s.url+strings.ReplaceAll(path, "{slug}", "evening"), "")
		if err := check(t, doc, "GET", path, a.StatusCode, "application/json", body); err != nil || a.StatusCode != 200 {
			t.Errorf("%s: %d %s: %v", path, a.StatusCode, body, err)
		}
	}
}

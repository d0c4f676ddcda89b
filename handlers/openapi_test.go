package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
)

// loaded is the description, read once.
var loaded = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	if err == nil {
		err = doc.Validate(context.Background())
	}
	return doc, err
})

func description(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// describedAs is the pattern of a route as openapi.yaml writes it.
func describedAs(pattern string) string {
	return strings.Replace(strings.TrimSuffix(pattern, "{$}"), "...}", "}", 1)
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
		pattern := describedAs(r.pattern)
		if !described[pattern] {
			missing = append(missing, r.pattern+" is not described")
		}
		delete(described, pattern)
	}
	for pattern := range described {
		missing = append(missing, pattern+" has no route")
	}
	return missing
}

func TestTheDescriptionNamesEveryRouteAndNoOther(t *testing.T) {
	t.Parallel()
	table := newHandlers(Config{}).table()
	for _, problem := range undescribed(description(t), table) {
		t.Error(problem)
	}
	if len(undescribed(description(t), table[1:len(table)-1])) == 0 || len(undescribed(description(t), append(table, route{pattern: "GET /new"}))) == 0 {
		t.Error("a missing and a new route were not noticed")
	}
}

// patterns finds the route of an address.
var patterns = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range newHandlers(Config{}).table() {
		mux.HandleFunc(r.pattern, http.NotFound)
	}
	return mux
})

// described holds an answer against its description, and a request that was taken too. Pages and what leads to them are
// answers to people, of which the description speaks for all addresses at once.
func described(doc *openapi3.T, r *http.Request, sent string, a *http.Response, got string) error {
	if at := strings.TrimPrefix(r.URL.Path, web.APIPath); at != r.URL.Path {
		r = r.Clone(r.Context())
		r.URL.Path = at
	}
	_, pattern := patterns().Handler(r)
	method, path, _ := strings.Cut(describedAs(pattern), " ")
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	if a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") == "" {
		return errors.New("it does not say when to try again")
	}
	if path == "" || !strings.HasPrefix(path, "/") || kind == "text/html" || a.StatusCode/100 == 3 {
		return nil
	}
	item := doc.Paths.Value(path)
	if item == nil || item.GetOperation(method) == nil {
		return fmt.Errorf("%s is not described", pattern)
	}
	op := item.GetOperation(method)
	if a.StatusCode/100 == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") && op.RequestBody != nil {
		if media := op.RequestBody.Value.Content.Get("application/json"); media != nil {
			if err := asSchema(media.Schema.Value, sent); err != nil {
				return fmt.Errorf("the request was taken and is not as described: %w", err)
			}
		}
	}
	response := op.Responses.Status(a.StatusCode)
	if response == nil {
		response = op.Responses.Default()
	}
	switch {
	case response == nil:
		return fmt.Errorf("the status %d is not described", a.StatusCode)
	case got == "":
		return nil
	}
	media := response.Value.Content.Get(kind)
	if media == nil {
		return fmt.Errorf("the kind %q is not described", kind)
	}
	if kind != "application/json" && kind != "application/problem+json" {
		return nil
	}
	return asSchema(media.Schema.Value, got)
}

func asSchema(schema *openapi3.Schema, text string) error {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return err
	}
	return schema.VisitJSON(value, openapi3.MultiErrors())
}

// memory is what a program keeps of answers for its next requests.
type memory struct {
	Hold  shop.HoldBody
	Order web.OrderBody

	Payment struct{ Code string }
	token   string
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

var (
	problemCode = regexp.MustCompile(`NewProblem\([^,]+, "(\w+)"`)
	refusalCode = regexp.MustCompile(`(?m)^(?:const |\t)Code\w+ += "(\w+)"`) // of a *seats.Conflict
)

func TestOpenAPI_EveryCodeOfAnErrorIsDescribed(t *testing.T) {
	t.Parallel()
	described := description(t).Components.Schemas["ErrorCode"].Value.Enum
	found := 0
	for _, folder := range []string{"web", "shop", "desk", "../seats", "../seats/*"} {
		code := problemCode
		if strings.HasPrefix(folder, "..") {
			code = refusalCode
		}
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, code := range code.FindAllStringSubmatch(string(source), -1) {
				if found++; !slices.Contains(described, any(code[1])) {
					t.Errorf("%s answers %q, which is not in openapi.yaml", file, code[1])
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d codes were found", found)
	}
}

func TestRealAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", web.APIPath} {
		t.Run("at "+cmp.Or(version, "the addresses of pages"), func(t *testing.T) {
			t.Parallel()
			answersAreAsDescribed(t, version)
		})
	}
}

// answersAreAsDescribed buys tickets as a program that uses addresses of a version.
func answersAreAsDescribed(t *testing.T, version string) {
	t.Helper()
	s, who := newSite(t), person(t)
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
		{"POST", "/events/{slug}/orders", `{"hold":"HOLD","seats":["SEAT","SEAT2"],"name":"","email":"ann@example.org","method":"door","total":TOTAL}`},
		{"POST", "/events/{slug}/orders", `{"hold":"HOLD","seats":["SEAT"],"name":"Ann","email":"ann@example.org","method":"door","total":TOTAL}`},
		{"POST", "/events/{slug}/orders", `{"hold":"HOLD","seats":["SEAT","SEAT2"],"name":"Ann","email":"ann@example.org","method":"door","total":TOTAL}`},
		{"POST", "/events/{slug}/orders", `{"hold":"HOLD","seats":["SEAT","SEAT2"],"name":"Eve","email":"eve@example.org","method":"door","total":TOTAL}`},
		{"GET", "/payments/{code}", ""},
		{"POST", "/payments/{code}/mails", ""},
		{"GET", "/confirmations/{token}", ""},
		{"POST", "/confirmations/{token}", ""},
		{"POST", "/confirmations/x", ""},
		{"GET", "/orders/{code}", ""},
		{"GET", "/account", ""},
		{"POST", "/account/sessions/end", ""},
		{"POST", "/account/links", `{"email":"ann@example.org"}`},
		{"POST", "/account/links", `{"email":"ann"}`},
		{"POST", "/account/session", `{"token":"x"}`},
		{"POST", "/account/vouchers", `{"code":"x"}`},
		{"GET", "/desk", ""},
		{"GET", "/healthz", ""},
		{"GET", "/readyz", ""},
	} {
		if strings.HasSuffix(c.path, "{token}") && seen.token == "" {
			p, err := s.sold.Payments.Find(t.Context(), seen.Payment.Code)
			if err == nil {
				seen.token, err = s.sold.Payments.ConfirmToken(t.Context(), p)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		known := strings.NewReplacer("{token}", seen.token, "{slug}", "evening", "{code}", cmp.Or(seen.Order.Code, seen.Payment.Code), "HOLD", seen.Hold.ID, "TOTAL", strconv.FormatInt(seen.Hold.Total, 10), "SEAT2", seen.seat(1), "SEAT", seen.seat(0))
		_, body := send(t, who, c.method, s.url+version+known.Replace(c.path), known.Replace(c.body))
		seen.learn(t, body) // and send holds it against the description
	}
}

func TestOpenAPI_PlantedDeviationsAreNoticed(t *testing.T) {
	t.Parallel()
	doc := description(t)
	for what, c := range map[string]struct {
		path, kind, body string
		status           int
		described        bool
	}{
		"fields are missing":       {"/events/evening/hold", "application/json", `{"hold":{"id":"x"}}`, 200, false},
		"a field is new":           {"/desk/events/evening/seats/1", "application/json", `{"seat":"A1","moments":[],"colour":"red"}`, 200, false},
		"a code is unknown":        {"/desk/events/evening/orders", "application/json", `{"error":{"code":"odd","message":"","seats":[],"nearest":[]}}`, 409, false},
		"a kind is unknown":        {"/desk/events/evening/exports/orders.csv", "text/plain", "x", 200, false},
		"without a wait time":      {"/desk/session", "text/html", "x", 429, false},
		"an error is as described": {"/desk/events/evening/orders", "application/json", `{"error":{"code":"unknown","message":"","seats":[],"nearest":[]}}`, 404, true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		a := &http.Response{StatusCode: c.status, Header: http.Header{"Content-Type": {c.kind}}}
		if err := described(doc, r, "", a, c.body); (err == nil) != c.described {
			t.Errorf("%s: %v", what, err)
		}
	}
}

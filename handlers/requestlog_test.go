package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats/organizers"
)

// noted is a request as the log has it.
type noted struct {
	ID      int64    `json:"id"`
	Key     int64    `json:"key"`
	KeyName string   `json:"key_name"`
	Method  string   `json:"method"`
	Route   string   `json:"route"`
	Status  int      `json:"status"`
	Request string   `json:"request"`
	Once    bool     `json:"once"`
	Repeat  bool     `json:"repeat"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Fields  []string `json:"fields"`
}

// notedBy is the log as its reader sees it, the first request first.
func (s *site) notedBy(t *testing.T, who *http.Client, query string, header ...string) (list []noted) {
	t.Helper()
	a, body := send(t, who, "GET", s.url+"/desk/keys/requests"+query, "", header...)
	var answer struct {
		Requests []noted `json:"requests"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body, err)
	}
	slices.Reverse(answer.Requests)
	return answer.Requests
}

func TestRequestLog_TellsADeveloperWhatWasWrongAndNothingOfAPerson(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, program := s.owner(t), person(t)
	key := s.gives(t, "kiosk", "evening", organizers.ScopeLook, organizers.ScopeSell)
	with := []string{"Authorization", "Bearer " + key}
	ask := func(method, path, body string, header ...string) *http.Response {
		a, _ := send(t, program, method, s.url+path, body, append(header, with...)...)
		return a
	}
	label := s.sale.Plan.Label(10)
	first := ask("GET", "/desk/events/evening?q=eve@example.org", "")
	ask("GET", "/desk/events/eve@example.org", "")
	ask("POST", "/desk/events/evening/sales", `{"key":"a","seat":["`+label+`"],"method":"cash","name":"Eve Adams","email":"eve@"}`)
	for range 2 {
		ask("POST", "/desk/events/evening/sales", `{"seat":["`+label+`"],"method":"cash","name":"Eve Adams","email":"eve@example.org"}`, "Idempotency-Key", "eve@example.org")
	}
	ask("POST", "/desk/events/evening/sales", `{"key":"c","seat":["`+label+`"],"method":"cash","name":"Eve Adams"}`)
	ask("POST", "/desk/events/evening/sales", `{"seat":["`+label+`"],"method":"terminal","name":"Eve Adams"}`, "Idempotency-Key", "eve@example.org")
	ask("POST", "/desk/events/evening/cancellations", `{}`)
	ask("POST", "/api/v1/events/evening/claims", `{"seats":["`+label+`"]}`)
	send(t, program, "GET", s.url+"/desk/events/evening", "", "Authorization", "Bearer usher_nothing")
	list := s.notedBy(t, owner, "")
	for i, want := range []noted{
		{Method: "GET", Route: "/desk/events/{slug}", Status: 200, Request: first.Header.Get("X-Request-Id")},
		{Method: "GET", Route: "/desk/events/{slug}", Status: 404, Code: "unknown", Message: "There is nothing at this address for you."},
		{Method: "POST", Route: "/desk/events/{slug}/sales", Status: 422, Code: "invalid", Fields: []string{"email"}},
		{Method: "POST", Route: "/desk/events/{slug}/sales", Status: 201, Once: true},
		{Method: "POST", Route: "/desk/events/{slug}/sales", Status: 201, Once: true, Repeat: true},
		{Method: "POST", Route: "/desk/events/{slug}/sales", Status: 409, Code: "taken"},
		{Method: "POST", Route: "/desk/events/{slug}/sales", Status: 409, Once: true, Code: "key"},
		{Method: "POST", Route: "/desk/events/{slug}/cancellations", Status: 403, Code: "role", Message: "Your role in this team does not allow that."},
		{Method: "POST", Route: "/events/{slug}/claims", Status: 409, Code: "taken"},
	} {
		if i >= len(list) {
			t.Fatalf("the log is %+v", list)
		}
		got := list[i]
		if got.Method != want.Method || got.Route != want.Route || got.Status != want.Status || got.Once != want.Once || got.Repeat != want.Repeat || got.Code != want.Code || !slices.Equal(got.Fields, want.Fields) ||
			want.Message != "" && got.Message != want.Message || want.Request != "" && got.Request != want.Request || got.KeyName != "usher_kiosk" || got.Request == "" || want.Status >= 400 && got.Message == "" {
			t.Errorf("request %d is %+v, want %+v", i, got, want)
		}
	}
	if len(list) != 9 {
		t.Errorf("%d requests are in the log, want 9", len(list))
	}
	if n := s.count(t, `api_request r WHERE r::text ~* 'eve[ @]|adams|stalls|floor'`); n != 0 {
		t.Errorf("%d rows have something that was typed", n)
	}
	if list := s.notedBy(t, owner, "?status=4xx"); len(list) != 6 {
		t.Errorf("4xx are %+v", list)
	}
	if list := s.notedBy(t, owner, "?status=403"); len(list) != 1 || list[0].Status != 403 {
		t.Errorf("403 are %+v", list)
	}
	if a, body := send(t, owner, "GET", s.url+"/desk/keys/requests?status=many", ""); a.StatusCode != 422 {
		t.Errorf("a status that is none: %d %s", a.StatusCode, body)
	}
	_, page := s.page(t, owner, "/desk/keys/requests?"+url.Values{"status": {"4xx"}}.Encode())
	for _, says := range []string{"POST</b> /desk/events/{slug}/sales", "kiosk", "There is nothing at this address for you.", ">409<", `<option value="4xx" selected>`} {
		if !strings.Contains(page, says) {
			t.Errorf("the page does not say %q", says)
		}
	}
	if strings.Contains(page, ">201<") {
		t.Error("the page of refusals shows others, too")
	}
}

func TestRequestLog_IsOfTheTeamAndAProgramReadsItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	owner, program := s.owner(t), person(t)
	team := s.others(t, "theirs")
	viewer := s.memberOf(t, "vic", organizers.Viewer, s.sale.Event.Team)
	s.memberOf(t, "zed", organizers.Owner, team)
	mine, other, foreign := s.gives(t, "mine", "evening", organizers.ScopeLook), s.gives(t, "other", "evening", organizers.ScopeLook), s.gives(t, "foreign", "theirs", organizers.ScopeLook)
	for _, key := range []string{mine, mine, other, foreign} {
		send(t, program, "GET", s.url+"/desk", "", "Authorization", "Bearer "+key)
	}
	names := func(list []noted) (names []string) {
		for _, one := range list {
			names = append(names, one.KeyName)
		}
		return names
	}
	if got := names(s.notedBy(t, owner, "")); !slices.Equal(got, []string{"usher_mine", "usher_mine", "usher_other"}) {
		t.Errorf("the owner sees those of %q", got)
	}
	if got := names(s.notedBy(t, program, "", "Authorization", "Bearer "+other)); !slices.Equal(got, []string{"usher_other"}) {
		t.Errorf("a program sees those of %q", got)
	}
	var stranger int64
	if err := s.db.QueryRow(t.Context(), `SELECT id FROM api_key WHERE team_id = $1 AND name = 'usher_foreign'`, team).Scan(&stranger); err != nil {
		t.Fatal(err)
	}
	if list := s.notedBy(t, owner, fmt.Sprint("?key=", stranger)); len(list) != 0 {
		t.Errorf("those of another team are %+v", list)
	}
	if list := s.notedBy(t, program, fmt.Sprint("?key=", stranger), "Authorization", "Bearer "+mine); len(list) == 0 || slices.Contains(names(list), "usher_foreign") {
		t.Errorf("a program that asks for another key gets %+v", list)
	}
	if a, _ := send(t, viewer, "GET", s.url+"/desk/keys/requests", ""); a.StatusCode != http.StatusForbidden {
		t.Errorf("a viewer gets %d", a.StatusCode)
	}
}

func TestRequestLog_KeepsTheLastThousandOfAKeyForAWeek(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.owner(t)
	s.gives(t, "busy", "evening", organizers.ScopeLook)
	s.gives(t, "calm", "evening", organizers.ScopeLook)
	s.exec(t, `INSERT INTO api_request (key_id, at, method, route, status, took, request_id)
		SELECT k.id, clock_timestamp() - CASE WHEN n <= 5 THEN interval '8 days' ELSE interval '1 hour' END, 'GET', '/x', 200, 1, '' || n FROM api_key k, generate_series(1, 1500) n WHERE k.name = 'usher_busy' OR n <= 20 ORDER BY n`)
	if err := s.organizers.DeleteOldRequests(t.Context()); err != nil {
		t.Fatal(err)
	}
	if busy, calm, newest := s.count(t, `api_request r JOIN api_key k ON k.id = r.key_id WHERE name = 'usher_busy'`), s.count(t, `api_request r JOIN api_key k ON k.id = r.key_id WHERE name = 'usher_calm'`), s.count(t, `api_request WHERE request_id = '1500'`); busy != organizers.RequestsOfKey || calm != 15 || newest != 1 {
		t.Errorf("%d of a busy key and %d of a calm one are kept, the newest: %d", busy, calm, newest)
	}
	var key int64
	if err := s.db.QueryRow(t.Context(), `SELECT id FROM api_key WHERE name = 'usher_busy'`).Scan(&key); err != nil {
		t.Fatal(err)
	}
	for range organizers.RequestsOfKey / 2 { // as many as a node writes before it looks how many there are
		s.organizers.NoteRequest(organizers.Request{Key: key, Method: "GET", Route: "/y", Status: 200, Name: "new"})
	}
	eventually(t, "what is too much went with the next ones", func() bool {
		return s.count(t, `api_request WHERE request_id = 'new'`) == organizers.RequestsOfKey/2 && s.count(t, `api_request r JOIN api_key k ON k.id = r.key_id WHERE name = 'usher_busy'`) == organizers.RequestsOfKey
	})
}

package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/views/desk"
)

// partner makes a key at the desk for the reserved seats of a code.
func (s *site) partner(t *testing.T, owner *http.Client, code string) (key string) {
	t.Helper()
	a, page := s.submit(t, owner, desk.KeysPath, url.Values{"key": {seats.NewID().String()}, "name": {"Travel agent"}, "event": {"evening"}, "code": {code}})
	found := regexp.MustCompile(`<code>(usher_partner_[0-9a-z]+)</code>`).FindStringSubmatch(page)
	if a.StatusCode != http.StatusCreated || found == nil {
		t.Fatal(a.StatusCode, page)
	}
	return found[1]
}

func TestAPIKey_APartnerCannotLeaveTheSeatsOfItsAllocation(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{SeatsPerHolder: 6})
	owner := s.owner(t)
	s.others(t, "theirs")
	first := slices.IndexFunc(s.sale.Plan.Seats, func(seat seats.Seat) bool { return !s.sale.Plan.Sections[seat.Section].Area })
	s.reserved(t, "AGENT", first, first+1, first+2)
	s.reserved(t, "PRESS", first+3)
	for name, f := range map[string]url.Values{"of no such code": {"event": {"evening"}, "code": {"NOSUCH"}}, "of another team": {"event": {"theirs"}, "code": {"AGENT"}}, "of no event": {"code": {"AGENT"}}} {
		f.Set("name", "Agent")
		t.Log(name)
		s.refused(t, owner, desk.KeysPath, f, http.StatusUnprocessableEntity, "no event with this code for reserved seats")
	}
	key := s.partner(t, owner, "agent")
	if _, page := s.page(t, owner, desk.KeysPath); !strings.Contains(page, "Seats of AGENT, evening") {
		t.Error("the list of keys does not say which seats the key sells")
	}
	at, who := s.url+"/api/v1/events/evening", customerOf(key)
	label := func(i int) string { return s.sale.Plan.Label(first + i) }
	claim := func(who *http.Client, body string) (int, string) {
		t.Helper()
		a, answer := send(t, who, "POST", at+"/claims", body)
		return a.StatusCode, answer
	}
	refused := func(what string, who *http.Client, body, says string) {
		t.Helper()
		if status, answer := claim(who, body); status != http.StatusConflict || !strings.Contains(answer, says) {
			t.Errorf("%s: %d %s", what, status, answer)
		}
	}
	refused("an available seat", who, `{"seats":["`+label(5)+`"]}`, `"code":"reserved"`)
	refused("one of each", who, `{"seats":["`+label(0)+`","`+label(5)+`"]}`, `"code":"reserved"`)
	refused("a seat of another code", who, `{"seats":["`+label(3)+`"]}`, `"code":"reserved"`)
	refused("an area", who, `{"area":"Floor","quantity":1}`, `"code":"sold_out"`)
	refused("more than there are", who, `{"best":4}`, `"code":"sold_out"`)
	status, body := claim(who, `{"best":2}`)
	if status != http.StatusCreated {
		t.Fatal(status, body)
	}
	hold := holdOf(t, body)
	for _, seat := range hold.Seats {
		if seat != label(0) && seat != label(1) && seat != label(2) {
			t.Errorf("the best seats are %v", hold.Seats)
		}
	}

	for _, call := range [][2]string{
		{"POST", "/events/evening/codes"}, {"POST", "/events/evening/challenge"}, {"POST", "/events/theirs/claims"}, {"DELETE", "/events/theirs/claims"}, {"POST", "/events/theirs/orders"}, {"GET", "/events/theirs"},
	} {
		if a, body := send(t, customerOf(key), call[0], s.url+"/api/v1"+call[1], `{"code":"PRESS"}`); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %d %s", call[0], call[1], a.StatusCode, body)
		}
	}
	for _, path := range []string{"/desk/events", "/desk/events/evening/orders", "/desk/keys/requests"} {
		if a, body := send(t, customerOf(key), "GET", s.url+path, ""); a.StatusCode == http.StatusOK {
			t.Errorf("the key opens %s: %s", path, body)
		}
	}
	if a, body := send(t, customerOf(key), "POST", s.url+"/desk/events/evening/sales", `{"seat":["`+label(5)+`"],"method":"cash"}`); a.StatusCode != http.StatusForbidden {
		t.Errorf("the key sells at the desk: %d %s", a.StatusCode, body)
	}

	// a customer with a seat that another key of the team got for them
	other := s.gives(t, "kiosk", "evening", organizers.ScopeSell)
	mixed := &http.Client{Transport: &customer{key: other}}
	if status, body = claim(mixed, `{"seats":["`+label(6)+`"]}`); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	mixed.Transport.(*customer).key = key
	order := func(who *http.Client, body string) (int, string) {
		hold := holdOf(t, body)
		a, answer := send(t, who, "POST", at+"/orders", `{"hold":"`+hold.ID+`","seats":["`+strings.Join(hold.Seats, `","`)+`"],"name":"Ann","email":"ann@example.org","method":"door","total":`+jsonNumber(int(hold.Total))+`}`)
		return a.StatusCode, answer
	}
	if status, answer := order(mixed, body); status != http.StatusConflict || !strings.Contains(answer, `"code":"reserved"`) {
		t.Errorf("an order of a seat outside: %d %s", status, answer)
	}
	_, body = send(t, who, "GET", at+"/hold", "")
	if status, answer := order(who, body); status != http.StatusAccepted && status != http.StatusCreated {
		t.Errorf("the order of the partner: %d %s", status, answer)
	}

	s.does(t, owner, desk.CodesPath("evening")+"/retirements", url.Values{"code": {"AGENT"}})
	refused("with a code that was stopped", customerOf(key), `{"seats":["`+label(2)+`"]}`, `"code":"reserved"`)
	refused("of the best seats, with that", customerOf(key), `{"best":1}`, `"code":"sold_out"`)
	s.wantBooks(t)
}

package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/handlers/desk"
	"github.com/usherbox/usher/seats/orders"
)

func (s *site) door(t *testing.T) string {
	t.Helper()
	secret, err := orders.New(s.db).OpenDoor(t.Context(), "evening", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.url + "/door/" + secret
}

func TestTheDoorLetsATicketInOnceAndWorksWithoutScripts(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	_, order := s.bought(t, who, 2)
	door := s.door(t)
	a, page := send(t, who, "GET", door, "", "Accept", asPage)
	if a.StatusCode != http.StatusOK || !strings.Contains(page, "data-keys=") || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatal(a.StatusCode)
	}
	form := url.Values{"key": {"1"}, "code": {order.Tickets[0].Code}, "place": {"North"}}
	for _, step := range []struct{ key, says string }{{"1", "Let them in."}, {"1", "Let them in."}, {"2", "This ticket was already used on"}, {"3", "at North"}} {
		form.Set("key", step.key)
		if a, page := send(t, who, "POST", door+"/scans", form.Encode(), "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusOK || !strings.Contains(page, step.says) {
			t.Errorf("scan %s: %d, want %q", step.key, a.StatusCode, step.says)
		}
	}
	var list struct{ Tickets []desk.ExpectedBody }
	_, body := send(t, who, "GET", door+"/tickets", "")
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Tickets) != 2 || !list.Tickets[0].In || list.Tickets[1].In {
		t.Errorf("the list is %s, %v", body, err)
	}
	for _, scan := range []string{`{"key":"9","code":"` + order.Tickets[1].Code + `","at":1}`, `{"key":"10","code":"` + order.Code + `"}`, `{"key":"11","code":"forged"}`} {
		a, body := send(t, who, "POST", door+"/scans", scan)
		if a.StatusCode != http.StatusOK {
			t.Errorf("%s got %s", scan, body)
		}
	}
}

func TestAForgedLinkOpensNoDoor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	door := s.door(t)
	for _, path := range []string{door[:len(door)-1], door[:len(door)-1] + "%00", s.url + "/door/x"} {
		for _, more := range []string{"", "/tickets"} {
			if a, body := send(t, person(t), "GET", path+more, ""); a.StatusCode != 404 || !strings.Contains(body, "to the door does not work") && !strings.Contains(body, "no such page") {
				t.Errorf("%s: %d %s", path+more, a.StatusCode, body)
			}
		}
	}
	if a, _ := send(t, person(t), "GET", s.url+"/orders/%00"+strings.Repeat("0", 25), ""); a.StatusCode != 404 {
		t.Errorf("an order's code with a zero byte: %d", a.StatusCode)
	}
}

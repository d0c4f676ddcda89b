package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/orders"
)

func TestNames_AreAskedKeptAndChanged(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{TicketNames: seats.NamesRequired}), person(t)
	hold := s.held(t, who, 2)
	field := func(i int) string {
		idx, _ := s.sale.Seat(hold.Seats[i])
		return orders.FieldTicketName(strconv.Itoa(idx))
	}
	form := fill(hold, "Ann", "ann@example.org")
	form.Set(field(0), "Bea <Ek>")
	form.Set(field(1), " ")
	_, page := s.leads(t, who, form)
	if !strings.Contains(page, `value="Bea <Ek>"`) || !strings.Contains(page, `id="`+field(1)+`-wrong"`) || strings.Contains(page, `id="`+field(0)+`-wrong"`) || !strings.Contains(page, "Enter the name of the attendee.") || !strings.Contains(page, `value="ann@example.org"`) {
		t.Fatal("the checkout lost a name, or does not say at its field that one is missing")
	}
	form.Set(field(1), "Cid")
	a, page := s.post(t, who, form)
	at := a.Header.Get("Location")
	if !strings.HasPrefix(at, "/orders/") {
		t.Fatal(a.StatusCode, page)
	}
	_, page = s.page(t, who, at)
	if !strings.Contains(page, `<p class="facts">Bea &lt;Ek&gt;</p>`) || !strings.Contains(page, `<p class="facts">Cid</p>`) || !strings.Contains(page, "Change names") {
		t.Error("the tickets do not have their names")
	}
	o := s.orderAt(t, s.url+at)
	if len(o.Tickets) != 2 || o.Tickets[0].Name != "Bea <Ek>" || o.Name != "Ann" {
		t.Errorf("a program sees %+v", o.Tickets)
	}
	of := func(i int) string { return orders.FieldTicketName(o.Tickets[i].ID) }
	if a, page := s.submit(t, who, at+"/details", url.Values{"key": {"a"}, "name": {"Ann"}, of(0): {"Dan"}, of(1): {""}}); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `value="Dan"`) || !strings.Contains(page, `id="`+of(1)+`-wrong"`) {
		t.Errorf("a name that is left out: %d", a.StatusCode)
	}
	s.does(t, who, at+"/details", url.Values{"name": {"Ann"}, of(0): {"Dan"}, of(1): {"Cid"}})
	if a, body := send(t, who, "POST", s.url+at+"/details", `{"key":"b","name":"Ann","names":{"`+o.Tickets[1].ID+`":"Eva"}}`); a.StatusCode != http.StatusCreated || !strings.Contains(body, `"name":"Eva"`) || !strings.Contains(body, `"name":"Dan"`) {
		t.Errorf("a program gets %d %s", a.StatusCode, body)
	}
	if a, _ := send(t, who, "POST", s.url+at+"/details", `{"key":"c","name":"Ann","names":{"x":"Eva"}}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("a ticket that is not there: %d", a.StatusCode)
	}
	owner := s.owner(t)
	for path, says := range map[string]string{at + "/calendar.ics": "Dan", "/desk/events/evening/orders/" + o.Code: "Dan", "/desk/events/evening/orders?q=eva": o.Code, "/desk/events/evening/exports/attendees.csv": "name on the ticket"} {
		if _, body := s.page(t, owner, path); !strings.Contains(body, says) {
			t.Errorf("%s does not say %q", path, says)
		}
	}
	door := s.door(t)
	if _, body := send(t, who, "GET", door+"/tickets", ""); !strings.Contains(body, `"name":"Dan"`) {
		t.Errorf("the list of the door: %s", body)
	}
	if _, body := send(t, who, "POST", door+"/scans", `{"key":"k","code":"`+o.Tickets[0].Code+`"}`); !strings.Contains(body, `"name":"Dan"`) {
		t.Errorf("the door says %s", body)
	}
	if _, body := send(t, who, "POST", door+"/scans", `{"key":"l","code":"`+o.Code+`"}`); !strings.Contains(body, `"name":"Eva"`) {
		t.Errorf("the door offers %s", body)
	}
	if _, page := s.page(t, who, at); strings.Contains(page, `name="`+of(0)) || !strings.Contains(page, `name="`+of(1)) {
		t.Error("a used ticket may get another name, or the other one may not")
	}
}

func TestNames_ForPrograms(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{TicketNames: seats.NamesOptional}), person(t)
	hold := s.held(t, who, 2)
	order := func(names string) (*http.Response, string) {
		return send(t, who, "POST", s.url+"/events/evening/orders", `{"hold":"`+hold.ID+`","seats":["`+strings.Join(hold.Seats, `","`)+`"],"name":"Ann","email":"ann@example.org","method":"door","total":`+strconv.FormatInt(hold.Total, 10)+`,"names":`+names+`}`)
	}
	if a, body := order(`{"nowhere":"Bea"}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("a seat that is not there: %d %s", a.StatusCode, body)
	}
	if a, body := order(`{"` + hold.Seats[1] + `":"` + strings.Repeat("x", 201) + `"}`); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "ticket-name-") {
		t.Errorf("a long name: %d %s", a.StatusCode, body)
	}
	if a, body := order(`{"` + hold.Seats[1] + `":"Bea"}`); a.StatusCode != http.StatusCreated && a.StatusCode != http.StatusAccepted {
		t.Errorf("one name of two: %d %s", a.StatusCode, body)
	}
}

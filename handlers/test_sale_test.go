package handlers

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/payments"
)

// drafted makes a draft and a test sale of it, and returns the slugs.
func (s *site) drafted(t *testing.T, owner *http.Client) (draft, test string) {
	t.Helper()
	at := s.drafts(t, owner, "First night")
	s.does(t, owner, at+"/test", url.Values{})
	draft = at[strings.LastIndexByte(at, '/')+1:]
	return draft, s.testOf(t, owner, draft)
}

// testOf is the slug of the test sale of an event, as its checklist says; empty if none runs.
func (s *site) testOf(t *testing.T, owner *http.Client, slug string) string {
	t.Helper()
	_, body := send(t, owner, "GET", s.url+"/desk/events/"+slug+"/checklist", "")
	var list struct{ Test struct{ Event, URL string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(body, err)
	}
	if want := "/events/" + list.Test.Event; list.Test.Event != "" && !strings.HasSuffix(list.Test.URL, want) {
		t.Errorf("the test sale is at %s, want %s", list.Test.URL, want)
	}
	return list.Test.Event
}

// buysIn buys a ticket of an event with the demo card, and returns the code of the order.
func (s *site) buysIn(t *testing.T, slug string) string {
	t.Helper()
	who := person(t)
	_, body := send(t, who, "POST", s.url+"/events/"+slug+"/claims", `{"area":"Floor","quantity":1}`)
	form := fill(holdOf(t, body), "Ann", "ann@example.org")
	form.Set("method", payments.Demo)
	a, body := send(t, who, "POST", s.url+"/events/"+slug+"/orders", form.Encode(), "Content-Type", asForm, "Accept", asPage)
	if !strings.HasPrefix(a.Header.Get("Location"), "/demo-card/") {
		t.Fatal(a.StatusCode, a.Header, words(body))
	}
	path := s.answers(t, who, a.Header.Get("Location"), "pay")
	s.untilState(t, who, path, "done")
	return strings.TrimPrefix(path, "/payments/")
}

func TestTestSale_IsBoughtByItsLinkAndIsInNoListOrFigure(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Demo: true}, func(c *Config) { c.PublicURL = "https://tickets.example.org" })
	owner := s.owner(t)
	s.listensFor(t)
	draft, test := s.drafted(t, owner)
	if again := s.does(t, owner, "/desk/events/"+draft+"/test", url.Values{}); !strings.HasSuffix(again, "/checklist") || s.testOf(t, owner, draft) != test {
		t.Errorf("a second test sale leads to %s, and it is %q, want %q", again, s.testOf(t, owner, draft), test)
	}
	code := s.buysIn(t, test)

	a, page := send(t, person(t), "GET", s.url+"/events/"+test, "", "Accept", asPage)
	if a.Header.Get("X-Robots-Tag") != "noindex" || !strings.Contains(page, "This is a test: no money moves") || !strings.Contains(page, seats.TestMark+"First night") {
		t.Errorf("its page: %v, marked %t", a.Header, strings.Contains(page, seats.TestMark))
	}
	if _, page := send(t, person(t), "GET", s.url+"/orders/"+code, "", "Accept", asPage); !strings.Contains(page, seats.TestMark) {
		t.Error("its order is not marked")
	}
	if _, page := send(t, owner, "GET", s.url+"/desk/events/"+test+"/orders", ""); !strings.Contains(page, code) {
		t.Errorf("its own desk lacks the order: %s", page)
	}
	for _, path := range []string{"/events", "/events?q=first", "/sitemap.xml", "/events.atom", "/api/v1/events"} {
		if _, page := send(t, person(t), "GET", s.url+path, "", "Accept", "*/*"); strings.Contains(page, test) {
			t.Errorf("%s has the test sale", path)
		}
	}
	for _, path := range []string{"/desk", "/desk/events", "/desk/search?q=ann", "/desk/search?q=" + code, "/desk/search?q=first", "/desk/customers", "/desk/books?by=event", "/desk/books/journal.csv", "/desk/orders?q=" + code} {
		a, page := send(t, owner, "GET", s.url+path, "")
		if strings.Contains(page, test) || strings.Contains(page, seats.TestMark) || strings.Contains(page, "ann@example.org") || !strings.Contains(path, code) && strings.Contains(page, code) {
			t.Errorf("%s (%d) has the test sale: %s", path, a.StatusCode, page)
		}
	}
	if n := s.count(t, `notice WHERE data->>'event' = '`+test+`'`) + s.count(t, "invoice"); n != 0 {
		t.Errorf("%d webhooks and invoices tell of it", n)
	}
	if got := s.config.Orders.Methods(s.saleOf(t, test).Event, 100); len(got) != 1 || got[0] != payments.Demo {
		t.Errorf("it takes %v", got)
	}
}

// listensFor adds a webhook that is told of everything.
func (s *site) listensFor(t *testing.T) {
	t.Helper()
	s.exec(t, `INSERT INTO hook (team_id, url, kinds) SELECT team_id, 'http://127.0.0.1:1', '{order.confirmed,order.paid,event.created,event.changed,hold.expired}' FROM event WHERE slug = 'evening'`)
}

func (s *site) saleOf(t *testing.T, slug string) *seats.Sale {
	t.Helper()
	sale, err := s.office.Sale(t.Context(), slug)
	if err != nil {
		t.Fatal(err)
	}
	return sale
}

func TestTestSale_EndsWhenTheSaleStartsAndWhatWasTypedIsErased(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Demo: true})
	owner := s.owner(t)
	draft, test := s.drafted(t, owner)
	code := s.buysIn(t, test)
	ended := s.saleOf(t, test)
	again := func(want int) {
		t.Helper()
		if a, body := send(t, owner, "POST", s.url+"/desk/events/"+draft+"/test", `{"key":"again"}`); a.StatusCode != want {
			t.Errorf("the form again: %d %s, want %d", a.StatusCode, body, want)
		}
	}
	again(http.StatusCreated)
	s.does(t, owner, "/desk/events/"+draft+"/status", url.Values{"status": {"on sale"}, "now": {"on"}, "anyway": {"on"}})
	eventually(t, "the test sale is over", func() bool { return s.count(t, `event WHERE slug = '`+test+`' AND status = 'closed'`) == 1 })
	eventually(t, "the buyer is erased", func() bool {
		return s.count(t, `orders WHERE email <> '' AND code = '`+code+`'`)+s.count(t, `payment WHERE form->>'email' <> ''`) == 0
	})
	again(http.StatusConflict)
	if got := s.testOf(t, owner, draft); got != "" {
		t.Errorf("the checklist still leads to %s", got)
	}
	if a, body := send(t, person(t), "POST", s.url+"/events/"+test+"/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusConflict {
		t.Errorf("it still sells: %d %s", a.StatusCode, body)
	}
	for path, form := range map[string]url.Values{
		"/desk/events/" + test + "/status": {"status": {"on sale"}}, "/desk/events/" + draft + "/test": {}, "/desk/events/" + test + "/test": {},
		"/desk/events/" + test + "/copies": {"name": {"Another"}}, "/desk/events/" + test + "/series": {"dates": {"2033-06-01 20:00"}},
	} {
		form.Set("key", seats.NewID().String())
		a, body := send(t, owner, "POST", s.url+path, form.Encode(), "Content-Type", asForm)
		if a.StatusCode != http.StatusConflict {
			t.Errorf("%s: %d %s", path, a.StatusCode, body)
		}
	}
	n := events.Of(ended.Event)
	for what, change := range map[string]func(*events.Settings){
		"its mark": func(n *events.Settings) { n.Name = "First night" }, "real money": func(n *events.Settings) { n.Demo = false }, "invoices": func(n *events.Settings) { n.Invoices = true },
	} {
		n := n
		change(&n)
		var refused *seats.Conflict
		if _, err := events.Edit(t.Context(), s.office, test, n, nil, nil); !errors.As(err, &refused) {
			t.Errorf("%s may change: %v", what, err)
		}
	}
}

func TestTestSale_AKeyForTestsOpensTestSalesAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Demo: true})
	owner := s.owner(t)
	draft, test := s.drafted(t, owner)
	code := s.buysIn(t, test)
	var made struct{ Key string }
	if a, body := send(t, owner, "POST", s.url+"/desk/keys", `{"key":"k","name":"tests","test":true,"scopes":["look","sell","manage"]}`); a.StatusCode != http.StatusCreated || json.Unmarshal([]byte(body), &made) != nil {
		t.Fatal(a.StatusCode, body)
	}
	if !strings.HasPrefix(made.Key, organizers.TestKeyStart) {
		t.Errorf("the key is %s", made.Key)
	}
	real0 := s.buysIn(t, "evening")
	tests, real := customerOf(made.Key), customerOf(s.gives(t, "real", "evening", organizers.Scopes()...))
	for _, one := range []struct {
		who              *http.Client
		method, to, body string
		want             int
	}{
		{tests, "GET", "/desk/events/" + test + "/orders/" + code, "", 200},
		{tests, "GET", "/desk/events/" + draft + "/checklist", "", 404},
		{tests, "GET", "/desk/events/evening/orders", "", 404},
		{tests, "POST", "/desk/events", `{"key":"n","name":"Another","starts":"2033-05-18T20:00","zone":"UTC","plan":"club"}`, 403},
		{tests, "GET", "/desk/customers", "", 403},
		{tests, "GET", "/desk/gift-cards", "", 403},
		{tests, "POST", "/desk/events/" + test + "/sales", `{"key":"a","seat":["` + s.freeIn(t, test) + `"],"method":"cash","also.evening.seat":["` + s.freeIn(t, "evening") + `"]}`, 404},
		{tests, "POST", "/desk/events/" + test + "/codes", `{"key":"b","kind":"discount","percent":"100","count":1,"events":["evening"]}`, 422},
		{tests, "GET", "/orders/" + real0, "", 404},
		{real, "GET", "/orders/" + code, "", 404},
		{tests, "POST", "/api/v1/events/" + test + "/claims", `{"area":"Floor","quantity":1}`, 201},
		{tests, "POST", "/api/v1/events/evening/claims", `{"area":"Floor","quantity":1}`, 404},
		{real, "POST", "/api/v1/events/evening/claims", `{"area":"Floor","quantity":1}`, 201},
		{real, "POST", "/api/v1/events/" + test + "/claims", `{"area":"Floor","quantity":1}`, 404},
		{real, "GET", "/desk/events/" + test + "/orders", "", 404},
	} {
		if a, body := send(t, one.who, one.method, s.url+one.to, one.body); a.StatusCode != one.want {
			t.Errorf("%s %s by key: %d %s, want %d", one.method, one.to, a.StatusCode, body, one.want)
		}
	}
	if _, body := send(t, tests, "GET", s.url+"/desk/events", ""); !strings.Contains(body, test) || strings.Contains(body, `"evening"`) || strings.Contains(body, `"`+draft+`"`) {
		t.Errorf("a key for tests lists %s", body)
	}
	if _, body := send(t, real, "GET", s.url+"/desk/events", ""); strings.Contains(body, test) || !strings.Contains(body, `"evening"`) {
		t.Errorf("another key lists %s", body)
	}
}

// freeIn is the label of a seat of an event that is free.
func (s *site) freeIn(t *testing.T, slug string) string {
	t.Helper()
	sale := s.saleOf(t, slug)
	return sale.Plan.Label(sale.FreeSeats()[0])
}

func TestTestSale_TheTillTakesNoMoneyAndNoGiftCardThere(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Demo: true})
	owner := s.owner(t)
	_, test := s.drafted(t, owner)
	s.does(t, owner, "/desk/till/sessions", url.Values{"currency": {"EUR"}, "zone": {"UTC"}, "float": {"100"}})
	at := "/desk/events/" + test + "/sales"
	if a, body := send(t, owner, "POST", s.url+at, `{"key":"card","seat":["`+s.freeIn(t, test)+`"],"method":"cash","gift_card":"ABCD-EFGH-JKLM-NPQR"}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, "takes no gift cards") {
		t.Errorf("a gift card: %d %s", a.StatusCode, body)
	}
	before := s.count(t, "till_entry")
	if a, body := send(t, owner, "POST", s.url+at, `{"key":"cash","seat":["`+s.freeIn(t, test)+`"],"method":"cash"}`); a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, body)
	}
	if n := s.count(t, "till_entry"); n != before {
		t.Errorf("the till has %d entries, want %d", n, before)
	}
}

func TestTestSale_ItsTicketOpensNoDoorOfTheEvent(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Demo: true})
	owner := s.owner(t)
	draft, test := s.drafted(t, owner)
	o, err := s.sold.Find(t.Context(), s.buysIn(t, test))
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, `UPDATE event SET status = 'on sale' WHERE slug = '`+draft+`'`)
	for slug, want := range map[string]bool{draft: false, test: true} {
		secret, err := s.sold.OpenDoor(t.Context(), slug, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, body := send(t, person(t), "POST", s.url+"/door/"+secret+"/scans", `{"key":"`+slug+`","code":"`+o.Tickets[0].Code+`","place":"North"}`)
		if got := strings.Contains(body, `"word":"in"`); got != want {
			t.Errorf("the door of %s says %s", slug, body)
		}
	}
}

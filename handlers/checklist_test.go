package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/organizers"
)

// checklist is the answer of an event's checklist.
type checklist struct {
	Status seats.Status
	Ready  bool
	Checks []struct {
		Point events.Point
		State events.CheckState
		Asks  bool
	}
}

func (s *site) checklist(t *testing.T, who *http.Client, slug string) (c checklist, asks []events.Point) {
	t.Helper()
	a, body := send(t, who, "GET", s.url+"/desk/events/"+slug+"/checklist", "")
	if err := json.Unmarshal([]byte(body), &c); err != nil || a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, err, body)
	}
	for _, check := range c.Checks {
		if check.Asks {
			asks = append(asks, check.Point)
		}
	}
	return c, asks
}

// drafts makes a draft that nothing was said about yet.
func (s *site) drafts(t *testing.T, who *http.Client, name string) (at string) {
	t.Helper()
	to := s.does(t, who, "/desk/events", url.Values{"name": {name}, "starts": {"2033-05-18T20:00"}, "zone": {"Europe/Vienna"}, "plan": {"club"}})
	if !strings.HasSuffix(to, "/checklist") {
		t.Fatalf("a new event leads to %s", to)
	}
	return strings.TrimSuffix(to, "/checklist")
}

func TestChecklist_LeadsToTheSaleAndAsksBeforeOneThatLacksSomething(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.drafts(t, ann, "First night")
	slug := at[strings.LastIndexByte(at, '/')+1:]
	c, asks := s.checklist(t, ann, slug)
	if want := []events.Point{events.PointPayment, events.PointLegal, events.PointImprint}; c.Ready || !slices.Equal(asks, want) {
		t.Errorf("a new event asks for %v, want %v", asks, want)
	}
	if _, page := s.page(t, ann, at+"/checklist"); !strings.Contains(page, "People can’t pay yet.") || !strings.Contains(page, `href="/desk/legal?kind=imprint"`) {
		t.Error("the page does not say that people cannot pay, or does not lead to the imprint")
	}

	form := url.Values{"key": {"start"}, "status": {"on sale"}, "now": {"on"}}
	if a, page := s.submit(t, ann, at+"/status", form); a.StatusCode != http.StatusConflict || !strings.Contains(page, "Start the sale without this?") || !strings.Contains(page, `name="anyway"`) {
		t.Fatalf("a sale without a way to pay: %d %s", a.StatusCode, words(page))
	}
	a, body := send(t, ann, "POST", s.url+at+"/status", `{"key":"program","status":"on sale"}`)
	if a.StatusCode != http.StatusConflict || !strings.Contains(body, `"not_ready"`) || !strings.Contains(body, "Missing: Payment, Terms and privacy notice, Imprint.") {
		t.Fatalf("by a program: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "POST", s.url+at+"/status", `{"key":"later","status":"scheduled","opens":"2033-01-01 10:00"}`); a.StatusCode != http.StatusConflict {
		t.Errorf("scheduled without a way to pay: %d %s", a.StatusCode, body)
	}
	if c, _ := s.checklist(t, ann, slug); c.Status != seats.Draft {
		t.Fatalf("a refused sale started: %s", c.Status)
	}

	s.publishes(t, ann, "terms", "Tickets are final.")
	s.publishes(t, ann, "privacy", "We keep your email.")
	s.publishes(t, ann, "imprint", "Ann, 1 Street, Vienna")
	if a, body := send(t, ann, "POST", s.url+at+"/settings", `{"key":"pay","door":true}`); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	if c, asks := s.checklist(t, ann, slug); !c.Ready || len(asks) > 0 {
		t.Errorf("with texts and payment it asks for %v", asks)
	}
	s.does(t, ann, at+"/status", form)
	if c, _ := s.checklist(t, ann, slug); c.Status != seats.OnSale {
		t.Errorf("with everything it is %s", c.Status)
	}
	s.wantBooks(t)
}

func TestChecklist_FreeEventStartsOnlyAnyway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.drafts(t, ann, "Zero")
	if a, body := send(t, ann, "POST", s.url+at+"/settings", `{"key":"free","price":["0","0","0"]}`); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	if a, body := send(t, ann, "POST", s.url+at+"/status", `{"key":"k","status":"on sale"}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, "Missing: Prices, ") {
		t.Fatalf("an event without prices: %d %s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "POST", s.url+at+"/status", `{"key":"k","status":"on sale","anyway":true}`); a.StatusCode != http.StatusOK {
		t.Fatalf("anyway: %d %s", a.StatusCode, body)
	}
	if _, page := s.page(t, ann, "/desk/log"); !strings.Contains(page, "Missing: Prices, Terms and privacy notice, Imprint<") {
		t.Errorf("the log does not say without what it was started: %s", between(page, "put the event on sale", "</li>"))
	}
}

func TestSeries_SaleThatLacksSomethingAsks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.drafts(t, ann, "Run")
	made := s.does(t, ann, at+"/series", url.Values{"dates": {"2033-05-19 20:00\n2033-05-20 20:00"}})
	change := func(more string) (*http.Response, string) {
		return send(t, ann, "POST", s.url+made+"/changes", `{"key":"c","all":true,"status":"on sale"`+more+`}`)
	}
	a, body := change("")
	var seen struct {
		Preview struct {
			Digest  string
			Missing []events.Point
		}
	}
	if err := json.Unmarshal([]byte(body), &seen); err != nil || len(seen.Preview.Missing) != 3 {
		t.Fatalf("the preview: %d %v %s", a.StatusCode, err, body)
	}
	if _, page := s.submit(t, ann, made+"/changes", url.Values{"all": {"on"}, "status": {"on sale"}}); !strings.Contains(page, "The sales would start without: Payment, ") || !strings.Contains(page, `name="anyway"`) {
		t.Errorf("the page of the preview does not ask: %s", words(page))
	}
	if a, body := change(`,"digest":"` + seen.Preview.Digest + `"`); a.StatusCode != http.StatusConflict || !strings.Contains(body, `"not_ready"`) {
		t.Errorf("without a word: %d %s", a.StatusCode, body)
	}
	if a, body := change(`,"anyway":true,"digest":"` + seen.Preview.Digest + `"`); a.StatusCode != http.StatusOK {
		t.Errorf("anyway: %d %s", a.StatusCode, body)
	}
}

func TestSeries_SalesAreCheckedOfEachPerformance(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	at := s.drafts(t, ann, "Run")
	made := s.does(t, ann, at+"/series", url.Values{"dates": {"2033-05-19 20:00\n2033-05-20 20:00"}})
	type performance struct {
		Slug    string
		Missing []events.Point
	}
	const own = "run-2033-05-20"
	if a, body := send(t, ann, "POST", s.url+"/desk/events/"+own+"/settings", `{"key":"free","price":["0","0","0"]}`); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	lacks := func(more string) (list map[string]bool, union []events.Point) {
		a, body := send(t, ann, "POST", s.url+made+"/changes", `{"key":"c","all":true,"status":"on sale"`+more+`}`)
		var seen struct {
			Preview struct {
				Performances []performance
				Missing      []events.Point
			}
		}
		if err := json.Unmarshal([]byte(body), &seen); err != nil || len(seen.Preview.Performances) != 3 {
			t.Fatalf("the preview: %d %v %s", a.StatusCode, err, body)
		}
		list = map[string]bool{}
		for _, p := range seen.Preview.Performances {
			list[p.Slug] = slices.Contains(p.Missing, events.PointPrices)
			if !slices.Contains(p.Missing, events.PointImprint) {
				t.Errorf("%s is said to have an imprint: %v", p.Slug, p.Missing)
			}
		}
		return list, seen.Preview.Missing
	}
	list, union := lacks("")
	for slug, lacking := range list {
		if lacking != (slug == own) {
			t.Errorf("%s is said to lack prices: %t", slug, lacking)
		}
	}
	if len(union) == 0 || union[0] != events.PointPrices {
		t.Errorf("together they lack %v", union)
	}
	if list, _ := lacks(`,"part":["prices"]`); !list[own] {
		t.Error("prices of its own stay, and are not checked")
	}
	if list, union := lacks(`,"part":["prices"],"own":true`); list[own] || slices.Contains(union, events.PointPrices) {
		t.Errorf("prices that the same change applies are said to be missing: %v", union)
	}
	if _, page := s.submit(t, ann, made+"/changes", url.Values{"all": {"on"}, "status": {"on sale"}}); strings.Count(page, "Missing: Prices, ") != 1 || !strings.Contains(page, "/desk/events/"+own+"/checklist") {
		t.Errorf("the page of the preview does not say which performance lacks prices: %s", words(page))
	}
}

func TestStatus_BackToDraftWhileNothingIsSoldOrHeld(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const again = "Make it a draft again"
	if _, page := s.page(t, ann, "/desk/events/evening/settings"); !strings.Contains(page, again) {
		t.Error("an event on sale without sales does not offer to become a draft")
	}
	who := person(t)
	s.held(t, who, 1)
	s.refused(t, ann, "/desk/events/evening/status", url.Values{"status": {"draft"}}, http.StatusConflict, "hold or pay for seats")
	if _, page := s.page(t, ann, "/desk/events/evening/settings"); strings.Contains(page, again) {
		t.Error("an event with a hold offers to become a draft")
	}
	if a, body := send(t, who, "POST", s.url+"/events/evening/releases", "{}"); a.StatusCode >= 300 {
		t.Fatal(a.StatusCode, body)
	}
	s.does(t, ann, "/desk/events/evening/status", url.Values{"status": {"draft"}})
	if a, _ := s.page(t, person(t), "/events/evening"); a.StatusCode != http.StatusNotFound {
		t.Errorf("attendees get %d for the draft", a.StatusCode)
	}
	if a, body := send(t, ann, "POST", s.url+"/desk/events/evening/settings", `{"key":"p","price":["99","98","97"]}`); a.StatusCode != http.StatusOK {
		t.Errorf("prices of the draft: %d %s", a.StatusCode, body)
	}
	s.does(t, ann, "/desk/events/evening/status", url.Values{"status": {"on sale"}, "now": {"on"}, "anyway": {"on"}})
	s.sells(t, 1)
	s.refused(t, ann, "/desk/events/evening/status", url.Values{"status": {"draft"}}, http.StatusConflict, "Tickets of this event were sold")
	s.wantBooks(t)
}

func TestCopy_HasADateOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const copies = "/desk/events/evening/copies"
	a, body := send(t, ann, "POST", s.url+copies, `{"key":"a","name":"Evening","starts":"2034-01-02T19:30"}`)
	if a.StatusCode != http.StatusCreated || !strings.Contains(body, `"starts_at":"2034-01-02T19:30:00Z"`) {
		t.Errorf("a copy with a date: %d %.400s", a.StatusCode, body)
	}
	if a, body := send(t, ann, "POST", s.url+copies, `{"key":"b","name":"Evening"}`); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(body, "name and the time of this event") {
		t.Errorf("a second event of the same name at the same time: %d %s", a.StatusCode, body)
	}
	s.refused(t, ann, copies, url.Values{"name": {"Evening"}, "starts": {"soon"}}, http.StatusUnprocessableEntity, "Enter when it begins", `value="soon"`)
	if _, page := s.page(t, ann, "/desk/events/evening/settings"); !strings.Contains(page, `value="2033-05-25T03:33"`) {
		t.Error("the form does not suggest the same time a week later")
	}
}

func TestTill_ReachesItsEventsFromTheList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	s.drafts(t, ann, "Secret")
	dora := s.memberOf(t, "dora", organizers.Till, s.sale.Event.Team)
	_, page := s.page(t, dora, "/desk/events?show=all")
	if !strings.Contains(page, `<a href="/desk/events/evening/till">`) {
		t.Error("the list leads the till nowhere")
	}
	if strings.Contains(page, "Secret") {
		t.Error("the till sees a draft")
	}
	if a, _ := s.page(t, dora, "/desk/events/evening/seats"); a.StatusCode != http.StatusOK {
		t.Errorf("where the list leads, the door gets %d", a.StatusCode)
	}
	if _, page := s.page(t, ann, "/desk/events?show=all"); !strings.Contains(page, `<a href="/desk/events/evening">`) || !strings.Contains(page, "Secret") {
		t.Error("the owner misses an event")
	}
}

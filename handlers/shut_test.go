package handlers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
)

func (s *site) set(t *testing.T, to events.Change) {
	t.Helper()
	if _, err := events.SetStatus(t.Context(), s.office, "evening", to, nil); err != nil {
		t.Fatal(err)
	}
}

func TestThePageOfAnEventThatIsNotOnSaleSaysWhyAndFromWhenOn(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{TimeZone: "Europe/Vienna", OpensAt: time.Date(2030, 3, 1, 9, 0, 0, 0, time.UTC)}), person(t)
	html := func(path string) (int, string) {
		a, body := send(t, who, "GET", s.url+path, "", "Accept", "text/html")
		return a.StatusCode, body
	}
	when := "On sale from Fri 1 March 2030, 10:00\u00a0CET."
	if status, body := html("/events/evening"); status != 200 || !strings.Contains(body, when) || strings.Contains(body, `action="/events/evening/claims"`) && strings.Contains(body, `name="best"`) {
		t.Errorf("%d, without %q, or with a form to claim", status, when)
	}
	if _, body := html("/events"); !strings.Contains(body, "Fri 1 March 2030, 10:00") {
		t.Error("the list does not say when")
	}
	a, body := send(t, who, "GET", s.url+"/events/evening/on-sale.ics", "")
	if a.StatusCode != 200 || !strings.Contains(body, "DTSTART:20300301T090000Z") || !strings.Contains(body, "BEGIN:VALARM") {
		t.Errorf("%d: %s", a.StatusCode, body)
	}
	a, body = send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":2}`)
	if a.StatusCode != http.StatusConflict || !strings.Contains(body, `"not_on_sale"`) || !strings.Contains(body, "On sale from Fri 1 March 2030, 10:00\u00a0CET.") {
		t.Errorf("a claim got %d %s", a.StatusCode, body)
	}
	s.set(t, events.Change{Status: seats.OnSale})
	if a, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":2}`); a.StatusCode != http.StatusCreated {
		t.Fatalf("it is on sale, and a claim got %d %s", a.StatusCode, body)
	}
	s.set(t, events.Change{Status: seats.Paused, Reason: "Payments are <slow>"})
	if status, body := html("/events/evening"); status != 200 || !strings.Contains(body, "Payments are &lt;slow&gt;.") || !strings.Contains(body, `id="tray"`) {
		t.Errorf("%d: who holds seats does not read why it is paused, or does not see them", status)
	} else if n := strings.Count(body, "The sale is paused"); n != 1 {
		t.Errorf("the page says %d times that the sale is paused", n)
	}
	if status, _ := html("/events/evening/checkout"); status != 200 {
		t.Errorf("the checkout of who holds seats is %d", status)
	}
	if a, _ := send(t, who, "GET", s.url+"/events/evening/on-sale.ics", ""); a.StatusCode != 404 {
		t.Errorf("the calendar of a paused event is %d", a.StatusCode)
	}
}

func TestDraft_IsNotPublic(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{Status: seats.Draft}), person(t)
	for _, path := range []string{"", "/sections/0", "/seats", "/map.bin", "/geometry/" + s.sale.Event.PlanHash + ".json", "/live", "/hold", "/checkout", "/on-sale.ics"} {
		if a, body := send(t, who, "GET", s.url+"/events/evening"+path, ""); a.StatusCode != 404 {
			t.Errorf("GET %s: %d %s", path, a.StatusCode, body)
		}
	}
	if a, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":2}`); a.StatusCode != 404 {
		t.Errorf("a claim got %d %s", a.StatusCode, body)
	}
	if _, body := send(t, who, "GET", s.url+"/events", ""); strings.Contains(body, "evening") {
		t.Errorf("the list has it: %s", body)
	}
}

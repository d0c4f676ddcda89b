package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/organizers"
)

func TestTheDeskMakesLinksOfADoorAndClosesThem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, order := s.bought(t, person(t), 2)
	owner, keeper := s.owner(t), s.memberOf(t, "keeper", organizers.Till, s.sale.Event.Team)
	at, form := "/desk/events/evening/doors", url.Values{"key": {seats.NewID().String()}}

	made, page := s.submit(t, keeper, at, form)
	link := regexp.MustCompile(`href="(http[^"]*/door/[0-9A-Z]+)"`).FindStringSubmatch(page)
	if made.StatusCode != http.StatusCreated || link == nil || made.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d, the link is %q", made.StatusCode, link)
	}
	if again, page := s.submit(t, keeper, at, form); again.StatusCode != http.StatusSeeOther || strings.Contains(page, link[1]) || s.audited(t, "opened the door") != 1 {
		t.Errorf("once more: %d, and %d links were noted", again.StatusCode, s.audited(t, "opened the door"))
	}
	scan := url.Values{"key": {"1"}, "code": {order.Tickets[0].Code}, "place": {"North"}}
	if a, page := send(t, person(t), "POST", link[1]+"/scans", scan.Encode(), "Content-Type", asForm, "Accept", asPage); !strings.Contains(page, "Let them in.") {
		t.Fatalf("the link does not open the door page: %d", a.StatusCode)
	}
	if _, page := s.page(t, owner, at); !strings.Contains(page, "<strong>1</strong> <span>of 2 tickets") || !strings.Contains(page, "North") || strings.Contains(page, link[1]) {
		t.Error("the desk does not say who came, or tells the link once more")
	}
	if a, _ := send(t, owner, "GET", s.url+at, ""); a.StatusCode != http.StatusOK {
		t.Error(a.StatusCode)
	}
	s.does(t, owner, at+"/closing", url.Values{})
	if a, _ := send(t, person(t), "GET", link[1], "", "Accept", asPage); a.StatusCode != http.StatusNotFound || s.audited(t, "closed the door") != 1 {
		t.Errorf("the closed link answers %d", a.StatusCode)
	}
}

func TestDoors_ListToPrintHasEachPartyByName(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	dora := s.memberOf(t, "dora", organizers.Door, s.sale.Event.Team)
	s.soldTo(t, ann, "Zoë", "zoe@example.org", 7)
	gone := s.soldTo(t, ann, "Gustav", "gustav@example.org", 8)
	s.soldTo(t, ann, "", "", 9)
	s.soldTo(t, ann, "anton", "anton@example.org", 10)
	s.soldTo(t, ann, "Ángel", "angel@example.org", 11)
	s.does(t, ann, "/desk/events/evening/orders/"+gone+"/cancellations", url.Values{"all": {"on"}})
	a, page := s.page(t, dora, "/desk/events/evening/doors?print=1")
	if a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, words(page))
	}
	list := words(page[strings.Index(page, "<tbody>"):])
	at := func(what string) int { return strings.Index(list, what) }
	if at("anton") < 0 || at("anton") > at("Zoë") || at("Box office") < at("Ángel") || at("Box office") > at("Zoë") || at("Ángel") < 0 || at(s.sale.Plan.Words(9)) < 0 || at("Gustav") >= 0 || strings.Count(list, "☐") != 4 {
		t.Errorf("the list is %s", list)
	}
	if n := s.one(t, `SELECT count(*) FROM deed WHERE what = 'exported attendees'`); n != "1" {
		t.Errorf("%s such lists are in the log", n)
	}
}

package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/usherbox/usher/seats"
)

// The box office invites guests, gives them seats of a block by one click, finds one at the door by name, and strikes another off.
func TestGuests_GetSeatsOfABlockAreAtTheDoorAndStruckOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	const at = "/desk/events/evening"
	s.does(t, ann, at+"/blocks", url.Values{"seats": {"Floor/1-3"}, "owner": {"Friends"}})
	var kept struct{ Blocks []struct{ ID string } }
	if _, body := send(t, ann, "GET", s.url+at+"/blocks", ""); json.Unmarshal([]byte(body), &kept) != nil || len(kept.Blocks) != 1 {
		t.Fatal(body)
	}
	s.does(t, ann, at+"/guests", url.Values{"guests": {"Zoe <Ørsted>, zoe@example.org, 2, critic\nBob\nCid; +2"}, "invited_by": {"Max"}})
	if _, page := s.page(t, ann, at+"/guests"); !strings.Contains(page, "Zoe &lt;Ørsted&gt;") || !strings.Contains(page, "3 guests have no tickets yet") || !strings.Contains(page, "6 places") || !strings.Contains(page, "Friends, 3 seats") {
		t.Errorf("the page is %s", words(page))
	}
	var clicks sync.WaitGroup
	for range 2 { // two people click at once
		clicks.Go(func() {
			a, body := s.submit(t, ann, at+"/guests/tickets", url.Values{"key": {seats.NewID().String()}, "block": {kept.Blocks[0].ID}})
			if a.StatusCode != http.StatusSeeOther && a.StatusCode != http.StatusConflict {
				t.Errorf("%d %s", a.StatusCode, words(body))
			}
		})
	}
	clicks.Wait()
	list := s.guests(t, ann)
	if n := s.count(t, "ticket"); n != 3 || list[0].State != "issued" || len(list[0].Seats) != 2 || list[1].State != "issued" || list[2].State != "waiting" {
		t.Fatalf("%d tickets, and %+v", n, list)
	}
	s.refused(t, ann, at+"/guests/tickets", url.Values{"block": {kept.Blocks[0].ID}}, http.StatusConflict, "not enough seats")
	if _, body := send(t, ann, "GET", s.door(t)+"/tickets", ""); !strings.Contains(body, "Ørsted") {
		t.Errorf("the door does not know the guests: %s", body)
	}
	if _, page := s.page(t, ann, at+"/guests?print=1"); !strings.Contains(page, "Floor, places") || strings.Index(page, "<b>Bob</b>") > strings.Index(page, "<b>Zoe ") {
		t.Errorf("the paper is %s", words(page))
	}
	s.does(t, ann, at+"/guests/"+list[0].ID+"/removal", url.Values{})
	if _, body := send(t, ann, "GET", s.url+at+"/blocks", ""); !strings.Contains(body, `"seats":2,"of":3,"held":0,"sold":0,"guests":1`) {
		t.Errorf("the block is %s", body)
	}
	if list = s.guests(t, ann); list[0].State != "off" || len(list[0].Seats) != 0 {
		t.Errorf("struck off, the list is %+v", list)
	}
	for form, says := range map[string]string{"": "No guest was named", "@": "begins with the name", "Ute, 99": "1 to 50"} {
		s.refused(t, ann, at+"/guests", url.Values{"guests": {form}, "invited_by": {"typed"}}, http.StatusUnprocessableEntity, says, "typed")
	}
}

type guestSeen struct {
	ID, Name, State string
	Seats           []string
}

func (s *site) guests(t *testing.T, who *http.Client) []guestSeen {
	t.Helper()
	var got struct{ Guests []guestSeen }
	if _, body := send(t, who, "GET", s.url+"/desk/events/evening/guests", ""); json.Unmarshal([]byte(body), &got) != nil {
		t.Fatal(body)
	}
	return got.Guests
}

package handlers

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/waitingroom"
)

// newRoom puts a waiting room before the site's event and waits until the node knows it.
func newRoom(t *testing.T, s *site, n waitingroom.NewRoom) waitingroom.Control {
	t.Helper()
	n.Name, n.Slug, n.Events = "Evening", "evening", []string{"evening"}
	c := waitingroom.Control{DB: s.db, Who: "test"}
	if _, err := c.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	until(t, "the event has its room", func() bool {
		a, _ := send(t, person(t), "GET", s.url+"/rooms/evening/status", "")
		b, _ := send(t, person(t), "GET", s.url+"/events/evening", "", "Accept", "text/html")
		return a.StatusCode == 200 && (n.OpensAt == nil || b.StatusCode == http.StatusSeeOther)
	})
	return c
}

// until waits for a condition.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 300 {
		if so() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("it did not come about that %s", what)
}

// stand is a visitor's state in the room.
func stand(t *testing.T, s *site, who *http.Client) (st shop.Standing) {
	t.Helper()
	_, body := send(t, who, "GET", s.url+"/rooms/evening", "")
	if err := json.Unmarshal([]byte(body), &st); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return st
}

// joins sends the form as a browser does, which follows where it is sent.
func joins(t *testing.T, s *site, who *http.Client) shop.Standing {
	t.Helper()
	var st shop.Standing
	a, body := send(t, who, "POST", s.url+"/rooms/evening/places", "")
	if a.StatusCode == http.StatusTemporaryRedirect {
		a, body = send(t, who, "POST", s.url+a.Header.Get("Location"), "")
	}
	if err := json.Unmarshal([]byte(body), &st); err != nil || a.StatusCode != http.StatusCreated {
		t.Fatalf("join: %d %s", a.StatusCode, body)
	}
	return st
}

func TestAPlaceIsGivenOnTheSecondContactAndKept(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := time.Now().Add(time.Hour)
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	forgetful := &http.Client{CheckRedirect: person(t).CheckRedirect}
	a, _ := send(t, forgetful, "POST", s.url+"/rooms/evening/places", "")
	if a.StatusCode != http.StatusTemporaryRedirect {
		t.Fatalf("the first contact gets %d", a.StatusCode)
	}
	if a, body := send(t, forgetful, "POST", s.url+a.Header.Get("Location"), ""); a.StatusCode != http.StatusForbidden || !strings.Contains(body, "cookies") {
		t.Errorf("who keeps no cookies gets %d %s", a.StatusCode, body)
	}
	ann, bob := person(t), person(t)
	first, second := joins(t, s, ann), joins(t, s, bob)
	if first.State != "lobby" || first.Index != 1 || second.Index != 2 {
		t.Errorf("ann %+v, bob %+v", first, second)
	}
	for range 3 { // tabs, and reloads
		if again := joins(t, s, ann); again.Index != first.Index || stand(t, s, ann).Index != first.Index {
			t.Errorf("ann had place %d and has %d", first.Index, again.Index)
		}
	}
	if a, _ := send(t, ann, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusForbidden {
		t.Errorf("a claim from the lobby gets %d", a.StatusCode)
	}
	if a, _ := send(t, ann, "GET", s.url+"/events/evening", "", "Accept", "text/html"); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/rooms/evening" {
		t.Errorf("the page of the event gets %d", a.StatusCode)
	}
}

func TestFromLobbyToSeatsAndOutAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := time.Now().Add(time.Hour)
	c := newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens, Slots: 1})
	people := []*http.Client{person(t), person(t), person(t)}
	for _, who := range people {
		joins(t, s, who)
	}
	if err := c.Open(t.Context(), "evening", nil); err != nil {
		t.Fatal(err)
	}
	until(t, "numbers are drawn", func() bool { return stand(t, s, people[0]).Number > 0 })
	var record waitingroom.Record
	if _, body := send(t, people[0], "GET", s.url+"/rooms/evening/draw.json", ""); json.Unmarshal([]byte(body), &record) != nil || waitingroom.Verify(&record) != nil {
		t.Fatalf("the record does not hold: %v %s", waitingroom.Verify(&record), body)
	}
	numbers := record.Draw().Numbers()
	byNumber := map[int64]*http.Client{}
	for i, who := range people {
		st := stand(t, s, who)
		if st.Number != int64(numbers[i]) {
			t.Errorf("place %d has number %d, and %d by the record", i+1, st.Number, numbers[i])
		}
		byNumber[st.Number] = who
	}
	enter := func(who *http.Client) (st shop.Standing) {
		_, body := send(t, who, "POST", s.url+"/rooms/evening/admissions", "")
		if err := json.Unmarshal([]byte(body), &st); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		return st
	}
	until(t, "number 1 comes in", func() bool { return enter(byNumber[1]).Inside })
	if st := enter(byNumber[2]); st.Inside || st.State != "waiting" && st.State != "next" {
		t.Errorf("number 2 beside number 1 in one slot: %+v", st)
	}
	if a, body := send(t, byNumber[1], "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusCreated {
		t.Fatalf("who is inside claims and gets %d %s", a.StatusCode, body)
	}
	if a, _ := send(t, byNumber[1], "GET", s.url+"/events/evening", "", "Accept", "text/html"); a.StatusCode != http.StatusOK {
		t.Errorf("who is inside gets %d", a.StatusCode)
	}
	send(t, byNumber[1], "DELETE", s.url+"/events/evening/claims", "")
	if a, _ := send(t, byNumber[1], "POST", s.url+"/rooms/evening/departure", ""); a.StatusCode != http.StatusNoContent {
		t.Errorf("leaving gets %d", a.StatusCode)
	}
	until(t, "number 2 comes in", func() bool { return enter(byNumber[2]).Inside })
}

func TestAStatusIsTheSameForAllAndMayBeCached(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opens := time.Now().Add(time.Hour)
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	ann := person(t)
	joins(t, s, ann)
	until(t, "the status counts who joined", func() bool {
		_, body := send(t, person(t), "GET", s.url+"/rooms/evening/status", "")
		return strings.Contains(body, `"lobby":1`)
	})
	a, body := send(t, ann, "GET", s.url+"/rooms/evening/status", "")
	_, other := send(t, person(t), "GET", s.url+"/rooms/evening/status", "")
	if body != other {
		t.Errorf("two people are told\n%s\n%s", body, other)
	}
	if a.Header.Get("Set-Cookie") != "" || a.Header.Get("Vary") == "Cookie" || !strings.HasPrefix(a.Header.Get("Cache-Control"), "public, max-age=2, stale-while-revalidate") {
		t.Errorf("headers %v", a.Header)
	}
	if again, _ := send(t, ann, "GET", s.url+"/rooms/evening/status", "", "If-None-Match", a.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("the same again is %d", again.StatusCode)
	}
}

func TestASmallSaleHasNoWaitingRoomToSee(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	newRoom(t, s, waitingroom.NewRoom{Slots: 1})
	ann, bob := person(t), person(t)
	if a, _ := send(t, ann, "GET", s.url+"/events/evening", "", "Accept", "text/html"); a.StatusCode != http.StatusOK {
		t.Fatalf("the page gets %d", a.StatusCode)
	}
	if a, body := send(t, ann, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`); a.StatusCode != http.StatusCreated {
		t.Fatalf("a claim gets %d %s", a.StatusCode, body)
	}
	until(t, "the second one has to wait", func() bool {
		a, _ := send(t, bob, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":1}`)
		return a.StatusCode == http.StatusForbidden
	})
}

func TestRoom_HolderIDIsNoCredential(t *testing.T) {
	t.Parallel()
	h := &Handlers{Server: &web.Server{Sessions: web.NewSessions(nil, false)}}
	r, _ := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
	word := strings.Repeat("A", 26)
	r.AddCookie(&http.Cookie{Name: "usher-visitor", Value: word})
	holder, known := h.Visitor(r)
	if !known || holder != web.HolderOf(word) || holder == (seats.ID{}) {
		t.Fatalf("%v %v", holder, known)
	}
	for _, guess := range []string{holder.String(), "", "AAAA"} {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.AddCookie(&http.Cookie{Name: "usher-visitor", Value: guess})
		if other, known := h.Visitor(r); known || other == holder {
			t.Errorf("%q is taken for a word of ours", guess)
		}
	}
}

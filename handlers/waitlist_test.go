package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/mail"
	"github.com/usherbox/usher/seats/waitingroom"
)

// soldOut has one program after the other hold everything; it returns the first, who holds one place of the floor.
func (s *site) soldOut(t *testing.T) *http.Client {
	t.Helper()
	first := person(t)
	s.held(t, first, 1)
	for s.sale.Remaining() > 0 {
		var request seats.ClaimRequest
		for _, idx := range s.sale.FreeSeats()[:min(s.sale.Event.SeatsPerHolder, s.sale.Remaining())] {
			request.Seats = append(request.Seats, s.sale.Plan.Label(idx))
		}
		if _, err := s.sale.Claim(t.Context(), seats.NewID(), "", request); err != nil {
			t.Fatal(err)
		}
	}
	return first
}

// waitMail is the newest mail of a kind to an entry, as it is sent.
func (s *site) waitMail(t *testing.T, email, kind string) mail.Letter {
	t.Helper()
	m := mail.Mail{Kind: "wait-" + kind}
	for end := time.Now().Add(30 * time.Second); ; {
		err := s.db.QueryRow(t.Context(), `
			SELECT m.id, n.code FROM mail m JOIN entry n ON n.id = m.entry_id WHERE n.email = $1 AND m.kind = $2 ORDER BY m.id DESC LIMIT 1`, email, m.Kind).Scan(&m.ID, &m.Entry)
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no mail %q to %s: %v", kind, email, err)
		}
		<-time.After(20 * time.Millisecond)
	}
	l, err := Letters{Inventory: s.office, Waits: s.config.Waits, URL: s.url}.Write(t.Context(), m)
	if err != nil || l.Email != email || !strings.Contains(l.HTML, l.Subject) {
		t.Fatalf("the mail is %+v, %v", l, err)
	}
	return l
}

// placeIn is the path of a place in a wait list that a mail names.
func placeIn(t *testing.T, l mail.Letter) string {
	t.Helper()
	_, rest, found := strings.Cut(l.Text, "/waitlist/")
	if !found {
		t.Fatalf("there is no place in %s", l.Text)
	}
	code, _, _ := strings.Cut(rest, "\n")
	return "/waitlist/" + code
}

func (s *site) entry(t *testing.T, who *http.Client, path string) shop.EntryBody {
	t.Helper()
	a, body := send(t, who, "GET", s.url+path, "")
	var got shop.EntryAnswer
	if err := json.Unmarshal([]byte(body), &got); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, a.StatusCode, body)
	}
	return got.Entry
}

// stands waits until a place is in a state.
func (s *site) stands(t *testing.T, who *http.Client, path, state string) shop.EntryBody {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		got := s.entry(t, who, path)
		if got.State == state {
			return got
		}
		if time.Now().After(end) {
			t.Fatalf("the place is %s, want %s", got.State, state)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// waits joins by the form, and confirms by the mail.
func (s *site) waits(t *testing.T, who *http.Client, email string, more url.Values) string {
	t.Helper()
	form := url.Values{"email": {email}, "quantity": {"1"}, "key": {email}}
	for field, values := range more {
		form[field] = values
	}
	a, body := send(t, who, "POST", s.url+"/events/evening/waitlist", form.Encode(), "Content-Type", asForm, "Accept", asPage)
	if a.StatusCode != http.StatusOK || !strings.Contains(body, "Check your email") {
		t.Fatalf("joining: %d %.600s", a.StatusCode, body)
	}
	path := placeIn(t, s.waitMail(t, email, "verify"))
	if got := s.entry(t, who, path); got.State != "new" {
		t.Fatalf("looking at the link made the place %s", got.State)
	}
	a, body = send(t, who, "POST", s.url+path+"/confirm", url.Values{}.Encode(), "Content-Type", asForm, "Accept", asPage)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != path {
		t.Fatalf("confirming: %d %s", a.StatusCode, body)
	}
	return path
}

func TestWaitlist_OfferIsOrdered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.soldOut(t)
	_, page := send(t, person(t), "GET", s.url+"/events/evening", "", "Accept", asPage)
	if !strings.Contains(page, "Join the waiting list") || strings.Contains(page, `data-gone hidden`) {
		t.Error("the page of an event that is sold out does not lead to its wait list")
	}
	ann, bob := person(t), person(t)
	annAt, bobAt := s.waits(t, ann, "ann@example.org", nil), s.waits(t, bob, "bob@example.org", url.Values{"until": {"2033-01-31"}})
	if got := s.entry(t, bob, bobAt); got.Place != 2 || got.Waiting != 2 || got.Until == nil {
		t.Fatalf("the second stands at %+v", got)
	}
	if a, body := send(t, first, "DELETE", s.url+"/events/evening/claims", ""); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, body)
	}
	got := s.stands(t, ann, annAt, "offered")
	if len(got.Offer.Seats) != 1 || !strings.HasPrefix(got.Offer.Seats[0], "Floor/") {
		t.Fatalf("offered is %+v", got.Offer)
	}
	letter := s.waitMail(t, "ann@example.org", "offer")
	if !strings.Contains(letter.Subject, "Seats for you: Evening") || !strings.Contains(letter.Text, "Floor, place") || placeIn(t, letter) != annAt {
		t.Errorf("the mail says %q", letter.Text)
	}
	a, body := send(t, ann, "POST", s.url+annAt+"/take", url.Values{}.Encode(), "Content-Type", asForm, "Accept", asPage)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/events/evening/checkout" {
		t.Fatalf("taking: %d %.300s", a.StatusCode, body)
	}
	_, body = send(t, ann, "GET", s.url+"/events/evening/hold", "")
	hold := holdOf(t, body)
	if a, body := s.post(t, ann, fill(hold, "Ann", "ann@example.org")); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	if s.count(t, "payment") != 0 {
		t.Error("who took an offer of the waiting list is asked to confirm the address again")
	}
	s.stands(t, ann, annAt, "served")
	if got := s.entry(t, bob, bobAt); got.State != "waiting" || got.Place != 1 || got.Accepted != 1 {
		t.Errorf("the second stands at %+v", got)
	}
	_, page = send(t, bob, "GET", s.url+bobAt, "", "Accept", asPage)
	for _, want := range []string{"Your place: <strong>1</strong>", "100% accepted", "Waiting until"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of a place lacks %q", want)
		}
	}
}

func TestAnOfferIsTakenInAnotherBrowserDeclinedAndLeft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.soldOut(t)
	ann, phone, bob := person(t), person(t), person(t)
	annAt, bobAt := s.waits(t, ann, "ann@example.org", nil), s.waits(t, bob, "bob@example.org", nil)
	send(t, first, "DELETE", s.url+"/events/evening/claims", "")
	s.stands(t, ann, annAt, "offered")
	for _, who := range []*http.Client{ann, phone, phone} {
		if a, body := send(t, who, "POST", s.url+annAt+"/take", ""); a.StatusCode != http.StatusCreated || len(holdOf(t, body).Seats) != 1 {
			t.Fatalf("taking: %d %s", a.StatusCode, body)
		}
	}
	if a, _ := send(t, ann, "GET", s.url+"/events/evening/hold", ""); a.StatusCode != http.StatusNotFound {
		t.Error("two browsers hold one offer")
	}
	if a, body := send(t, ann, "POST", s.url+annAt+"/decline", ""); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	s.stands(t, bob, bobAt, "offered")
	s.stands(t, ann, annAt, "left")
	if a, body := send(t, ann, "POST", s.url+annAt+"/take", ""); a.StatusCode != http.StatusConflict || !strings.Contains(body, "This offer has expired") {
		t.Errorf("taking what was declined: %d %s", a.StatusCode, body)
	}
	if letter := s.waitMail(t, "ann@example.org", "left"); !strings.Contains(letter.Subject, "You left the waiting list") {
		t.Errorf("the mail says %q", letter.Subject)
	}
	if a, body := send(t, bob, "POST", s.url+bobAt+"/leave", ""); a.StatusCode != http.StatusOK {
		t.Fatal(a.StatusCode, body)
	}
	s.stands(t, bob, bobAt, "left")
	for end := time.Now().Add(30 * time.Second); s.sale.Remaining() == 0; <-time.After(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a seat that fits no entry is not available")
		}
	}
}

func TestWaitlist_FormHidesEntriesAndLimitsMail(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.soldOut(t)
	who := person(t)
	join := func(key string) (*http.Response, string) {
		return send(t, who, "POST", s.url+"/events/evening/waitlist", fmt.Sprintf(`{"email":"Ann@Example.org","quantity":2,"together":true,"key":%q}`, key))
	}
	var same string
	for i, key := range []string{"a", "a", "b", "c"} {
		a, body := join(key)
		if a.StatusCode != http.StatusAccepted || same != "" && body != same {
			t.Fatalf("try %d: %d %s", i, a.StatusCode, body)
		}
		same = body
	}
	if a, body := join("d"); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" {
		t.Errorf("the fourth mail within the hour: %d %s", a.StatusCode, body)
	}
	var mails, entries int
	if err := s.db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM mail WHERE kind = 'wait-verify'), (SELECT count(*) FROM entry)`).Scan(&mails, &entries); err != nil || mails != 3 || entries != 1 {
		t.Errorf("%d mails and %d places, %v", mails, entries, err)
	}
}

func TestJoin_WrongRequestsAreRefusedInWords(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	if a, body := send(t, who, "POST", s.url+"/events/evening/waitlist", `{"email":"ann@example.org","quantity":1}`); a.StatusCode != http.StatusConflict || !strings.Contains(body, "are available now") {
		t.Errorf("waiting for what is free: %d %s", a.StatusCode, body)
	}
	s.soldOut(t)
	place := s.waits(t, who, "ann@example.org", nil)
	for _, path := range []string{"/events/evening/waitlist", place} {
		for body, says := range map[string]string{
			`{"email":"ann","quantity":0}`: "that many seats", `{"email":"ann@example.org","quantity":7}`: "that many seats",
			`{"email":"ann@example.org","quantity":1,"sections":["Nowhere"]}`:                "no such section",
			`{"email":"ann@example.org","quantity":1,"categories":["Z"]}`:                    "no such section",
			`{"email":"ann@example.org","quantity":1,"until":"2001-01-01"}`:                  "in the past",
			`{"email":"ann@example.org","quantity":1,"until":"soon"}`:                        "Enter a date",
			`{"email":"ann@example.org","quantity":1,"until":"2033-01-01","x":1}`:            "cannot be read",
			`{"email":"ann@example.org","quantity":1,"method":"card","name":"Ann","most":1}`: "be ordered at once",
			`{"email":"ann@example.org","quantity":1,"method":"door","name":"Ann"}`:          "Enter the maximum price",
			`{"email":"ann@example.org","quantity":1,"method":"door","most":1000}`:           "Enter your name",
		} {
			if a, answer := send(t, who, "POST", s.url+path, body); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(answer, says) {
				t.Errorf("%s %s: %d %s", path, body, a.StatusCode, answer)
			}
		}
		form := url.Values{"email": {"ann"}, "quantity": {"x"}, "until": {"x"}, "section": {"99"}}
		a, page := send(t, who, "POST", s.url+path, form.Encode(), "Content-Type", asForm, "Accept", asPage)
		if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, "Enter a date") {
			t.Errorf("%s: the form is answered %d", path, a.StatusCode)
		}
	}
	for _, path := range []string{"/waitlist/NOWHERE", "/waitlist/" + strings.Repeat("0", 26), "/waitlist/%00"} {
		if a, _ := send(t, who, "GET", s.url+path, ""); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
	agrees := url.Values{"quantity": {"1"}, "method": {"door"}, "name": {"Ann"}, "most": {"100"}}
	if a, body := send(t, who, "POST", s.url+place, agrees.Encode(), "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusSeeOther {
		t.Errorf("agreeing: %d %.300s", a.StatusCode, body)
	}
	if _, page := send(t, who, "GET", s.url+place, "", "Accept", asPage); !strings.Contains(page, "ordered at once, at the box office, for €100 at most") || !strings.Contains(page, `name="most" value="100.00"`) {
		t.Error("the page of a place does not say what its person agreed to")
	}
	if a, body := send(t, who, "POST", s.url+place, `{"quantity":3,"fewer":true,"sections":["Floor"]}`); a.StatusCode != http.StatusOK || !strings.Contains(body, `"quantity":3`) {
		t.Errorf("changing: %d %s", a.StatusCode, body)
	}
}

func TestFromAWaitingRoomOneJoinsTheWaitListWithOneTapInTheOrderOfItsNumbers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	newRoom(t, s, waitingroom.NewRoom{Slots: 50})
	zoe, ann, bob, carol := person(t), person(t), person(t), person(t)
	for _, who := range []*http.Client{ann, bob} {
		if st := joins(t, s, who); st.Number == 0 {
			t.Fatalf("in the room they are %+v", st)
		}
	}
	if _, err := s.sale.Block(t.Context(), seats.BlockRequest{Seats: s.sale.FreeSeats()}); err != nil {
		t.Fatal(err)
	}
	at := map[*http.Client]string{}
	for _, who := range []struct {
		client *http.Client
		email  string
	}{{zoe, "zoe@example.org"}, {bob, "bob@example.org"}, {carol, "carol@example.org"}, {ann, "ann@example.org"}} {
		s.signsIn(t, who.client, who.email)
		tap := url.Values{"quantity": {"1"}, "email": {who.email}, "key": {who.email}}
		a, body := send(t, who.client, "POST", s.url+"/events/evening/waitlist", tap.Encode(), "Content-Type", asForm, "Accept", asPage)
		if a.StatusCode != http.StatusSeeOther {
			t.Fatalf("%s taps: %d %.300s", who.email, a.StatusCode, body)
		}
		at[who.client] = a.Header.Get("Location")
	}
	for i, who := range []*http.Client{zoe, ann, bob, carol} {
		if got := s.entry(t, who, at[who]); got.State != "waiting" || got.Place != i+1 {
			t.Errorf("number %d of the list is %+v", i+1, got)
		}
	}
}

func TestOffer_TakenSeatsEndWithTheSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.soldOut(t)
	ann, old := person(t), person(t)
	at := s.waits(t, ann, "ann@example.org", nil)
	send(t, first, "DELETE", s.url+"/events/evening/claims", "")
	s.stands(t, ann, at, "offered")
	for name, who := range map[string]*http.Client{"a browser without a session": ann, "one with a session older than its hold": old} {
		if who == old { // as after a renewal of the session only
			a, body := send(t, old, "POST", s.url+at+"/take", "")
			if a.StatusCode != http.StatusCreated {
				t.Fatal(name, a.StatusCode, body)
			}
			send(t, ann, "POST", s.url+at+"/take", "")
			s.exec(t, `UPDATE hold SET session_ends = clock_timestamp() + interval '1 minute', expires_at = clock_timestamp() - interval '1 minute' WHERE id::text = $1`, holdOf(t, body).ID)
		}
		a, body := send(t, who, "POST", s.url+at+"/take", "")
		if a.StatusCode != http.StatusCreated {
			t.Fatal(name, a.StatusCode, body)
		}
		hold := holdOf(t, body)
		if hold.ExpiresAt.Sub(hold.Now) < 5*time.Minute {
			t.Errorf("%s: the hold ends at %s, and it is %s", name, hold.ExpiresAt, hold.Now)
		}
		if n := s.count(t, `hold WHERE session_ends > clock_timestamp() + interval '23 hours' AND id::text = '`+hold.ID+`'`); n != 1 {
			t.Errorf("%s: the hold is not bound to the session", name)
		}
	}
	s.wantBooks(t)
}

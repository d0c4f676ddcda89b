package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/views/desk"
)

type membersSeen struct {
	Kinds       []struct{ ID, Valid int64 }
	Memberships []struct{ ID, Email, State, Customer string }
}

func (s *site) members(t *testing.T, who *http.Client, query string) (seen membersSeen) {
	t.Helper()
	if _, body := send(t, who, "GET", s.url+desk.MembershipsPath+query, ""); json.Unmarshal([]byte(body), &seen) != nil {
		t.Fatal(body)
	}
	return seen
}

// A team has Friends, imports them, gives a customer one, and ends it.
func TestMemberships_AreImportedGivenAndEnded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.owner(t)
	if _, page := s.page(t, ann, desk.MembershipsPath); !strings.Contains(page, "No memberships yet") || strings.Contains(page, "Import members") {
		t.Errorf("without kinds: %s", words(page))
	}
	s.does(t, ann, desk.MembershipsPath+"/kinds", url.Values{"name": {"Friends <3"}, "price": {"45.50"}, "currency": {"eur"}, "months": {"12"}, "text": {"A drink with the cast"}})
	kind := strconv.FormatInt(s.members(t, ann, "").Kinds[0].ID, 10)
	s.refused(t, ann, desk.MembershipsPath+"/kinds", url.Values{"name": {"friends <3"}, "price": {"1"}, "currency": {"EUR"}, "months": {"1"}}, http.StatusConflict, "already")
	s.refused(t, ann, desk.MembershipsPath+"/kinds", url.Values{"name": {"Typed"}, "price": {"many"}, "currency": {"EUR"}, "months": {"1"}}, http.StatusUnprocessableEntity, "not an amount", "Typed")
	s.refused(t, ann, desk.MembershipsPath+"/imports", url.Values{"kind": {kind}, "members": {"x\nzoe@example.org\ny"}}, http.StatusUnprocessableEntity, "Line 1: ", "Line 3: ", "Nothing was imported.")
	s.refused(t, ann, desk.MembershipsPath, url.Values{"kind": {kind}, "email": {"x"}}, http.StatusUnprocessableEntity, "not an email address")
	for want := range 2 {
		a, body := send(t, ann, "POST", s.url+desk.MembershipsPath+"/imports", `{"key":"import`+strconv.Itoa(want)+`","kind":`+kind+`,"members":"zoe@example.org,Zoe\nmax@example.org,=Max"}`)
		if a.StatusCode != http.StatusOK || !strings.Contains(body, `"added":`+strconv.Itoa(2-2*want)) {
			t.Errorf("import %d: %d %s", want, a.StatusCode, body)
		}
	}
	if _, page := s.page(t, ann, desk.MembershipsPath); !strings.Contains(page, "Friends &lt;3") || !strings.Contains(page, "2 members") || !strings.Contains(page, "€45.50") {
		t.Errorf("the page is %s", words(page))
	}
	a, file := send(t, ann, "GET", s.url+desk.MembershipsPath+"/members.csv?q=max", "")
	if !strings.Contains(a.Header.Get("Content-Disposition"), "members.csv") || !strings.Contains(file, `"max@example.org","'=Max"`) || strings.Contains(file, "zoe@") {
		t.Errorf("the file is %s", file)
	}

	if a, body := s.submit(t, ann, "/desk/events/evening/sales", url.Values{"key": {"one"}, "seat": {s.sale.Plan.Label(7)}, "method": {"cash"}, "name": {"Bob"}, "email": {"bob@example.org"}}); a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, words(body))
	}
	bob := recordOf(t, s, ann, "bob")
	at := "/desk/customers/" + bob
	s.does(t, ann, desk.MembershipsPath, url.Values{"kind": {kind}, "customer": {bob}, "card": {"F-7"}})
	if _, page := s.page(t, ann, at); !strings.Contains(page, "Card F-7") || !strings.Contains(page, "€45.50, given by") {
		t.Errorf("the record is %s", words(page))
	}
	s.refused(t, ann, desk.MembershipsPath, url.Values{"kind": {kind}, "customer": {bob}, "card": {"typed"}}, http.StatusConflict, "<h1>Bob</h1>", "has this membership already", "typed")
	seen := s.members(t, ann, "?q=F-7")
	if len(seen.Memberships) != 1 || seen.Memberships[0].Email != "bob@example.org" || seen.Memberships[0].Customer != bob || seen.Memberships[0].State != "valid" {
		t.Fatalf("of the card are %+v", seen)
	}
	end := desk.MembershipsPath + "/" + seen.Memberships[0].ID + "/end"
	s.does(t, ann, end, url.Values{"customer": {bob}})
	s.refused(t, ann, end, url.Values{}, http.StatusConflict, "over already")
	if _, page := s.page(t, ann, at); !strings.Contains(page, "Ended early") || strings.Contains(page, "End now") {
		t.Errorf("after the end, the record is %s", words(page))
	}
	for query, status := range map[string]int{"?show=x": http.StatusUnprocessableEntity, "?kind=x": http.StatusNotFound, "?kind=999": http.StatusOK} {
		if a, body := send(t, ann, "GET", s.url+desk.MembershipsPath+query, ""); a.StatusCode != status {
			t.Errorf("%s: %d %s", query, a.StatusCode, body)
		}
	}
}

// recordOf is the id of the customer that a search finds.
func recordOf(t *testing.T, s *site, who *http.Client, words string) string {
	t.Helper()
	var found struct{ Customers []struct{ ID string } }
	if _, body := send(t, who, "GET", s.url+"/desk/customers?q="+words, ""); json.Unmarshal([]byte(body), &found) != nil || len(found.Customers) != 1 {
		t.Fatal(body)
	}
	return found.Customers[0].ID
}

// Members of a kind get a code each for the presale. A member with an ended membership is told that the code has ended.
func TestMemberships_AreAPresaleWhileTheyAreValid(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{OpensAt: time.Now().Add(time.Hour)})
	ann, at := s.owner(t), desk.CodesPath("evening")
	s.does(t, ann, desk.MembershipsPath+"/kinds", url.Values{"name": {"Friends"}, "price": {"45"}, "currency": {"EUR"}, "months": {"12"}})
	kind := strconv.FormatInt(s.members(t, ann, "").Kinds[0].ID, 10)
	form := url.Values{"name": {"Friends first"}, "presale": {"on"}, "most": {"1"}, "members": {kind}}
	s.refused(t, ann, at, form, http.StatusUnprocessableEntity, "This kind has no members today", "Friends first")
	s.does(t, ann, desk.MembershipsPath+"/imports", url.Values{"kind": {kind}, "members": {"zoe@example.org\nmax@example.org\nold@example.org,,2020-01-01,2020-12-31"}})
	both := url.Values{"name": {"Friends first"}, "presale": {"on"}, "members": {kind}, "emails": {"eve@example.org"}}
	s.refused(t, ann, at, both, http.StatusUnprocessableEntity, "not to several of them at once")
	if a, body := send(t, ann, "POST", s.url+at, `{"name":"x","presale":true,"members":999}`); a.StatusCode != http.StatusNotFound {
		t.Errorf("a kind that is not there: %d %s", a.StatusCode, body)
	}
	s.does(t, ann, at, form)
	if n := s.count(t, "mail WHERE kind = 'code'"); n != 2 {
		t.Errorf("%d codes were mailed", n)
	}
	if _, page := s.page(t, ann, at); !strings.Contains(page, "for members: Friends") || !strings.Contains(page, "Friends: 2") {
		t.Errorf("the codes are %s", words(page))
	}
	codeOf := func(email string) (code string) {
		if err := s.db.QueryRow(t.Context(), `SELECT c.code FROM mail m JOIN code c ON c.id = m.code_id WHERE m.email = $1`, email).Scan(&code); err != nil {
			t.Fatal(err)
		}
		return code
	}
	enter := func(email string) (int, string) {
		a, body := send(t, person(t), "POST", s.url+"/events/evening/codes", `{"code":"`+codeOf(email)+`"}`)
		return a.StatusCode, body
	}
	if status, body := enter("zoe@example.org"); status != http.StatusOK || !strings.Contains(body, `"presale":true`) {
		t.Errorf("the code of a member: %d %s", status, body)
	}
	s.does(t, ann, desk.MembershipsPath+"/"+s.members(t, ann, "?q=zoe").Memberships[0].ID+"/end", url.Values{})
	if status, body := enter("zoe@example.org"); status < 400 || !strings.Contains(body, "This code has ended.") {
		t.Errorf("the code of a membership that was ended: %d %s", status, body)
	}
	if status, body := enter("max@example.org"); status != http.StatusOK {
		t.Errorf("the code of another member: %d %s", status, body)
	}
}

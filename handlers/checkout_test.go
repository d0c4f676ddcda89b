package handlers

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	shophandlers "github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/views/shop"
)

const asForm, asPage = "application/x-www-form-urlencoded", "text/html"

// fill is the checkout form of a hold.
func fill(h shophandlers.HoldBody, name, email string) url.Values {
	return url.Values{"hold": {h.ID}, "seat": h.Seats, "name": {name}, "email": {email}, "method": {"door"}}
}

// post sends the form of the checkout, and confirms the email if that is asked for: then the answer leads to the order.
func (s *site) post(t *testing.T, who *http.Client, f url.Values) (*http.Response, string) {
	t.Helper()
	a, body := send(t, who, "POST", s.url+"/events/evening/orders", f.Encode(), "Content-Type", asForm, "Accept", asPage)
	if code, began := strings.CutPrefix(a.Header.Get("Location"), "/payments/"); began && s.confirms(t, code) {
		a.Header.Set("Location", shop.OrderPath(code))
	}
	return a, body
}

// confirms presses the button of the mail about an order, in another browser. It reports whether that was asked for.
func (s *site) confirms(t *testing.T, code string) bool {
	t.Helper()
	p, err := s.sold.Payments.Find(t.Context(), code)
	if err != nil || !p.Confirms() {
		return false
	}
	token, err := s.sold.Payments.ConfirmToken(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if a, body := send(t, person(t), "POST", s.url+shop.ConfirmPath(token), "key=k", "Content-Type", asForm, "Accept", asPage); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("the button of the mail: %d %s", a.StatusCode, body)
	}
	return true
}

func (s *site) held(t *testing.T, who *http.Client, n int) shophandlers.HoldBody {
	t.Helper()
	_, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"area":"Floor","quantity":`+jsonNumber(n)+`}`)
	return holdOf(t, body)
}

func TestAFormBecomesAnOrderWithItsPageAndCalendar(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	hold := s.held(t, who, 2)
	_, page := send(t, who, "GET", s.url+"/events/evening/checkout", "", "Accept", asPage)
	for _, want := range []string{`value="` + hold.ID + `"`, hold.Seats[1], "At the box office", "Pay within 3 days, or we cancel the order."} {
		if !strings.Contains(page, want) {
			t.Errorf("the checkout lacks %q", want)
		}
	}
	a, body := s.post(t, who, fill(hold, "Ann", "ann@example.org"))
	if a.StatusCode != http.StatusSeeOther {
		t.Fatal(a.StatusCode, body)
	}
	at := a.Header.Get("Location")
	if again, _ := s.post(t, who, fill(hold, "Ann", "ann@example.org")); again.Header.Get("Location") != at {
		t.Errorf("the same form again led to %q, want %q", again.Header.Get("Location"), at)
	}
	anybody := person(t)
	a, page = send(t, anybody, "GET", s.url+at, "", "Accept", asPage)
	if a.StatusCode != 200 || strings.Count(page, "data-code=") != 2 || !strings.Contains(page, "to pay at the box office") || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the order's page: %d, %d codes", a.StatusCode, strings.Count(page, "data-code="))
	}
	if _, ics := send(t, anybody, "GET", s.url+at+"/calendar.ics", ""); !strings.Contains(ics, "BEGIN:VEVENT") || !strings.Contains(ics, "SUMMARY:Evening") || !strings.Contains(ics, "\r\n") {
		t.Errorf("the calendar is %q", ics)
	}
	if a, _ := send(t, anybody, "GET", s.url+"/orders/"+strings.Repeat("0", 26), ""); a.StatusCode != 404 {
		t.Errorf("an order that is not there: %d", a.StatusCode)
	}
}

// leads sends a form that makes no order, and returns the page of the checkout it leads to: the answer to a form is none.
func (s *site) leads(t *testing.T, who *http.Client, f url.Values) (at, page string) {
	t.Helper()
	a, body := s.post(t, who, f)
	at = a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(at, "/events/evening/checkout") {
		t.Fatalf("the form leads to %q: %d %.300s", at, a.StatusCode, body)
	}
	a, page = send(t, who, "GET", s.url+at, "", "Accept", asPage)
	if a.StatusCode != http.StatusOK || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: %d, %q", at, a.StatusCode, a.Header.Get("Cache-Control"))
	}
	return at, html.UnescapeString(page)
}

func TestCheckout_FormSurvivesEveryError(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	hold := s.held(t, who, 1)
	typed := func(what, page string, f url.Values, says string) {
		t.Helper()
		for _, part := range []string{`value="` + f.Get("name") + `"`, `value="` + f.Get("email") + `"`, says} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: %q is not on the page", what, part)
			}
		}
	}
	kept := func(what string, f url.Values, says string) {
		t.Helper()
		at, page := s.leads(t, who, f)
		typed(what, page, f, says)
		_, page = send(t, who, "GET", s.url+at, "", "Accept", asPage)
		typed(what+", loaded again", html.UnescapeString(page), f, says)
	}
	checkout := s.url + "/events/evening/checkout"
	bad := fill(hold, "Ann", "ann")
	kept("a bad address", bad, "in the format name@example.com")
	if _, page := send(t, who, "GET", checkout, "", "Accept", asPage); !strings.Contains(page, `value="Ann"`) || strings.Contains(page, "in the format name@example.com") {
		t.Error("a checkout that is opened anew has not what was typed, or tells of mistakes")
	}
	if _, page := send(t, person(t), "GET", checkout+"?told", "", "Accept", asPage); strings.Contains(page, "Ann") {
		t.Error("another visitor reads the form")
	}
	bad.Set("extend", "1")
	kept("more time", bad, "Held")
	s.held(t, who, 1)
	kept("another place since", fill(hold, "Ann", "ann@example.org"), "changed since this page was shown")
	if a, _ := send(t, who, "DELETE", s.url+"/events/evening/claims", ""); a.StatusCode != 204 {
		t.Fatal(a.StatusCode)
	}
	kept("with nothing held", fill(hold, "Ann", "ann@example.org"), "these seats are still available. You haven’t paid anything. Hold them again")
	kept("with nothing held, and a mistake", fill(hold, "Ann", "ann"), "in the format name@example.com")
	again := fill(hold, "Ann", "ann@example.org")
	again.Set("instead", strconv.Itoa(hold.Idx[0]))
	kept("taken again", again, "Your order")
	again.Set("instead", "999999")
	if a, _ := s.post(t, who, again); a.StatusCode != 404 {
		t.Errorf("a seat that is not there instead: %d", a.StatusCode)
	}
	if a, _ := send(t, who, "DELETE", s.url+"/events/evening/claims", ""); a.StatusCode != 204 {
		t.Fatal(a.StatusCode)
	}
	if a, page := send(t, who, "GET", checkout, "", "Accept", asPage); a.StatusCode != 404 || !strings.Contains(page, "no seats held") {
		t.Errorf("a checkout of nothing: %d", a.StatusCode)
	}
}

func TestCheckout_FormEndsWithTheOrder(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	hold := s.held(t, who, 1)
	at, _ := s.leads(t, who, fill(hold, "Ann", "ann"))
	a, _ := s.post(t, who, fill(hold, "Ann", "ann@example.org"))
	order := a.Header.Get("Location")
	if n := s.count(t, "typed"); n != 0 || !strings.HasPrefix(order, "/orders/") {
		t.Errorf("%d forms are kept after the order %s", n, order)
	}
	if a, _ := send(t, who, "GET", s.url+at, "", "Accept", asPage); a.Header.Get("Location") != order {
		t.Errorf("back at what was wrong leads to %q, want %q", a.Header.Get("Location"), order)
	}
	if _, page := s.leads(t, who, fill(hold, "Eve", "eve@example.org")); !strings.Contains(page, "were ordered a moment ago with other details") {
		t.Error("other details for the same seats are not told of")
	}
	if a, _ := send(t, who, "GET", s.url+"/events/evening/checkout", "", "Accept", asPage); a.Header.Get("Location") != order {
		t.Errorf("back at the checkout leads to %q, want %q", a.Header.Get("Location"), order)
	}
	late := fill(hold, "Eve", "eve@example.org") // a form for more time that comes after the order
	late.Set("extend", "1")
	s.leads(t, who, late)
	s.held(t, who, 1)
	if a, page := send(t, who, "GET", s.url+"/events/evening/checkout", "", "Accept", asPage); a.StatusCode != 200 || strings.Contains(page, `value="Eve"`) {
		t.Error("the next checkout begins with what was typed for the order before")
	}
	s.exec(t, `UPDATE typed SET since = since - interval '25 hours'`)
	if err := s.sold.PurgeTyped(t.Context()); err != nil || s.count(t, "typed") != 0 {
		t.Errorf("%d forms are kept for more than a day, %v", s.count(t, "typed"), err)
	}
}

func TestSeatsTakenInsteadAreTakenOnceForAKey(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	_, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"best":1,"category":"A"}`)
	hold := holdOf(t, body)
	free := s.sale.FreeSeats()
	form := fill(hold, "Ann", "ann@example.org")
	instead := func(key string, idxs ...int) string {
		t.Helper()
		f := maps.Clone(form)
		f.Set("key", key)
		f.Set("instead", strings.Trim(strings.ReplaceAll(fmt.Sprint(idxs), " ", ","), "[]"))
		_, page := s.leads(t, who, f)
		return page
	}
	holds := func(what string, want ...int) {
		t.Helper()
		_, body := send(t, who, "GET", s.url+"/events/evening/hold", "")
		if got := holdOf(t, body).Idx; !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: held are %v, want %v", what, got, want)
		}
	}
	var clicks sync.WaitGroup
	for range 8 {
		clicks.Go(func() { instead("k", free[0]) })
	}
	clicks.Wait()
	holds("eight clicks", hold.Idx[0], free[0])
	if page := instead("k", free[1]); !strings.Contains(page, "with another request") {
		t.Error("the key with another seat is not refused")
	}
	holds("the key with another seat", hold.Idx[0], free[0])
	instead("l", free[1])
	holds("another key", hold.Idx[0], free[0], free[1])
	if a, _ := send(t, who, "DELETE", fmt.Sprint(s.url, "/events/evening/claims/", free[1]), ""); a.StatusCode != 200 {
		t.Fatal(a.StatusCode)
	}
	instead("l", free[1]) // an answer that was lost, and is asked for again after the seat was given back
	holds("a key that comes late", hold.Idx[0], free[0])
}

func TestBadOrdersHaveTheirAnswersAndSellNothing(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	hold := s.held(t, who, 1)
	good := `{"hold":"` + hold.ID + `","seats":["` + hold.Seats[0] + `"],"name":"Ann","email":"ann@example.org","method":"door","total":` + strconv.FormatInt(hold.Total, 10) + `}`
	for _, bad := range []struct {
		name, body string
		status     int
	}{
		{"no hold", strings.Replace(good, hold.ID, "", 1), 422},
		{"another visitor's hold", strings.Replace(good, hold.ID[:4], "0000", 1), 409},
		{"an unknown seat", strings.Replace(good, hold.Seats[0], "Moon/1", 1), 404},
		{"no seat", strings.Replace(good, `"`+hold.Seats[0]+`"`, "", 1), 404},
		{"another field", strings.Replace(good, `"name"`, `"nickname"`, 1), 422},
		{"a price of one's own", strings.Replace(good, `"method":"door"`, `"method":"free"`, 1), 422},
		{"no total", good[:strings.Index(good, `,"total"`)] + "}", 422},
		{"another total", strings.Replace(good, `"total":`, `"total":1`, 1), 409},
		{"a foreign method", strings.Replace(good, `"door"`, `"card"`, 1), 422},
		{"a name of 10 MB", strings.Replace(good, "Ann", strings.Repeat("a", 10<<20), 1), 413},
		{"a zero byte", strings.Replace(good, "Ann", `Ann\u0000`, 1), 422},
	} {
		a, body := send(t, who, "POST", s.url+"/events/evening/orders", bad.body)
		var answer web.ErrorAnswer
		if err := json.Unmarshal([]byte(body), &answer); err != nil || a.StatusCode != bad.status || len(answer.Error.Message) < 20 {
			t.Errorf("%s: %d %.200s, want %d and a sentence", bad.name, a.StatusCode, body, bad.status)
		}
	}
	if a, body := send(t, person(t), "POST", s.url+"/events/evening/orders", good); a.StatusCode != 404 {
		t.Errorf("another browser with this hold: %d %s", a.StatusCode, body)
	}
	if sold := s.sale.Snapshot().Counts.Sold; sold[0]+sold[len(sold)-1] != 0 {
		t.Errorf("sold: %v", sold)
	}
	if a, body := send(t, who, "POST", s.url+"/events/evening/orders", good); a.StatusCode != 202 || !strings.Contains(body, `"confirm":"ann@example.org"`) {
		t.Errorf("the good one after all: %d %s", a.StatusCode, body)
	}
}

func TestCheckout_LostSeatsAreReplacedByTheNearest(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	_, body := send(t, who, "POST", s.url+"/events/evening/claims", `{"best":2,"category":"A"}`)
	hold := holdOf(t, body)
	comesBack := func(want int, says ...string) {
		t.Helper()
		a, page := send(t, who, "GET", s.url+"/events/evening/checkout", "", "Accept", asPage)
		for _, part := range says {
			if a.StatusCode != want || !strings.Contains(page, part) {
				t.Errorf("status %d, want %d, and %q on the page", a.StatusCode, want, part)
			}
		}
	}
	takes := func(label string) {
		t.Helper()
		s.exec(t, `WITH h AS (UPDATE hold SET expires_at = now() - interval '1 second' WHERE id = $1 RETURNING holder)
			UPDATE seat_state s SET expires_at = now() - interval '1 second' FROM h WHERE s.holder = h.holder AND state IN (1, 2)`, hold.ID)
		if a, body := send(t, person(t), "POST", s.url+"/events/evening/claims", `{"seats":["`+label+`"]}`); a.StatusCode != 201 {
			t.Fatal(a.StatusCode, body)
		}
	}
	takes(hold.Seats[0])
	comesBack(200, "was taken by someone else", `name="instead"`, "Your order", hold.Seats[1])
	takes(hold.Seats[1])
	comesBack(200, "were taken by someone else", `name="instead"`, `name="hold" value="`+hold.ID, `name="name"`)
	if a, _ := send(t, person(t), "GET", s.url+"/events/evening/checkout", "", "Accept", asPage); a.StatusCode != 404 {
		t.Errorf("a visitor without a hold: %d", a.StatusCode)
	}
}

func TestCheckout_RefusesAboveTheLimitBeforePayment(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Demo: true, SeatsPerHolder: 1})
	pays := func(who *http.Client, email string) (*http.Response, string) {
		form := fill(s.held(t, who, 1), "Ann", email)
		form.Set("method", "demo")
		return send(t, who, "POST", s.url+"/events/evening/orders", form.Encode(), "Content-Type", asForm, "Accept", asPage)
	}
	if a, _ := pays(person(t), "ann@example.org"); s.count(t, "payment") != 1 {
		t.Fatalf("the first payment got %d", a.StatusCode)
	}
	other := person(t) // another cookie, and a plus-tag
	a, page := pays(other, "Ann+2@example.org")
	if s.count(t, "payment") != 1 || s.count(t, "demo_charge") != 1 {
		t.Errorf("a second payment began: %d", a.StatusCode)
	}
	if a.StatusCode == http.StatusSeeOther {
		_, page = s.page(t, other, a.Header.Get("Location"))
	}
	for _, says := range []string{"You can book up to 1 ticket per person for this event, over all orders.", "All your orders count", "You can cancel until"} {
		if !strings.Contains(page, says) {
			t.Errorf("the checkout does not say %q", says)
		}
	}
}

package handlers

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/waitingroom"
)

// behindProxy is a site behind a proxy that says where people come from.
func behindProxy(t *testing.T, with ...func(*Config)) *site {
	t.Helper()
	return newSiteFor(t, events.Settings{}, append(with, func(c *Config) { c.AddressHeader = "X-Forwarded-For" })...)
}

func (s *site) claims(t *testing.T, who *http.Client, from string, idx ...int) (*http.Response, string) {
	t.Helper()
	var labels []string
	for _, i := range idx {
		labels = append(labels, fmt.Sprintf("%q", s.sale.Plan.Label(i)))
	}
	return send(t, who, "POST", s.url+"/events/evening/claims", `{"seats":[`+strings.Join(labels, ",")+`]}`, "X-Forwarded-For", from)
}

func (s *site) limits(t *testing.T, to limit.Settings) {
	t.Helper()
	if err := s.config.Limits.Set(t.Context(), s.sale.Event.ID, to, nil); err != nil {
		t.Fatal(err)
	}
}

// browserWork does the work of a visitor, as a browser does.
func (s *site) browserWork(t *testing.T, who *http.Client) string {
	t.Helper()
	a, body := send(t, who, "GET", s.url+"/events/evening/challenge", "")
	var c waitingroom.Challenge
	if err := json.Unmarshal([]byte(body), &c); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("the work: %d %s", a.StatusCode, body)
	}
	for counter := uint32(0); ; counter++ {
		key, err := pbkdf2.Key(sha256.New, string(binary.BigEndian.AppendUint32(bytes.Clone(c.Parameters.Nonce), counter)), c.Parameters.Salt, c.Parameters.Cost, c.Parameters.KeyLength)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(hex.EncodeToString(key), c.Parameters.KeyPrefix) {
			return (&waitingroom.Proof{Challenge: c, Solution: &waitingroom.Solution{Counter: counter, Key: key}}).String()
		}
	}
}

func (s *site) solves(t *testing.T, who *http.Client, proof string) int {
	t.Helper()
	a, _ := send(t, who, "POST", s.url+"/events/evening/challenge", `{"proof":"`+proof+`"}`)
	return a.StatusCode
}

// The attack of the security report: one process, one address, no cookies kept, one email address.
func TestLimits_AScriptDoesNotTakeTheHallAndOthersGetSeats(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{SeatsPerHolder: 20}, func(c *Config) { c.AddressHeader = "X-Forwarded-For" })
	all, network := len(s.sale.Plan.Seats), s.config.Limits.Of(s.sale).Figures().SeatsPerNetwork
	held, ordered := 0, 0
	for idx := range all - 2*20 { // the rest is for the honest
		who := person(t) // it keeps no cookies from one seat to the next
		a, body := s.claims(t, who, "203.0.113.9", idx)
		switch a.StatusCode {
		case http.StatusCreated:
			held++
		case shop.StatusChallenge:
			continue
		default:
			t.Fatalf("seat %d: %d %s", idx, a.StatusCode, body)
		}
		var hold shop.HoldAnswer
		if err := json.Unmarshal([]byte(body), &hold); err != nil {
			t.Fatal(err)
		}
		a, body = send(t, who, "POST", s.url+"/events/evening/orders", fmt.Sprintf(`{"hold":%q,"seats":[%q],"name":"Scalper","email":"Scalper@example.org","method":"door","total":%d}`, hold.Hold.ID, hold.Hold.Seats[0], hold.Hold.Total), "X-Forwarded-For", "203.0.113.9")
		switch {
		case a.StatusCode == http.StatusAccepted: // and waits for its email
			ordered++
		case a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "" && strings.Contains(body, "Seats that you hold stay yours"):
		default:
			t.Fatalf("order of seat %d: %d %s", idx, a.StatusCode, body)
		}
	}
	if held < network || held > network+5 { // a few come back while the script runs
		t.Errorf("the script holds %d of %d seats; a network may claim %d", held, all, network)
	}
	if ordered == 0 || ordered > 10 {
		t.Errorf("the script has %d unpaid orders with one email address", ordered)
	}
	if n := s.count(t, `mail`); n > 10 {
		t.Errorf("%d mails go to one address", n)
	}
	for i := range 20 {
		if a, body := s.claims(t, person(t), fmt.Sprintf("198.51.%d.7", i), all-1-2*i, all-2-2*i); a.StatusCode != http.StatusCreated {
			t.Errorf("honest person %d gets %d %s", i, a.StatusCode, body)
		}
	}
	until(t, "the attack is noticed", func() bool { return s.config.Limits.Of(s.sale).State(time.Now()).Alarm != nil })
	if a := s.config.Limits.Of(s.sale).State(time.Now()).Alarm; !strings.Contains(a.Reason.String(), "203.0.113.0/24") || a.Everyone {
		t.Errorf("the alarm says %+v", a)
	}
	_, page := send(t, s.owner(t), "GET", s.url+"/desk/events/evening", "", "Accept", page)
	if !strings.Contains(page, "Browsers of visitors from busy networks are checked") || !strings.Contains(page, "203.0.113.0/24") {
		t.Error("the desk does not say it")
	}
}

func TestChallenge_PassBelongsToOneVisitor(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	s.limits(t, limit.Settings{Challenge: limit.Automatic, SeatsPerNetwork: 2})
	const from = "203.0.113.9"
	if a, body := s.claims(t, person(t), from, 0, 1); a.StatusCode != http.StatusCreated {
		t.Fatalf("below the limit: %d %s", a.StatusCode, body)
	}
	ann, thief := person(t), person(t)
	a, body := s.claims(t, ann, from, 2)
	if a.StatusCode != shop.StatusChallenge || !strings.Contains(body, `"challenge"`) || !strings.Contains(body, `"to":"/events/evening/challenge"`) {
		t.Fatalf("above the limit: %d %s", a.StatusCode, body)
	}
	if a, _ := s.claims(t, person(t), "198.51.100.7", 3); a.StatusCode != http.StatusCreated {
		t.Errorf("another network gets %d", a.StatusCode)
	}
	proof := s.browserWork(t, ann)
	s.browserWork(t, thief)
	if status := s.solves(t, thief, proof); status != http.StatusForbidden {
		t.Errorf("another visitor's work is worth %d", status)
	}
	if status := s.solves(t, ann, proof); status != http.StatusNoContent {
		t.Fatalf("the work is worth %d", status)
	}
	for idx := 4; idx < 7; idx++ {
		if a, body := s.claims(t, ann, from, idx); a.StatusCode != http.StatusCreated {
			t.Fatalf("who worked gets %d %s", a.StatusCode, body)
		}
	}
	at, _ := url.Parse(s.url)
	thief.Jar.SetCookies(at, cookiesNamed(ann.Jar.Cookies(at), "pass-"))
	if a, _ := s.claims(t, thief, from, 8); a.StatusCode != shop.StatusChallenge {
		t.Errorf("a copied pass gets %d", a.StatusCode)
	}
}

func TestLimits_AScriptThatWorksForEachClaimHoldsNoMoreThanItsNetworkMay(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{SeatsPerHolder: 4}, func(c *Config) { c.AddressHeader = "X-Forwarded-For" })
	s.limits(t, limit.Settings{Challenge: limit.Automatic, SeatsPerNetwork: 2, HeldPerNetwork: 12})
	const from = "203.0.113.9"
	var scripts []*http.Client
	for i := range 3 {
		script := person(t)
		if status := s.solves(t, script, s.browserWork(t, script)); status != http.StatusNoContent {
			t.Fatalf("the work is worth %d", status)
		}
		if a, body := s.claims(t, script, from, 4*i, 4*i+1, 4*i+2, 4*i+3); a.StatusCode != http.StatusCreated {
			t.Fatalf("claim %d: %d %s", i, a.StatusCode, body)
		}
		scripts = append(scripts, script)
	}
	late := person(t)
	if status := s.solves(t, late, s.browserWork(t, late)); status != http.StatusNoContent {
		t.Fatalf("the work is worth %d", status)
	}
	a, body := s.claims(t, late, from, 12)
	if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || !strings.Contains(body, "Visitors of your network hold as many seats") || !strings.Contains(body, "Seats that you hold stay yours") {
		t.Errorf("the 13th seat: %d %s", a.StatusCode, body)
	}
	if a, _ := s.submit(t, late, "/events/evening/claims", url.Values{"seat": {s.sale.Plan.Label(12)}}); a.StatusCode != http.StatusSeeOther || strings.Contains(a.Header.Get("Location"), "challenge") {
		t.Errorf("the seat is refused to a visitor who comes from elsewhere: %d", a.StatusCode)
	}
	if a, body := s.claims(t, person(t), "198.51.100.7", 13); a.StatusCode != http.StatusCreated {
		t.Errorf("another network gets %d %s", a.StatusCode, body)
	}
	owner := s.owner(t)
	s.limits(t, limit.Settings{Challenge: limit.Off, HeldPerNetwork: 12}) // which ends the alarm before
	if a, _ := s.claims(t, late, from, 12); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the 13th seat without checks: %d", a.StatusCode)
	}
	until(t, "the desk says that a network waits", func() bool {
		_, body := send(t, owner, "GET", s.url+"/desk/events/evening", "", "Accept", page)
		return strings.Contains(body, "Off. No browser is checked.") && strings.Contains(body, "Visitors from 203.0.113.0/24 wait: a network may hold 12 seats at once.")
	})
	if a, body := send(t, scripts[0], "DELETE", s.url+"/events/evening/claims", ""); a.StatusCode != http.StatusNoContent && a.StatusCode != http.StatusOK {
		t.Fatalf("the release: %d %s", a.StatusCode, body)
	}
	until(t, "seats that are free again no longer count", func() bool {
		a, _ := s.claims(t, late, from, 14)
		return a.StatusCode == http.StatusCreated
	})
}

func cookiesNamed(all []*http.Cookie, part string) (list []*http.Cookie) {
	for _, c := range all {
		if strings.Contains(c.Name, part) {
			list = append(list, c)
		}
	}
	return list
}

func TestChallenge_ABrowserWithoutScriptsWaitsInstead(t *testing.T) {
	t.Parallel()
	s := behindProxy(t, func(c *Config) { c.Rooms.Patience = 0 })
	s.limits(t, limit.Settings{Challenge: limit.Always})
	who := person(t)
	a, _ := send(t, who, "POST", s.url+"/events/evening/claims", url.Values{"seat": {s.sale.Plan.Label(0)}}.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept", page)
	to := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/events/evening/challenge?from=") {
		t.Fatalf("a form gets %d to %s", a.StatusCode, to)
	}
	_, body := s.page(t, who, to)
	token := proofField.FindStringSubmatch(body)
	if token == nil || !strings.Contains(body, "wait on this page for one minute") {
		t.Fatalf("the page: %s", body)
	}
	a, _ = send(t, who, "POST", s.url+"/events/evening/challenge", url.Values{"proof": {token[1]}, "from": {"/events/evening"}}.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept", page)
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/events/evening" {
		t.Fatalf("who waited gets %d to %s", a.StatusCode, a.Header.Get("Location"))
	}
	if a, body := s.claims(t, who, "203.0.113.9", 0); a.StatusCode != http.StatusCreated {
		t.Errorf("then a claim gets %d %s", a.StatusCode, body)
	}
}

func TestLimits_VisitorIsToldWhenToRetryAndKeepsTheHold(t *testing.T) {
	t.Parallel()
	s := behindProxy(t, func(c *Config) { c.Claims = 3 })
	who := person(t)
	for idx := range 4 {
		if a, body := s.claims(t, who, "203.0.113.9", idx); a.StatusCode != http.StatusCreated {
			t.Fatalf("claim %d: %d %s", idx, a.StatusCode, body)
		}
	}
	a, body := s.claims(t, who, "203.0.113.9", 5)
	if a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || !strings.Contains(body, `"too_many"`) {
		t.Errorf("one claim too many gets %d %s", a.StatusCode, body)
	}
	if _, body := send(t, who, "GET", s.url+"/events/evening/hold", ""); strings.Count(body, `"idx":[0,1,2,3]`) != 1 {
		t.Errorf("they hold %s", body)
	}
}

func TestLimits_TheDeskTightensAndLoosensAndItIsAudited(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	owner := s.owner(t)
	s.does(t, owner, "/desk/events/evening/limits", url.Values{"challenge": {"always"}, "unpaid_per_email": {"3"}})
	if a, _ := s.claims(t, person(t), "203.0.113.9", 0); a.StatusCode != shop.StatusChallenge {
		t.Errorf("where everybody is checked, a claim gets %d", a.StatusCode)
	}
	s.does(t, owner, "/desk/events/evening/limits", url.Values{"challenge": {"off"}})
	if a, _ := s.claims(t, person(t), "203.0.113.9", 0); a.StatusCode != http.StatusCreated {
		t.Errorf("without a challenge, a claim gets %d", a.StatusCode)
	}
	if n := s.audited(t, "changed the protection against bots of"); n != 2 {
		t.Errorf("%d of 2 changes are in the log", n)
	}
	if a, _ := s.submit(t, owner, "/desk/events/evening/limits", url.Values{"key": {"from-settings"}, "challenge": {"automatic"}, "seats_per_network": {"400"}, "back": {"settings"}}); a.Header.Get("Location") != "/desk/events/evening/settings?done=set" {
		t.Errorf("from the settings it leads to %s", a.Header.Get("Location"))
	}
	if _, page := s.page(t, owner, "/desk/events/evening/settings"); !strings.Contains(page, `name="seats_per_network" min="1" max="100000" value="400"`) {
		t.Error("the settings do not show the figure")
	}
	s.refused(t, owner, "/desk/events/evening/limits", url.Values{"challenge": {"sometimes"}}, http.StatusUnprocessableEntity)
}

func TestChallenge_GeneralAlarmAsksQuietNetworksUntilTheDeskEndsIt(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	s.exec(t, `INSERT INTO event_limit (event_id, alarm_since, alarm_until, alarm_reason, alarm_everyone)
		SELECT id, clock_timestamp(), clock_timestamp() + interval '10 minutes', 'Visitors claimed 60 seats within 8m0s and ordered 2.', true FROM event`)
	if err := s.config.Limits.Read(t.Context()); err != nil { // as a node that is told
		t.Fatal(err)
	}
	who := person(t)
	if a, _ := s.claims(t, who, "198.51.100.7", 0); a.StatusCode != shop.StatusChallenge {
		t.Errorf("a visitor of a quiet network gets %d", a.StatusCode)
	}
	owner := s.owner(t)
	if _, body := send(t, owner, "GET", s.url+"/desk/events/evening", "", "Accept", page); !strings.Contains(body, "Every visitor’s browser is checked") && !strings.Contains(body, "Every visitor&#39;s browser is checked") {
		t.Error("the desk does not say it")
	}
	if status := s.solves(t, who, s.browserWork(t, who)); status != http.StatusNoContent {
		t.Fatalf("the work is worth %d", status)
	}
	if a, body := s.claims(t, who, "198.51.100.7", 0); a.StatusCode != http.StatusCreated {
		t.Errorf("after the work a claim gets %d %s", a.StatusCode, body)
	}
	s.does(t, owner, "/desk/events/evening/limits", url.Values{"challenge": {"automatic"}})
	if a, body := s.claims(t, person(t), "198.51.100.8", 1); a.StatusCode != http.StatusCreated {
		t.Errorf("after the desk ended it a claim gets %d %s", a.StatusCode, body)
	}
}

func TestChallenge_NoWayToSeatsGoesAroundIt(t *testing.T) {
	t.Parallel()
	s := behindProxy(t, func(c *Config) { c.PublicURL = "http://localhost:8080" }) // where browsers keep passkeys
	const from = "203.0.113.9"
	ann, stranger := person(t), person(t)
	hold := s.held(t, ann, 1)
	s.subscription(t)
	s.limits(t, limit.Settings{Challenge: limit.Always})
	s.passkeyOptions(t, stranger, "/desk/session/options") // a session without a holder
	free := s.sale.FreeSeats()
	label := s.sale.Plan.Label
	form := func(path string, f url.Values) func(*http.Client) *http.Response {
		return func(who *http.Client) *http.Response {
			if !strings.HasPrefix(path, "/subscriptions") {
				path = "/events/evening" + path
			}
			a, _ := send(t, who, "POST", s.url+path, f.Encode(), "Content-Type", asForm, "Accept", asPage, "X-Forwarded-For", from)
			return a
		}
	}
	instead := fill(hold, "Ann", "ann@example.org")
	instead.Set("instead", fmt.Sprintf("%d,%d", free[0], free[1]))
	more := fill(hold, "Ann", "ann@example.org")
	more["seat"] = append(more["seat"], label(free[2]))
	for _, way := range []struct {
		name string
		try  func(*http.Client) *http.Response
		want int // of who holds a seat
	}{
		{"claims, JSON", func(who *http.Client) *http.Response { a, _ := s.claims(t, who, from, free[0]); return a }, shop.StatusChallenge},
		{"claims, a form", form("/claims", url.Values{"seat": {label(free[0])}}), http.StatusSeeOther},
		{"claims, the best", form("/claims", url.Values{"best": {"2"}}), http.StatusSeeOther},
		{"other seats on the checkout", form("/orders", instead), http.StatusSeeOther},
		{"an order of more seats", form("/orders", more), http.StatusSeeOther},
		{"a subscription, JSON", func(who *http.Client) *http.Response { a, _ := s.subscribes(t, who, from, free[0]); return a }, shop.StatusChallenge},
		{"a subscription, a form", form("/subscriptions/season/holds", url.Values{"seat": {label(free[0])}}), http.StatusSeeOther},
		{"an extension of a subscription", form("/subscriptions/season/hold/extension", url.Values{"key": {"k"}}), http.StatusNotFound},
		{"an extension", form("/hold/extension", url.Values{"key": {"k"}}), http.StatusSeeOther},
	} {
		if a := way.try(ann); a.StatusCode != way.want {
			t.Errorf("%s: who holds a seat gets %d", way.name, a.StatusCode)
		}
		way.try(stranger)
		if n := s.count(t, `seat_state WHERE state <> 0`); n != 1 {
			t.Fatalf("after %s %d seats are taken, want 1", way.name, n)
		}
	}
	if a := form("/orders", instead)(ann); !strings.HasPrefix(a.Header.Get("Location"), "/events/evening/challenge?from=%2Fevents%2Fevening%2Fcheckout") {
		t.Errorf("other seats on the checkout lead to %s", a.Header.Get("Location"))
	}
	if n := s.count(t, `session WHERE encode(data, 'escape') LIKE '%"holder"%'`); n != 1 {
		t.Errorf("%d sessions have a holder, want Ann's: a claim that was not admitted leaves none", n)
	}
	if status := s.solves(t, ann, s.browserWork(t, ann)); status != http.StatusNoContent {
		t.Fatalf("the work is worth %d", status)
	}
	form("/orders", instead)(ann)
	if n := s.count(t, `seat_state WHERE state <> 0`); n != 3 {
		t.Errorf("after the work %d seats are taken, want 3", n)
	}
}

package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/subscriptions"
	"github.com/usherbox/usher/views"
)

// subscription sells the evening together with a matinee, which it returns, at /subscriptions/season.
func (s *site) subscription(t *testing.T) (matinee *seats.Sale) {
	t.Helper()
	if _, err := events.Create(t.Context(), s.db, events.Settings{Name: "Matinee", StartsAt: time.Unix(2e9, 0)}, theClub(t)); err != nil {
		t.Fatal(err)
	}
	owner := organizers.Member{Team: 1, Name: "Ann", Role: organizers.Owner}
	f := subscriptions.Form{Name: "Season", Events: []string{"evening", "matinee"}, Prices: map[string]int64{"A": 5000, "B": 5000, "C": 5000}}
	if _, err := s.config.Subscriptions.Define(t.Context(), owner, f, seats.NewID().String()); err != nil {
		t.Fatal(err)
	}
	matinee, err := s.office.Sale(t.Context(), "matinee")
	if err != nil {
		t.Fatal(err)
	}
	return matinee
}

// subscribes holds these seats in both performances, in place of those held before.
func (s *site) subscribes(t *testing.T, who *http.Client, from string, idxs ...int) (*http.Response, string) {
	t.Helper()
	labels := []string{}
	for _, idx := range idxs {
		labels = append(labels, fmt.Sprintf("%q", s.sale.Plan.Label(idx)))
	}
	return send(t, who, "POST", s.url+"/subscriptions/season/holds", `{"seats":[`+strings.Join(labels, ",")+`]}`, "X-Forwarded-For", from)
}

func (s *site) wantSubscribes(t *testing.T, status int, who *http.Client, from string, idxs ...int) {
	t.Helper()
	if a, body := s.subscribes(t, who, from, idxs...); a.StatusCode != status {
		t.Errorf("seats %v from %s: %d %s, want %d", idxs, from, a.StatusCode, body, status)
	}
}

func TestSubscription_SeatsCountForTheNetworkInEachPerformance(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	matinee := s.subscription(t)
	s.limits(t, limit.Settings{Challenge: limit.Automatic, SeatsPerNetwork: 2})
	const busy, quiet = "203.0.113.9", "198.51.100.7"
	ann := person(t)
	s.wantSubscribes(t, http.StatusCreated, ann, busy, 0, 1)
	a, body := s.subscribes(t, person(t), busy, 2)
	if a.StatusCode != shop.StatusChallenge || !strings.Contains(body, `"to":"/events/evening/challenge"`) {
		t.Errorf("above the limit: %d %s", a.StatusCode, body)
	}
	if a, _ := s.claims(t, person(t), busy, 3); a.StatusCode != shop.StatusChallenge {
		t.Errorf("a single ticket from the same network gets %d", a.StatusCode)
	}
	s.wantSubscribes(t, shop.StatusChallenge, ann, busy, 0, 1, 4)
	s.wantSubscribes(t, http.StatusCreated, ann, busy, 1)            // what she has does not count again
	s.wantSubscribes(t, http.StatusConflict, person(t), quiet, 1, 2) // and what is refused does not count
	s.wantSubscribes(t, http.StatusCreated, person(t), quiet, 5, 6)

	if err := s.config.Limits.Set(t.Context(), matinee.Event.ID, limit.Settings{Challenge: limit.Always}, nil); err != nil {
		t.Fatal(err)
	}
	s.wantSubscribes(t, shop.StatusChallenge, person(t), "192.0.2.1", 7, 8)
	if a, body := s.claims(t, person(t), "192.0.2.1", 7, 8); a.StatusCode != http.StatusCreated {
		t.Errorf("what one performance took for a subscription that another refused is lost: %d %s", a.StatusCode, body)
	}
}

func TestSubscription_SeatsCountForTheAlarmInEachPerformance(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	sales := []*seats.Sale{s.sale, s.subscription(t)}
	ann, label := person(t), s.sale.Plan.Label
	counts := func(when string, holding, ordered int) {
		t.Helper()
		for _, of := range sales {
			if h, o := s.config.Limits.Of(of).Counted(); h != holding || o != ordered {
				t.Errorf("%s: %s counts %d seats held and %d ordered, want %d and %d", when, of.Event.Slug, h, o, holding, ordered)
			}
		}
	}
	s.wantSubscribes(t, http.StatusCreated, ann, "203.0.113.9", 0, 1, 2)
	counts("held", 3, 0)
	s.wantSubscribes(t, http.StatusCreated, ann, "203.0.113.9", 0, 1)
	counts("one was given back", 2, 0)
	s.wantSubscribes(t, http.StatusConflict, person(t), "198.51.100.7", 0, 4)
	counts("a choice was refused", 2, 0)
	a, body := send(t, ann, "POST", s.url+"/subscriptions/season/orders", fmt.Sprintf(`{"seats":[%q,%q],"name":"Ann","email":"ann@example.org","method":"door","total":10000}`, label(0), label(1)))
	if a.StatusCode != http.StatusCreated {
		t.Fatalf("the order: %d %s", a.StatusCode, body)
	}
	counts("ordered", 2, 2)
}

func TestSubscription_ABrowserWithoutScriptsWaitsOnceForAllPerformances(t *testing.T) {
	t.Parallel()
	s := behindProxy(t, func(c *Config) { c.Rooms.Patience = 0 })
	matinee := s.subscription(t)
	for _, of := range []*seats.Sale{s.sale, matinee} {
		if err := s.config.Limits.Set(t.Context(), of.Event.ID, limit.Settings{Challenge: limit.Always}, nil); err != nil {
			t.Fatal(err)
		}
	}
	who, label := person(t), s.sale.Plan.Label(0)
	a, _ := s.submit(t, who, "/subscriptions/season/holds", url.Values{"seat": {label}, "section": {"0"}})
	to := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/events/evening/challenge?from=%2Fsubscriptions%2Fseason%3F") {
		t.Fatalf("a form gets %d to %s", a.StatusCode, to)
	}
	_, body := s.page(t, who, to)
	token := proofField.FindStringSubmatch(body)
	if token == nil {
		t.Fatalf("the page: %s", body)
	}
	from, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	a, _ = s.submit(t, who, "/events/evening/challenge", url.Values{"proof": {token[1]}, "from": {from.Query().Get("from")}})
	back := a.Header.Get("Location")
	if a.StatusCode != http.StatusSeeOther || back != from.Query().Get("from") {
		t.Fatalf("who waited gets %d to %s", a.StatusCode, back)
	}
	if _, body := s.page(t, who, back); strings.Count(body, " checked") != 1 || !strings.Contains(body, `value="`+label+`" checked`) {
		t.Error("the page does not mark the seat that was chosen")
	}
	if a, body := s.submit(t, who, "/subscriptions/season/holds", url.Values{"seat": {label}, "section": {"0"}}); a.Header.Get("Location") != "/subscriptions/season?section=0" {
		t.Errorf("then the form gets %d %s", a.StatusCode, body)
	}
	if n := s.count(t, `hold h JOIN seat_state s ON s.event_id = h.event_id AND s.holder = h.holder WHERE h.session_ends IS NOT NULL`); n != 2 {
		t.Errorf("%d seats are held in a session, want one in each performance", n)
	}
	if a, _ := s.submit(t, who, "/events/evening/challenge", url.Values{"proof": {token[1]}, "from": {"//example.org/subscriptions/"}}); strings.Contains(a.Header.Get("Location"), "example.org") {
		t.Errorf("the work leads to %s", a.Header.Get("Location"))
	}
}

func TestSubscription_CountsForThePersonAndNotForTheBrowser(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{SeatsPerHolder: 2})
	const says = "Tickets from a subscription count too"
	ann := person(t)
	hold := s.held(t, ann, 2)
	if _, body := s.page(t, ann, "/events/evening/checkout"); strings.Contains(body, says) {
		t.Error("the checkout tells of a subscription, and there is none")
	}
	s.subscription(t)
	if _, body := s.page(t, ann, "/events/evening/checkout"); !strings.Contains(body, says) {
		t.Error("the checkout does not say how tickets from a subscription count")
	}
	free := s.sale.FreeSeats()
	s.wantSubscribes(t, http.StatusCreated, ann, "", free[0], free[1])
	s.wantSubscribes(t, http.StatusConflict, ann, "", free[0], free[1], free[2])
	a, body := send(t, ann, "POST", s.url+"/events/evening/orders", fmt.Sprintf(`{"hold":%q,"seats":[%q,%q],"name":"Ann","email":"ann@example.org","method":"door","total":%d}`, hold.ID, hold.Seats[0], hold.Seats[1], hold.Total))
	if a.StatusCode >= 300 {
		t.Fatalf("single tickets: %d %s", a.StatusCode, body)
	}
	a, body = send(t, ann, "POST", s.url+"/subscriptions/season/orders", fmt.Sprintf(`{"seats":[%q,%q],"name":"Ann","email":"ANN@example.org","method":"door","total":10000}`, s.sale.Plan.Label(free[0]), s.sale.Plan.Label(free[1])))
	if a.StatusCode != http.StatusConflict || !strings.Contains(body, "over all orders") {
		t.Errorf("the subscription for the same person: %d %s", a.StatusCode, body)
	}
}

func TestSubscription_SaysTheLimitAndEachRuleBeforeBuying(t *testing.T) {
	t.Parallel()
	policy := seats.DefaultPolicy
	policy.Resale = true // tickets of a subscription are not offered back
	s := newSiteFor(t, events.Settings{SeatsPerHolder: 2, Policy: &policy})
	matinee := s.subscription(t)
	ann := person(t)
	s.wantSubscribes(t, http.StatusCreated, ann, "", s.sale.FreeSeats()[0])
	_, page := s.page(t, ann, "/subscriptions/season/checkout")
	if !strings.Contains(page, "You can book up to 2 tickets for each performance.") || strings.Contains(page, "offer tickets back") {
		t.Error("the checkout does not say the limit, or promises that tickets can be offered back")
	}
	for _, e := range []seats.Event{s.sale.Event, matinee.Event} {
		ends, _ := events.CancelEnds(e)
		if words := views.DayTimeIn(t.Context(), e, e.StartsAt) + "</b> You can cancel until " + views.DayTimeIn(t.Context(), e, ends); !strings.Contains(strings.Join(strings.Fields(page), " "), strings.Join(strings.Fields(words), " ")) {
			t.Errorf("the checkout does not say of %s: %s", e.Name, words)
		}
	}
}

func TestSubscription_IsExtendedInAllPerformancesAndKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{Extensions: 3})
	s.subscription(t)
	const at, spent = "/subscriptions/season", "You can’t extend your time again."
	ann, button := person(t), `formaction="`+at+`/hold/extension"`
	free := s.sale.FreeSeats()
	if a, _ := s.submit(t, ann, at+"/hold/extension", url.Values{}); a.StatusCode != http.StatusNotFound {
		t.Errorf("who holds nothing gets %d", a.StatusCode)
	}
	s.wantSubscribes(t, http.StatusCreated, ann, "", free[0])
	extended := func(when string, times int) {
		t.Helper()
		if n := s.count(t, fmt.Sprintf(`hold WHERE cardinality(seats) > 0 AND extensions = %d`, times)); n != 2 {
			t.Errorf("%s %d holds were extended %d times, want 2", when, n, times)
		}
	}
	if _, page := s.page(t, ann, at+"/checkout"); !strings.Contains(page, button) {
		t.Error("the checkout has no button for more time")
	}
	for range 2 {
		a, body := send(t, ann, "POST", s.url+at+"/hold/extension", "", "Idempotency-Key", "k")
		if a.StatusCode != http.StatusOK || !strings.Contains(body, `"extensions_left":2`) {
			t.Errorf("a program gets %d %s", a.StatusCode, body)
		}
	}
	extended("for a program", 1)
	if a, _ := s.submit(t, ann, at+"/hold/extension", url.Values{"key": {"k1"}}); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != at {
		t.Errorf("the form beside the seats leads to %d %q", a.StatusCode, a.Header.Get("Location"))
	}
	extended("beside the seats", 2)
	typed := url.Values{"key": {"k2"}, "total": {"5000"}, "seat": {s.sale.Plan.Label(free[0])}, "name": {"Ann Berger"}, "email": {"ann@"}, "method": {"door"}}
	for i, want := range []int{http.StatusOK, http.StatusConflict} {
		typed.Set("key", fmt.Sprint("checkout-", i))
		a, page := s.submit(t, ann, at+"/hold/extension", typed)
		if a.StatusCode != want || !strings.Contains(page, `value="Ann Berger"`) || !strings.Contains(page, `value="ann@"`) {
			t.Errorf("extension %d at the checkout gets %d: %s", i, a.StatusCode, page)
		}
		if !strings.Contains(page, spent) || strings.Contains(page, button) {
			t.Errorf("extension %d: the page does not say that this was the last one", i)
		}
		extended("at the checkout", 3)
	}
	if a, body := send(t, ann, "POST", s.url+at+"/hold/extension", ""); a.StatusCode != http.StatusConflict || !strings.Contains(body, "extend your time again") {
		t.Errorf("beyond the limit a program gets %d %s", a.StatusCode, body)
	}
	if _, page := s.page(t, ann, at); strings.Contains(page, "/hold/extension") || !strings.Contains(page, spent) {
		t.Error("the page of the seats still has more time")
	}
	extended("in the end", 3)
}

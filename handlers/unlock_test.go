package handlers

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/usherbox/usher/handlers/shop"
	"github.com/usherbox/usher/handlers/web"
	"github.com/usherbox/usher/seats"
	"github.com/usherbox/usher/seats/events"
	"github.com/usherbox/usher/seats/limit"
	"github.com/usherbox/usher/seats/organizers"
	"github.com/usherbox/usher/seats/pricing"
	"github.com/usherbox/usher/seats/waitingroom"
	"github.com/usherbox/usher/views"
	"github.com/usherbox/usher/views/desk"
)

// unlocking makes a code of the evening that unlocks something.
func (s *site) unlocking(t *testing.T, code string, c pricing.Code) {
	t.Helper()
	if _, err := s.office.ChangeEvent(t.Context(), "evening", nil, func(tx pgx.Tx, e seats.Event) (bool, error) {
		return true, pricing.CreateCodes(t.Context(), tx, e.ID, c, []string{code})
	}); err != nil {
		t.Fatal(err)
	}
}

// reserved blocks seats and makes a code for them.
func (s *site) reserved(t *testing.T, code string, idx ...int) {
	t.Helper()
	if _, err := s.sale.Block(t.Context(), seats.BlockRequest{Seats: idx}); err != nil {
		t.Fatal(err)
	}
	var block seats.ID
	if err := s.db.QueryRow(t.Context(), `SELECT id FROM block ORDER BY at DESC LIMIT 1`).Scan(&block); err != nil {
		t.Fatal(err)
	}
	s.unlocking(t, code, pricing.Code{UnlocksBlocks: []seats.ID{block}})
}

// enters types a code into the field of a page. It returns the page that this leads to.
func (s *site) enters(t *testing.T, who *http.Client, code string) (status int, page string) {
	t.Helper()
	a, page := send(t, who, "POST", s.url+"/events/evening/codes", url.Values{"code": {code}, "from": {"/events/evening"}}.Encode(), "Content-Type", asForm, "Accept", asPage)
	if a.StatusCode == http.StatusSeeOther {
		_, page = s.page(t, who, a.Header.Get("Location"))
	}
	return a.StatusCode, html.UnescapeString(page)
}

func TestEventPage_SaysWhatACodeDoes(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	if _, page := s.page(t, who, "/events/evening"); strings.Contains(page, "I have a code") {
		t.Error("an event without codes asks for one")
	}
	s.unlocking(t, "TENOFF", pricing.Code{Discount: pricing.Discount{Percent: 10_00}})
	s.unlocking(t, "OLD", pricing.Code{Discount: pricing.Discount{Percent: 10_00}, EndsAt: new(time.Now().Add(-time.Hour))})
	s.reserved(t, "GUEST", 0)
	if _, page := s.page(t, who, "/events/evening"); !strings.Contains(page, "I have a code") {
		t.Fatal("the event does not ask for a code")
	}
	for code, says := range map[string]string{"NOSUCH": "There is no such code for this event.", "old": "This code has ended."} {
		if status, page := s.enters(t, who, code); status != http.StatusUnprocessableEntity || !strings.Contains(page, says) || !strings.Contains(page, `value="`+code+`"`) {
			t.Errorf("%s: %d, and the page does not say %q", code, status, says)
		}
	}
	if status, page := s.enters(t, who, "gu-est"); status != http.StatusSeeOther || !strings.Contains(page, "GUEST") || !strings.Contains(page, "makes seats available that are reserved for it") || !strings.Contains(page, `data-unlocked=" 0 "`) {
		t.Errorf("a code for seats: %d %.200s", status, page)
	}
	if status, page := s.enters(t, who, "TENOFF"); status != http.StatusSeeOther || !strings.Contains(page, "takes 10% off.") || !strings.Contains(page, "GUEST") {
		t.Errorf("a second code: %d", status)
	}
	hold := s.held(t, who, 1)
	if hold.Discount == 0 || hold.Total != hold.Lines[0].Price-hold.Discount || hold.Parts[1].Label != "Discount: code TENOFF" {
		t.Errorf("the hold of a visitor with a code is %+v", hold)
	}
	saves := "takes 10% off. You save " + views.Money(hold.Discount, "EUR") + " on your seats."
	if _, page := s.page(t, who, "/events/evening"); !strings.Contains(page, saves) || between(page, "<strong data-total>", "<") != views.Price(hold.Total, "EUR") {
		t.Errorf("the event page does not say %q, or has the total %s", saves, between(page, "<strong data-total>", "<"))
	}
	if _, page := s.page(t, who, "/events/evening/checkout"); !strings.Contains(page, "Discount: code TENOFF") {
		t.Error("the checkout lacks the discount of a code that was entered before")
	}
	a, _ := send(t, who, "POST", s.url+"/events/evening/codes", `{"remove": "TENOFF"}`)
	if _, page := s.page(t, who, "/events/evening"); a.StatusCode != http.StatusNoContent || strings.Contains(page, "TENOFF") {
		t.Errorf("a removed code is still there: %d", a.StatusCode)
	}
}

func TestEventPage_ShowsReservedSeatsToTheCodeOnly(t *testing.T) {
	t.Parallel()
	s, ann, eve := newSite(t), person(t), person(t)
	section := slices.IndexFunc(s.sale.Plan.Sections, func(at seats.Section) bool { return !at.Area })
	idx := s.sale.Plan.Sections[section].First
	s.reserved(t, "GUEST", idx)
	rows := "/events/evening/sections/" + jsonNumber(section)
	if a, body := send(t, ann, "POST", s.url+"/events/evening/codes", `{"code": "guest"}`); a.StatusCode != http.StatusOK || !strings.Contains(body, `"seats":["`+s.sale.Plan.Label(idx)+`"]`) {
		t.Fatalf("the code as JSON: %d %s", a.StatusCode, body)
	}
	field := func(who *http.Client) string {
		_, page := s.page(t, who, rows)
		return between(page, `data-idx="`+jsonNumber(idx)+`"`, ">")
	}
	if _, page := s.page(t, eve, rows); !strings.Contains(page, fmt.Sprintf(`data-reserved=" %d "`, idx)) {
		t.Error("the map is not told which seats are reserved")
	}
	if got := field(eve); !strings.Contains(got, ", reserved, needs a code") || !strings.Contains(got, "disabled") {
		t.Errorf("for others the seat is %s", got)
	}
	if got := field(ann); strings.Contains(got, "disabled") || !strings.Contains(got, `data-state="free"`) {
		t.Errorf("with the code the seat is %s", got)
	}
	if a, body := s.claims(t, eve, "", idx); a.StatusCode != http.StatusConflict || !strings.Contains(body, `"reserved"`) {
		t.Errorf("a claim without the code: %d %s", a.StatusCode, body)
	}
	if a, body := s.claims(t, ann, "", idx); a.StatusCode != http.StatusCreated {
		t.Errorf("a claim with the code: %d %s", a.StatusCode, body)
	}
}

func TestEventPage_OpensEarlyForAPresaleCode(t *testing.T) {
	t.Parallel()
	s, ann, eve := newSiteFor(t, events.Settings{OpensAt: time.Now().Add(time.Hour)}), person(t), person(t)
	s.unlocking(t, "FRIENDS", pricing.Code{Presale: true})
	if _, page := s.page(t, eve, "/events/evening"); !strings.Contains(page, "Not on sale yet") || !strings.Contains(page, "I have a code") {
		t.Error("the page of a scheduled event does not ask for a code")
	}
	if _, page := s.enters(t, ann, "FRIENDS"); strings.Contains(page, "Not on sale yet") || !strings.Contains(page, "lets you book before the sale opens") {
		t.Error("a code for the presale does not open the page")
	}
	if a, body := s.claims(t, eve, "", 0); a.StatusCode != http.StatusConflict {
		t.Errorf("a claim without the code: %d %s", a.StatusCode, body)
	}
	if a, body := s.claims(t, ann, "", 0); a.StatusCode != http.StatusCreated {
		t.Errorf("a claim with the code: %d %s", a.StatusCode, body)
	}
	if a, page := s.page(t, ann, "/events/evening/checkout"); a.StatusCode != http.StatusOK || !strings.Contains(page, "Your order") {
		t.Errorf("the checkout: %d", a.StatusCode)
	}
}

func TestPresale_PagesSayItsLimitOfTickets(t *testing.T) {
	t.Parallel()
	s, who := newSiteFor(t, events.Settings{OpensAt: time.Now().Add(time.Hour)}), person(t)
	owner, at := s.owner(t), desk.CodesPath("evening")
	s.refused(t, owner, at, url.Values{"code": {"FRIENDS"}, "off": {"5%"}, "person_tickets": {"2"}}, http.StatusUnprocessableEntity, "for codes with a presale")
	s.does(t, owner, at, url.Values{"code": {"FRIENDS"}, "presale": {"on"}, "person_tickets": {"2"}})
	if _, page := s.page(t, owner, at); !strings.Contains(page, "2 tickets per person in the presale") {
		t.Error("the list at the desk does not say the limit")
	}
	if _, page := s.enters(t, who, "FRIENDS"); !strings.Contains(page, "lets you book up to 2 tickets before the sale opens") || !strings.Contains(page, "Up to 2 seats, held for") {
		t.Error("the page of the event does not say the limit")
	}
	if a, body := s.claims(t, who, "", 0, 1, 2); a.StatusCode != http.StatusConflict || !strings.Contains(body, "You can book up to 2 tickets in the presale.") {
		t.Errorf("three seats: %d %s", a.StatusCode, body)
	}
	if a, body := s.claims(t, who, "", 0, 1); a.StatusCode != http.StatusCreated {
		t.Fatal(a.StatusCode, body)
	}
	if _, page := s.page(t, who, "/events/evening/checkout"); !strings.Contains(page, "In the presale you can book up to 2 tickets for this event.") {
		t.Error("the checkout does not say the limit")
	}
}

func TestPresaleCode_PassesTheWaitingRoomBeforeTheSale(t *testing.T) {
	t.Parallel()
	opens := time.Now().Add(time.Hour)
	s, ann, eve := newSiteFor(t, events.Settings{OpensAt: opens}), person(t), person(t)
	s.unlocking(t, "FRIENDS", pricing.Code{Presale: true})
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	if status, page := s.enters(t, ann, "FRIENDS"); status != http.StatusSeeOther || !strings.Contains(page, "lets you book before the sale opens") {
		t.Errorf("with the code: %d", status)
	}
	if a, body := s.claims(t, eve, "", 0); a.StatusCode != http.StatusConflict {
		t.Errorf("a claim without the code: %d %s", a.StatusCode, body)
	}
	a, body := s.claims(t, ann, "", 0)
	if a.StatusCode != http.StatusCreated {
		t.Fatalf("a claim with the code: %d %s", a.StatusCode, body)
	}
	if a, body := s.post(t, ann, fill(holdOf(t, body), "Ann", "ann@example.org")); a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/orders/") {
		t.Errorf("the order: %d %q %.200s", a.StatusCode, a.Header.Get("Location"), body)
	}
	s.wantBooks(t)
}

func TestPresale_VisitorsWaitWithTheOthersOnceTheSaleOpens(t *testing.T) {
	t.Parallel()
	opens := time.Now().Add(time.Hour)
	s, ann, bob := newSiteFor(t, events.Settings{OpensAt: opens}), person(t), person(t)
	s.unlocking(t, "FRIENDS", pricing.Code{Presale: true})
	newRoom(t, s, waitingroom.NewRoom{OpensAt: &opens})
	for _, who := range []*http.Client{ann, bob} {
		if status, _ := s.enters(t, who, "FRIENDS"); status != http.StatusSeeOther {
			t.Fatalf("with the code: %d", status)
		}
	}
	a, body := s.claims(t, ann, "", 0)
	if a.StatusCode != http.StatusCreated {
		t.Fatalf("a claim in the presale: %d %s", a.StatusCode, body)
	}
	hold := holdOf(t, body)
	if _, err := events.SetStatus(t.Context(), s.office, "evening", events.Change{Status: seats.OnSale}, nil); err != nil {
		t.Fatal(err)
	}
	for who, to := range map[*http.Client]string{bob: "/rooms/evening", ann: "/events/evening/checkout?waits=1"} {
		if a, _ := send(t, who, "GET", s.url+"/events/evening", "", "Accept", "text/html"); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != to {
			t.Errorf("the page of the event after the sale opened: %d to %q, want %q", a.StatusCode, a.Header.Get("Location"), to)
		}
		if a, body := s.claims(t, who, "", 5); a.StatusCode != http.StatusForbidden || !strings.Contains(body, `"waiting_room"`) {
			t.Errorf("a claim after the sale opened: %d %s", a.StatusCode, body)
		}
	}
	if _, page := s.page(t, ann, "/events/evening/checkout?waits=1"); !strings.Contains(page, `<a href="/rooms/evening">Waiting room</a>`) {
		t.Error("the checkout does not tell of the waiting room")
	}
	if a, body := s.post(t, ann, fill(hold, "Ann", "ann@example.org")); a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/orders/") {
		t.Errorf("the order of what was held in the presale: %d %q %.200s", a.StatusCode, a.Header.Get("Location"), body)
	}
	if a, _ := send(t, ann, "GET", s.url+"/events/evening", "", "Accept", "text/html"); a.Header.Get("Location") != "/rooms/evening" {
		t.Errorf("the page of the event after the order leads to %q", a.Header.Get("Location"))
	}
	s.wantBooks(t)
}

func TestCodes_ThatUnlockAreCreatedAtTheDesk(t *testing.T) {
	t.Parallel()
	s, ann := newSite(t), person(t)
	owner, at := s.owner(t), "/desk/events/evening/codes"
	section := slices.IndexFunc(s.sale.Plan.Sections, func(at seats.Section) bool { return !at.Area })
	idx := s.sale.Plan.Sections[section].First
	if _, err := s.sale.Block(t.Context(), seats.BlockRequest{Seats: []int{idx}, BlockTerms: seats.BlockTerms{Reason: "Sponsors"}}); err != nil {
		t.Fatal(err)
	}
	_, page := s.page(t, owner, at)
	block := between(page, `name="unlocks_blocks" value="`, `"`)
	if block == "" || !strings.Contains(page, "Sponsors, 1 seat") {
		t.Fatal("the page does not offer the block")
	}
	s.does(t, owner, at, url.Values{"code": {"SPONSOR"}, "unlocks_blocks": {block}, "presale": {"on"}})
	if _, page := s.page(t, owner, at); !strings.Contains(page, "unlocks the reserved seats of 1 block, the time before the sale") {
		t.Error("the list does not say what the code unlocks")
	}
	s.refused(t, owner, at, url.Values{"code": {"NOTHING"}}, http.StatusUnprocessableEntity)
	s.refused(t, owner, at, url.Values{"code": {"FOREIGN"}, "unlocks_blocks": {seats.NewID().String()}}, http.StatusUnprocessableEntity, "blocks of its event")
	s.refused(t, owner, at, url.Values{"code": {"FOREIGN"}, "unlocks_blocks": {"x"}}, http.StatusUnprocessableEntity)
	if status, page := s.enters(t, ann, "sponsor"); status != http.StatusSeeOther || !strings.Contains(page, "makes seats available") {
		t.Errorf("the code on the page of the event: %d", status)
	}
	a, body := s.claims(t, ann, "", idx)
	if a.StatusCode != http.StatusCreated {
		t.Fatalf("a claim with the code: %d %s", a.StatusCode, body)
	}
	if a, body := s.post(t, ann, fill(holdOf(t, body), "Ann", "ann@example.org")); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("the order: %d %s", a.StatusCode, body)
	}
	_, file := s.page(t, owner, "/desk/events/evening/exports/codes.csv")
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][8] != "1" || rows[1][12] != "unlocks the reserved seats of 1 block, the time before the sale" {
		t.Errorf("a code without a discount and without a limit is listed as %q, %v", rows, err)
	}
}

func TestEnterCode_LimitsGuesses(t *testing.T) {
	t.Parallel()
	s, who := newSite(t), person(t)
	s.unlocking(t, "FRIENDS", pricing.Code{Presale: true})
	last := 0
	for range 30 {
		last, _ = s.enters(t, who, "GUESS")
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the 30th guess: %d", last)
	}
}

func TestCodes_GuessesInCookiesCount(t *testing.T) {
	t.Parallel()
	s := behindProxy(t)
	s.reserved(t, "GUEST", 0)
	sends := func(method, to, from, codes, body, accept string) (*http.Response, string) {
		return send(t, person(t), method, s.url+to, body, "X-Forwarded-For", from, "Cookie", fmt.Sprintf("usher-codes-%d=%s", s.sale.Event.ID, codes), "Accept", accept)
	}
	claims := func(from, codes string) (*http.Response, string) {
		return sends("POST", "/events/evening/claims", from, codes, fmt.Sprintf(`{"seats":[%q]}`, s.sale.Plan.Label(0)), "application/json")
	}
	if a, body := claims("198.51.100.7", "A1.A2.A3.GUEST"); a.StatusCode != http.StatusConflict || !strings.Contains(body, `"reserved"`) {
		t.Errorf("the fourth code of a visit counts: %d %s", a.StatusCode, body)
	}
	for range 10 {
		if a, _ := sends("GET", "/events/evening", "203.0.113.9", "GUESS.GUESS.GUESS", "", asPage); a.StatusCode != http.StatusOK {
			t.Fatalf("a page gets %d", a.StatusCode)
		}
	}
	if a, body := sends("GET", "/events/evening", "203.0.113.10", "GUEST", "", asPage); a.StatusCode != http.StatusOK || strings.Contains(body, "makes seats available that are reserved for it") {
		t.Errorf("a network that guesses is told that a code is right: %d", a.StatusCode)
	}
	if a, body := claims("203.0.113.10", "GUEST"); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || !strings.Contains(body, `"too_many"`) {
		t.Errorf("a claim from a network that guesses: %d %s", a.StatusCode, body)
	}
	for range 30 { // what the event has costs nothing
		if a, body := sends("GET", "/events/evening", "192.0.2.7", "GUEST", "", asPage); a.StatusCode != http.StatusOK || !strings.Contains(body, "makes seats available that are reserved for it") {
			t.Fatalf("a page with a code: %d", a.StatusCode)
		}
	}
	if a, body := claims("192.0.2.7", "GUEST"); a.StatusCode != http.StatusCreated {
		t.Errorf("a claim from another network: %d %s", a.StatusCode, body)
	}
}

func TestCodes_GuessesOfAProgramAreItsOwn(t *testing.T) {
	t.Parallel()
	s := newSiteFor(t, events.Settings{}, func(c *Config) { c.Requests = web.RequestsPerProgram })
	s.owner(t)
	s.unlocking(t, "FRIENDS", pricing.Code{Presale: true})
	one, other := customerOf(s.gives(t, "kiosk", "evening", organizers.ScopeSell)), customerOf(s.gives(t, "chatbot", "evening", organizers.ScopeSell))
	at := s.url + "/api/v1/events/evening/codes"
	var last *http.Response
	for range 30 {
		last, _ = send(t, one, "POST", at, `{"code":"GUESS"}`)
	}
	if last.StatusCode != http.StatusTooManyRequests || last.Header.Get("Retry-After") == "" {
		t.Errorf("the 30th guess: %d, %v", last.StatusCode, last.Header)
	}
	if a, body := send(t, other, "POST", at, `{"code":"FRIENDS"}`); a.StatusCode != http.StatusOK {
		t.Errorf("another program with a code of the event: %d %s", a.StatusCode, body)
	}
}

func TestChallenge_SeatsOfACodeAreCheckedInASoldOutEvent(t *testing.T) {
	t.Parallel()
	s, who := behindProxy(t), person(t)
	all := make([]int, len(s.sale.Plan.Seats))
	for i := range all {
		all[i] = i
	}
	s.reserved(t, "GUEST", all...)
	s.limits(t, limit.Settings{Challenge: limit.Always})
	if s.sale.Remaining() != 0 {
		t.Fatal("seats are available without a code")
	}
	if status, _ := s.enters(t, who, "GUEST"); status != http.StatusSeeOther {
		t.Fatalf("the code: %d", status)
	}
	if a, body := s.claims(t, who, "203.0.113.9", 0); a.StatusCode != shop.StatusChallenge {
		t.Errorf("a claim with a code gets %d %s", a.StatusCode, body)
	}
}
